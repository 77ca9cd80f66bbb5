// Fitted constants with round numbers, for tests of what uses them.
#pragma once

#include "model/machine/few_tokens.hpp"

namespace depthcost::test {

template <class Q>
Estimate<Q> with_ends(double low, double value, double high) {
  return {Q{low}, Q{value}, Q{high}, Evidence::published};
}

inline Constants constants() {
  Constants constants{.name = "round",
                      .left_out = "",
                      .architectures = {{"hopper", 1}},
                      .memory = "hbm",
                      .kernels = {},
                      .engine = {}};
  KernelConstants& kernels = constants.kernels;
  kernels.loop_draw = {40e9};
  kernels.coefficient_step = {1e-6};
  kernels.sinkhorn_step = {4e-6};
  kernels.projection_reuse = 1.5;
  kernels.ring_draw = with_ends<BytesPerSecond>(160e9, 240e9, 400e9);
  kernels.folded_call = with_ends<Seconds>(0.7e-6, 1.4e-6, 2.6e-6);
  kernels.folded_call_ahead = with_ends<Seconds>(0.5e-6, 1.0e-6, 1.8e-6);
  kernels.errors = {{{with_ends<double>(0.8, 1, 1.25), with_ends<double>(0.9, 1, 1.1)},
                     {with_ends<double>(0.7, 1, 1.5), with_ends<double>(0.8, 1, 1.25)},
                     {with_ends<double>(0.5, 1, 4), with_ends<double>(0.6, 1, 2)}}};
  kernels.stacks[static_cast<std::size_t>(Implementation::vllm)] = {with_ends<double>(1, 1.25, 1.5),
                                                                    with_ends<double>(1, 1.5, 2)};
  EngineConstants& engine = constants.engine;
  engine.attention = {{8e-6}, 0.9};
  engine.mlp = {{6e-6}, 1};
  engine.errors.fill(with_ends<double>(0.75, 1, 1.4));
  engine.floor_of_launched_ahead = 0.7;
  engine.sequence_time = Seconds{20e-6};
  engine.sustained_rate = with_ends<double>(0.4, 0.65, 0.8);
  engine.prefill_of_experts = with_ends<double>(1.5, 2, 2.6);
  engine.training = {0.6, 0.4, 0.2, {}};
  engine.training.errors.fill(with_ends<double>(0.75, 1, 1.4));
  return constants;
}

/// A part that runs the kernels that were fitted.
inline FewTokens few_tokens(Count num_multiprocessors, const KernelStyle& style,
                            Kinship kinship = Kinship::same_architecture) {
  return depthcost::few_tokens(num_multiprocessors, style, constants(), "hopper", kinship);
}

}  // namespace depthcost::test
