// What published losses say about a block size. A deeper model than the paper's meets its figure at
// two places, by block size and by number of blocks; both are read, and neither is preferred.
#pragma once

#include <optional>

#include "model/decision/published_quality.hpp"
#include "model/schemes/scheme.hpp"

namespace depthcost {

/// How a published loss was come by. `finer`, `coarser`: beyond the published points, where nothing
/// is said but that the loss falls with finer blocks.
/// `unmeasured`: nobody has published a loss of this scheme with these parameters.
enum class ReadingKind { published, interpolated, finer, coarser, unmeasured };

struct LossReading {
  ReadingKind kind = ReadingKind::coarser;
  std::optional<double> loss;  // of `published` and `interpolated`
};

/// Fig. 6 at a block size. Linear in log2(S) between its points: [ours].
LossReading loss_by_size(Count block_size);

/// Fig. 6 at a number of blocks, of which its model has 32 / S.
LossReading loss_by_count(Count num_blocks);

/// Two losses of three decimals that differ by less than this may be equal before rounding.
inline constexpr double kSameLoss = 0.001;

/// What is published about one residual path. Schemes without blocks have one loss, read as both.
struct QualityEvidence {
  LossReading by_size;
  LossReading by_count;

  /// Both readings are the same loss at the last digit that is published.
  bool agrees() const;
  /// The higher of the two losses; what is finer than the published points is no worse than the
  /// other reading. Nothing where blocks are coarser than any that are published.
  std::optional<double> at_most() const;
  /// The reading that at_most() goes by; where that is nothing, the one by size.
  const LossReading& counted() const;
};

/// The other published comparison, of AttnRes in a form that is not said, and of mHC.
std::optional<AdjustedSpeedup> published_speedup(const Scheme& scheme);

/// Full AttnRes, mHC, the standard residual and the rows of [attnres] Table 4, on the same model.
QualityEvidence quality_of(const Scheme& scheme);

}  // namespace depthcost
