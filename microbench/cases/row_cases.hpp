// Operations on rows, each with the operands that it names.
#pragma once

#include <string_view>
#include <type_traits>

#include "kernels/operations/operations.hpp"
#include "microbench/cases/case_shape.hpp"

namespace depthcost::bench {

/// One parameter for each element, where an operation also takes one for all. Memory for slices is
/// as large as their number says.
template <class Visit>
struct LargestOperands : EachOperand<Visit> {
  Operands* memory;

  LargestOperands(const Visit& take, Operands& o) : EachOperand<Visit>(take), memory(&o) {}
  template <class P>
  void writes(const char* name, P*& operand, OperandShape shape) const {
    if constexpr (std::is_same_v<P, float>) {
      if (std::string_view(name) == "sums") {
        operand = memory->token_sums(*shape.begin() * *(shape.end() - 1));
        return;
      }
    }
    EachOperand<Visit>::writes(name, operand, shape);
  }
  void one_or(const char* /*name*/, std::size_t& size, const char* /*of_other*/,
              std::size_t other) const {
    size = other;
  }
};

/// The row of the catalogue: a stream that is always f32 is no wider than rows of f32.
template <class T>
std::string_view row_entry(std::string_view name) {
  const bool is_wide = name == "residual_scaling_rmsnorm";
  return is_wide && std::is_same_v<T, float> ? "residual_scaling_rmsnorm/one_type" : name;
}

/// Below 1, since a stream may be scaled by it in every call, and has to stay a number.
inline constexpr Range kRowParameter{0.5F, 0.9F};

template <class Op>
Op row_operation(const Shape& s, Operands& o) {
  const auto take = [&]<class P>(P*& operand, OperandShape shape) {
    const std::size_t size = *(shape.end() - 1);
    if (shape.size() == 2)
      operand = o.tensor<std::remove_const_t<P>>(1, size);
    else if constexpr (std::is_same_v<P, const float>)
      operand = o.parameters(size, kRowParameter);
    else if constexpr (std::is_same_v<P, float>)
      operand = o.token_sums(size);
  };
  Op op;
  op.num_tokens = o.num_tokens();
  op.hidden_size = s.hidden_size;
  if constexpr (requires { op.slices; }) op.slices.count = s.num_slices;
  const LargestOperands<decltype(take)> operands(take, o);
  Op::operands(op, operands);
  return op;
}

}  // namespace depthcost::bench
