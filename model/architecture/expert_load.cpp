// Balanced routing in closed form, skewed routing expert by expert.
#include "model/architecture/expert_load.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
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

/// Chance that no token goes to an expert that one token passes by with chance `passing`. A number
/// of tokens below one is the chance that a device has a token.
double asleep(double passing, double num_tokens) {
  return num_tokens < 1 ? 1 - num_tokens * (1 - passing) : std::pow(passing, num_tokens);
}

/// Chances that a rank has 0, 1, 2, ... of something, and how many ranks are alike in that.
struct Chances {
  std::vector<double> of_number;
  double ranks = 1;
};

/// The expected largest number of independent ranks: the sum over w >= 0 of the chance that some
/// rank has more than w.
double expected_largest(const std::vector<Chances>& all) {
  std::size_t most = 0;
  for (const Chances& rank : all) most = std::max(most, rank.of_number.size());
  std::vector<double> below(all.size());
  double sum = 0;
  for (std::size_t w = 0; w + 1 < most; ++w) {
    double none_above = 1;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (w < all[i].of_number.size()) below[i] += all[i].of_number[w];
      none_above *= std::pow(std::min(below[i], 1.0), all[i].ranks);
    }
    sum += 1 - none_above;
  }
  return sum;
}

/// Chances of a rank with `mine` of `all` slots, of which `drawn` are drawn, none twice.
std::vector<double> hypergeometric(double mine, double all, double drawn) {
  const auto log_choose = [](double n, double k) {
    return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
  };
  std::vector<double> chances;
  for (double w = 0; w <= std::min(mine, drawn); ++w)
    chances.push_back(drawn - w > all - mine
                          ? 0
                          : std::exp(log_choose(mine, w) + log_choose(all - mine, drawn - w) -
                                     log_choose(all, drawn)));
  return chances;
}

/// R > 1 ranks, over which something is shared out by chance.
struct Shared {
  double ranks;
  double mean;  // of a rank
  double most;  // that one can have

  /// The expected largest, from that of independent ranks. One's more is the others' less, so that
  /// deviations from the mean are sqrt(R / (R - 1)) of theirs. At least one rank has the mean,
  /// rounded up.
  double largest(double independent) const {
    const double larger = mean + (independent - mean) * std::sqrt(ranks / (ranks - 1));
    return std::clamp(larger, std::min(std::ceil(mean), most), most);
  }
};

/// The expected most of `drawn` experts that one of R ranks with n each has, if all are alike.
double largest_drawn(double n, double ranks, double drawn) {
  const auto of_whole = [&](double whole) {
    const Shared shared{ranks, whole / ranks, std::min(n, whole)};
    return shared.largest(expected_largest({{hypergeometric(n, n * ranks, whole), ranks}}));
  };
  const double whole = std::floor(drawn);
  const double part = drawn - whole;
  return part > 0 ? (1 - part) * of_whole(whole) + part * of_whole(whole + 1) : of_whole(whole);
}

/// Tokens whose visits are worth adding up one by one.
constexpr double kMostConvolved = 512;

/// Chances of the sum of two, but for what has no chance at its end.
std::vector<double> convolved(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> sum(a.size() + b.size() - 1);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j) sum[i + j] += a[i] * b[j];
  constexpr double kNoChance = 1e-12;
  while (sum.size() > 1 && sum.back() < kNoChance) sum.pop_back();
  return sum;
}

/// The expected most visits of one of R ranks with n experts each by tokens with k picks among
/// them. Many visits make it a normal value.
double largest_visited(double n, double ranks, double k, double tokens) {
  constexpr double kFewVisits = 16;  // of a rank, in the mean
  const double E = n * ranks;
  const double whole = std::floor(tokens);
  if (const double part = tokens - whole; part > 0)
    return (1 - part) * largest_visited(n, ranks, k, whole) +
           part * largest_visited(n, ranks, k, whole + 1);
  const Shared shared{ranks, tokens * k / ranks, tokens * std::min(n, k)};
  if (shared.mean > kFewVisits || tokens > kMostConvolved) {
    const double variance = tokens * k / ranks * (1 - 1 / ranks) * (E - k) / (E - 1);
    return shared.largest(shared.mean +
                          expected_maximum(static_cast<Count>(ranks)) * std::sqrt(variance));
  }
  const std::vector<double> of_one = hypergeometric(n, E, k);
  std::vector<double> visits{1};
  for (double token = 0; token < tokens; ++token) visits = convolved(visits, of_one);
  return shared.largest(expected_largest({{visits, ranks}}));
}

/// Balanced routing: all experts are alike.
RankLoad fullest_by_chance(const ExpertMlp& mlp, double num_tokens, Count num_ranks) {
  if (num_ranks == 1) return balanced_load(mlp, num_tokens, num_ranks);
  const auto E = static_cast<double>(mlp.num_experts);
  const auto k = static_cast<double>(mlp.num_active);
  const auto ranks = static_cast<double>(num_ranks);
  const double n = static_cast<double>(divided_up(mlp.num_experts, num_ranks));
  const double tokens = std::max(1.0, num_tokens);
  const double chance = std::min(1.0, num_tokens);
  const double distinct = largest_drawn(n, ranks, distinct_experts(E, k, tokens));
  // Who wakes an expert visits it.
  const double visits = std::max(distinct, largest_visited(n, ranks, k, tokens));
  return {chance * distinct, chance * visits};
}

