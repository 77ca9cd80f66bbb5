// The file of samples that scripts/measure writes: every repetition of every benchmark.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/machine/catalogue.hpp"
#include "model/machine/core_work.hpp"
#include "model/machine/link_curve.hpp"
#include "model/operations/mix.hpp"
#include "model/schemes/scheme.hpp"
#include "scenarios/keys/profile_choices.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost::profile {

/// Seconds of one call of a benchmark, one number for each round.
using Repetitions = std::vector<double>;

/// One variant of a bandwidth kernel, on arrays of one mix.
struct CeilingSample {
  std::string name;
  MemoryLevel level = MemoryLevel::memory;
  int threads = 0;  // 0: as many as kernels use
  Mix mix;
  double bytes = 0;
  Repetitions seconds;
};

struct CoreSample {
  std::string name;
  Primitive primitive = Primitive::add;
  Dtype dtype = Dtype::f32;
  CoreLevel level = CoreLevel::L1;
  double elements = 0;
  Repetitions seconds;
};

/// The traffic of h += f at one size on a GPU, cold or hot.
struct CurveSample {
  std::string name;
  Bytes footprint;  // bytes used between two uses of a byte, if hot
  Temperature temperature = Temperature::cold;
  Mix mix;
  double bytes = 0;
  Repetitions seconds;
};

/// A kernel that moves next to nothing.
struct SkeletonSample {
  std::string name;
  std::string skeleton;  // elementwise, row_reduction, ...
  std::string ctas;      // one, sms; empty on a CPU
  Launch launch = Launch::stream;
  Level level = Level::memory;
  Repetitions seconds;
};

struct KernelSample {
  std::string name;
  StandaloneCall call;
  bool is_again = false;  // measured a second time, under another name: the noise of the machine
  Repetitions seconds;
};

/// A step of L layers. Each reads its weights and then runs a scheme's operations.
struct StepSample {
  std::string name;
  std::string scheme;
  Schedule schedule = Schedule::fused;
  Phase1Order phase1 = Phase1Order::in_order;
  Dtype dtype = Dtype::bf16;
  Launch launch = Launch::stream;
  Count tokens = 0;
  Count hidden_size = 0;
  Count num_layers = 0;
  Count block_size = 0;
  Count num_streams = 4;
  Bytes weight_bytes;  // of one layer
  Repetitions seconds;
};

/// A message or a collective of one size.
struct LinkSample {
  std::string name;
  Transfer transfer = Transfer::one_way;
  Count num_ranks = 2;
  Bytes bytes;
  Repetitions seconds;
};

/// Whose rows are read from a file that may hold two backends.
enum class Backend { device_if_any, cpu };

/// All samples of one backend, and how they were measured.
struct Samples {
  std::string path;
  std::string machine;
  std::string device;  // empty: the CPU is what was measured
  std::string date;
  double threads = 1;
  Bytes first_level;  // L1 data cache, as reported
  Bytes rotation;     // between two uses of a cold operand
  std::string hash;   // of the file's bytes
  std::string kernels_hash;
  int rounds = 0;  // that were good enough
  int rounds_wanted = 0;
  double throttled_percent = 0;  // of a GPU's runs
  std::vector<CeilingSample> ceilings;
  std::vector<CoreSample> cores;
  std::vector<CurveSample> curves;
  std::vector<SkeletonSample> skeletons;
  std::vector<KernelSample> kernels;
  std::vector<StepSample> steps;
  std::vector<LinkSample> links;   // whatever the backend
  bool has_other_kernels = false;  // of the other backend: left out

  bool is_gpu() const { return !device.empty(); }
  /// The name of what was measured, and of its profile.
  const std::string& subject() const { return is_gpu() ? device : machine; }
  /// Why the samples are bad, else empty: rounds are missing, or a GPU lowered its clocks.
  std::string problem() const;
  /// A sentence about the kernels of the other backend, empty if there are none.
  std::string left_out() const;
};

/// The samples are bad, or vary too much: exit code 3.
class MeasurementInvalid : public InputError {
  using InputError::InputError;
};

/// Throws MeasurementInvalid if the samples have a problem.
void require_good(const Samples& samples);

/// Reads a file of scripts/measure. Throws InputError.
Samples read_samples(const std::string& path, Backend backend = Backend::device_if_any);

/// As read_samples, from text; `file` labels positions.
Samples parse_samples(std::string_view text, const std::string& file,
                      Backend backend = Backend::device_if_any);

}  // namespace depthcost::profile
