// Step times of many residual paths under the same circumstances: each kind of launch is timed
// once, a path is a sum over kinds.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "model/step/step.hpp"

namespace depthcost {

/// What a workload's steps become longer by, against the fused standard residual.
struct AddedTime {
  Estimate<Seconds> delta;                   // at the batch where it weighs most
  std::optional<Estimate<double>> overhead;  // each end the largest over the batches
  /// The same over the batches that fit; `overhead` is nothing where one does not. Nothing where
  /// the step of any batch is unknown.
  std::optional<Estimate<double>> overhead_of_fitting;
  /// What choices are compared by, whether they fit or not: the largest overhead over the batches,
  /// or seconds where the step of any batch is unknown.
  double weight = 0;
};

/// The launches of a number of paths.
class LaunchTable {
 public:
  /// A launch as far as its time depends on the path.
  struct Kind {
    Operation operation;
    double bank_age = 1;
  };

  struct Use {
    std::uint32_t kind = 0;
    double calls = 0;  // in a forward pass
  };

  /// The next path.
  void add(const ResidualPath& path, Schedule schedule);

  std::size_t num_paths() const { return ends_.size(); }
  std::span<const Kind> kinds() const { return kinds_; }
  std::span<const Use> uses(std::size_t path) const;

 private:
  std::map<std::pair<Operation, double>, std::uint32_t> known_;
  std::vector<Kind> kinds_;
  std::vector<Use> uses_;
  std::vector<std::size_t> ends_;
};

/// What every path of the table adds to the workload of `kind` (decode or prefill) that the study
/// asks for; the largest of a decode workload's batches. As step_times() has it: a modelled step of
/// which `is_too_large(batch, path)` says that it cannot be run has no overhead. `path_at(path)` is
/// what a path of the table hands on in a pipeline. The study needs a machine; the paths of the
/// table are attached as they run in that workload.
std::vector<AddedTime> added_times(
    const Study& study, WorkloadKind kind, const LaunchTable& table,
    const std::function<const ResidualPath&(std::size_t path)>& path_at,
    const std::function<bool(std::size_t batch, std::size_t path)>& is_too_large);

/// How much longer the residual path of `other` takes than that of `one`, which differs in scheme,
/// blocks and schedule alone, at the batch where they lie furthest apart. Corner by corner.
Estimate<Seconds> time_between(const Study& one, const Study& other, WorkloadKind kind);

}  // namespace depthcost
