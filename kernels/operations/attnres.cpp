#include "kernels/operations/attnres.hpp"

#include <algorithm>

#include "kernels/operations/region_groups.hpp"

namespace depthcost {
namespace {

/// Where b + f goes, if anywhere.
enum class SumTarget { none, partial_sum, bank_row };

template <class T>
SumTarget sum_target(const AttnResSinglePass<T>& op) {
  if (op.layer_output == nullptr || op.store == SumStore::nowhere) return SumTarget::none;
  return op.store == SumStore::bank_row ? SumTarget::bank_row : SumTarget::partial_sum;
}

template <class T, class O>
SumTarget sum_target(const AttnResPhase1<T, O>& op) {
  return op.layer_output == nullptr ? SumTarget::none : SumTarget::bank_row;
}

template <class T>
void adds_outputs(Regions& regions, const AttnResSinglePass<T>& op) {
  regions.writes("output", op.output, {op.num_tokens, op.hidden_size});
}

template <class T, class O>
void adds_outputs(Regions& regions, const AttnResPhase1<T, O>& op) {
  const std::size_t num_left = op.num_queries - 1;
  regions.writes("output", op.output, {op.num_tokens, op.hidden_size});
  regions.writes("outputs", op.outputs, {num_left, op.num_tokens, op.hidden_size});
  regions.writes_inner("maxima", op.maxima, {num_left, op.num_tokens});
  regions.writes_inner("sums", op.sums, {num_left, op.num_tokens});
}

template <class Op>
void check_sources(const Regions& regions, const Op& op) {
  regions.at_least_one("hidden_size", op.hidden_size);
  check_num_bank_sources(regions, op);
  if (op.layer_output != nullptr && op.partial_sum == nullptr)
    regions.fail("layer_output without a partial_sum (must be added to one)");
  if (op.num_bank_sources == 0 && op.partial_sum == nullptr)
    regions.fail("no sources (must be a bank row or a partial_sum)");
  if (sum_target(op) == SumTarget::bank_row) check_free_row(regions, op);
}

/// Bank, b and f. b may be a row of the bank that is not attended to, even the row that b + f is
/// written to.
template <class Op>
void adds_sources(Regions& regions, const Op& op) {
  const std::size_t T = op.num_tokens;
  const std::size_t d = op.hidden_size;
  const SumTarget target = sum_target(op);
  regions.reads("bank", op.bank, {op.num_bank_sources, T, d});
  if (op.layer_output != nullptr) regions.reads("layer_output", op.layer_output, {T, d});
  if (target == SumTarget::bank_row) {
    auto* row = op.bank + op.bank_row * T * d;
    regions.writes_inner("bank_row", row, {T, d});
    if (op.partial_sum == row) return;
  }
  if (op.partial_sum == nullptr) return;
  if (target == SumTarget::partial_sum)
    regions.writes_inner("partial_sum", op.partial_sum, {T, d});
  else
    regions.reads_inner("partial_sum", op.partial_sum, {T, d});
}

template <class T>
void check_variant(const Regions& regions, const AttnResSinglePass<T>& op) {
  const AttentionVariant<T>& variant = op.variant;
  const std::size_t most = std::max<std::size_t>(op.num_bank_sources, 1);
  regions.at_least_one("num_heads", variant.num_heads);
  if (op.hidden_size % variant.num_heads != 0)
    regions.fail("num_heads is " + std::to_string(variant.num_heads) +
                 " (must divide hidden_size, " + std::to_string(op.hidden_size) + ")");
  if (variant.first_recent_row == 0 || variant.first_recent_row > most)
    regions.fail("first_recent_row is " + std::to_string(variant.first_recent_row) +
                 " (must be at least 1 and at most " + std::to_string(most) + ")");
}

}  // namespace

template <class T>
void check(const AttnResSinglePass<T>& op) {
  Regions regions("attnres_single_pass");
  check_sources(regions, op);
  check_variant(regions, op);
  check_outputs_against_bank(regions, op, [&](Regions& outputs) { adds_outputs(outputs, op); });
  adds_sources(regions, op);
  if (op.variant.token_queries != nullptr)
    regions.reads_inner("token_queries", op.variant.token_queries, {op.num_tokens, op.hidden_size});
  else
    regions.reads_inner("query", op.query, {op.hidden_size});
  regions.reads_optional("gain", op.norm.gain, {op.hidden_size});
  adds_outputs(regions, op);
  regions.finish();
}

template <class T, class O>
void check(const AttnResPhase1<T, O>& op) {
  Regions regions("attnres_phase1");
  regions.at_least_one("num_queries", op.num_queries);
  check_sources(regions, op);
  if (op.partial_sum != nullptr && op.layer_output == nullptr)
    regions.fail("partial_sum without a layer_output (must be both or neither)");
  if (op.layer_output != nullptr && op.bank_row != op.num_bank_sources)
    regions.fail("bank_row is " + std::to_string(op.bank_row) +
                 " (must follow the valid rows, be " + std::to_string(op.num_bank_sources) + ")");
  check_outputs_against_bank(regions, op, [&](Regions& outputs) { adds_outputs(outputs, op); });
  adds_sources(regions, op);
  regions.reads_inner("queries", op.queries, {op.num_queries, op.hidden_size});
  regions.reads_optional("gain", op.norm.gain, {op.hidden_size});
  adds_outputs(regions, op);
  regions.finish();
}

template <class T, class O>
void check(const AttnResPhase2<T, O>& op) {
  const std::size_t num_tokens = op.num_tokens;
  const std::size_t d = op.hidden_size;
  Regions regions("attnres_phase2");
  regions.at_least_one("hidden_size", d);
  regions.reads_inner("further_sources", op.further_sources,
                      {op.num_further_sources, num_tokens, d});
  if (op.layer_output != nullptr) {
    regions.reads("layer_output", op.layer_output, {num_tokens, d});
    regions.writes_inner("partial_sum", op.partial_sum, {num_tokens, d});
  } else {
    regions.reads_inner("partial_sum", op.partial_sum, {num_tokens, d});
  }
  regions.reads_inner("phase1_output", op.phase1_output, {num_tokens, d});
  regions.reads_inner("maximum", op.maximum, {num_tokens});
  regions.reads_inner("sum", op.sum, {num_tokens});
  regions.reads_inner("query", op.query, {d});
  regions.reads_optional("gain", op.norm.gain, {d});
  regions.writes("output", op.output, {num_tokens, d});
  regions.finish();
}

template void check(const AttnResSinglePass<float>&);
template void check(const AttnResSinglePass<Bf16>&);
template void check(const AttnResPhase1<float, float>&);
template void check(const AttnResPhase1<Bf16, Bf16>&);
template void check(const AttnResPhase1<Bf16, float>&);
template void check(const AttnResPhase2<float, float>&);
template void check(const AttnResPhase2<Bf16, Bf16>&);
template void check(const AttnResPhase2<Bf16, float>&);

}  // namespace depthcost
