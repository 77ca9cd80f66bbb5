// Operands of the backward operations in any shape: noise in what is read and in what is added to,
// poison in what is only written. `each_output(actual op, exact op, visit)` names what is written.
#pragma once

#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/kernels/cpu/backward/doubles.hpp"
#include "tests/kernels/cpu/mhc_problems.hpp"

namespace depthcost::test {

/// Sizes of any of them. Those that an operation does not have are left out.
struct BackwardShape {
  std::size_t num_tokens = 1;
  std::size_t hidden_size = 1;
  std::size_t count = 1;  // bank rows, or streams
  std::size_t num_queries = 1;
  std::size_t has_norm = 1;
  std::size_t num_slices = 1;
  std::size_t has_partial = 0;
  GradientStore store = GradientStore::add;
  float query_scale = kLogitScale;  // standard deviation of the logits
};

/// Noise of one size in rows of its own for every token.
template <class T>
Tensor<T> noise_rows(std::uint64_t seed, float scale, std::size_t num_rows, std::size_t num_tokens,
                     std::size_t size) {
  Tensor<T> tensor(num_rows, num_tokens, size);
  Noise noise(seed);
  for (std::size_t i = 0; i < tensor.count(); ++i)
    tensor.data()[i] = static_cast<T>(scale * noise.next());
  return tensor;
}

inline Tensor<float> noise_query(const BackwardShape& s, std::size_t num_queries) {
  const float scale = s.query_scale * std::sqrt(3.0F / static_cast<float>(s.hidden_size));
  return noise_rows<float>(4, scale, num_queries, 1, s.hidden_size);
}

/// Rows of `TokenSlices::sums`.
inline TokenSlices poisoned_slices(Tensor<float>& sums, std::size_t count, std::size_t parameters) {
  sums = Tensor<float>(count, 1, parameters);
  return {count, sums.data()};
}

/// The tensors that `Op::operands` asks for. Each has noise of its own; the first row is the state.
template <class T>
class RowBackwardTensors : public IgnoresSizes {
 public:
  template <class P>
  void reads(const char* /*name*/, const P*& operand, OperandShape shape) {
    const float of_row = rows_.empty() ? 3 : 1;
    operand = noise<P>(shape.size() == 2 ? of_row : 2, shape);
  }
  template <class P>
  void reads_inner(const char* name, const P*& operand, OperandShape shape) {
    reads(name, operand, shape);
  }
  template <class P>
  void updates_inner(const char* /*name*/, P*& operand, OperandShape shape) {
    operand = noise<P>(shape.size() == 2 ? 2 : 1, shape);
  }
  template <class P>
  void writes(const char* /*name*/, P*& operand, OperandShape shape) {
    operand = kept(Tensor<P>(1, rows_of(shape), size_of(shape)));
  }

 private:
  static std::size_t rows_of(OperandShape shape) { return shape.size() == 2 ? *shape.begin() : 1; }
  static std::size_t size_of(OperandShape shape) { return *(shape.end() - 1); }

  template <class P>
  P* noise(float scale, OperandShape shape) {
    return kept(noise_rows<P>(++seed_, scale, 1, rows_of(shape), size_of(shape)));
  }
  template <class P>
  P* kept(Tensor<P> tensor) {
    if constexpr (std::is_same_v<P, T>)
      return rows_.emplace_back(std::move(tensor)).data();
    else
      return parameters_.emplace_back(std::move(tensor)).data();
  }

  std::uint64_t seed_ = 0;
  std::vector<Tensor<T>> rows_;
  std::vector<Tensor<float>> parameters_;
};

/// visit(name, pointer, count) for each operand that is written, but for the sums of slices.
template <class Visit>
struct EachOutput : IgnoresSizes {
  const Visit& visit;

