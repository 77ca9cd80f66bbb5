// A struct of the C interface and the operation that it describes have members of the same names.
#pragma once

/// Calls X(member) for every name that a struct may share with its operation.
// clang-format off
#define DEPTHCOST_MEMBERS(X)                                                                      \
  X(num_tokens) X(hidden_size) X(num_streams) X(num_sources) X(num_scales) X(num_bank_rows)       \
  X(num_bank_sources) X(num_queries) X(num_further_sources) X(count) X(iterations)                        \
  X(hidden_state) X(layer_output) X(gate_logits) X(scales) X(hidden_scale)                        \
  X(shifts) X(hidden_scales) X(hidden_shifts)                                                     \
  X(num_copies) X(rank) X(copies) X(router) X(coefficients) X(down) X(up) X(laurel) X(middle)     \
  X(output_norm)                                                                                  \
  X(bank) X(bank_row) X(partial_sum) X(store) X(further_sources) X(phase1_output)                 \
  X(query) X(queries) X(key_eps) X(maximum) X(sum) X(outputs) X(maxima) X(sums)                   \
  X(streams) X(pre) X(post) X(residual) X(mapping)                                                \
  X(next_streams) X(next_pre) X(next_post) X(next_residual) X(matrices) X(order)                  \
  X(inject) X(gain) X(inject_weights) X(eps)                                                      \
  X(inverse_rms) X(activation) X(next_inject) X(num_outputs) X(function) X(gates)                 \
  X(weights) X(mixed) X(input) X(sources) X(stack) X(keys) X(logits) X(spread)                    \
  X(output_gradient) X(gradient) X(gain_gradient) X(bank_gradients) X(partial_gradient)           \
  X(query_gradient) X(query_gradients) X(mix) X(mix_gradient) X(mix_gradients) X(log_sum)          \
  X(log_sums) X(product) X(products) X(gradients) X(layer_gradient) X(post_gradients)              \
  X(residual_gradients) X(projection_gradients) X(into) X(slices)                                 \
  X(next_post_gradients) X(next_residual_gradients)                                               \
  X(norm) X(output)
// clang-format on
