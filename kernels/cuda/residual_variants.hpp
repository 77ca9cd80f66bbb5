// The variants of standard, scaled and gated residuals.
#pragma once

#include "kernels/cuda/descriptor.hpp"
#include "kernels/operations/residual.hpp"

namespace depthcost::cuda {

template <class T>
constexpr Descriptor descriptor(const ResidualAdd<T>&) {
  return {.operation = "residual_add",
          .variant = "vectors",
          .skeleton = Skeleton::elementwise,
          .operands = {{{"layer_output", 1, 0}, {"hidden_state", 1, 1}}},
          .bytes_in_flight_per_cta = std::size_t{kAddThreads} * kAddVectors * 2 * 16};
}

template <class T>
constexpr Descriptor descriptor(const ResidualAddRmsNorm<T>& op) {
  const RowPlan plan = row_plan(vectors_of<T>(op.hidden_size));
  return {.operation = "residual_add_rmsnorm",
          .variant = name(plan.variant),
          .operands = {{{"layer_output", 1, 0}, {"hidden_state", 1, 1}, {"layer_input", 0, 1}}},
          .bytes_in_flight_per_cta = bytes_in_flight(plan, 2)};
}

/// The operands of an operation on rows of T in their roles. What it reads beside the stream and
/// the layer's output is what the kernel before has written. Rows of a wider type count as more.
template <class T>
class RowRoles : public IgnoresSizes {
 public:
  std::array<OperandTraffic, 5> operands{};
  std::size_t num_reads = 0;  // rows

  template <class P>
  constexpr void reads(std::string_view name, const P* /*operand*/, OperandShape shape) {
    if (shape.size() == 2) add({name == "layer_output" ? name : "recent", kRows<P>, 0});
  }
  template <class P>
  constexpr void reads_inner(std::string_view name, const P* operand, OperandShape shape) {
    reads(name, operand, shape);
  }
  template <class P>
  constexpr void reads_optional(std::string_view name, const P* operand, OperandShape shape) {
    reads(name, operand, shape);
  }
  template <class P>
  constexpr void updates_inner(std::string_view name, const P* /*operand*/,
                               OperandShape /*shape*/) {
    add({name, kRows<P>, kRows<P>});
  }
  template <class P>
  constexpr void writes(std::string_view /*name*/, const P* /*operand*/, OperandShape /*shape*/) {
    add({"layer_input", 0, kRows<P>});
  }

 private:
  template <class P>
  static constexpr std::size_t kRows = sizeof(P) / sizeof(T);

  std::size_t num_operands_ = 0;

  constexpr void add(const OperandTraffic& traffic) {
    operands[num_operands_++] = traffic;
    num_reads += static_cast<std::size_t>(traffic.reads_d);
  }
};

/// A row that is combined from others, which are all read at once, and its norm.
template <template <class> class Op, class T>
requires RowOperation<Op<T>>
constexpr Descriptor descriptor(const Op<T>& op) {
  RowRoles<T> roles;
  Op<T>::operands(op, roles);
  Descriptor it =
      combined_row(kOperationName<Op<T>>, vectors_of<T>(op.hidden_size), roles.num_reads);
  it.operands = roles.operands;
  return it;
}

}  // namespace depthcost::cuda
