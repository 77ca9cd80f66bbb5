// From gradients of mHC's coefficients to those of z = phi . n, for one token: the scalar side of
// mhc_pre_backward; and its parameters. kernels/operations/backward/mhc.hpp has the equations.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/cpu/primitives/slices.hpp"
#include "kernels/operations/backward/mhc.hpp"

namespace depthcost::cpu {

/// Sinkhorn on one token's logits, and back. Half of the first iteration is done on logits, so that
/// no line vanishes, as the forward kernel does it.
class SinkhornGradient {
 public:
  SinkhornGradient(std::size_t num_streams, std::size_t iterations, SinkhornOrder order)
      : m_(num_streams),
        num_halves_(2 * iterations - 1),
        columns_first_(order == SinkhornOrder::col_row),
        states_((num_halves_ + 1) * m_ * m_),
        log_normed_(m_ * m_) {}

  /// The gradient of H_res becomes that of its logits.
  void run(const double* logits, double* gradient) {
    normalise_logits(logits);
    for (std::size_t half = 0; half < num_halves_; ++half) normalise(half);
    for (std::size_t half = num_halves_; half-- > 0;) normalise_backward(half, gradient);
    for (std::size_t i = 0; i < m_ * m_; ++i) gradient[i] *= states_[i];
    for (std::size_t line = 0; line < m_; ++line) {
      double sum = 0;
      for (std::size_t e = 0; e < m_; ++e) sum += gradient[at(true, line, e)];
      for (std::size_t e = 0; e < m_; ++e) {
        const std::size_t i = at(true, line, e);
        gradient[i] -= std::exp(log_normed_[i]) * sum;
      }
    }
  }

 private:
  /// Element e of a line of the kind that is normalised first, or second.
  std::size_t at(bool is_first, std::size_t line, std::size_t e) const {
    return is_first == columns_first_ ? e * m_ + line : line * m_ + e;
  }
  double* state(std::size_t half) { return states_.data() + half * m_ * m_; }

  void normalise_logits(const double* logits) {
    for (std::size_t line = 0; line < m_; ++line) {
      double largest = logits[at(true, line, 0)];
      for (std::size_t e = 1; e < m_; ++e) largest = std::max(largest, logits[at(true, line, e)]);
      double total = 0;
      for (std::size_t e = 0; e < m_; ++e) total += std::exp(logits[at(true, line, e)] - largest);
      for (std::size_t e = 0; e < m_; ++e) {
        const std::size_t i = at(true, line, e);
        log_normed_[i] = logits[i] - largest - std::log(total);
      }
    }
    for (std::size_t line = 0; line < m_; ++line) {
      double largest = log_normed_[at(false, line, 0)];
      for (std::size_t e = 1; e < m_; ++e)
        largest = std::max(largest, log_normed_[at(false, line, e)]);
      for (std::size_t e = 0; e < m_; ++e) {
        const std::size_t i = at(false, line, e);
        states_[i] = std::exp(log_normed_[i] - largest);
      }
    }
  }

  /// Half 0 is the second half of the first iteration.
  void normalise(std::size_t half) {
    const bool is_first = half % 2 == 1;
    for (std::size_t line = 0; line < m_; ++line) {
      double sum = 0;
      for (std::size_t e = 0; e < m_; ++e) sum += state(half)[at(is_first, line, e)];
      for (std::size_t e = 0; e < m_; ++e) {
        const std::size_t i = at(is_first, line, e);
        state(half + 1)[i] = state(half)[i] / sum;
      }
    }
  }

  /// y = x / sum(x): dx = (dy - dy . y) / sum(x).
  void normalise_backward(std::size_t half, double* gradient) {
    const bool is_first = half % 2 == 1;
    for (std::size_t line = 0; line < m_; ++line) {
      double sum = 0;
      double along = 0;
      for (std::size_t e = 0; e < m_; ++e) {
        const std::size_t i = at(is_first, line, e);
        sum += state(half)[i];
        along += gradient[i] * state(half + 1)[i];
      }
      for (std::size_t e = 0; e < m_; ++e) {
        double& element = gradient[at(is_first, line, e)];
        element = (element - along) / sum;
      }
    }
  }

  std::size_t m_;
  std::size_t num_halves_;
  bool columns_first_;
  std::vector<double> states_;
  std::vector<double> log_normed_;  // logits behind the first half
};

/// Adds the slices' rows to the gradients of all parameters of a mapping, and of the norm.
template <class T>
void add_mapping_slices(const MhcPreBackward<T>& op) {
  const std::size_t rows = num_mapping_rows(op.num_streams);
  const std::size_t of_phi = rows * op.num_streams * op.hidden_size;
  const std::size_t all = num_parameters(op);
  add_slices(op.slices, all, {op.into.phi, 0, of_phi});
  add_slices(op.slices, all, {op.into.bias, of_phi, rows});
  add_slices(op.slices, all, {op.into.scales, of_phi + rows, 3});
  if (op.norm.gain != nullptr)
    add_slices(op.slices, all, {op.gain_gradient, of_phi + rows + 3, op.hidden_size});
}

}  // namespace depthcost::cpu
