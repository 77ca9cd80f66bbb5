// Operands of every operation on rows, in any shape: noise in what is read, poison in what is only
// written.
#pragma once

#include <map>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "tests/kernels/cpu/run.hpp"

namespace depthcost::test {

struct RowShape {
  std::size_t num_tokens;
  std::size_t hidden_size;
  // A parameter for each element, where an operation takes both; and those that may be absent.
  std::size_t is_vector = 0;
};

// Noise lies between these and their opposites.
inline constexpr float kLargestState = 3;  // of rows that are updated
inline constexpr float kLargestInput = 1;  // of the first row that is read
inline constexpr float kLargestParameter = 2;

/// The tensors that `Op::operands` asks for. Each has noise of its own.
template <class T>
class RowTensors : public IgnoresSizes {
 public:
  /// Rows of T, or of the wider type that a stream may have.
  using Output = std::conditional_t<std::is_same_v<T, float>, std::variant<const Tensor<T>*>,
                                    std::variant<const Tensor<T>*, const Tensor<float>*>>;

  explicit RowTensors(const RowShape& shape) : shape_(shape) {}

  void one_or(const char* /*name*/, std::size_t& size, const char* /*of_other*/,
              std::size_t other) const {
    size = shape_.is_vector != 0 ? other : 1;
  }
  void number(const char* /*name*/, float& value) const { value = 0.75F; }
  template <class P>
  void reads(const char* name, const P*& operand, OperandShape shape) {
    const bool is_row = shape.size() == 2;
    operand = filled<P>(name, shape, is_row ? scale_ : kLargestParameter).data();
    if (is_row) scale_ *= 8;
  }
  template <class P>
  void reads_inner(const char* name, const P*& operand, OperandShape shape) {
    reads(name, operand, shape);
  }
  template <class P>
  void reads_optional(const char* name, const P*& operand, OperandShape shape) {
    if (shape_.is_vector != 0) reads(name, operand, shape);
  }
  template <class P>
  void updates_inner(const char* name, P*& operand, OperandShape shape) {
    Tensor<P>& tensor = filled<P>(name, shape, kLargestState);
    operand = tensor.data();
    outputs_.push_back(&tensor);
  }
  void writes(const char* name, T*& operand, OperandShape shape) {
    Tensor<T>& tensor = made<T>(name, shape);
    operand = tensor.data();
    outputs_.push_back(&tensor);
  }

  const std::vector<Output>& outputs() const { return outputs_; }
  Tensor<T>& rows(const std::string& name) { return rows_.at(name); }
  Tensor<float>& parameters(const std::string& name) { return parameters_.at(name); }

 private:
  template <class P>
  Tensor<P>& made(const char* name, OperandShape shape) {
    const bool is_row = shape.size() == 2;
    Tensor<P> tensor(1, is_row ? *shape.begin() : 1, *(shape.end() - 1));
    if constexpr (std::is_same_v<P, T>)
      if (is_row) return rows_[name] = std::move(tensor);
    if constexpr (std::is_same_v<P, float>)
      return (is_row ? wide_rows_ : parameters_)[name] = std::move(tensor);
    throw std::logic_error(std::string(name) + " is neither a row nor a parameter");
  }
  template <class P>
  Tensor<P>& filled(const char* name, OperandShape shape, float scale) {
    Tensor<P>& tensor = made<P>(name, shape);
    fill(tensor, ++seed_, scale);
    return tensor;
  }

  RowShape shape_;
  std::uint64_t seed_ = 0;
  float scale_ = kLargestInput;            // of rows: the second that is read opens and shuts gates
  std::map<std::string, Tensor<T>> rows_;  // by name
  std::map<std::string, Tensor<float>> wide_rows_;
  std::map<std::string, Tensor<float>> parameters_;
  std::vector<Output> outputs_;
};

template <template <class> class Op, class T>
struct RowProblem {
  RowTensors<T> tensors;
  Op<T> op;

  explicit RowProblem(const RowShape& shape) : tensors(shape) {
    op.num_tokens = shape.num_tokens;
    op.hidden_size = shape.hidden_size;
    Op<T>::operands(op, tensors);
  }

  const auto& outputs() const { return tensors.outputs(); }
};

/// The operations that RowProblem makes.
#define DEPTHCOST_ROW_OPERATIONS(X) \
  DEPTHCOST_RESIDUAL_OPERATIONS(X)  \
  X(UnfusedRmsNorm, unfused_rmsnorm)

#define DEPTHCOST_NAME_PROBLEM(Op, name) \
  template <class T>                     \
  using Op##Problem = RowProblem<Op, T>;
DEPTHCOST_ROW_OPERATIONS(DEPTHCOST_NAME_PROBLEM)
#undef DEPTHCOST_NAME_PROBLEM

/// A term is a product of at most two factors, and f32 rounds it once or twice.
template <template <class> class Op, class T>
double lost_of_terms(const RowProblem<Op, T>& /*problem*/) {
  return 0x1p-23 * (kLargestState + kLargestInput * kLargestParameter);
}

/// A term is a shifted row times its scale, each rounded once.
template <class T>
double lost_of_terms(const RowProblem<ResidualScalingRmsNorm, T>& /*problem*/) {
  const double largest_shifted = kLargestState + kLargestInput + 2 * kLargestParameter;
  return 0x1p-23 * largest_shifted * kLargestParameter;
}

/// (1 - g) h + g f changes by g (1 - g) (f - h) times what e^-z has lost of itself, and g (1 - g)
/// is no more than 1/4. exp_of_minus of kernels/cpu loses less than 2^-14 for bf16, and for float
/// less than 2^-21 with the roundings of the terms. What the gate's quotient loses is lost of the
/// whole sum, and so no more where its terms cancel.
template <class T>
double lost_of_terms(const RowProblem<HighwayRmsNorm, T>& /*problem*/) {
  const double lost_of_exp = sizeof(T) == 2 ? 0x1p-14 : 0x1p-21;
  return lost_of_exp * (kLargestState + kLargestInput) / 4;
}

// The reference runs in steps. If a value lies between two that can be stored, the CPU may round to
// one and the reference to the other. So the next step of the reference starts from the values that
// the CPU has stored.

/// x of the first tokens of `stored`, which is (T, d).
template <class P, class Op>
void run_next_norm(const Op& expected, const P* stored, RecordingAccess& access) {
  const std::size_t d = expected.hidden_size;
  for (std::size_t t = 0; t < expected.num_tokens; ++t) {
    const P* row = reference::row_at(stored, t, d);
    reference::Row x = reference::next_norm(reference::load_row(access, row, d), expected.norm);
    reference::store_row(access, reference::row_at(expected.output, t, d), x);
  }
}

template <template <class> class Op, class T>
void run_reference(RowProblem<Op, T>& expected, const RowProblem<Op, T>& actual,
                   RecordingAccess& access) {
  reference::run(expected.op, access);
  if constexpr (requires { actual.op.hidden_state, expected.op.norm; })
    run_next_norm(expected.op, actual.op.hidden_state, access);
}

}  // namespace depthcost::test
