// Expected loads against an enumeration of all that few tokens can choose.
#include "model/architecture/expert_load.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <optional>
#include <string>
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
    const ExpertLoad load = expert_load(kKimiK3, 100, ranks, {});
    EXPECT_NEAR(load.value.token_visits * static_cast<double>(ranks), 1600, 1e-9);
    EXPECT_NEAR(load.low.token_visits * static_cast<double>(ranks), 1600, 1e-9);
  }
}

TEST(ExpertLoad, RisesFromLowToHigh) {
  for (const std::optional<Routing> routing :
       {std::optional<Routing>{}, std::optional{Routing::balanced},
        std::optional{Routing::power_law}})
    for (const double tokens : {1.0, 8.0, 512.0, 16384.0}) {
      const ExpertLoad load = expert_load(kKimiK3, tokens, 8, routing);
      EXPECT_LE(load.low.distinct_experts, load.value.distinct_experts);
      EXPECT_LE(load.value.distinct_experts, load.high.distinct_experts);
      EXPECT_LE(load.low.token_visits, load.value.token_visits);
      EXPECT_LE(load.value.token_visits, load.high.token_visits);
      EXPECT_LE(load.high.distinct_experts, 112);
    }
}

TEST(ExpertLoad, HoldsEveryRoutingWhereNoneIsStated) {
  for (const double tokens : {1.0, 8.0, 512.0, 16384.0}) {
    const ExpertLoad unknown = expert_load(kKimiK3, tokens, 8, {});
    for (const Routing routing : {Routing::balanced, Routing::power_law}) {
      const ExpertLoad stated = expert_load(kKimiK3, tokens, 8, routing);
      EXPECT_LE(unknown.low.distinct_experts, stated.low.distinct_experts);
      EXPECT_LE(unknown.low.token_visits, stated.low.token_visits);
      EXPECT_GE(unknown.high.distinct_experts, stated.high.distinct_experts);
      EXPECT_GE(unknown.high.token_visits, stated.high.token_visits);
    }
  }
}

// A device that has a token with the chance T wakes its k experts with that chance, however they
// are chosen. The mean rank of skewed routing once woke more than that of balanced routing.
TEST(ExpertLoad, OfLessThanATokenIsThatChanceOfOne) {
  const ExpertMlp mixtral{.num_experts = 8, .num_active = 2, .width = 14336};
  for (const double tokens : {1.0 / 64, 1.0 / 8, 0.5, 1.0})
    for (const Count ranks : {1, 4}) {
      const ExpertLoad load = expert_load(mixtral, tokens, ranks, {});
      // Its two experts lie on one rank, or on two of the four.
      const double experts = tokens * (ranks == 1 ? 2 : 1);
      EXPECT_NEAR(load.value.distinct_experts, experts, 1e-12);
      EXPECT_NEAR(load.low.distinct_experts, experts, 1e-12);
      EXPECT_GE(load.high.distinct_experts, experts - 1e-12);
    }
}

// The first of two ranks has experts 1 and 3 of popularity 1, 1/2, 1/3, 1/4: 16/25 of the visits.
TEST(ExpertLoad, OfASkewedRankIsTheMostPopularDealtInTurn) {
  const ExpertMlp mlp{.num_experts = 4, .num_active = 1, .width = 1};
  EXPECT_NEAR(expert_load(mlp, 100, 2, {}).high.token_visits, 64, 1e-3);
  EXPECT_NEAR(expert_load(mlp, 100, 2, Routing::power_law).value.token_visits, 64, 1e-3);
}

// Two of three: the first expert would be picked 12/11 times by each token.
TEST(ExpertLoad, PicksNoExpertTwice) {
  const ExpertLoad load = expert_load({.num_experts = 3, .num_active = 2, .width = 1}, 11, 3, {});
  EXPECT_NEAR(load.high.token_visits, 11, 1e-9);
}

TEST(ExpectedMaximum, OfNormalValuesIsAsTabulated) {
  EXPECT_NEAR(expected_maximum(1), 0, 1e-15);
  EXPECT_NEAR(expected_maximum(2), 1 / std::sqrt(std::numbers::pi), 1e-6);
  EXPECT_NEAR(expected_maximum(8), 1.42360, 1e-5);  // Harter 1961, table 1
}

