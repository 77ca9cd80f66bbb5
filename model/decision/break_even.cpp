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

FitRange range_of(const Scheme& scheme, double compute) {
  if (!is_inside_fit(compute)) return FitRange::beyond;
  const Partition* blocks = attnres_blocks(scheme);
  if (scheme.rule == &schemes::kFullAttnRes || blocks == nullptr) return FitRange::inside;
  const bool is_fitted =
      blocks->num_blocks >= kFewestFittedBlocks && blocks->num_blocks <= kMostFittedBlocks;
  return is_fitted ? FitRange::inside : FitRange::other_blocks;
}

}  // namespace

std::optional<BreakEven> break_even(const Scheme& scheme,
                                    const std::optional<Estimate<double>>& overhead,
                                    double compute) {
  const auto fit = fit_of(scheme);
  if (!fit) return std::nullopt;
  BreakEven answer{
      .range = range_of(scheme, compute), .advantage = {}, .overhead = overhead, .net = {}};
  if (answer.range != FitRange::inside) return answer;
  const Estimate<double> advantage = compute_advantage(*fit, compute);
  answer.advantage = advantage;
  if (!overhead) return answer;
  answer.net = Estimate<double>{advantage.low / (1 + overhead->high),
                                advantage.value / (1 + overhead->value),
                                advantage.high / (1 + overhead->low), overhead->evidence};
  if (answer.net->low >= 1) answer.payback = Payback::pays;
  if (answer.net->high < 1) answer.payback = Payback::does_not_pay;
  return answer;
}

}  // namespace depthcost