  explicit EachOutput(const Visit& each) : visit(each) {}
  void reads(const char* /*name*/, const auto* /*operand*/, OperandShape /*shape*/) const {}
  void reads_inner(const char* /*name*/, const auto* /*operand*/, OperandShape /*shape*/) const {}
  void updates_inner(const char* name, const auto* operand, OperandShape shape) const {
    visit(name, operand, count_of(shape));
  }
  void writes(const char* name, const auto* operand, OperandShape shape) const {
    if (std::string_view(name) != "sums") visit(name, operand, count_of(shape));
  }
};

template <RowOperation Op, class Visit>
void each_output_of(const Op& op, const Visit& visit) {
  EachOutput<Visit> outputs(visit);
  Op::operands(op, outputs);
}

/// The problem of a backward pass that names its operands.
template <template <class> class Op, class T>
struct RowBackwardProblem {
  RowBackwardTensors<T> tensors;
  Op<T> op;

  explicit RowBackwardProblem(const BackwardShape& s) {
    op.num_tokens = s.num_tokens;
    op.hidden_size = s.hidden_size;
    op.slices.count = s.num_slices;
    Op<T>::operands(op, tensors);
  }
  /// `b` may be an operation on doubles.
  template <class B>
  static void each_output(const Op<T>& a, const B& b, const auto& visit) {
    std::vector<const void*> of_b;
    each_output_of(b, [&](const char*, const auto* p, std::size_t) { of_b.push_back(p); });
    std::size_t i = 0;
    each_output_of(a, [&]<class P>(const char* name, const P* p, std::size_t count) {
      using OfB = std::conditional_t<std::is_same_v<B, Op<double>>, double, P>;
      visit(name, p, static_cast<const OfB*>(of_b[i++]), count);
    });
  }
};

#define DEPTHCOST_NAME_PROBLEM(Op, name) \
  template <class T>                     \
  using Op##Problem = RowBackwardProblem<Op, T>;
DEPTHCOST_RESIDUAL_BACKWARD_OPERATIONS(DEPTHCOST_NAME_PROBLEM)
#undef DEPTHCOST_NAME_PROBLEM

template <class T>
struct SinglePassBackwardProblem {
  Tensor<T> bank, partial, dx, bank_gradients, partial_gradient;
  Tensor<float> query, gain, query_gradient, gain_gradient, sums;
  AttnResSinglePassBackward<T> op;

  explicit SinglePassBackwardProblem(const BackwardShape& s)
      : bank(noise_rows<T>(1, 2, s.count, s.num_tokens, s.hidden_size)),
        partial(noise_rows<T>(2, 2, 1, s.num_tokens, s.hidden_size)),
        dx(noise_rows<T>(3, 1, 1, s.num_tokens, s.hidden_size)),
        query(noise_query(s, 1)),
        gain(noise_rows<float>(5, 2, 1, 1, s.hidden_size)),
        query_gradient(noise_rows<float>(6, 1, 1, 1, s.hidden_size)),
        gain_gradient(noise_rows<float>(7, 1, 1, 1, s.hidden_size)) {
    const bool adds = s.store == GradientStore::add;
    bank_gradients = adds ? noise_rows<T>(8, 1, s.count, s.num_tokens, s.hidden_size)
                          : Tensor<T>(s.count, s.num_tokens, s.hidden_size);
    partial_gradient = adds ? noise_rows<T>(9, 1, 1, s.num_tokens, s.hidden_size)
                            : Tensor<T>(1, s.num_tokens, s.hidden_size);
    op = {.num_tokens = s.num_tokens,
          .hidden_size = s.hidden_size,
          .num_bank_sources = s.count,
          .bank = bank.data(),
          .partial_sum = s.has_partial != 0 ? partial.data() : nullptr,
          .output_gradient = dx.data(),
          .query = query.data(),
          .store = s.store,
          .bank_gradients = bank_gradients.data(),
          .partial_gradient = s.has_partial != 0 ? partial_gradient.data() : nullptr,
          .query_gradient = query_gradient.data()};
    if (s.has_norm != 0) {
      op.norm.gain = gain.data();
      op.gain_gradient = gain_gradient.data();
    }
    op.slices = poisoned_slices(sums, s.num_slices, num_parameters(op));
  }
  template <class Visit>
  static void each_output(const auto& a, const auto& b, const Visit& visit) {
    const std::size_t rows = a.num_tokens * a.hidden_size;
    visit("bank", a.bank_gradients, b.bank_gradients, a.num_bank_sources * rows);
    if (a.partial_sum != nullptr) visit("partial", a.partial_gradient, b.partial_gradient, rows);
    visit("query", a.query_gradient, b.query_gradient, a.hidden_size);
    if (a.norm.gain != nullptr) visit("gain", a.gain_gradient, b.gain_gradient, a.hidden_size);
  }
};

template <class T>
struct Phase2BackwardProblem {
  Tensor<T> partial, mix, dx, partial_gradient;
  Tensor<float> log_sum, query, gain, product, query_gradient, gain_gradient, sums;
  AttnResPhase2Backward<T> op;

