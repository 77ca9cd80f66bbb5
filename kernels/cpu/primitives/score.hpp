// From dot products to softmax weights: the scalar side of attention over depth, Eq. 2 of
// arXiv:2603.15031v1.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace depthcost::cpu {

/// w . v and v . v of a source v.
struct Score {
  float dot = 0;
  float squares = 0;
};

/// 1 / sqrt(mean(x^2) + eps). In double: a logit of 700 leaves no room for another rounding.
inline double inverse_rms(float squares, std::size_t hidden_size, float eps) {
  return 1 / std::sqrt(static_cast<double>(squares) / static_cast<double>(hidden_size) +
                       static_cast<double>(eps));
}

/// w . RMSNorm(v).
inline float logit(Score score, std::size_t hidden_size, float eps) {
  return static_cast<float>(static_cast<double>(score.dot) *
                            inverse_rms(score.squares, hidden_size, eps));
}

struct SoftmaxState {
  float maximum = 0;  // m
  double sum = 0;     // l = sum_i e^{s_i - m}
};

/// logits -> e^{s_i - m}, in place.
inline SoftmaxState exponentials(float* logits, std::size_t count) {
  SoftmaxState state{*std::max_element(logits, logits + count), 0};
  for (std::size_t i = 0; i < count; ++i) {
    logits[i] = std::exp(logits[i] - state.maximum);
    state.sum += static_cast<double>(logits[i]);
  }
  return state;
}

/// logits -> e^{s_i} / sum_j e^{s_j}, in place.
inline void softmax(float* logits, std::size_t count) {
  const double scale = 1 / exponentials(logits, count).sum;
  for (std::size_t i = 0; i < count; ++i)
    logits[i] = static_cast<float>(static_cast<double>(logits[i]) * scale);
}

}  // namespace depthcost::cpu
