// What the residual path adds to a step: the operations of a forward pass timed, summed, and held
// against the standard residual, `fused`, on the same device and in the same circumstances.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/machine/corner_times.hpp"
#include "model/step/rest_of_step.hpp"
#include "model/step/study.hpp"
#include "model/step/workload.hpp"

namespace depthcost {

/// One operation under one workload. Seconds of ONE call.
struct TimeRow {
  WorkloadId workload;
  const ResidualPath* path = nullptr;
  Schedule schedule = Schedule::fused;
  Operation operation;
  Count kind = 0;  // 1-based, among the rows of this workload and schedule with the same operation
  double tokens = 0;
  double calls = 0;
  Launch launch = Launch::graph;
  double memory_share = 1;      // of the bytes: what memory serves, not the cache
  Bytes bytes;                  // of the call, its parameters among them
  Bytes parameters;             // read once, whatever the tokens are
  TimeTerms terms;              // of `predicted`'s value
  Estimate<Seconds> predicted;  // what the layer waits for
  Seconds bound;
};

/// Which term of the time formula the added time mostly consists of. `latency`: what a token takes
/// however few there are, but for the launch.
enum class Dominant { launch, bytes, operations, communication, latency };

/// The largest term; of a difference, whichever its sign.
Dominant dominant_of(const TimeTerms& terms);

/// One scheme and schedule under one workload. `delta` is against the fused standard residual.
struct StepRow {
  WorkloadId workload;
  const ResidualPath* path = nullptr;
  Schedule schedule = Schedule::fused;
  Estimate<Seconds> residual;  // the whole residual path of the step
  Estimate<Seconds> sends;     // of it, what stages of a pipeline send
  Estimate<Seconds> delta;
  std::optional<Estimate<Seconds>> baseline_step;  // with the fused standard residual
  std::string missing;                             // why it, or what follows, is not known
  std::optional<Estimate<double>> overhead;        // delta / baseline; none where it does not fit
  std::optional<Estimate<double>> share;           // residual / step; as above
  Dominant dominant = Dominant::launch;
};

/// The step with the residual path, of a row whose baseline is known. Each end is the sum of both
/// ends, which is as wide as can be.
inline Estimate<Seconds> whole_step(const StepRow& row) {
  Estimate<Seconds> step = *row.baseline_step;
  step.value += row.delta.value;
  step.low += row.delta.low;
  step.high += row.delta.high;
  return step;
}

/// Whether the row's step is known and cannot be run: it needs more memory than the device has.
inline bool does_not_fit(const StepRow& row) { return row.baseline_step && !row.overhead; }

/// A schedule with more kinds of launches than this is summed, but its launches are not listed:
/// Full AttnRes has several for each layer.
inline constexpr std::size_t kMostListedKinds = 4096;

/// Every operation and the whole of one scheme and schedule, workload by workload.
struct StepTimes {
  std::vector<TimeRow> time;
  std::vector<StepRow> step;
};

/// What a workload's per cent are of: measured, or modelled beside the residual path; neither where
/// something is missing, which is then said.
struct KnownBase {
  BaseStep step;
  std::string missing;
};

/// Needs a machine.
KnownBase base_of(const Study& study, const Workload& workload);

/// Times the schemes and schedules of one study. What they share, the steps that per cent are of
/// and the standard residual's times, is worked out once. The study outlives it.
class StepTimer {
 public:
  explicit StepTimer(const Study& study);
  ~StepTimer();

  /// Empty without a machine. Rows point at `path`.
  StepTimes times(const ResidualPath& path, Schedule schedule);

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

/// The times of one scheme in one schedule.
StepTimes step_times(const Study& study, const ResidualPath& path, Schedule schedule);

/// The rows of `step` alone.
inline std::vector<StepRow> step_rows(const Study& study, const ResidualPath& path,
                                      Schedule schedule) {
  return step_times(study, path, schedule).step;
}

}  // namespace depthcost