/// Chances of the sum of independent events.
std::vector<double> chances_of_sum(const std::vector<double>& events) {
  std::vector<double> sum{1};
  for (const double event : events) {
    sum.push_back(0);
    for (std::size_t i = sum.size(); i-- > 0;)
      sum[i] = sum[i] * (1 - event) + (i > 0 ? sum[i - 1] * event : 0);
  }
  return sum;
}

struct Normal {
  double mean = 0;
  double deviation = 0;
};

/// The expected largest of independent values, none of which is above `most`: the chance that it is
/// above x, integrated from a number that it surely reaches.
double expected_largest(const std::vector<Normal>& values, double most) {
  constexpr double kEnd = 8;  // deviations; beyond them, 1e-15
  constexpr int kSteps = 256;
  double begin = 0;
  double end = 0;
  for (const Normal& value : values) {
    begin = std::max(begin, value.mean - kEnd * value.deviation);
    end = std::max(end, value.mean + kEnd * value.deviation);
  }
  end = std::max(begin, std::min(end, most));
  const double step = (end - begin) / kSteps;
  double sum = 0;
  for (int i = 0; i < kSteps; ++i) {
    double none_above = 1;
    for (const Normal& value : values)
      if (value.deviation > 0)
        none_above *= std::erfc((value.mean - begin - (i + 0.5) * step) / value.deviation /
                                std::numbers::sqrt2) /
                      2;
    sum += step * (1 - none_above);
  }
  return begin + sum;
}

/// What the experts of a rank have: every `num_ranks`-th.
std::vector<double> dealt_to(std::size_t rank, std::size_t num_ranks,
                             const std::vector<double>& experts) {
  std::vector<double> mine;
  for (std::size_t i = rank; i < experts.size(); i += num_ranks) mine.push_back(experts[i]);
  return mine;
}

struct SkewedLoad {
  RankLoad mean;
  RankLoad fullest;
};

/// The most visits of a rank by several tokens, as normal values. The ranks behind the first have
/// ever fewer.
double largest_visits(const std::vector<double>& chances, double tokens, std::size_t num_ranks,
                      double most) {
  constexpr std::size_t kFirstRanks = 64;
  std::vector<Normal> ranks;
  for (std::size_t rank = 0; rank < std::min(num_ranks, kFirstRanks); ++rank) {
    Normal& visits = ranks.emplace_back();
    double variance = 0;
    for (const double chance : dealt_to(rank, num_ranks, chances)) {
      visits.mean += tokens * chance;
      variance += tokens * chance * (1 - chance);
    }
    visits.deviation = std::sqrt(variance);
  }
  return expected_largest(ranks, most);
}

SkewedLoad skewed_load(const ExpertMlp& mlp, double num_tokens, Count num_ranks) {
  const auto R = static_cast<std::size_t>(num_ranks);
  const auto k = static_cast<double>(mlp.num_active);
  const double ranks = static_cast<double>(num_ranks);
  const double tokens = std::max(1.0, num_tokens);
  const double chance = std::min(1.0, num_tokens);
  const std::vector<double> chances = skewed_chances(mlp.num_experts, k);
  std::vector<double> awake;
  for (const double picked : chances) awake.push_back(1 - asleep(1 - picked, tokens));
  const double woken = std::accumulate(awake.begin(), awake.end(), 0.0);
  const RankLoad mean{chance * woken / ranks, num_tokens * k / ranks};
  if (num_ranks == 1) return {mean, mean};
  std::vector<Chances> of_ranks;
  for (std::size_t rank = 0; rank < R; ++rank)
    of_ranks.push_back({chances_of_sum(dealt_to(rank, R, awake))});
  const double distinct = std::max(expected_largest(of_ranks), std::ceil(k / ranks));
  const double most =
      tokens * std::min(k, static_cast<double>(divided_up(mlp.num_experts, num_ranks)));
  const double visits =
      tokens == 1 ? distinct : std::max(distinct, largest_visits(chances, tokens, R, most));
  return {mean, {chance * distinct, chance * visits}};
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

namespace {

/// The load where each end is at least what some rank surely has: a token's experts lie on R ranks,
/// however it picks them.
ExpertLoad with_what_is_sure(ExpertLoad load, const ExpertMlp& mlp, double num_tokens,
                             Count num_ranks) {
  const double sure =
      std::min(1.0, num_tokens) * static_cast<double>(divided_up(mlp.num_active, num_ranks));
  for (RankLoad* end : {&load.low, &load.value, &load.high}) {
    end->distinct_experts = std::max(end->distinct_experts, sure);
    end->token_visits = std::max(end->token_visits, sure);
  }
  return load;
}

ExpertLoad load_of(const ExpertMlp& mlp, double num_tokens, Count num_ranks,
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

}  // namespace

ExpertLoad expert_load(const ExpertMlp& mlp, double num_tokens, Count num_ranks,
                       std::optional<Routing> routing) {
  return with_what_is_sure(load_of(mlp, num_tokens, num_ranks, routing), mlp, num_tokens,
                           num_ranks);
}

}  // namespace depthcost
