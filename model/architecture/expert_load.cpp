// Balanced routing in closed form, skewed routing expert by expert.
#include "model/architecture/expert_load.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace depthcost {
namespace {

/// Chance that a token picks each expert, most popular first: k shared out as 1 / i, but nobody is
/// picked twice by one token; what that cuts off goes to the others.
std::vector<double> skewed_chances(Count num_experts, double num_active) {
  std::vector<double> chances;
  double picks = num_active;
  double weight = 0;
  for (Count i = num_experts; i >= 1; --i) weight += 1 / static_cast<double>(i);
  for (Count i = 1; i <= num_experts; ++i) {
    const double popularity = 1 / static_cast<double>(i);
    const double chance = std::min(1.0, picks * popularity / weight);
    chances.push_back(chance);
    picks -= chance;
    weight -= popularity;
  }
  return chances;
}

/// Chance that all tokens pass by what one token passes by with that chance. Less than one token is
/// a token that a device has with that chance.
double asleep(double passing, double num_tokens) {
  return num_tokens < 1 ? 1 - num_tokens * (1 - passing) : std::pow(passing, num_tokens);
}

/// Every `stride`-th of what the chances make, from the first.
RankLoad every(std::size_t stride, const std::vector<RankLoad>& experts) {
  RankLoad load;
  for (std::size_t i = 0; i < experts.size(); i += stride) {
    load.distinct_experts += experts[i].distinct_experts;
    load.token_visits += experts[i].token_visits;
  }
  return load;
}

struct SkewedLoad {
  RankLoad mean;
  RankLoad fullest;
};

SkewedLoad skewed_load(const ExpertMlp& mlp, double num_tokens, Count num_ranks) {
  const auto ranks = static_cast<double>(num_ranks);
  std::vector<RankLoad> experts;
  for (const double chance : skewed_chances(mlp.num_experts, static_cast<double>(mlp.num_active)))
    experts.push_back({1 - asleep(1 - chance, num_tokens), num_tokens * chance});
  const RankLoad all = every(1, experts);
  return {.mean = {all.distinct_experts / ranks, all.token_visits / ranks},
          .fullest = every(static_cast<std::size_t>(num_ranks), experts)};
}

/// The loads of `num_ranks` ranks with n = E / R experts each, tokens choosing k of E alike. Both
/// loads are sums over n experts:
///   visits of a token: mean n k / E, variance that of a hypergeometric draw
///   experts asleep:    mean n q, variance n q (1 - q) + n (n - 1) (q2 - q^2)
/// with q and q2 the chances that all tokens pass by one expert, and by two.
RankLoad fullest_by_chance(const ExpertMlp& mlp, double num_tokens, Count num_ranks) {
  const auto E = static_cast<double>(mlp.num_experts);
  const auto k = static_cast<double>(mlp.num_active);
  const double n = E / static_cast<double>(num_ranks);
  const double T = num_tokens;
  RankLoad load = balanced_load(mlp, num_tokens, num_ranks);
  if (num_ranks == 1) return load;
  const double by_chance = expected_maximum(num_ranks);
  const double visits = T * k * n / E * (1 - n / E) * (E - k) / (E - 1);
  const double q = asleep(1 - k / E, T);
  const double q2 = asleep((1 - k / E) * std::max(1 - k / (E - 1), 0.0), T);
  const double variance = n * q * (1 - q) + n * (n - 1) * (q2 - q * q);
  load.token_visits =
      std::min(load.token_visits + by_chance * std::sqrt(visits), T * std::min(n, k));
  load.distinct_experts =
      std::min(load.distinct_experts + by_chance * std::sqrt(std::max(variance, 0.0)), n);
  return load;
}

}  // namespace

double distinct_experts(double num_experts, double num_active, double num_tokens) {
  const double E = num_experts;
  const double k = num_active;
  const double T = num_tokens;
  return E * (1 - asleep(1 - k / E, T));
}

RankLoad balanced_load(const ExpertMlp& mlp, double num_tokens, Count num_ranks) {
  const auto E = static_cast<double>(mlp.num_experts);
  const auto k = static_cast<double>(mlp.num_active);
  const auto ranks = static_cast<double>(num_ranks);
  return {distinct_experts(E, k, num_tokens) / ranks, num_tokens * k / ranks};
}

double expected_maximum(Count num_ranks) {
  constexpr double kStep = 1.0 / 64;
  constexpr double kEnd = 8;  // beyond it, 1e-15
  const auto below = [&](double x) {
    return std::pow(std::erfc(-x / std::numbers::sqrt2) / 2, static_cast<double>(num_ranks));
  };
  double sum = 0;
  for (double x = kStep / 2; x < kEnd; x += kStep) sum += 1 - below(x) - below(-x);
  return sum * kStep;
}

ExpertLoad expert_load(const ExpertMlp& mlp, double num_tokens, Count num_ranks,
                       std::optional<Routing> routing) {
  const RankLoad mean = balanced_load(mlp, num_tokens, num_ranks);
  const RankLoad by_chance = fullest_by_chance(mlp, num_tokens, num_ranks);
  if (routing == Routing::balanced) return {.low = mean, .value = by_chance, .high = by_chance};
  const SkewedLoad skewed = skewed_load(mlp, num_tokens, num_ranks);
  if (routing == Routing::power_law)
    return {.low = skewed.mean, .value = skewed.fullest, .high = skewed.fullest};
  // With few tokens the skewed rank may wake fewer experts than a balanced one.
  return {.low = skewed.mean,
          .value = mean,
          .high = {std::max(skewed.fullest.distinct_experts, by_chance.distinct_experts),
                   std::max(skewed.fullest.token_visits, by_chance.token_visits)}};
}

}  // namespace depthcost