  explicit Phase2BackwardProblem(const BackwardShape& s)
      : partial(noise_rows<T>(1, 2, 1, s.num_tokens, s.hidden_size)),
        mix(noise_rows<T>(2, 2, 1, s.num_tokens, s.hidden_size)),
        dx(noise_rows<T>(3, 1, 1, s.num_tokens, s.hidden_size)),
        partial_gradient(noise_rows<T>(8, 1, 1, s.num_tokens, s.hidden_size)),
        log_sum(1, 1, s.num_tokens),
        query(noise_query(s, 1)),
        gain(noise_rows<float>(5, 2, 1, 1, s.hidden_size)),
        product(1, 1, s.num_tokens),
        query_gradient(noise_rows<float>(6, 1, 1, 1, s.hidden_size)),
        gain_gradient(noise_rows<float>(7, 1, 1, 1, s.hidden_size)) {
    Noise noise(10);  // a weight of the partial sum from nothing to all
    for (std::size_t t = 0; t < s.num_tokens; ++t)
      log_sum.data()[t] = 5 * s.query_scale * (1 + noise.next());
    op = {.num_tokens = s.num_tokens,
          .hidden_size = s.hidden_size,
          .partial_sum = partial.data(),
          .mix = mix.data(),
          .log_sum = log_sum.data(),
          .query = query.data(),
          .mix_gradient = dx.data(),
          .partial_gradient = partial_gradient.data(),
          .product = product.data(),
          .query_gradient = query_gradient.data()};
    if (s.has_norm != 0) {
      op.norm.gain = gain.data();
      op.gain_gradient = gain_gradient.data();
    }
    op.slices = poisoned_slices(sums, s.num_slices, num_parameters(op));
  }
  template <class Visit>
  static void each_output(const auto& a, const auto& b, const Visit& visit) {
    const std::size_t rows = a.num_tokens * a.hidden_size;
    visit("partial", a.partial_gradient, b.partial_gradient, rows);
    visit("mix", a.mix_gradient, b.mix_gradient, rows);
    visit("product", a.product, b.product, a.num_tokens);
    visit("query", a.query_gradient, b.query_gradient, a.hidden_size);
    if (a.norm.gain != nullptr) visit("gain", a.gain_gradient, b.gain_gradient, a.hidden_size);
  }
};

template <class T>
struct Phase1BackwardProblem {
  Tensor<T> bank, dx, bank_gradients;
  Tensor<float> log_sums, products, queries, gain, query_gradients, gain_gradient, sums;
  AttnResPhase1Backward<T> op;

