// Attention residuals.
#include "kernels/c/call.hpp"

namespace depthcost::c {

template <class T>
AttnResSinglePass<T> operation(Type<T> /*storage*/,
                               const depthcost_attnres_single_pass_args& args) {
  return {.num_tokens = args.num_tokens,
          .hidden_size = args.hidden_size,
          .num_bank_rows = args.num_bank_rows,
          .num_bank_sources = args.num_bank_sources,
          .bank = elements<T>(args.bank),
          .partial_sum = elements<T>(args.partial_sum),
          .layer_output = elements<T>(args.layer_output),
          .store = sum_store("attnres_single_pass", args.store),
          .bank_row = args.bank_row,
          .query = args.query,
          .key_eps = args.key_eps,
          .norm = next_norm(args.norm),
          .output = elements<T>(args.output)};
}

template <class T>
AttnResSinglePass<T> operation(Type<T> storage, const depthcost_attnres_variant_args& args) {
  AttnResSinglePass<T> op = operation(storage, args.single_pass);
  op.variant = {.weighting = depth_weighting("attnres_variant", args.weighting),
                .key_norm = key_norm("attnres_variant", args.key_norm),
                .num_heads = args.num_heads,
                .first_recent_row = args.first_recent_row,
                .token_queries = elements<T>(args.token_queries)};
  return op;
}

template <class T, class O>
AttnResPhase1<T, O> operation(Type<T> /*storage*/, Type<O> /*mixes*/,
                              const depthcost_attnres_phase1_args& args) {
  return {.num_tokens = args.num_tokens,
          .hidden_size = args.hidden_size,
          .num_bank_rows = args.num_bank_rows,
          .num_bank_sources = args.num_bank_sources,
          .num_queries = args.num_queries,
          .bank = elements<T>(args.bank),
          .partial_sum = elements<T>(args.partial_sum),
          .layer_output = elements<T>(args.layer_output),
          .bank_row = args.bank_row,
          .queries = args.queries,
          .key_eps = args.key_eps,
          .norm = next_norm(args.norm),
          .output = elements<T>(args.output),
          .outputs = elements<O>(args.outputs),
          .maxima = args.maxima,
          .sums = args.sums};
}

template <class T, class O>
AttnResPhase2<T, O> operation(Type<T> /*storage*/, Type<O> /*mixes*/,
                              const depthcost_attnres_phase2_args& args) {
  return {.num_tokens = args.num_tokens,
          .hidden_size = args.hidden_size,
          .num_further_sources = args.num_further_sources,
          .further_sources = elements<T>(args.further_sources),
          .partial_sum = elements<T>(args.partial_sum),
          .layer_output = elements<T>(args.layer_output),
          .phase1_output = elements<O>(args.phase1_output),
          .maximum = args.maximum,
          .sum = args.sum,
          .query = args.query,
          .key_eps = args.key_eps,
          .norm = next_norm(args.norm),
          .output = elements<T>(args.output)};
}

}  // namespace depthcost::c

using namespace depthcost;

depthcost_status depthcost_attnres_single_pass(const depthcost_target* target,
                                               const depthcost_attnres_single_pass_args* args) {
  return c::call("attnres_single_pass", target, args);
}

depthcost_status depthcost_attnres_variant(const depthcost_target* target,
                                           const depthcost_attnres_variant_args* args) {
  return c::call("attnres_variant", target, args);
}

depthcost_status depthcost_attnres_phase1(const depthcost_target* target,
                                          const depthcost_attnres_phase1_args* args) {
  return c::call("attnres_phase1", target, args);
}

depthcost_status depthcost_attnres_phase2(const depthcost_target* target,
                                          const depthcost_attnres_phase2_args* args) {
  return c::call("attnres_phase2", target, args);
}
