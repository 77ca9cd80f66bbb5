// The measured tables that constants are fitted on: scenarios/published/*.csv. REFERENCES.md,
// "constants", says where they come from.
#pragma once

#include <string>
#include <vector>

#include "model/evaluation/served_step.hpp"
#include "model/evaluation/trained_step.hpp"
#include "model/machine/catalogue.hpp"
#include "model/machine/machine.hpp"

namespace depthcost::calibration {

/// A GPU of the tables, and what decides which constants it has.
struct Part {
  std::string id;
  std::string architecture;
  std::string memory;  // "hbm3e"
  Machine machine;
};

/// One mHC kernel, replayed in a graph on the same buffers.
struct MeasuredKernel {
  const Part* part = nullptr;
  Operation operation;
  Execution execution;
  Seconds seconds;
};

/// A stack's kernel beside the fastest of the same configuration.
struct StackKernel {
  MeasuredKernel kernel;
  Implementation stack = Implementation::vllm;
  double over_the_fastest = 1;
};

/// Rows keep pointers into `parts`.
struct Tables {
  std::vector<Part> parts;
  std::vector<MeasuredKernel> kernels;  // the fastest stack of each configuration
  std::vector<StackKernel> stacks;
  std::vector<ServedStep> steps;
  std::vector<TrainedStep> trainings;

  Tables() = default;
  Tables(const Tables&) = delete;
  Tables& operator=(const Tables&) = delete;
  Tables(Tables&&) = default;
  Tables& operator=(Tables&&) = default;
};

/// Reads mhc.csv, steps.csv and training.csv of `folder`. The residual path of a step has the
/// constants `start`: it is a small part of the step, and must not depend on what ships. Throws
/// InputError.
Tables read_tables(const std::string& folder, const Constants& start);

}  // namespace depthcost::calibration
