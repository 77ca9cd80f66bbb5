// AltUp with LAuReL on the CPU. It stands apart from run.hpp as gated_residual.hpp does.
#pragma once

#include "kernels/operations/altup.hpp"
#include "kernels/operations/bf16.hpp"

namespace depthcost::cpu {

/// Tokens that share each block of LAuReL's matrices. [ours]
inline constexpr std::size_t kLaurelTokens = 16;
/// Columns of L that are in L1 when the tokens meet them. [ours]
inline constexpr std::size_t kLaurelColumns = 512;
/// Rows of R whose products with the tokens wait together. [ours]
inline constexpr std::size_t kLaurelRows = 64;

/// As the operations of run.hpp.
template <class T>
void run(const AltupPredict<T>& op);
template <class T>
void run(const AltupLaurel<T>& op);
template <class T>
void run(const AltupMiddle<T>& op);
template <class T>
void run(const AltupCorrect<T>& op);

}  // namespace depthcost::cpu
