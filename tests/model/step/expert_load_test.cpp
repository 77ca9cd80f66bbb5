// Expected loads against an enumeration of all that few tokens can choose.
#include "model/step/expert_load.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

namespace depthcost::expert_load_test {
namespace {

/// All choices of k of E experts, as bits.
std::vector<unsigned> choices(int num_experts, int num_active) {
  std::vector<unsigned> all;
  for (unsigned bits = 0; bits < 1u << num_experts; ++bits)
    if (std::popcount(bits) == num_active) all.push_back(bits);
  return all;
}

/// Mean number of experts over everything that three tokens can choose.
double distinct_of_three_tokens(int num_experts, int num_active) {
  const std::vector<unsigned> all = choices(num_experts, num_active);
  double sum = 0;
  for (const unsigned a : all)
    for (const unsigned b : all)
      for (const unsigned c : all) sum += std::popcount(a | b | c);
  return sum / static_cast<double>(all.size() * all.size() * all.size());
}

TEST(DistinctExperts, AreThoseOfAnEnumeration) {
  for (const int num_experts : {1, 2, 4, 6})
    for (int num_active = 1; num_active <= num_experts; ++num_active)
      EXPECT_NEAR(distinct_experts(num_experts, num_active, 3),
                  distinct_of_three_tokens(num_experts, num_active), 1e-12);
}

TEST(DistinctExperts, OfOneTokenAreThoseThatItChooses) {
  EXPECT_NEAR(distinct_experts(896, 16, 1), 16, 1e-9);
}

const ExpertMlp kKimiK3{.num_experts = 896, .num_active = 16, .width = 3072};

TEST(ExpertLoad, OfAllRanksIsEveryVisit) {
  for (const Count ranks : {1, 2, 8, 32}) {
    const ExpertLoad load = expert_load(kKimiK3, 100, ranks);
    EXPECT_NEAR(load.mean.token_visits * static_cast<double>(ranks), 1600, 1e-9);
    EXPECT_NEAR(load.fewest.token_visits * static_cast<double>(ranks), 1600, 1e-9);
  }
}

TEST(ExpertLoad, RisesFromFewestToSlowest) {
  for (const double tokens : {1.0, 8.0, 512.0, 16384.0}) {
    const ExpertLoad load = expert_load(kKimiK3, tokens, 8);
    EXPECT_LE(load.fewest.distinct_experts, load.mean.distinct_experts);
    EXPECT_LE(load.mean.distinct_experts, load.slowest.distinct_experts);
    EXPECT_LE(load.mean.token_visits, load.slowest.token_visits);
    EXPECT_LE(load.slowest.distinct_experts, 112);
  }
}

// The first of two ranks has experts 1 and 3 of popularity 1, 1/2, 1/3, 1/4: 16/25 of the visits.
TEST(ExpertLoad, OfASkewedRankIsTheMostPopularDealtInTurn) {
  const ExpertLoad load = expert_load({.num_experts = 4, .num_active = 1, .width = 1}, 100, 2);
  EXPECT_NEAR(load.slowest.token_visits, 64, 1e-9);
}

// Two of three: the first expert would be picked 12/11 times by each token.
TEST(ExpertLoad, PicksNoExpertTwice) {
  const ExpertLoad load = expert_load({.num_experts = 3, .num_active = 2, .width = 1}, 11, 3);
  EXPECT_NEAR(load.slowest.token_visits, 11, 1e-9);
}

}  // namespace
}  // namespace depthcost::expert_load_test
