// The backward pass of an RMSNorm. Gradients of parameters are added up over tokens, and are no
// traffic of a token.
#pragma once

#include "kernels/operations/backward/slices.hpp"
#include "kernels/reference/accessor.hpp"

namespace depthcost::reference {

/// Adds `gradient` to what is at `sum`, unless that is null.
template <class P>
void add_parameters(P* sum, const Row& gradient) {
  if (sum == nullptr) return;
  for (std::size_t i = 0; i < gradient.size(); ++i) sum[i] += static_cast<P>(gradient[i]);
}

inline Row product(Row a, const Row& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] *= b[i];
  return a;
}

/// dh of n = h / r, r = sqrt(mean(h^2) + eps):  dh = (dn - h (dn . h) / (d r^2)) / r.
inline Row rms_norm_backward(const Row& h, Row dn, double eps) {
  const double r = root_mean_square(h, eps);
  const double along = dot(dn, h) / (static_cast<double>(h.size()) * r * r);
  add(dn, scaled(-along, h));
  return scaled(1 / r, std::move(dn));
}

/// dh of next_norm(); the gain's gradient sum over tokens of dx o h / r goes to `gain_gradient`.
template <class P>
Row next_norm_backward(const Row& h, const Row& dx, const BasicNextNorm<P>& norm,
                       P* gain_gradient) {
  if (norm.gain == nullptr) return dx;
  add_parameters(gain_gradient, product(dx, rms_norm(h, norm.eps)));
  return rms_norm_backward(h, product(dx, parameters(norm.gain, h.size())), norm.eps);
}

template <class T, class Access>
void store_gradient(Access& access, T* row, Row gradient, GradientStore store) {
  if (store == GradientStore::add) add(gradient, load_row(access, row, gradient.size()));
  store_row(access, row, gradient);
}

}  // namespace depthcost::reference
