// The variants of mixing over depth with weights that do not depend on the input.
#pragma once

#include "kernels/cuda/descriptor.hpp"
#include "kernels/operations/dense_mix.hpp"

namespace depthcost::cuda {

template <class T>
constexpr Descriptor descriptor(const DenseMix<T>& op) {
  Descriptor it = combined_row("dense_mix", vectors_of<T>(op.hidden_size), op.num_bank_sources + 1);
  const double hidden_reads = op.hidden_state != nullptr ? 1 : 0;
  const double hidden_writes = op.mixed != nullptr ? 1 : 0;
  const double bank_writes = op.bank_row != kNoRow ? 1 : 0;
  it.operands = {{{"bank", count(op.num_bank_sources), bank_writes},
                  {"hidden_state", hidden_reads, hidden_writes},
                  {"layer_output", 1, 0},
                  {"layer_input", 0, 1}}};
  return it;
}

}  // namespace depthcost::cuda
