// Ranks that papers claim and formulas give, against the rank of every cut by plain elimination.
#include "model/mixing/semiseparable_rank.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "model/base/seeded_random.hpp"
#include "model/mixing/mixing.hpp"
#include "tests/golden.hpp"

namespace depthcost::semiseparable_rank_test {
namespace {

/// Gaussian elimination with complete pivoting.
Count rank_by_elimination(std::vector<WeightRow> rows) {
  double largest = 0;
  Count rank = 0;
  for (std::size_t step = 0; step < std::min(rows.size(), rows.front().size()); ++step) {
    std::size_t pivot_row = step;
    std::size_t pivot = step;
    for (std::size_t r = step; r < rows.size(); ++r)
      for (std::size_t c = step; c < rows[r].size(); ++c)
        if (std::abs(rows[r][c]) > std::abs(rows[pivot_row][pivot])) {
          pivot_row = r;
          pivot = c;
        }
    std::swap(rows[step], rows[pivot_row]);
    for (WeightRow& row : rows) std::swap(row[step], row[pivot]);
    largest = std::max(largest, std::abs(rows[step][step]));
    if (std::abs(rows[step][step]) <= kRankTolerance * largest) break;
    ++rank;
    for (std::size_t r = step + 1; r < rows.size(); ++r) {
      const double factor = rows[r][step] / rows[step][step];
      for (std::size_t c = step; c < rows[r].size(); ++c) rows[r][c] -= factor * rows[step][c];
    }
  }
  return rank;
}

Count rank_of_cut(const MixingMatrix& M, Count k) {
  std::vector<WeightRow> rows;
  for (Count l = k; l <= M.num_layers(); ++l) {
    rows.emplace_back();
    for (Count i = 0; i < k; ++i) rows.back().push_back(M(l, i));
  }
  return rank_by_elimination(rows);
}

void expect_rank_of_all_cuts(const MixingMatrix& M, const std::string& where) {
  Count largest = 0;
  for (Count k = 1; k <= M.num_layers(); ++k) largest = std::max(largest, rank_of_cut(M, k));
  const SemiseparableRank found = semiseparable_rank(M);
  EXPECT_EQ(found.rank, largest) << where;
  EXPECT_EQ(rank_of_cut(M, std::max(found.cut, Count{1})), largest) << where << found.cut;
}

MixingMatrix random_matrix(std::string_view name, const MixingShape& shape,
                           std::uint64_t seed = 11) {
  const MixingScheme& scheme = *find_mixing_scheme(name);
  return scheme.matrix(shape, random_weights(scheme.tables(shape), seed));
}

Count random_rank(std::string_view name, const MixingShape& shape) {
  return semiseparable_rank(random_matrix(name, shape)).rank;
}

Count block_rank(Count num_layers, Count block_size) {
  return random_rank("block_attnres", {.num_layers = num_layers,
                                       .blocks = partition_by_size(num_layers, block_size)});
}

// [ours] G3: "between N and N+S" is no rank.
TEST(SemiseparableRank, OfBlockIsAtMostOneMoreThanItsBlocks) {
  EXPECT_EQ(block_rank(128, 16), 9);
  EXPECT_EQ(block_rank(32, 4), 7);
  EXPECT_EQ(block_rank(8, 1), 4);
  EXPECT_EQ(block_rank(8, 8), 2);
  EXPECT_EQ(block_rank(128, 128), 2);
}

TEST(SemiseparableRank, OfFullIsHalfOfTheLayers) {
  for (const Count L : {1, 2, 3, 8, 33, 128})
    EXPECT_EQ(random_rank("full_attnres", {.num_layers = L}), (L + 1) / 2) << L;
}

TEST(SemiseparableRank, OfSingleStatesIsOne) {
  for (const std::string name : {"standard", "rezero", "layerscale", "highway", "laurel_rw"})
    for (const Count L : {1, 2, 7, 200})
      EXPECT_EQ(random_rank(name, {.num_layers = L}), 1) << name << L;
}

TEST(SemiseparableRank, OfStreamsIsTheirNumber) {
  for (const std::string name : {"mhc", "hc_static"})
    for (const Count m : {1, 2, 4})
      EXPECT_EQ(random_rank(name, {.num_layers = 60, .num_streams = m}), m) << name << m;
  EXPECT_EQ(random_rank("hc_static", {.num_layers = 60, .num_streams = 9}), 9);
  // Doubly stochastic matrices contract: of many streams the last differ by less than the
  // tolerance.
  EXPECT_LE(random_rank("mhc", {.num_layers = 60, .num_streams = 9}), 9);
  EXPECT_EQ(random_rank("mhc", {.num_layers = 5, .num_streams = 4}), 3);
}

TEST(SemiseparableRank, MatchesEveryGoldenCase) {
  const auto golden = test::load_golden("mixing.json");
  for (const auto& entry : golden.at("cases")) {
    const auto L = entry.at("L").get<Count>();
    const auto size = entry.at("block_sizes").front().get<Count>();
    EXPECT_EQ(block_rank(L, size), entry.at("block_semiseparable_rank").get<Count>());
    const MixingShape shape{.num_layers = L};
    EXPECT_EQ(random_rank("highway", shape), entry.at("highway_semiseparable_rank").get<Count>());
    EXPECT_EQ(random_rank("standard", shape), entry.at("standard_semiseparable_rank").get<Count>());
    EXPECT_EQ(random_rank("full_attnres", shape),
              entry.at("full_semiseparable_rank_generic").get<Count>());
  }
}

TEST(SemiseparableRank, IsTheLargestRankOfAllCuts) {
  for (const MixingScheme& scheme : mixing_schemes())
    for (const Count L : {1, 2, 5, 16, 23})
      for (const Count size : {1, 2, 3, 5}) {
        const Count within = std::min(size, L);
        const MixingShape shape{.num_layers = L,
                                .num_streams = size,
                                .blocks = partition_by_size(L, within),
                                .window = within,
                                .dilation = within,
                                .period = within};
        const MixingMatrix M = random_matrix(scheme.name, shape);
        const std::string where =
            std::string(scheme.name) + " " + std::to_string(L) + " " + std::to_string(size) + " ";
        expect_rank_of_all_cuts(M, where);
        const auto generic = scheme.generic_rank(shape);
        EXPECT_EQ(semiseparable_rank(M).rank, generic.value_or(semiseparable_rank(M).rank))
            << where;
      }
}

/// Rank one, and a full block where neither the middle nor the cut of the most columns looks.
MixingMatrix with_hidden_block(Count num_layers, Count first_row, Count first_column, Count size) {
  MixingMatrix M(num_layers);
  SeededRandom random(3);
  for (Count l = 1; l <= num_layers; ++l)
    for (Count i = 0; i < l; ++i) M(l, i) = (2 + as_double(l)) / (3 + as_double(i));
  for (Count r = 0; r < size; ++r)
    for (Count c = 0; c < size; ++c) M(first_row + r, first_column + c) = random.normal();
  return M;
}

TEST(SemiseparableRank, FindsWhatLiesFarFromTheMiddle) {
  const MixingMatrix right = with_hidden_block(60, 50, 40, 6);
  const MixingMatrix left = with_hidden_block(60, 12, 3, 6);
  EXPECT_GE(semiseparable_rank(right).rank, 7);
  EXPECT_GE(semiseparable_rank(left).rank, 7);
  expect_rank_of_all_cuts(right, "right ");
  expect_rank_of_all_cuts(left, "left ");
}

TEST(SemiseparableRank, OfNothingIsZero) {
  EXPECT_EQ(semiseparable_rank(MixingMatrix(7)).rank, 0);
  MixingMatrix single(9);
  single(9, 8) = 1;
  EXPECT_EQ(semiseparable_rank(single).rank, 1);
}

}  // namespace
}  // namespace depthcost::semiseparable_rank_test
