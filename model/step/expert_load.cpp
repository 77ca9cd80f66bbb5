// Balanced routing in closed form, skewed routing expert by expert.
#include "model/step/expert_load.hpp"

#include <algorithm>
#include <cmath>
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

double woken(double chance, double num_tokens) { return 1 - std::pow(1 - chance, num_tokens); }

/// Every `stride`-th of what the chances make, from the first.
RankLoad every(std::size_t stride, const std::vector<RankLoad>& experts) {
  RankLoad load;
  for (std::size_t i = 0; i < experts.size(); i += stride) {
    load.distinct_experts += experts[i].distinct_experts;
    load.token_visits += experts[i].token_visits;
  }
  return load;
}

}  // namespace

double distinct_experts(double num_experts, double num_active, double num_tokens) {
  const double E = num_experts;
  const double k = num_active;
  const double T = num_tokens;
  return E * (1 - std::pow(1 - k / E, T));
}

RankLoad balanced_load(const ExpertMlp& mlp, double num_tokens, Count num_ranks) {
  const auto E = static_cast<double>(mlp.num_experts);
  const auto k = static_cast<double>(mlp.num_active);
  const auto ranks = static_cast<double>(num_ranks);
  return {distinct_experts(E, k, num_tokens) / ranks, num_tokens * k / ranks};
}

ExpertLoad expert_load(const ExpertMlp& mlp, double num_tokens, Count num_ranks) {
  const auto ranks = static_cast<double>(num_ranks);
  const RankLoad mean = balanced_load(mlp, num_tokens, num_ranks);
  std::vector<RankLoad> experts;
  for (const double chance : skewed_chances(mlp.num_experts, static_cast<double>(mlp.num_active)))
    experts.push_back({woken(chance, num_tokens), num_tokens * chance});
  const RankLoad all = every(1, experts);
  const RankLoad first = every(static_cast<std::size_t>(num_ranks), experts);
  // With few tokens the skewed rank may wake fewer experts than a balanced one.
  return {.fewest = {all.distinct_experts / ranks, all.token_visits / ranks},
          .mean = mean,
          .slowest = {std::max(first.distinct_experts, mean.distinct_experts),
                      std::max(first.token_visits, mean.token_visits)}};
}

}  // namespace depthcost
