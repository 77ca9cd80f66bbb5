// Reading a figure: exactly, between its points, or not at all.
#include "model/decision/quality.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "model/decision/published_quality.hpp"
#include "model/schemes/list.hpp"

namespace depthcost {
namespace {

/// At a block size of Fig. 6's own model, which may be no integer.
LossReading read_figure6(double block_size) {
  if (block_size < static_cast<double>(kFigure6.front().block_size))
    return {.kind = ReadingKind::finer, .loss = {}};
  if (block_size > static_cast<double>(kFigure6.back().block_size))
    return {.kind = ReadingKind::coarser, .loss = {}};
  const auto above =
      std::find_if(kFigure6.begin(), kFigure6.end(), [&](const BlockSizeLoss& point) {
        return static_cast<double>(point.block_size) >= block_size;
      });
  const auto size_above = static_cast<double>(above->block_size);
  if (size_above == block_size) return {.kind = ReadingKind::published, .loss = above->loss};
  const BlockSizeLoss& below = *(above - 1);
  const auto size_below = static_cast<double>(below.block_size);
  const double share = std::log2(block_size / size_below) / std::log2(size_above / size_below);
  return {.kind = ReadingKind::interpolated,
          .loss = below.loss + share * (above->loss - below.loss)};
}

double ablation_loss(std::string_view name) {
  return std::find_if(kTable4.begin(), kTable4.end(),
                      [&](const AblationLoss& row) { return row.name == name; })
      ->loss;
}

QualityEvidence one_loss(std::string_view name) {
  const LossReading reading{.kind = ReadingKind::published, .loss = ablation_loss(name)};
  return {reading, reading};
}

/// A row of Table 4 stands for the parameters that it was measured with.
struct MeasuredAblation {
  const SchemeRule* rule;
  SchemeParameters parameters;
  std::string_view name;
};

const std::array kAblations{
    MeasuredAblation{&schemes::kStandard, {}, "baseline"},
    MeasuredAblation{&schemes::kMhc, {}, "mhc"},
    MeasuredAblation{&schemes::kFullAttnRes, {}, "full"},
    MeasuredAblation{&schemes::kDenseFormer, {.dilation = 1, .period = 1}, "denseformer"},
    MeasuredAblation{&schemes::kAttnResInputDependent, {}, "full_input_dependent_query"},
    MeasuredAblation{&schemes::kAttnResInputIndependent, {}, "full_input_independent_mixing"},
    MeasuredAblation{&schemes::kAttnResSigmoid, {}, "full_sigmoid"},
    MeasuredAblation{&schemes::kAttnResRawKeys, {}, "full_no_rmsnorm"},
    MeasuredAblation{&schemes::kAttnResRawKeys, {.block_size = 4}, "block_no_rmsnorm"},
    MeasuredAblation{
        &schemes::kAttnResMultihead, {.block_size = 4, .heads = 16}, "block_multihead_H16"},
    MeasuredAblation{&schemes::kAttnResSlidingWindow, {.window = 8}, "swa_1+8"}};

bool stands_for(const MeasuredAblation& ablation, const Scheme& scheme) {
  const auto& keys = scheme.rule->keys;
  return ablation.rule == scheme.rule &&
         std::all_of(keys.begin(), keys.end(), [&](const SchemeKey& key) {
           return ablation.parameters.*key.member == scheme.parameters.*key.member;
         });
}

}  // namespace

std::optional<AdjustedSpeedup> published_speedup(const Scheme& scheme) {
  const bool is_attnres =
      scheme.rule == &schemes::kFullAttnRes || scheme.rule == &schemes::kBlockAttnRes;
  for (const AdjustedSpeedup& row : kMarinSpeedups)
    if (row.name == (is_attnres ? "attn_residuals" : scheme.rule->id)) return row;
  return std::nullopt;
}

LossReading loss_by_size(Count block_size) { return read_figure6(static_cast<double>(block_size)); }

LossReading loss_by_count(Count num_blocks) {
  return read_figure6(static_cast<double>(kFigure6Layers) / static_cast<double>(num_blocks));
}

bool QualityEvidence::agrees() const {
  return by_size.loss && by_count.loss && std::abs(*by_size.loss - *by_count.loss) < kSameLoss / 2;
}

std::optional<double> QualityEvidence::at_most() const {
  if (by_size.kind == ReadingKind::coarser || by_count.kind == ReadingKind::coarser)
    return std::nullopt;
  if (!by_size.loss) return by_count.loss;
  return by_count.loss ? std::max(*by_size.loss, *by_count.loss) : by_size.loss;
}

const LossReading& QualityEvidence::counted() const {
  const std::optional<double> most = at_most();
  return most && by_count.loss == most ? by_count : by_size;
}

QualityEvidence quality_of(const Scheme& scheme) {
  if (const Partition* blocks = attnres_blocks(scheme))
    return {loss_by_size(blocks->block_size), loss_by_count(blocks->num_blocks)};
  for (const MeasuredAblation& ablation : kAblations)
    if (stands_for(ablation, scheme)) return one_loss(ablation.name);
  constexpr LossReading nothing{.kind = ReadingKind::unmeasured, .loss = {}};
  return {nothing, nothing};
}

}  // namespace depthcost
