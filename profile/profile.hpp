// A machine profile: the constants of the time formula as one machine has measured them of itself,
// and how well the formula then predicts kernels that were not used to find them.
//
// Ceilings, floors and core rates come from plain streams, skeletons and primitives. The residual
// kernels are never fitted: they are predicted, and the errors are what a profile publishes.
#pragma once

#include <string>
#include <vector>

#include "model/machine/comparison.hpp"
#include "model/machine/machine.hpp"
#include "profile/links.hpp"
#include "profile/samples.hpp"
#include "profile/statistics.hpp"

namespace depthcost::profile {

/// One ceiling: the fastest variant of its streams that is steady, if it is nearly as fast as the
/// fastest: REFERENCES.md, "profiles".
struct Ceiling {
  StreamLevel level = StreamLevel::memory;
  int threads = 0;
  Mix mix;
  std::string variant;  // name of the benchmark; a profile that was read has none
  Estimate<double> bytes_per_second;
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
  double write_allocate = 0;  // time of an in-place update of two streams over that of a copy
  std::vector<FormError> forms;
  std::vector<Accuracy> accuracy;
  Estimate<double> coverage;  // of the 90 % interval, on held-out cases and shapes left out in turn
  std::size_t coverage_cases = 0;
};

/// What is not measured comes from the preset `part`. Throws InputError where the samples cannot
/// carry a profile: a parameter is wider than 10 %, or kinds of samples are missing.
Profile fit(const Samples& samples, const std::string& part = "");

/// The ceiling of each (level, threads, mix) in the order of the samples, those too that a profile
/// leaves out since their interval is too wide.
std::vector<Ceiling> measured_ceilings(const Samples& samples);

/// Sets cache, transition and concurrency of a GPU from its curves.
void set_curves(const Samples& samples, Profile& profile);

/// Sets residual, coverage and accuracy of a profile whose machine is complete.
void judge(const Samples& samples, Profile& profile);

/// The machine of `profile` with one kind of ceilings.
Machine machine_with(const Profile& profile, Ceilings ceilings);

Cases cases_of(const KernelSample& kernel);

/// One kernel against its prediction, with the noise of its repetitions.
Comparison compared(const Machine& machine, const KernelSample& kernel, const Tolerance& tolerance);

/// Every kernel that was measured, predicted on `machine`; without its noise, which no error needs.
std::vector<Comparison> predictions(const Machine& machine, const Samples& samples, Cases cases);

/// A sentence where the share of other cases that lie within the 90 % interval, by its own
/// interval, is not 90 %; else empty.
std::string coverage_warning(const Estimate<double>& coverage);

/// The file of a profile: scenarios/device/profile.hpp reads it.
std::string to_yaml(const Profile& profile);

}  // namespace depthcost::profile
