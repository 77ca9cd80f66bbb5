// The advantage over the overhead, interval by interval.
#include "model/decision/break_even.hpp"

#include <array>

#include "model/schemes/list.hpp"

namespace depthcost {
namespace {

/// Fig. 4 has a fit for each of these.
std::optional<FittedScheme> fit_of(const Scheme& scheme) {
  if (scheme.rule == &schemes::kFullAttnRes) return FittedScheme::full_attnres;
  if (scheme.rule == &schemes::kBlockAttnRes) return FittedScheme::block_attnres;
  return std::nullopt;
}

}  // namespace

std::optional<BreakEven> break_even(const Scheme& scheme,
                                    const std::optional<Estimate<double>>& overhead,
                                    double compute) {
  const auto fit = fit_of(scheme);
  if (!fit) return std::nullopt;
  BreakEven answer{.advantage = compute_advantage(*fit, compute), .overhead = overhead, .net = {}};
  if (!overhead) return answer;
  answer.net = Estimate<double>{answer.advantage.low / (1 + overhead->high),
                                answer.advantage.value / (1 + overhead->value),
                                answer.advantage.high / (1 + overhead->low), overhead->evidence};
  if (answer.net->low >= 1) answer.payback = Payback::pays;
  if (answer.net->high < 1) answer.payback = Payback::does_not_pay;
  return answer;
}

}  // namespace depthcost
