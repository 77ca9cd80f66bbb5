// What the residual path keeps for its backward pass: a walk that collects tensors by name, layer
// by layer, and what is known in closed form.
#include "model/ledger/backward.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "model/schemes/list.hpp"
#include "model/schemes/multi_state/mhc_recomputation.hpp"
#include "tests/model/schemes/by_hand.hpp"

namespace depthcost::activations_test {
namespace {

/// The L_r of the fewest vectors when states are not rounded to whole ones.
///   sqrt(m L / (m + 2))
/// [mhc] Sec. 4.3.
double mhc_recomputation_estimate(Count num_streams, Count num_layers) {
  const double m = static_cast<double>(num_streams);
  return std::sqrt(m * static_cast<double>(num_layers) / (m + 2));
}

constexpr ActivationPlan kKeep{ActivationPolicy::keep};
constexpr ActivationPlan kRecompute{ActivationPolicy::recompute};
constexpr ActivationPlan kOffload{ActivationPolicy::offload};

ResidualPath block_path(Count num_layers, Count block_size) {
  return {Scheme{schemes::kBlockAttnRes, {.blocks = partition_by_size(num_layers, block_size)}},
          num_layers};
}

ChunkOfLayers whole(const ResidualPath& path) {
  return {.first_layer = 1, .num_layers = path.num_layers, .output = OutputAggregation::here};
}

using Names = std::set<std::string>;

std::string label(char kind, Count layer) { return kind + std::to_string(layer); }

/// What the backward pass of one chunk reads, by name: blocks "b2", partial sums "p7", mixes "h7",
/// normalised inputs "x7".
struct Walked {
  Names blocks;
  Names others;
  double scalars = 0;
  Names received;
  std::size_t largest_layer = 0;  // of `others`
  double most_scalars = 0;
};

/// Walks the whole model and collects what is read in `chunk`.
Walked walk(const std::vector<Count>& block_sizes, const ChunkOfLayers& chunk) {
  Walked walked;
  Names completed = {label('b', 0)};
  Names at_entry;
  const auto collect = [&](Count layer, const Names& partial) {
    if (walked.blocks.empty()) at_entry = completed;
    walked.blocks.insert(completed.begin(), completed.end());
    Names mine = {label('h', layer), label('x', layer)};
    mine.insert(partial.begin(), partial.end());
    walked.others.insert(mine.begin(), mine.end());
    const double scalars = 2 * static_cast<double>(completed.size() + partial.size()) + 1;
    walked.scalars += scalars;
    walked.most_scalars = std::max(walked.most_scalars, scalars);
    walked.largest_layer = std::max(walked.largest_layer, mine.size());
  };
  Count layer = 0;
  for (std::size_t block = 0; block < block_sizes.size(); ++block) {
    for (Count index = 0; index < block_sizes[block]; ++index) {
      ++layer;
      const bool is_here =
          layer >= chunk.first_layer && layer < chunk.first_layer + chunk.num_layers;
      if (is_here) collect(layer, index > 0 ? Names{label('p', layer)} : Names{});
    }
    completed.insert(label('b', static_cast<Count>(block) + 1));
  }
  if (chunk.output == OutputAggregation::here) collect(layer + 1, {});
  walked.received = at_entry;
  return walked;
}

std::size_t count_of(const Names& names, char kind) {
  return static_cast<std::size_t>(
      std::count_if(names.begin(), names.end(), [kind](const auto& n) { return n[0] == kind; }));
}

void expect_equal(const ChunkActivations& got, const ChunkActivations& expected) {
  const auto compare = [](const char* what, const SavedVectors& a, const SavedVectors& b) {
    EXPECT_EQ(a.vectors, b.vectors) << what;
    EXPECT_EQ(a.scalars, b.scalars) << what;
  };
  compare("received", got.received, expected.received);
  compare("kept", got.kept, expected.kept);
  compare("offloaded", got.offloaded, expected.offloaded);
  compare("working", got.working, expected.working);
}

void expect_walked(const ResidualPath& path, const std::vector<Count>& block_sizes,
                   const ChunkOfLayers& chunk) {
  const Walked walked = walk(block_sizes, chunk);
  const auto number = [](std::size_t n) { return static_cast<double>(n); };
  const SavedVectors received{number(walked.received.size()), 0};
  const double own_blocks = number(walked.blocks.size() - walked.received.size());
  const SavedVectors all{own_blocks + number(walked.others.size()), walked.scalars};
  expect_equal(chunk_activations(path, chunk, kKeep), {.received = received, .kept = all});
  expect_equal(chunk_activations(path, chunk, kRecompute),
               {.received = received,
                .kept = {own_blocks + number(count_of(walked.others, 'p')), 0},
                .working = {walked.others.empty() ? 0.0 : 2.0, walked.most_scalars}});
  expect_equal(
      chunk_activations(path, chunk, kOffload),
      {.received = received,
       .offloaded = all,
       .working = {own_blocks + 2 * number(walked.largest_layer), 2 * walked.most_scalars}});
}

TEST(ActivationMemory, OfBlockAttnResIsWhatAWalkOverItsLayersCollects) {
  for (const Count L : {1, 2, 5, 12, 13}) {
    for (const Count S : {1, 2, 3, 4, 12}) {
      if (S > L) continue;
      const Partition partition = partition_by_size(L, S);
      for (Count first = 1; first <= L; ++first) {
        for (Count n = 0; first + n - 1 <= L; ++n) {
          const bool is_last = first + n - 1 == L;
          SCOPED_TRACE("L " + std::to_string(L) + " S " + std::to_string(S) + " layers " +
                       std::to_string(first) + " + " + std::to_string(n));
          expect_walked(
              {Scheme{schemes::kBlockAttnRes, {.blocks = partition}}, L}, block_sizes(partition),
              {first, n, is_last ? OutputAggregation::here : OutputAggregation::elsewhere});
        }
      }
    }
  }
}

TEST(ActivationMemory, OfFullAttnResIsThatOfBlocksOfOneLayer) {
  const ResidualPath path{Scheme{schemes::kFullAttnRes, {.blocks = partition_by_size(12, 4)}}, 12};
  for (Count first = 1; first <= 12; ++first)
    expect_walked(path, std::vector<Count>(12, 1), {first, 3 < 13 - first ? 3 : 13 - first});
  expect_walked(path, std::vector<Count>(12, 1), whole(path));
}

// [mhc] Table 3 and what stands beside it: x_l, H_pre x, its norm, F's output.
TEST(ActivationMemory, OfMhcHasTheTermsOfItsPaper) {
  const ResidualPath path{Scheme{schemes::kMhc, {.num_streams = 4}}, 122};
  const double coefficients = 4 * 4 + 2 * 4 + 1;
  expect_equal(chunk_activations(path, {1, 10}, kKeep),
               {.kept = {10 * (4 + 1 + 1 + 1), 10 * (coefficients + 1)}});
  // Three states for 9 + 9 + 4 layers, all outputs; nine layers at a time are made again.
  expect_equal(chunk_activations(path, {31, 22}, {ActivationPolicy::recompute, 9}),
               {.kept = {3 * 4 + 22, 0}, .working = {9 * (4 + 1 + 1), 9 * (coefficients + 1)}});
  expect_equal(chunk_activations(path, {31, 5}, {ActivationPolicy::recompute, 9}),
               {.kept = {4 + 5, 0}, .working = {5 * (4 + 1 + 1), 5 * (coefficients + 1)}});
  expect_equal(
      chunk_activations(path, {1, 10}, kOffload),
      {.offloaded = {10 * 7, 10 * (coefficients + 1)}, .working = {2 * 7, 2 * (coefficients + 1)}});
}

TEST(ActivationMemory, OfMhcIsThePapersSumAndTheOutputs) {
  for (const Count m : {1, 2, 4, 8}) {
    for (const Count L : {1, 7, 60, 122}) {
      for (Count L_r = 1; L_r <= L; ++L_r) {
        const ChunkActivations chunk =
            chunk_activations({Scheme{schemes::kMhc, {.num_streams = m}}, L}, {1, L},
                              {ActivationPolicy::recompute, L_r});
        EXPECT_EQ(chunk.kept.vectors + chunk.working.vectors,
                  static_cast<double>(mhc_recomputation_vectors(m, L, L_r) + L));
      }
    }
  }
}

TEST(MhcRecomputation, HasItsMinimumWhereThePaperSays) {
  EXPECT_NEAR(mhc_recomputation_estimate(4, 122), 9.02, 0.005);
  EXPECT_EQ(best_mhc_recomputation(4, 0), 1);
  for (const Count m : {2, 4, 8}) {
    for (const Count L : {24, 60, 122, 186}) {
      const Count best = best_mhc_recomputation(m, L);
      for (Count L_r = 1; L_r <= L; ++L_r) {
        EXPECT_LE(mhc_recomputation_vectors(m, L, best), mhc_recomputation_vectors(m, L, L_r));
      }
      // The estimate leaves the rounding out: it costs one state more at most, and one layer's.
      const auto estimate = static_cast<Count>(mhc_recomputation_estimate(m, L) + 0.5);
      EXPECT_LE(mhc_recomputation_vectors(m, L, estimate),
                mhc_recomputation_vectors(m, L, best) + m + (m + 2));
    }
  }
}

TEST(ActivationMemory, OfTheStandardResidualIsItsStateAndTheNormalisedInput) {
  const ResidualPath path{Scheme{schemes::kStandard}, 186};
  expect_equal(chunk_activations(path, {3, 24}, kKeep), {.kept = {48, 24}});
  expect_equal(chunk_activations(path, {3, 24}, kRecompute), {.kept = {24, 0}, .working = {1, 1}});
  expect_equal(chunk_activations(path, {3, 24}, kOffload),
               {.offloaded = {48, 24}, .working = {4, 2}});
}

// github.com/pytorch/torchtitan/pull/4656 recomputes AttnRes "so saved activations = standard
// residual".
TEST(ActivationMemory, OfRecomputedAttnResIsThatOfTheRecomputedStandardResidual) {
  const ResidualPath standard{Scheme{schemes::kStandard}, 186};
  const double expected = chunk_activations(standard, whole(standard), kRecompute).kept.vectors;
  for (const Count S : {1, 2, 12, 24, 186}) {
    const ResidualPath path = block_path(186, S);
    const ChunkActivations activations = chunk_activations(path, whole(path), kRecompute);
    EXPECT_EQ(activations.kept.vectors, expected);
    EXPECT_EQ(activations.received.vectors, 1) << "b_0";
  }
}

// Kimi K3: L layers each with a source of its own, and mix and normalised input at L + 1 places.
TEST(ActivationMemory, OfKimiK3IsInClosedForm) {
  const ResidualPath path = block_path(186, 24);
  const ChunkActivations all = chunk_activations(path, whole(path), kKeep);
  EXPECT_EQ(all.kept.vectors, 186 + 2 * 187);
  // Sources: block n is read with its predecessors by 24 (18) layers, but one partial sum fewer.
  const double sources = 24.0 * (1 + 2 + 3 + 4 + 5 + 6 + 7) + 18 * 8 + (186 - 8) + 9;
  EXPECT_EQ(all.kept.scalars, 2 * sources + 187);
  EXPECT_EQ(bytes({.vectors = 2, .scalars = 3}, 7168, Dtype::bf16), Bytes{2 * 7168 * 2 + 12});
}

// Layers 3 .. 8 in blocks of two: 1, 1, 2, 2, 3, 3 blocks of sources with b_0, three partial sums.
TEST(ActivationMemory, OfEagerAttnResHasTheStackAndTheKeysOfEveryMix) {
  const ResidualPath path = block_path(12, 2);
  const double sources = 2 + 2 + 3 + 3 + 4 + 4 + 3;
  const auto of = [&](ActivationPolicy policy) {
    return chunk_activations(path, {3, 6}, {.policy = policy, .schedule = Schedule::unfused});
  };
  expect_equal(of(ActivationPolicy::keep),
               {.received = {2, 0}, .kept = {2 * sources + 6 * 2, 2 * sources + 6}});
  expect_equal(of(ActivationPolicy::recompute),
               {.received = {2, 0}, .kept = {2 + 3, 0}, .working = {2 * 5 + 2, 2 * 5 + 1}});
  expect_equal(of(ActivationPolicy::offload), {.received = {2, 0},
                                               .offloaded = {2 * sources + 6 * 2, 2 * sources + 6},
                                               .working = {2 * (2 * 5 + 2), 2 * (2 * 5 + 1)}});
}

TEST(ActivationMemory, OfEagerMhcHasTheNormalisedStreams) {
  const ResidualPath path{Scheme{schemes::kMhc, {.num_streams = 4}}, 122};
  const ActivationPlan eager{.policy = ActivationPolicy::keep, .schedule = Schedule::unfused};
  expect_equal(chunk_activations(path, {1, 10}, eager),
               {.kept = {10 * (4 + 4 + 1 + 1 + 1), 10 * (25 + 1)}});
}

// A later chunk is handed the two blocks that this one completes and reads; x of every mix.
TEST(ActivationMemory, SaysWhatLaterChunksAreHandedAndWhatWeightsRead) {
  const ResidualPath path = block_path(12, 2);
  for (const ActivationPlan& plan : {kKeep, kRecompute}) {
    const ChunkActivations chunk = chunk_activations(path, {3, 6}, plan);
    EXPECT_EQ(chunk.own_blocks, (SavedVectors{2, 0}));
    EXPECT_EQ(chunk.for_weights, (SavedVectors{6, 0}));
  }
  EXPECT_EQ(chunk_activations(path, {11, 2, OutputAggregation::here}, kKeep).for_weights.vectors,
            3);
  EXPECT_EQ(chunk_activations(path, {3, 6}, kOffload).own_blocks, SavedVectors{});
  EXPECT_EQ(chunk_activations(path, {3, 6}, kOffload).for_weights, SavedVectors{});
}

/// Whatever the scheme: recomputing keeps no more, and offloading moves all that is kept.
TEST(ActivationMemory, OfEverySchemeIsCounted) {
  for (const SchemeRule* rule : scheme_rules()) {
    for (const Schedule schedule : rule->schedules) {
      SCOPED_TRACE(std::string(rule->id) + ' ' + std::string(name(schedule)));
      const auto keep = by_hand::kept_by_six(*rule, ActivationPolicy::keep, schedule);
      const auto recompute = by_hand::kept_by_six(*rule, ActivationPolicy::recompute, schedule);
      const auto offload = by_hand::kept_by_six(*rule, ActivationPolicy::offload, schedule);
      EXPECT_GE(keep.kept.vectors, 6);
      EXPECT_LE(recompute.kept.vectors, keep.kept.vectors);
      EXPECT_EQ(recompute.kept.scalars, 0);
      EXPECT_EQ(recompute.received, keep.received);
      EXPECT_EQ(offload.offloaded, keep.kept);
      EXPECT_EQ(offload.kept, SavedVectors{});
      EXPECT_GE(keep.for_weights.vectors, 6);
      EXPECT_LE(keep.own_blocks.vectors, recompute.kept.vectors);
    }
  }
}

TEST(ActivationMemory, OfAnEmptyChunkIsNothing) {
  for (const ActivationPlan& plan : {kKeep, kRecompute, kOffload}) {
    for (const Scheme& scheme :
         {Scheme{schemes::kStandard}, Scheme{schemes::kMhc, {.num_streams = 4}},
          Scheme{schemes::kFullAttnRes, {.blocks = partition_by_size(12, 4)}},
          Scheme{schemes::kBlockAttnRes, {.blocks = partition_by_size(12, 4)}}}) {
      expect_equal(chunk_activations({scheme, 12}, {5, 0}, plan), {});
    }
  }
}

TEST(ActivationPolicies, HaveTheNamesThatScenariosUse) {
  EXPECT_EQ(name(ActivationPolicy::keep), "keep");
  EXPECT_EQ(name(ActivationPolicy::recompute), "recompute");
  EXPECT_EQ(name(ActivationPolicy::offload), "offload");
}

}  // namespace
}  // namespace depthcost::activations_test
