// An operation on the rows of tokens that names its operands: what checks its arguments, moves them
// to a device, fills them for tests and benchmarks, or counts their traffic follows from that.
//
//   static constexpr void operands(auto& op, auto& visit)
//
// is a member of the struct, and calls for each size, number and operand one of
//
//   visit.at_least_one(name, size)               a size that must not be 0
//   visit.one_or(name, size, of_other, other)    1, or as many as another size says
//   visit.number(name, value)                    a factor, of any value
//   visit.both_or_none(name, p, of_other, q)     two pointers, both null or none
//   visit.reads(name, pointer, shape)            an input
//   visit.reads_inner(name, pointer, shape)      and one that may begin anywhere in a larger buffer
//   visit.reads_optional(name, pointer, shape)   and one that may be null, too
//   visit.updates_inner(name, pointer, shape)    read and written, likewise
//   visit.writes(name, pointer, shape)           an output
//
// where a shape is (T, d), rows of tokens, or (n), parameters that all tokens share. A row of
// Scalar<T> keeps more digits than those of T.
#pragma once

#include <initializer_list>

#include "kernels/operations/operands.hpp"
#include "kernels/operations/regions.hpp"

namespace depthcost {

/// The name of an operation in C, in the model and in measurements: its list says it.
template <class Op>
inline constexpr const char* kOperationName = nullptr;

template <class Op>
concept RowOperation = requires(const Op& op, Regions& regions) {
  Op::operands(op, regions);
};

/// Throws std::invalid_argument where arguments break a rule of operations.hpp.
template <RowOperation Op>
void check(const Op& op) {
  Regions regions(kOperationName<Op>);
  Op::operands(op, regions);
  regions.finish();
}

using OperandShape = std::initializer_list<std::size_t>;

/// The part of a visitor that does nothing about sizes and numbers.
struct IgnoresSizes {
  constexpr void at_least_one(const char* /*name*/, std::size_t /*size*/) const {}
  constexpr void one_or(const char* /*name*/, std::size_t /*size*/, const char* /*of_other*/,
                        std::size_t /*other*/) const {}
  constexpr void number(const char* /*name*/, float /*value*/) const {}
  constexpr void both_or_none(const char* /*name*/, const void* /*operand*/,
                              const char* /*of_other*/, const void* /*other*/) const {}
};

/// A visitor that calls visit(pointer, shape) for every operand, whatever is done with it.
template <class Visit>
struct EachOperand : IgnoresSizes {
  Visit visit;

  explicit EachOperand(const Visit& each) : visit(each) {}
  template <class P>
  void reads(const char* /*name*/, P*& operand, OperandShape shape) const {
    visit(operand, shape);
  }
  template <class P>
  void reads_inner(const char* /*name*/, P*& operand, OperandShape shape) const {
    visit(operand, shape);
  }
  template <class P>
  void reads_optional(const char* /*name*/, P*& operand, OperandShape shape) const {
    visit(operand, shape);
  }
  template <class P>
  void updates_inner(const char* /*name*/, P*& operand, OperandShape shape) const {
    visit(operand, shape);
  }
  template <class P>
  void writes(const char* /*name*/, P*& operand, OperandShape shape) const {
    visit(operand, shape);
  }
};

template <RowOperation Op, class Visit>
void each_operand(Op& op, const Visit& visit) {
  const EachOperand<Visit> all(visit);
  Op::operands(op, all);
}

/// Names the operations of a list after themselves. A template cannot stand in parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define DEPTHCOST_NAME_OPERATION(Op, name) \
  template <class T>                       \
  inline constexpr const char* kOperationName<Op<T>> = #name;
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace depthcost
