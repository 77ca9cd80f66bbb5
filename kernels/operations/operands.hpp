// What arguments of several operations have in common: parameter types, norms, rows of a bank.
#pragma once

#include <cstddef>
#include <limits>

namespace depthcost {

/// Type of the parameters (queries, gains, phi) and statistics (m, l, logits, mHC coefficients)
/// beside d-vectors of T: float, and double in the reference's own float64.
template <class T>
struct ScalarOf {
  using type = float;
};
template <>
struct ScalarOf<double> {
  using type = double;
};
template <class T>
using Scalar = typename ScalarOf<T>::type;

/// The eps of every RMSNorm, if nothing else is said.
template <class P>
inline constexpr P kNormEps = static_cast<P>(1e-6);

/// The RMSNorm in front of the next layer: x / sqrt(mean(x^2) + eps) * gain.
template <class P>
struct BasicNextNorm {
  const P* gain = nullptr;  // (d)
  P eps = kNormEps<P>;
};
using NextNorm = BasicNextNorm<float>;

/// In place of the index of a row in a bank: no row.
inline constexpr std::size_t kNoRow = std::numeric_limits<std::size_t>::max();

}  // namespace depthcost