  explicit Phase1BackwardProblem(const BackwardShape& s)
      : bank(noise_rows<T>(1, 2, s.count, s.num_tokens, s.hidden_size)),
        dx(noise_rows<T>(3, 1, s.num_queries, s.num_tokens, s.hidden_size)),
        bank_gradients(noise_rows<T>(8, 1, s.count, s.num_tokens, s.hidden_size)),
        log_sums(s.num_queries, 1, s.num_tokens),
        products(noise_rows<float>(9, 3, s.num_queries - 1, 1, s.num_tokens)),
        queries(noise_query(s, s.num_queries)),
        gain(noise_rows<float>(5, 2, 1, 1, s.hidden_size)),
        query_gradients(noise_rows<float>(6, 1, s.num_queries, 1, s.hidden_size)),
        gain_gradient(noise_rows<float>(7, 1, 1, 1, s.hidden_size)) {
    Noise noise(10);
    for (std::size_t i = 0; i < log_sums.count(); ++i)
      log_sums.data()[i] = 5 * s.query_scale * (1 + noise.next());
    op = {.num_tokens = s.num_tokens,
          .hidden_size = s.hidden_size,
          .num_bank_sources = s.count,
          .num_queries = s.num_queries,
          .bank = bank.data(),
          .mix_gradients = dx.data(),
          .log_sums = log_sums.data(),
          .products = products.data(),
          .queries = queries.data(),
          .bank_gradients = bank_gradients.data(),
          .query_gradients = query_gradients.data()};
    if (s.has_norm != 0) {
      op.norm.gain = gain.data();
      op.gain_gradient = gain_gradient.data();
    }
    op.slices = poisoned_slices(sums, s.num_slices, num_parameters(op));
  }
  template <class Visit>
  static void each_output(const auto& a, const auto& b, const Visit& visit) {
    const std::size_t d = a.hidden_size;
    visit("bank", a.bank_gradients, b.bank_gradients, a.num_bank_sources * a.num_tokens * d);
    visit("queries", a.query_gradients, b.query_gradients, a.num_queries * d);
    if (a.norm.gain != nullptr) visit("gain", a.gain_gradient, b.gain_gradient, d);
  }
};

template <class T>
struct MhcPostBackwardProblem {
  Tensor<T> streams, layer_output, gradients, layer_gradient;
  Tensor<float> post, residual, post_gradients, residual_gradients;
  MhcPostBackward<T> op;

  explicit MhcPostBackwardProblem(const BackwardShape& s)
      : streams(noise_rows<T>(1, 2, s.count, s.num_tokens, s.hidden_size)),
        layer_output(noise_rows<T>(2, 1, 1, s.num_tokens, s.hidden_size)),
        gradients(noise_rows<T>(3, 1, s.count, s.num_tokens, s.hidden_size)),
        layer_gradient(1, s.num_tokens, s.hidden_size),
        post(noise_rows<float>(4, 2, s.count, 1, s.num_tokens)),
        residual(noise_rows<float>(5, 1, s.count * s.count, 1, s.num_tokens)),
        post_gradients(s.count, 1, s.num_tokens),
        residual_gradients(s.count * s.count, 1, s.num_tokens) {
    op = {.num_tokens = s.num_tokens,
          .hidden_size = s.hidden_size,
          .num_streams = s.count,
          .streams = streams.data(),
          .layer_output = layer_output.data(),
          .post = post.data(),
          .residual = residual.data(),
          .gradients = gradients.data(),
          .layer_gradient = layer_gradient.data(),
          .post_gradients = post_gradients.data(),
          .residual_gradients = residual_gradients.data()};
  }
  template <class Visit>
  static void each_output(const auto& a, const auto& b, const Visit& visit) {
    const std::size_t rows = a.num_tokens * a.hidden_size;
    const std::size_t T_m = a.num_tokens * a.num_streams;
    visit("streams", a.gradients, b.gradients, a.num_streams * rows);
    visit("layer", a.layer_gradient, b.layer_gradient, rows);
    visit("post", a.post_gradients, b.post_gradients, T_m);
    visit("residual", a.residual_gradients, b.residual_gradients, T_m * a.num_streams);
  }
};

template <class T>
struct MhcPreBackwardProblem {
  MhcParameters parameters;
  Tensor<T> streams, dx, gradients;
  Tensor<float> post, residual, gain, dz, phi, bias, scales, gain_gradient, sums;
  MhcPreBackward<T> op;

