// Gated Residual on the CPU. It stands apart from run.hpp until benchmarks measure it: what every
// measured kernel includes is part of the hash by which tables of measurements become stale.
#pragma once

#include "kernels/operations/gated_residual.hpp"

namespace depthcost::cpu {

/// Tokens that share each block of the matrices. [ours]
inline constexpr std::size_t kGateTokens = 32;
/// Rows and columns of such a block: with the tokens' columns it stays in L2. [ours]
inline constexpr std::size_t kGateRows = 64;
inline constexpr std::size_t kGateColumns = 512;

/// As the operations of run.hpp.
template <class T>
void run(const GatedApplyDown<T>& op);
template <class T>
void run(const GatedUpMix<T>& op);

}  // namespace depthcost::cpu
