// Checks the result of a timed kernel: a fast but wrong kernel has a good bandwidth, too.
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "kernels/reference/run.hpp"
#include "microbench/harness/filled_operands.hpp"

namespace depthcost::bench {

/// Number of tokens that are compared, spread over all tokens.
inline constexpr std::size_t kVerifiedTokens = 8;

/// Copies the verified tokens of `all`, and the parameters, into `some`: same tensors, fewer
/// tokens.
void copy_verified(const Operands& all, Operands& some);

/// Returns what differs, "tensor 3: relative error 0.2", or nothing where every tensor agrees
/// within the rounding of its type. `actual` and `expected` have the same tensors. What a
/// few tokens cannot tell is left out: sums over all of them.
std::optional<std::string> difference(const Operands& actual, const Operands& expected);

/// The operands of one call, and the call.
template <class Op>
struct Call {
  Operands operands;
  Op op;
};

template <class Op, class Make>
Call<Op> make_call(const Make& make, Arena& arena, std::size_t num_tokens) {
  Call<Op> call{Operands(arena, num_tokens), {}};
  call.op = make(call.operands);
  return call;
}

/// Runs `call` once more, and the reference on some of its tokens. Tests prove kernels; this finds
/// a kernel that fails on this machine at this shape.
template <class Op, class Make, class Run>
std::optional<std::string> verify(Call<Op>& call, const Make& make, const Run& run, Arena& host) {
  const std::size_t tokens = std::min(call.operands.num_tokens(), kVerifiedTokens);
  auto expected = make_call<Op>(make, host, tokens);
  copy_verified(call.operands, expected.operands);
  run(call.op);
  reference::run(expected.op);
  auto actual = make_call<Op>(make, host, tokens);
  copy_verified(call.operands, actual.operands);
  return difference(actual.operands, expected.operands);
}

}  // namespace depthcost::bench
