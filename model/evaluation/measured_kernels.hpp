// What a machine has measured of itself, as the report of a scenario on its profile shows it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/machine/comparison.hpp"

namespace depthcost {

struct MeasuredKernel {
  StandaloneCall call;
  Comparison comparison;
};

/// How well the profile predicts kernels of one kind. `inside` is not known of them.
struct ProfileTrust {
  std::string kernels;  // "held_out"
  ErrorSummary errors;  // worst without its sign
};

struct MeasuredKernels {
  std::string samples_file;
  std::string kernels_hash;
  std::string date;
  std::string stale;                    // a sentence where kernels have changed since; else empty
  bool has_samples = false;             // those that the profile was made from are there
  std::vector<MeasuredKernel> kernels;  // nearest to the scenario's calls
  std::vector<std::string> unmeasured;  // operations of the scenario of which there is no kernel
  std::vector<ProfileTrust> trust;
  std::optional<Estimate<double>> coverage;  // of the 90 % interval
  std::size_t coverage_cases = 0;
  std::string coverage_warning;  // a sentence; empty where the interval holds what it promises
};

}  // namespace depthcost
