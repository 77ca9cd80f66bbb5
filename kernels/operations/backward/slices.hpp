// Gradients of parameters, which are sums over all tokens.
#pragma once

#include "kernels/operations/operands.hpp"

namespace depthcost {

/// How a backward kernel adds up gradients of parameters without atomics. Slice i of the tokens,
/// [T i / n, T (i + 1) / n), is added up in row i of `sums`; then the n rows are added in order to
/// what the gradients hold. Results depend on n and on nothing else: the same bits from any number
/// of threads. More slices keep more threads busy, and cost `sums` that is written and read once.
template <class P>
struct BasicTokenSlices {
  std::size_t count = 0;  // n >= 1
  P* sums = nullptr;      // (n, parameters of the operation)
};
using TokenSlices = BasicTokenSlices<float>;

struct TokenSlice {
  std::size_t begin = 0;
  std::size_t end = 0;
};

constexpr TokenSlice token_slice(std::size_t num_tokens, std::size_t count, std::size_t index) {
  return {num_tokens * index / count, num_tokens * (index + 1) / count};
}

/// What a kernel does with a gradient of a row that several layers read.
enum class GradientStore {
  overwrite,  // it is the first
  add,        // others have left theirs
};

}  // namespace depthcost
