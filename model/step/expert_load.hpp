// How many experts a batch of tokens wakes, and how many of its tokens the fullest rank gets.
#pragma once

#include "model/step/architecture.hpp"

namespace depthcost {

/// What reaches one rank of an expert-parallel group.
struct RankLoad {
  double distinct_experts = 0;  // whose weights are read, expected
  double token_visits = 0;      // (token, expert) pairs, expected
};

/// From balanced routing to a skewed one. `mean`: all experts are equally popular. `slowest`: their
/// popularity falls as 1 / i and they are dealt to the ranks in turn, so that the first rank has
/// the most of it. `fewest`: the same skew, averaged over the ranks; few experts are woken.
struct ExpertLoad {
  RankLoad fewest;
  RankLoad mean;
  RankLoad slowest;
};

/// Experts woken by T tokens that choose k of E each, all alike.
///   E (1 - (1 - k/E)^T)
/// [ours] REFERENCES.md, "experts".
double distinct_experts(double num_experts, double num_active, double num_tokens);

/// Load of one of `num_ranks` ranks (at most as many as experts) from `num_tokens` tokens in all:
/// the mean alone, and from balanced to skewed routing.
RankLoad balanced_load(const ExpertMlp& mlp, double num_tokens, Count num_ranks);
ExpertLoad expert_load(const ExpertMlp& mlp, double num_tokens, Count num_ranks);

}  // namespace depthcost
