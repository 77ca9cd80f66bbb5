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

/// The operands of an operation in their roles. What it reads beside the stream and the layer's
/// output is what the kernel before has written.
class RowRoles : public IgnoresSizes {
 public:
  std::array<OperandTraffic, 5> operands{};
  std::size_t num_reads = 0;  // rows

  constexpr void reads(std::string_view name, const void* /*operand*/, OperandShape shape) {
    if (shape.size() == 2) add({name == "layer_output" ? name : "recent", 1, 0});
  }
  constexpr void reads_inner(std::string_view name, const void* operand, OperandShape shape) {
    reads(name, operand, shape);
  }
  constexpr void updates_inner(std::string_view name, const void* /*operand*/,
                               OperandShape /*shape*/) {
    add({name, 1, 1});
  }
  constexpr void writes(std::string_view /*name*/, const void* /*operand*/,
                        OperandShape /*shape*/) {
    add({"layer_input", 0, 1});
  }

 private:
  std::size_t num_operands_ = 0;

  constexpr void add(const OperandTraffic& traffic) {
    operands[num_operands_++] = traffic;
    num_reads += traffic.reads_d > 0 ? 1 : 0;
  }
};

/// A row that is combined from others, which are all read at once, and its norm.
template <template <class> class Op, class T>
requires RowOperation<Op<T>>
constexpr Descriptor descriptor(const Op<T>& op) {
  RowRoles roles;
  Op<T>::operands(op, roles);
  Descriptor it =
      combined_row(kOperationName<Op<T>>, vectors_of<T>(op.hidden_size), roles.num_reads);
  it.operands = roles.operands;
  return it;
}

}  // namespace depthcost::cuda
