// What one AttnRes layer moves under the five ways of counting that are not a kernel's: the paper's
// Appendix B, two corrections of it, and two physical counts. tests/golden/io_per_layer.json.
//
// A layer l of block n is its i-th layer. Its sources (Eq. 4, 6) are
//   Full   v_0 .. v_{l-1}
//   Block  b_0 .. b_{n-1}, and b_n^{i-1} from the second layer on
#pragma once

#include "model/base/partition.hpp"
#include "model/base/traffic.hpp"
#include "model/schemes/schedule.hpp"

namespace depthcost {

/// Who pays for b_n^i = b_n^{i-1} + f_l(h_l).
enum class PartialSumUpdate {
  free,      // Table 1 does not count it
  fused,     // inside the kernel that reads b anyway; the last update of a block closes it
  separate,  // a kernel of its own: 2 r, 1 w
};

/// What Phase 2 of the two-phase schedule is charged with.
enum class Phase2 {
  flat,     // Eq. 14 and "3d + d" for each layer, and a Phase 1 write for each, needed or not
  merging,  // reads o^(1) and what it merges; the first layer of a block takes Phase 1's result
};

/// One way of counting. REFERENCES.md, "conventions".
struct CountingRules {
  double copies_of_source;  // 2: keys and values apart (Eq. 11). 1: k_i = v_i (Eq. 3) is read once
  double embeddings;        // 1 if source 0 is counted (Eq. 4), 0 as in Eq. 11
  Phase2 phase2;
  PartialSumUpdate update;
};

inline constexpr CountingRules kAppendixB{2, 0, Phase2::flat, PartialSumUpdate::free};
inline constexpr CountingRules kAppendixBWithEmbedding{2, 1, Phase2::flat, PartialSumUpdate::free};
inline constexpr CountingRules kTied{1, 1, Phase2::flat, PartialSumUpdate::free};
inline constexpr CountingRules kPhysical{1, 1, Phase2::merging, PartialSumUpdate::fused};
inline constexpr CountingRules kPhysicalUnfused{1, 1, Phase2::merging, PartialSumUpdate::separate};

/// Keeping b_n^i up to date after layer i. The first layer's output *is* b_n^1 and costs nothing.
constexpr Traffic partial_sum_traffic(PartialSumUpdate update, const LayerPosition& at) {
  if (update == PartialSumUpdate::free || at.index == 1) return {};
  if (update == PartialSumUpdate::separate) return {.reads_d = 2, .writes_d = 1};
  // From the third layer on the kernel that reads b reads f beside it and stores the sum; the last
  // layer has no successor to do so, so the block is closed by a kernel of its own.
  const Traffic update_before = at.index >= 3 ? Traffic{.reads_d = 1, .writes_d = 1} : Traffic{};
  const Traffic closing = at.index == at.size ? Traffic{.reads_d = 2, .writes_d = 1} : Traffic{};
  return update_before + closing;
}

/// Every layer scans its l sources and writes h.
constexpr Traffic full_single_pass(const CountingRules& rules, const LayerPosition& at) {
  const double layers_before = static_cast<double>(at.layer - 1);
  return {.reads_d = rules.copies_of_source * (layers_before + rules.embeddings), .writes_d = 1};
}

/// Every layer scans its n or n + 1 sources and writes h.
constexpr Traffic block_single_pass(const CountingRules& rules, const LayerPosition& at) {
  const double blocks_before = static_cast<double>(at.block - 1);
  const double partial_sum = at.index == 1 ? 0 : 1;
  const Traffic scan{
      .reads_d = rules.copies_of_source * (blocks_before + rules.embeddings + partial_sum),
      .writes_d = 1};
  return scan + partial_sum_traffic(rules.update, at);
}

/// Phase 2 of a layer that merges `own_sources` with Phase 1's (o, m, l), which some kernel wrote.
constexpr Traffic merge_with_phase1(double own_sources) {
  return {.reads_d = 1 + own_sources,
          .writes_d = 1 + 1,  // Phase 1 wrote o^(1), Phase 2 writes h
          .reads_scalars = 2,
          .writes_scalars = 2,
          .phase1_d = 2};
}

/// Phase 1 scans everything before the block once; Phase 2 the layers inside it. Eq. 11-17.
constexpr Traffic full_two_phase(const CountingRules& rules, const LayerPosition& at) {
  const double layers_before_block = static_cast<double>(at.layer - 1);  // used where i = 1
  const double intra_block = static_cast<double>(at.index - 1);
  if (at.index > 1 && rules.phase2 == Phase2::merging) return merge_with_phase1(intra_block);
  const double sources = at.index == 1 ? layers_before_block + rules.embeddings : intra_block;
  const double phase1_write = rules.phase2 == Phase2::flat ? 1 : 0;
  return {.reads_d = rules.copies_of_source * sources,
          .writes_d = 1 + phase1_write,
          .phase1_d = phase1_write};
}

/// Phase 1 scans the bank once a block; Phase 2 reads o^(1) and the partial sum. Algorithm 1.
constexpr Traffic block_two_phase(const CountingRules& rules, const LayerPosition& at) {
  const double bank = static_cast<double>(at.block - 1) + rules.embeddings;
  const double phase1_reads = at.index == 1 ? rules.copies_of_source * bank : 0;
  if (rules.phase2 == Phase2::flat)
    return {.reads_d = phase1_reads + 3, .writes_d = 2, .phase1_d = 1 + 1};
  if (at.index == 1) return {.reads_d = phase1_reads, .writes_d = 1};
  return merge_with_phase1(1) + partial_sum_traffic(rules.update, at);
}

/// The aggregation behind the last layer: all layers (Full) or all blocks (Block), and h.
constexpr Traffic counted_output(const CountingRules& rules, Count stored_sources) {
  const double N = static_cast<double>(stored_sources);
  return {.reads_d = rules.copies_of_source * (N + rules.embeddings), .writes_d = 1};
}

constexpr const CountingRules& rules_of(Convention convention) {
  switch (convention) {
    case Convention::appendixB:
      return kAppendixB;
    case Convention::appendixB_emb:
      return kAppendixBWithEmbedding;
    case Convention::tied:
      return kTied;
    case Convention::physical_unfused:
      return kPhysicalUnfused;
    default:
      return kPhysical;
  }
}

}  // namespace depthcost