  explicit MhcPreBackwardProblem(const BackwardShape& s,
                                 SinkhornOrder order = SinkhornOrder::col_row)
      : parameters(MhcShape{s.num_tokens, s.hidden_size, s.count, 0, 0, order}),
        streams(noise_rows<T>(1, 2, s.count, s.num_tokens, s.hidden_size)),
        dx(noise_rows<T>(2, 1, 1, s.num_tokens, s.hidden_size)),
        gradients(noise_rows<T>(3, 1, s.count, s.num_tokens, s.hidden_size)),
        post(noise_rows<float>(4, 2, s.count, 1, s.num_tokens)),
        residual(noise_rows<float>(5, 1, s.count * s.count, 1, s.num_tokens)),
        gain(noise_rows<float>(6, 2, 1, 1, s.hidden_size)),
        dz(num_mapping_rows(s.count), 1, s.num_tokens),
        phi(noise_rows<float>(7, 1, num_mapping_rows(s.count), 1, s.count * s.hidden_size)),
        bias(noise_rows<float>(8, 1, 1, 1, num_mapping_rows(s.count))),
        scales(noise_rows<float>(9, 1, 1, 1, 3)),
        gain_gradient(noise_rows<float>(10, 1, 1, 1, s.hidden_size)) {
    op = {.num_tokens = s.num_tokens,
          .hidden_size = s.hidden_size,
          .num_streams = s.count,
          .streams = streams.data(),
          .output_gradient = dx.data(),
          .post_gradients = post.data(),
          .residual_gradients = residual.data(),
          .mapping = parameters.mapping,
          .gradients = gradients.data(),
          .projection_gradients = dz.data(),
          .into = {phi.data(), bias.data(), scales.data()}};
    if (s.has_norm != 0) {
      op.norm.gain = gain.data();
      op.gain_gradient = gain_gradient.data();
    }
    op.slices = poisoned_slices(sums, s.num_slices, num_parameters(op));
  }
  template <class Visit>
  static void each_output(const auto& a, const auto& b, const Visit& visit) {
    const std::size_t rows = num_mapping_rows(a.num_streams);
    const std::size_t row = a.num_streams * a.hidden_size;
    visit("streams", a.gradients, b.gradients, a.num_tokens * row);
    visit("projection", a.projection_gradients, b.projection_gradients, a.num_tokens * rows);
    visit("phi", a.into.phi, b.into.phi, rows * row);
    visit("bias", a.into.bias, b.into.bias, rows);
    visit("scales", a.into.scales, b.into.scales, 3);
    if (a.norm.gain != nullptr) visit("gain", a.gain_gradient, b.gain_gradient, a.hidden_size);
  }
};

/// The two halves, of which post has the gradients of the streams.
template <class T>
struct MhcBoundaryBackwardProblem {
  MhcPostBackwardProblem<T> of_post;
  MhcPreBackwardProblem<T> of_pre;
  MhcBoundaryBackward<T> op;

  explicit MhcBoundaryBackwardProblem(const BackwardShape& s,
                                      SinkhornOrder order = SinkhornOrder::col_row)
      : of_post(s), of_pre(s, order) {
    const MhcPreBackward<T>& pre = of_pre.op;
    op = {.post = of_post.op,
          .next_streams = pre.streams,
          .output_gradient = pre.output_gradient,
          .next_post_gradients = pre.post_gradients,
          .next_residual_gradients = pre.residual_gradients,
          .mapping = pre.mapping,
          .norm = pre.norm,
          .projection_gradients = pre.projection_gradients,
          .into = pre.into,
          .gain_gradient = pre.gain_gradient,
          .slices = pre.slices};
  }
  template <class Visit>
  static void each_output(const auto& a, const auto& b, const Visit& visit) {
    MhcPostBackwardProblem<T>::each_output(a.post, b.post, visit);
    MhcPreBackwardProblem<T>::each_output(pre_backward_of(a), pre_backward_of(b), visit);
  }
};

}  // namespace depthcost::test
