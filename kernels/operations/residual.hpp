// The standard residual, and residuals whose terms are scaled or gated.
#pragma once

#include "kernels/operations/row_operation.hpp"

namespace depthcost {

/// The operands of a hidden state that takes in a layer's output and is normalised.
constexpr void normed_update_operands(auto& op, auto& visit) {
  visit.at_least_one("hidden_size", op.hidden_size);
  visit.reads("layer_output", op.layer_output, {op.num_tokens, op.hidden_size});
  visit.reads_inner("gain", op.norm.gain, {op.hidden_size});
  visit.updates_inner("hidden_state", op.hidden_state, {op.num_tokens, op.hidden_size});
  visit.writes("output", op.output, {op.num_tokens, op.hidden_size});
}

/// h += f.
template <class T>
struct ResidualAdd {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  T* hidden_state = nullptr;        // h (T, d), read and written
  const T* layer_output = nullptr;  // f (T, d)

  static constexpr void operands(auto& op, auto& visit) {
    visit.at_least_one("hidden_size", op.hidden_size);
    visit.reads("layer_output", op.layer_output, {op.num_tokens, op.hidden_size});
    visit.updates_inner("hidden_state", op.hidden_state, {op.num_tokens, op.hidden_size});
  }
};

/// h += f; x = norm(h).
template <class T>
struct ResidualAddRmsNorm {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  T* hidden_state = nullptr;        // h (T, d), read and written
  const T* layer_output = nullptr;  // f (T, d)
  BasicNextNorm<Scalar<T>> norm;    // gain is required
  T* output = nullptr;              // x (T, d)

  static constexpr void operands(auto& op, auto& visit) { normed_update_operands(op, visit); }
};

/// h = beta h + lambda o f; x = norm(h). One lambda for all elements: ReZero (arXiv:2003.04887),
/// LAuReL-RW (arXiv:2411.07501); one for each: LayerScale (arXiv:2103.17239).
template <class T>
struct ScaledAddRmsNorm {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  T* hidden_state = nullptr;          // h (T, d), read and written
  const T* layer_output = nullptr;    // f (T, d)
  std::size_t num_scales = 1;         // 1 or d
  const Scalar<T>* scales = nullptr;  // lambda (1) or (d)
  Scalar<T> hidden_scale = 1;         // beta
  BasicNextNorm<Scalar<T>> norm;      // gain is required
  T* output = nullptr;                // x (T, d)

  static constexpr void operands(auto& op, auto& visit) {
    normed_update_operands(op, visit);
    visit.one_or("num_scales", op.num_scales, "hidden_size", op.hidden_size);
    visit.reads_inner("scales", op.scales, {op.num_scales});
    visit.number("hidden_scale", op.hidden_scale);
  }
};

/// g = sigmoid(z); h = (1 - g) o h + g o f; x = norm(h). Highway networks,
/// arXiv:1505.00387.
template <class T>
struct HighwayRmsNorm {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  T* hidden_state = nullptr;        // h (T, d), read and written
  const T* layer_output = nullptr;  // f (T, d)
  const T* gate_logits = nullptr;   // z (T, d)
  BasicNextNorm<Scalar<T>> norm;    // gain is required
  T* output = nullptr;              // x (T, d)

  static constexpr void operands(auto& op, auto& visit) {
    normed_update_operands(op, visit);
    visit.reads("gate_logits", op.gate_logits, {op.num_tokens, op.hidden_size});
  }
};

/// r = (r + b_r) o s_r + (f + b_f) o s_f; x = norm(r). Residual scaling of ZAYA1, whose stream is
/// f32 beside rows of any type; r stays as it is where s_r and b_r are null, as at its first merge.
template <class T>
struct ResidualScalingRmsNorm {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  Scalar<T>* hidden_state = nullptr;         // r (T, d), read and written
  const T* layer_output = nullptr;           // f (T, d)
  const Scalar<T>* hidden_scales = nullptr;  // s_r (d), or null
  const Scalar<T>* hidden_shifts = nullptr;  // b_r (d), null if s_r is
  const Scalar<T>* scales = nullptr;         // s_f (d)
  const Scalar<T>* shifts = nullptr;         // b_f (d)
  BasicNextNorm<Scalar<T>> norm;             // gain is required
  T* output = nullptr;                       // x (T, d)

  static constexpr void operands(auto& op, auto& visit) {
    normed_update_operands(op, visit);
    visit.both_or_none("hidden_scales", op.hidden_scales, "hidden_shifts", op.hidden_shifts);
    visit.reads_optional("hidden_scales", op.hidden_scales, {op.hidden_size});
    visit.reads_optional("hidden_shifts", op.hidden_shifts, {op.hidden_size});
    visit.reads_inner("scales", op.scales, {op.hidden_size});
    visit.reads_inner("shifts", op.shifts, {op.hidden_size});
  }
};

/// Each operation above, with its name. What is made for every operation is made from this list.
#define DEPTHCOST_RESIDUAL_OPERATIONS(X)      \
  X(ResidualAdd, residual_add)                \
  X(ResidualAddRmsNorm, residual_add_rmsnorm) \
  X(ScaledAddRmsNorm, scaled_add_rmsnorm)     \
  X(HighwayRmsNorm, highway_rmsnorm)          \
  X(ResidualScalingRmsNorm, residual_scaling_rmsnorm)

DEPTHCOST_RESIDUAL_OPERATIONS(DEPTHCOST_NAME_OPERATION)

}  // namespace depthcost
