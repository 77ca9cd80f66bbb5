// The pieces that eager mode launches.
#include "kernels/c/depthcost_unfused.h"

#include "kernels/c/call.hpp"

namespace depthcost::c {

template <class T>
UnfusedRmsNorm<T> operation(Type<T> /*storage*/, const depthcost_unfused_rmsnorm_args& args) {
  return {.num_tokens = args.num_tokens,
          .hidden_size = args.hidden_size,
          .input = elements<T>(args.input),
          .norm = next_norm(args.norm),
          .output = elements<T>(args.output)};
}

template <class T>
UnfusedStack<T> operation(Type<T> /*storage*/, const depthcost_unfused_stack_args& args) {
  return {.num_tokens = args.num_tokens,
          .hidden_size = args.hidden_size,
          .num_sources = args.num_sources,
          .sources = reinterpret_cast<const T* const*>(args.sources),
          .stack = elements<T>(args.stack)};
}

template <class T>
UnfusedKeyNorm<T> operation(Type<T> /*storage*/, const depthcost_unfused_key_norm_args& args) {
  return {.num_tokens = args.num_tokens,
          .hidden_size = args.hidden_size,
          .num_sources = args.num_sources,
          .stack = elements<T>(args.stack),
          .key_eps = args.key_eps,
          .keys = elements<T>(args.keys)};
}

template <class T>
UnfusedScores<T> operation(Type<T> /*storage*/, const depthcost_unfused_scores_args& args) {
  return {.num_tokens = args.num_tokens,
          .hidden_size = args.hidden_size,
          .num_sources = args.num_sources,
          .keys = elements<T>(args.keys),
          .query = args.query,
          .logits = args.logits};
}

template <class T>
UnfusedMix<T> operation(Type<T> /*storage*/, const depthcost_unfused_mix_args& args) {
  return {.num_tokens = args.num_tokens,
          .hidden_size = args.hidden_size,
          .num_sources = args.num_sources,
          .stack = elements<T>(args.stack),
          .logits = args.logits,
          .output = elements<T>(args.output)};
}

template <class T>
UnfusedMhcCoefficients<T> operation(Type<T> /*storage*/,
                                    const depthcost_unfused_mhc_coefficients_args& args) {
  return {.num_tokens = args.num_tokens,
          .hidden_size = args.hidden_size,
          .num_streams = args.num_streams,
          .streams = elements<T>(args.streams),
          .mapping = mhc_mapping("unfused_mhc_coefficients", args.mapping),
          .pre = args.pre,
          .post = args.post,
          .residual = args.residual};
}

template <class T>
UnfusedMhcPre<T> operation(Type<T> /*storage*/, const depthcost_unfused_mhc_pre_args& args) {
  return {.num_tokens = args.num_tokens,
          .hidden_size = args.hidden_size,
          .num_streams = args.num_streams,
          .streams = elements<T>(args.streams),
          .pre = args.pre,
          .output = elements<T>(args.output)};
}

template <class T>
UnfusedMhcPost<T> operation(Type<T> /*storage*/, const depthcost_unfused_mhc_post_args& args) {
  return {.num_tokens = args.num_tokens,
          .hidden_size = args.hidden_size,
          .num_streams = args.num_streams,
          .layer_output = elements<T>(args.layer_output),
          .post = args.post,
          .spread = elements<T>(args.spread)};
}

template <class T>
UnfusedMhcResidual<T> operation(Type<T> /*storage*/,
                                const depthcost_unfused_mhc_residual_args& args) {
  return {.num_tokens = args.num_tokens,
          .hidden_size = args.hidden_size,
          .num_streams = args.num_streams,
          .streams = elements<T>(args.streams),
          .residual = args.residual,
          .mixed = elements<T>(args.mixed)};
}

template <class T>
UnfusedMhcMerge<T> operation(Type<T> /*storage*/, const depthcost_unfused_mhc_merge_args& args) {
  return {.num_tokens = args.num_tokens,
          .hidden_size = args.hidden_size,
          .num_streams = args.num_streams,
          .mixed = elements<T>(args.mixed),
          .spread = elements<T>(args.spread),
          .next_streams = elements<T>(args.next_streams)};
}

}  // namespace depthcost::c

using namespace depthcost;

depthcost_status depthcost_unfused_rmsnorm(const depthcost_target* target,
                                           const depthcost_unfused_rmsnorm_args* args) {
  return c::call("unfused_rmsnorm", target, args);
}

depthcost_status depthcost_unfused_stack(const depthcost_target* target,
                                         const depthcost_unfused_stack_args* args) {
  return c::call("unfused_stack", target, args);
}

depthcost_status depthcost_unfused_key_norm(const depthcost_target* target,
                                            const depthcost_unfused_key_norm_args* args) {
  return c::call("unfused_key_norm", target, args);
}

depthcost_status depthcost_unfused_scores(const depthcost_target* target,
                                          const depthcost_unfused_scores_args* args) {
  return c::call("unfused_scores", target, args);
}

depthcost_status depthcost_unfused_mix(const depthcost_target* target,
                                       const depthcost_unfused_mix_args* args) {
  return c::call("unfused_mix", target, args);
}

depthcost_status depthcost_unfused_mhc_coefficients(
    const depthcost_target* target, const depthcost_unfused_mhc_coefficients_args* args) {
  return c::call("unfused_mhc_coefficients", target, args);
}

depthcost_status depthcost_unfused_mhc_pre(const depthcost_target* target,
                                           const depthcost_unfused_mhc_pre_args* args) {
  return c::call("unfused_mhc_pre", target, args);
}

depthcost_status depthcost_unfused_mhc_post(const depthcost_target* target,
                                            const depthcost_unfused_mhc_post_args* args) {
  return c::call("unfused_mhc_post", target, args);
}

depthcost_status depthcost_unfused_mhc_residual(const depthcost_target* target,
                                                const depthcost_unfused_mhc_residual_args* args) {
  return c::call("unfused_mhc_residual", target, args);
}

depthcost_status depthcost_unfused_mhc_merge(const depthcost_target* target,
                                             const depthcost_unfused_mhc_merge_args* args) {
  return c::call("unfused_mhc_merge", target, args);
}
