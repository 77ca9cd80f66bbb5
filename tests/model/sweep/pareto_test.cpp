// The front against comparing every pair.
#include "model/sweep/pareto.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <random>

namespace depthcost::pareto_test {
namespace {

std::vector<std::size_t> front_by_pairs(const Objectives& points) {
  std::vector<std::size_t> front;
  for (std::size_t a = 0; a < points.size(); ++a) {
    bool stands = true;
    for (std::size_t b = 0; b < points.size(); ++b) stands = stands && !dominates(points, b, a);
    if (stands) front.push_back(a);
  }
  return front;
}

TEST(ParetoFront, KeepsWhatNoOtherBeats) {
  const std::vector<double> values{1, 4, 2, 2, 3, 3, 4, 1};
  EXPECT_EQ(pareto_front({values, 2}), (std::vector<std::size_t>{0, 1, 3}));
}

TEST(ParetoFront, KeepsEqualPointsTogether) {
  const std::vector<double> values{1, 1, 1, 1, 2, 1};
  EXPECT_EQ(pareto_front({values, 2}), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(pareto_front({values, 1}), (std::vector<std::size_t>{0, 1, 2, 3, 5}));
}

TEST(ParetoFront, OfNothingIsEmpty) { EXPECT_TRUE(pareto_front({{}, 3}).empty()); }

/// Few distinct values, so that ties are everywhere; enough points to divide.
RC_GTEST_PROP(ParetoFront, IsWhatComparingAllPairsFinds, ()) {
  const auto k = *rc::gen::inRange<std::size_t>(1, 7);
  const auto n = *rc::gen::inRange<std::size_t>(0, 400);
  const auto distinct = *rc::gen::inRange(2, 60);
  const auto raw = *rc::gen::container<std::vector<int>>(n * k, rc::gen::inRange(0, distinct));
  const std::vector<double> values(raw.begin(), raw.end());
  RC_ASSERT(pareto_front({values, k}) == front_by_pairs({values, k}));
}

/// Points of which none beats another: the worst case.
TEST(ParetoFront, FindsThatAllStand) {
  constexpr std::size_t kPoints = 3000;
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform;
  std::vector<double> values;
  for (std::size_t i = 0; i < kPoints; ++i) {
    double rest = 1;
    for (int j = 0; j < 3; ++j) {
      const double part = rest * uniform(random);
      values.push_back(part);
      rest -= part;
    }
    values.push_back(rest);
  }
  EXPECT_EQ(pareto_front({values, 4}).size(), kPoints);
}

/// Large enough that halves are divided by every objective, with ties in each.
TEST(ParetoFront, IsTheSameForManyPointsThatHardlyBeatEachOther) {
  for (const std::size_t k : {3U, 4U, 5U}) {
    std::mt19937_64 random(k);
    std::vector<double> values;
    for (std::size_t i = 0; i < 1500; ++i) {
      std::size_t left = 60;
      for (std::size_t j = 1; j < k; ++j) {
        const std::size_t part = random() % (left + 1);
        values.push_back(static_cast<double>(part));
        left -= part;
      }
      values.push_back(static_cast<double>(left + random() % 3));
    }
    EXPECT_EQ(pareto_front({values, k}), front_by_pairs({values, k})) << k;
  }
}

}  // namespace
}  // namespace depthcost::pareto_test
