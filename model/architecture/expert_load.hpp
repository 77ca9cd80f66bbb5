// How many experts a batch of tokens wakes, and how many of its tokens the fullest rank gets.
#pragma once

#include <cstdint>
#include <optional>

#include "model/architecture/architecture.hpp"

namespace depthcost {

/// What reaches one rank of an expert-parallel group.
struct RankLoad {
  double distinct_experts = 0;  // whose weights are read, expected
  double token_visits = 0;      // (token, expert) pairs, expected
};

/// How tokens choose among experts. `balanced`: all are equally popular, and ranks differ by
/// chance. `power_law`: popularity falls as 1 / i; experts are dealt to the ranks in turn.
enum class Routing : std::uint8_t { balanced, power_law };

/// The load of the rank that a step waits for. Where a routing is stated, from its mean to the
/// expected load of its fullest rank, which is the value. Where none is, the value is the mean rank
/// of balanced routing, to which more measured steps are near (REFERENCES.md, "experts"), and the
/// interval holds both routings: from the power law's mean rank, since skew wakes few experts, to
/// the fuller of both fullest. No end is below the k / R experts, rounded up, that one token wakes
/// on some rank.
struct ExpertLoad {
  RankLoad low;
  RankLoad value;
  RankLoad high;
};

/// Experts woken by T tokens that choose k of E each, all alike.
///   E (1 - (1 - k/E)^T)      T >= 1
///   T k                      T < 1: a device has a token with that chance
/// [ours] REFERENCES.md, "experts".
double distinct_experts(double num_experts, double num_active, double num_tokens);

/// Load of one of `num_ranks` ranks (at most as many as experts) from `num_tokens` tokens in all,
/// averaged over the ranks of balanced routing.
RankLoad balanced_load(const ExpertMlp& mlp, double num_tokens, Count num_ranks);

/// Expected maximum of `num_ranks` independent standard normal values; 0 for one.
double expected_maximum(Count num_ranks);

/// The same where the fullest rank counts.
/// [ours] REFERENCES.md, "experts".
ExpertLoad expert_load(const ExpertMlp& mlp, double num_tokens, Count num_ranks,
                       std::optional<Routing> routing);

}  // namespace depthcost
