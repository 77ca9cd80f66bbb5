// The advantage over the overhead, interval by interval.
#include "model/decision/break_even.hpp"

namespace depthcost {
namespace {

struct FitOf {
  std::optional<FittedScheme> operator()(const Standard&) const { return std::nullopt; }
  std::optional<FittedScheme> operator()(const Mhc&) const { return std::nullopt; }
  std::optional<FittedScheme> operator()(const MechanismScheme&) const { return std::nullopt; }
  std::optional<FittedScheme> operator()(const FullAttnRes&) const {
    return FittedScheme::full_attnres;
  }
  std::optional<FittedScheme> operator()(const BlockAttnRes&) const {
    return FittedScheme::block_attnres;
  }
};

}  // namespace

std::optional<BreakEven> break_even(const Scheme& scheme,
                                    const std::optional<Estimate<double>>& overhead,
                                    double compute) {
  const auto fit = std::visit(FitOf{}, scheme);
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
