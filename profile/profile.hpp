// A machine profile: the constants of the time formula, measured on one machine, and how well the
// formula then predicts kernels that were not used to find them.
//
// Ceilings, floors and core rates come from bandwidth kernels, skeletons and primitives. Residual
// kernels are never fitted. They are predicted, and the profile publishes the errors.
#pragma once

#include <string>
#include <vector>

#include "model/machine/comparison.hpp"
#include "model/machine/machine.hpp"
#include "profile/links.hpp"
#include "profile/samples.hpp"
#include "profile/statistics.hpp"

namespace depthcost::profile {

/// The highest bandwidth of a mix at a level: that of the fastest steady variant, if it is nearly
/// as fast as the fastest. REFERENCES.md, "profiles".
struct Ceiling {
  MemoryLevel level = MemoryLevel::memory;
  int threads = 0;
  Mix mix;
  std::string variant;  // name of the benchmark; empty in a profile that was read
  Estimate<BytesPerSecond> bandwidth;
};

struct Accuracy {
  Ceilings ceilings = Ceilings::same_mix;
  Cases cases = Cases::calibration;
  ErrorSummary errors;
};

struct FormError {
  CoreForm form = CoreForm::passes;
  ErrorSummary errors;  // calibration cases, same mix
};

/// How often an interval holds for shapes that it was not made from.
struct Coverage {
  std::size_t cases = 0;
  Estimate<double> share;  // with a 95 % interval
};

/// A node of a merged profile.
struct ProfiledNode {
  std::string file;  // its own profile
  std::string hash;
  std::string outside;  // in what it stands outside the others, and was left out; empty: in nothing
};

struct Profile {
  std::string name;
  std::string part;          // a hardware preset: capacity and arithmetic of a GPU; empty: none
  std::string samples_file;  // beside the profile
  std::string samples_hash;
  std::string kernels_hash;
  std::string date;
  bool is_gpu = false;
  double threads = 1;
  std::vector<Ceiling> ceilings;
  Machine machine;
  std::vector<LinkError> link_errors;
  double noise = 0;           // 95th percentile of |again / first - 1|
  double write_allocate = 0;  // time of an in-place update of two arrays over that of a copy
  std::vector<FormError> forms;
  std::vector<Accuracy> accuracy;
  Coverage coverage;  // of the interval of all kernels
  // How many shapes, left out in turn, each operation's own interval holds.
  Coverage operation_coverage;
  std::vector<ProfiledNode> nodes = {};  // if it was merged
};

/// A parameter with a wider 90 % interval is unsteady. It is marked so wherever it is printed.
inline constexpr double kSteadyWidth = 0.10;

template <class Q>
bool is_steady(const Estimate<Q>& estimate) {
  return relative_width(estimate) <= kSteadyWidth;
}

/// Fits a profile. Values that are not measured come from the preset `part`. Throws InputError
/// where a needed parameter has an interval wider than 30 %, or kinds of samples are missing.
Profile fit(const Samples& samples, const std::string& part = "");

/// The ceiling of each (level, threads, mix) in the order of the samples. A profile leaves out
/// those that are unsteady and not needed.
std::vector<Ceiling> measured_ceilings(const Samples& samples);

/// Sets cache, transition and concurrency of a GPU from its curves.
void set_curves(const Samples& samples, Profile& profile);

/// Sets residuals, coverage and accuracy of a profile whose machine is complete.
void set_errors(const Samples& samples, Profile& profile);

/// The machine of `profile` with one kind of ceilings.
Machine machine_with(const Profile& profile, Ceilings ceilings);

Cases cases_of(const KernelSample& kernel);

/// Compares a kernel with its prediction. The noise is that of its repetitions.
Comparison compared(const Machine& machine, const KernelSample& kernel, const Tolerance& tolerance);

/// Compares every kernel of `cases` with its prediction on `machine`, without its noise.
std::vector<Comparison> predictions(const Machine& machine, const Samples& samples, Cases cases);

/// A sentence if the 90 % interval holds in another share of the cases than 90 %, else empty.
std::string coverage_warning(const Estimate<double>& coverage);

/// The text of a profile's file, which scenarios/device/profile.hpp reads.
std::string to_yaml(const Profile& profile);

}  // namespace depthcost::profile
