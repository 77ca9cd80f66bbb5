// Operands of the ablations of AttnRes in any shape.
#pragma once

#include "tests/kernels/cpu/attnres_problems.hpp"

namespace depthcost::test {

struct VariantShape : SinglePassShape {
  std::size_t num_heads;
  std::size_t keys;  // 0 the row, 1 each head, 2 nothing
  std::size_t is_sigmoid;
  std::size_t by_token;

  KeyNorm key_norm() const {
    if (keys == 0) return KeyNorm::row;
    return keys == 1 ? KeyNorm::head : KeyNorm::none;
  }
  /// Sources are up to four times as large as a key.
  double largest_logit() const {
    return key_norm() == KeyNorm::none ? 4 * kLargestLogit : kLargestLogit;
  }
};

template <class T>
struct VariantProblem : SinglePassProblem<T> {
  Tensor<T> token_queries;

  explicit VariantProblem(const VariantShape& shape)
      : SinglePassProblem<T>(shape), token_queries(1, shape.num_tokens, shape.hidden_size) {
    fill(token_queries, 9, kLogitScale * std::sqrt(3.0F / static_cast<float>(shape.hidden_size)));
    this->op.variant = {
        .weighting = shape.is_sigmoid != 0 ? DepthWeighting::sigmoid : DepthWeighting::softmax,
        .key_norm = shape.key_norm(),
        .num_heads = shape.num_heads};
    if (shape.by_token == 0) return;
    this->op.variant.token_queries = token_queries.data();
    this->op.query = nullptr;
  }
};

}  // namespace depthcost::test
