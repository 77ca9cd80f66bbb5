// The variants of AltUp with LAuReL.
#pragma once

#include "kernels/cuda/descriptor.hpp"
#include "kernels/operations/altup.hpp"

namespace depthcost::cuda {

/// `operands` of a CTA that has `rows` vectors of each thread on their way.
constexpr Descriptor altup_descriptor(std::string_view operation, std::size_t vectors,
                                      std::size_t rows,
                                      const std::array<OperandTraffic, 5>& operands) {
  return {.operation = operation,
          .variant = vectors > 0 ? "vectors" : "scalar",
          .operands = operands,
          .bytes_in_flight_per_cta = vectors > 0 ? kAltupThreads * rows * 16 : 0};
}

/// Vectors of a row where a router's kernel has registers for this many copies.
template <class T>
constexpr std::size_t altup_vectors(std::size_t hidden_size, std::size_t num_copies) {
  return num_copies > kAltupFewCopies ? 0 : vectors_of<T>(hidden_size);
}

template <class T>
constexpr Descriptor descriptor(const AltupPredict<T>& op) {
  const double A = count(op.num_copies);
  return altup_descriptor("altup_predict", altup_vectors<T>(op.hidden_size, op.num_copies),
                          op.num_copies, {{{"streams", A, A}, {"layer_input", 0, 1}}});
}

template <class T>
constexpr Descriptor descriptor(const AltupLaurel<T>& op) {
  return altup_descriptor("altup_laurel", vectors_of<T>(op.hidden_size), kAltupTokens,
                          {{{"layer_input", 1, 0}, {"recent", 0, 1}}});
}

template <class T>
constexpr Descriptor descriptor(const AltupMiddle<T>& op) {
  return altup_descriptor(
      "altup_middle", vectors_of<T>(op.hidden_size), 3,
      {{{"layer_output", 1, 0}, {"streams", 1, 0}, {"recent", 1, 1}, {"layer_input", 0, 1}}});
}

template <class T>
constexpr Descriptor descriptor(const AltupCorrect<T>& op) {
  const double A = count(op.num_copies);
  return altup_descriptor("altup_correct", altup_vectors<T>(op.hidden_size, op.num_copies), 3,
                          {{{"layer_output", 1, 0}, {"recent", 1, 0}, {"streams", A, A}}});
}

}  // namespace depthcost::cuda
