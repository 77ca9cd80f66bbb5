// A tensor is copied token by token, and compared as a whole.
#include "microbench/harness/verification.hpp"

#include <cmath>

namespace depthcost::bench {
namespace {

// Finds gross errors only. Two roundings of bf16 are 2^-8 apart at most; what tensor cores make of
// phi differs by 2e-3.
constexpr double kToleranceBf16 = 0x1p-7;
constexpr double kToleranceF32 = 4e-3;

double value_at(const Tensor& tensor, std::size_t i) {
  if (tensor.element == Element::f32) return reinterpret_cast<const float*>(tensor.data)[i];
  return static_cast<float>(reinterpret_cast<const Bf16*>(tensor.data)[i]);
}

double relative_error(const Tensor& actual, const Tensor& expected) {
  double error = 0;
  double norm = 0;
  for (std::size_t i = 0; i < expected.rows * expected.tokens * expected.per_token; ++i) {
    const double wanted = value_at(expected, i);
    const double off = value_at(actual, i) - wanted;
    error += off * off;
    norm += wanted * wanted;
  }
  return norm > 0 ? std::sqrt(error / norm) : std::sqrt(error);
}

}  // namespace

void copy_verified(const Operands& all, Operands& some) {
  for (std::size_t k = 0; k < all.tensors().size(); ++k) {
    const Tensor& from = all.tensors()[k];
    const Tensor& to = some.tensors()[k];
    const std::size_t size = from.bytes_per_token();
    for (std::size_t row = 0; row < from.rows; ++row)
      for (std::size_t t = 0; t < to.tokens; ++t) {
        const std::size_t token = from.tokens * t / to.tokens;
        all.arena().copy_out(to.data + (row * to.tokens + t) * size,
                             from.data + (row * from.tokens + token) * size, size);
      }
  }
}

std::optional<std::string> difference(const Operands& actual, const Operands& expected) {
  for (std::size_t k = 0; k < expected.tensors().size(); ++k) {
    const Tensor& wanted = expected.tensors()[k];
    if (!wanted.is_compared) continue;
    const double error = relative_error(actual.tensors()[k], wanted);
    const double tolerance = wanted.element == Element::f32 ? kToleranceF32 : kToleranceBf16;
    if (!(error <= tolerance))
      return "tensor " + std::to_string(k) + ": relative error " + std::to_string(error);
  }
  return std::nullopt;
}

}  // namespace depthcost::bench
