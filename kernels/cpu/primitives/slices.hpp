// Gradients of parameters, added up by slices of tokens: TokenSlices of
// kernels/operations/backward/slices.hpp.
#pragma once

#include <cstring>

#include "kernels/cpu/primitives/threads.hpp"
#include "kernels/cpu/primitives/workspace.hpp"
#include "kernels/operations/backward/slices.hpp"

namespace depthcost::cpu {

/// run(tokens, sums) for every slice: `sums` is its row of `num_parameters` zeros.
template <class Run>
void for_each_slice(const TokenSlices& slices, std::size_t num_tokens, std::size_t num_parameters,
                    std::size_t bytes_per_token, const Run& run) {
  const std::size_t bytes = (num_tokens * bytes_per_token + slices.count - 1) / slices.count;
  for_each_range(slices.count, bytes, [&](TokenRange range) {
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const TokenSlice slice = token_slice(num_tokens, slices.count, i);
      float* sums = slices.sums + i * num_parameters;
      std::memset(sums, 0, num_parameters * sizeof(float));
      if (slice.begin < slice.end) run(TokenRange{slice.begin, slice.end}, sums);
    }
  });
}

/// Gradients of one parameter of the operation: `size` columns of the slices' rows.
struct ParameterGradient {
  float* to = nullptr;  // added to
  std::size_t first_column = 0;
  std::size_t size = 0;
};

/// Adds the slices' rows to a gradient, in order.
inline void add_slices(const TokenSlices& slices, std::size_t num_parameters,
                       const ParameterGradient& gradient) {
  const float* sums = slices.sums + gradient.first_column;
  for_each_range(gradient.size, (slices.count + 2) * sizeof(float), [&](TokenRange columns) {
    constexpr std::size_t kColumns = 256;  // stay in L1 while the rows go by
    for (std::size_t first = columns.begin; first < columns.end; first += kColumns) {
      const std::size_t last = std::min(first + kColumns, columns.end);
      for (std::size_t i = 0; i < slices.count; ++i)
        for (std::size_t column = first; column < last; ++column)
          gradient.to[column] += sums[i * num_parameters + column];
    }
  });
}

}  // namespace depthcost::cpu
