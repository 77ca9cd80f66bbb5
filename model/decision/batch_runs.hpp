// The batches at which a decode step keeps a limit of overhead: where it is crossed, not by how
// much.
#pragma once

#include <cstdint>
#include <vector>

#include "model/step/step.hpp"

namespace depthcost {

/// The largest batch that is looked at. [ours]
inline constexpr Count kMostSequences = 1024;

/// `may_not_fit`: less is left of a device's memory than engines keep for activations.
enum class BatchFate : std::uint8_t { keeps, breaks, may_not_fit, does_not_fit, unknown };

/// Batches of one fate: `first` to `last`, both among them.
struct BatchRun {
  BatchFate fate = BatchFate::unknown;
  Count first = 1;
  Count last = 1;
};

/// What becomes of `limit` (a ratio) from one sequence to kMostSequences, in runs that follow one
/// another; by the middle of the interval. Batches beyond 64 are looked at in steps of 4 tokens and
/// beyond 256 of 16, and where two of them differ, bisections find where the fate changes: a run
/// that is shorter may go unseen. Empty without a decode workload or a machine, and where the user
/// has measured the steps.
std::vector<BatchRun> batch_runs(const Study& study, const ResidualPath& path, Schedule schedule,
                                 double limit);

}  // namespace depthcost
