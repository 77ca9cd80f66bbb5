// What LAuReL loses on a CPU whose tiles take it.
#pragma once

#include "kernels/cpu/primitives/matrix_units.hpp"
#include "tests/kernels/cpu/altup_problems.hpp"

namespace depthcost::test {

/// Tiles take L, R and L x as sums of two of bf16, each within 2^-17 of its number. The norm of R L
/// x has a mean square of one, and its gains are below one: the errors of its terms average to less
/// than 2^-16.
inline double lost_of_terms(const AltupLaurelProblem<Bf16>& /*problem*/) {
  return cpu::has_tiles() ? 0x1p-16 : 0;
}

}  // namespace depthcost::test
