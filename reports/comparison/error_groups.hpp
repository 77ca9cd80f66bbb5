// Errors of cases that have something in common: what tables and JSON show of them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/evaluation/compared_run.hpp"
#include "model/machine/comparison.hpp"

namespace depthcost {

/// Kernels of one operation on one device, either those in which launch counts or the others.
struct KernelGroup {
  std::string hardware;
  std::string operation;
  std::string launch;  // launch_share() of each of its cases
  ErrorSummary errors;
  std::optional<double> scatter;  // the middle of what stacks differ by; none: one stack a case
};

/// In the order of the cases.
std::vector<KernelGroup> kernel_groups(std::span<const ComparedCase> cases);

/// Runs of one model or on one GPU, or all of them.
struct RunGroup {
  std::string by;  // "model", "GPU" or "all"
  std::string name;
  ErrorSummary errors;
};

/// By model, then by GPU, each in alphabetical order, then all.
std::vector<RunGroup> run_groups(std::span<const ComparedRun> runs);

/// How much of a prediction is launch: "up to 10 %" or "above 10 %".
std::string launch_share(const Comparison& comparison);

/// Cases, median |error|, 90th percentile, worst and inside.
std::vector<std::string> summary_cells(const ErrorSummary& errors);

std::vector<Comparison> comparisons_of(std::span<const ComparedCase> cases);

}  // namespace depthcost
