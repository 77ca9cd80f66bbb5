// From scores and gradients of a mix to what each source and the query get: the scalar side of the
// backward pass of attention over depth. kernels/operations/backward/attnres.hpp has the equations.
#pragma once

#include "kernels/cpu/primitives/score.hpp"

namespace depthcost::cpu {

/// dv = of_mix dh + of_query w + of_source v; dw gets of_query v. Whole numbers of them fill a
/// line.
struct alignas(16) SourceGradient {
  float of_mix = 0;
  float of_query = 0;
  float of_source = 0;
};

/// The gradient of a source with weight p, whose score is given, from dh . v - dh . h.
inline SourceGradient source_gradient(Score score, std::size_t hidden_size, float eps, float weight,
                                      double beyond_mean) {
  const double inverse = inverse_rms(score.squares, hidden_size, eps);
  const double of_score = static_cast<double>(weight) * beyond_mean;
  const double s = static_cast<double>(score.dot) * inverse;
  const double of_source = -of_score * s * inverse * inverse / static_cast<double>(hidden_size);
  return {weight, static_cast<float>(of_score * inverse), static_cast<float>(of_source)};
}

}  // namespace depthcost::cpu
