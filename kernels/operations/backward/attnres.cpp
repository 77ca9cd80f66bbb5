#include "kernels/operations/backward/attnres.hpp"

#include "kernels/operations/backward/region_groups.hpp"
#include "kernels/operations/bf16.hpp"

namespace depthcost {

template <class T>
void check(const AttnResSinglePassBackward<T>& op) {
  const std::size_t tokens = op.num_tokens;
  const std::size_t d = op.hidden_size;
  Regions regions("attnres_single_pass_backward");
  regions.at_least_one("hidden_size", d);
  if (op.num_bank_sources == 0 && op.partial_sum == nullptr)
    regions.fail("no sources (must be a bank row or a partial_sum)");
  regions.both_or_none("partial_sum", op.partial_sum, "partial_gradient", op.partial_gradient);
  regions.reads("bank", op.bank, {op.num_bank_sources, tokens, d});
  regions.reads_optional("partial_sum", op.partial_sum, {tokens, d});
  regions.reads("output_gradient", op.output_gradient, {tokens, d});
  regions.reads_inner("query", op.query, {d});
  regions.writes("bank_gradients", op.bank_gradients, {op.num_bank_sources, tokens, d});
  if (op.partial_sum != nullptr)
    regions.writes_inner("partial_gradient", op.partial_gradient, {tokens, d});
  regions.writes_inner("query_gradient", op.query_gradient, {d});
  updates_norm_gain(regions, op);
  writes_slices(regions, op);
  regions.finish();
}

template <class T>
void check(const AttnResPhase2Backward<T>& op) {
  const std::size_t tokens = op.num_tokens;
  const std::size_t d = op.hidden_size;
  Regions regions("attnres_phase2_backward");
  regions.at_least_one("hidden_size", d);
  regions.reads_inner("partial_sum", op.partial_sum, {tokens, d});
  regions.reads_inner("mix", op.mix, {tokens, d});
  regions.reads_inner("log_sum", op.log_sum, {tokens});
  regions.reads_inner("query", op.query, {d});
  regions.writes_inner("mix_gradient", op.mix_gradient, {tokens, d});
  regions.writes_inner("partial_gradient", op.partial_gradient, {tokens, d});
  regions.writes_inner("product", op.product, {tokens});
  regions.writes_inner("query_gradient", op.query_gradient, {d});
  updates_norm_gain(regions, op);
  writes_slices(regions, op);
  regions.finish();
}

template <class T>
void check(const AttnResPhase1Backward<T>& op) {
  const std::size_t tokens = op.num_tokens;
  const std::size_t d = op.hidden_size;
  Regions regions("attnres_phase1_backward");
  regions.at_least_one("hidden_size", d);
  regions.at_least_one("num_bank_sources", op.num_bank_sources);
  regions.at_least_one("num_queries", op.num_queries);
  regions.reads("bank", op.bank, {op.num_bank_sources, tokens, d});
  regions.reads("mix_gradients", op.mix_gradients, {op.num_queries, tokens, d});
  regions.reads_inner("log_sums", op.log_sums, {op.num_queries, tokens});
  regions.reads_inner("products", op.products, {op.num_queries - 1, tokens});
  regions.reads_inner("queries", op.queries, {op.num_queries, d});
  regions.writes("bank_gradients", op.bank_gradients, {op.num_bank_sources, tokens, d});
  regions.writes_inner("query_gradients", op.query_gradients, {op.num_queries, d});
  updates_norm_gain(regions, op);
  writes_slices(regions, op);
  regions.finish();
}

#define DEPTHCOST_DEFINE_CHECK(Op, name) \
  template void check(const Op<float>&); \
  template void check(const Op<Bf16>&);
DEPTHCOST_ATTNRES_BACKWARD_OPERATIONS(DEPTHCOST_DEFINE_CHECK)
#undef DEPTHCOST_DEFINE_CHECK

}  // namespace depthcost