/// The mean load of the fullest rank over everything that one or two tokens can choose.
/// Ranks have experts one after another.
RankLoad fullest_of_all_choices(int num_experts, int num_active, int ranks, int num_tokens) {
  const std::vector<unsigned> all = choices(num_experts, num_active);
  const int n = num_experts / ranks;
  RankLoad sum;
  double cases = 0;
  for (const unsigned a : all)
    for (const unsigned b : num_tokens == 1 ? std::vector<unsigned>{0} : all) {
      int woken = 0;
      int visits = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const unsigned mine = ((1u << n) - 1) << (rank * n);
        woken = std::max(woken, std::popcount((a | b) & mine));
        visits = std::max(visits, std::popcount(a & mine) + std::popcount(b & mine));
      }
      sum.distinct_experts += woken;
      sum.token_visits += visits;
      ++cases;
    }
  return {sum.distinct_experts / cases, sum.token_visits / cases};
}

TEST(ExpertLoad, OfBalancedRoutingIsTheExpectedMaximumOverTheRanks) {
  for (const int ranks : {2, 4, 8})
    for (int num_active = 1; num_active < 5; ++num_active)
      for (const int tokens : {1, 2}) {
        const ExpertMlp mlp{.num_experts = 8, .num_active = num_active, .width = 1};
        const RankLoad fullest = fullest_of_all_choices(8, num_active, ranks, tokens);
        const RankLoad load = expert_load(mlp, tokens, ranks, Routing::balanced).value;
        EXPECT_NEAR(load.distinct_experts / fullest.distinct_experts, 1, 0.05)
            << ranks << " ranks, " << num_active << " of 8, tokens " << tokens;
        EXPECT_NEAR(load.token_visits / fullest.token_visits, 1, 0.08)
            << ranks << " ranks, " << num_active << " of 8, tokens " << tokens;
      }
}

/// More tokens wake no fewer experts, and whoever wakes one visits it.
TEST(ExpertLoad, RisesWithTheTokens) {
  for (const Count experts : {8, 64, 384})
    for (const Count active : {1, 2, 8})
      for (const Count ranks : {2, 8, 64})
        for (const Routing routing : {Routing::balanced, Routing::power_law}) {
          if (ranks > experts || active > experts) continue;
          const ExpertMlp mlp{.num_experts = experts, .num_active = active, .width = 1};
          RankLoad before;
          for (double tokens = 0.25; tokens < 600;
               tokens = tokens < 4 ? tokens + 0.25 : tokens * 1.1) {
            const RankLoad load = expert_load(mlp, tokens, ranks, routing).value;
            const std::string at = fmt::format("{} of {} over {}, {} tokens, {}", active, experts,
                                               ranks, tokens, name(routing));
            EXPECT_GE(load.distinct_experts, before.distinct_experts - 1e-9) << at;
            EXPECT_GE(load.token_visits, 0.99 * before.token_visits) << at;
            EXPECT_GE(load.token_visits, load.distinct_experts - 1e-9) << at;
            before = load;
          }
        }
}

/// A token that picks two experts wakes one on some rank of eight, however it picks.
TEST(ExpertLoad, OfOneTokenIsOneExpertWhereEachRankHasOne) {
  const ExpertMlp mixtral{.num_experts = 8, .num_active = 2, .width = 1};
  for (const Routing routing : {Routing::balanced, Routing::power_law}) {
    const RankLoad load = expert_load(mixtral, 1, 8, routing).value;
    EXPECT_NEAR(load.distinct_experts, 1, 1e-12);
    EXPECT_NEAR(load.token_visits, 1, 1e-12);
  }
}

/// The mean of 3,000 draws by popularity, none picked twice, experts dealt to the ranks in turn.
TEST(ExpertLoad, OfSkewedRoutingIsNearRandomDraws) {
  const ExpertMlp gpt_oss{.num_experts = 128, .num_active = 4, .width = 1};
  EXPECT_NEAR(expert_load(gpt_oss, 1, 8, Routing::power_law).value.distinct_experts, 1.55, 0.08);
  EXPECT_NEAR(expert_load(gpt_oss, 8, 8, Routing::power_law).value.distinct_experts, 4.70, 0.24);
  const ExpertMlp deepseek{.num_experts = 256, .num_active = 8, .width = 1};
  EXPECT_NEAR(expert_load(deepseek, 8, 8, Routing::power_law).value.token_visits, 13.1, 0.7);
}

TEST(ExpertLoad, OfOneRankDoesNotDependOnChance) {
  const ExpertLoad load = expert_load(kKimiK3, 100, 1, Routing::balanced);
  EXPECT_EQ(load.value.token_visits, load.low.token_visits);
  EXPECT_EQ(load.value.distinct_experts, load.low.distinct_experts);
}

}  // namespace
}  // namespace depthcost::expert_load_test
