// A layer of Deep Delta Learning: with the matrix of its rule written out, and by its reference.
#include "kernels/reference/without_kernels/delta_learning.hpp"
#include "model/operations/eager_operations.hpp"
#include "model/operations/residual_operations.hpp"
#include "tests/kernels/reference/mechanism_launches.hpp"

namespace depthcost::test {
namespace {

/// Deep Delta Learning's state, whose columns are streams, and parameters.
struct Delta : Layer {
  std::size_t m;  // d_v
  Row X = draw(T * m * d);
  Row W = draw(m * d), W_bias = draw(m), w = draw(d), taps = draw(4 * m * d), read = draw(m);
  Row own = draw(T * d);  // the layer's input
  static constexpr double kBias = 0.2;

  Delta(Counter& with, const SchemeLayer& at)
      : Layer(with), m(static_cast<std::size_t>(at.parameters.value_width)) {}
};

/// H = (I - beta k k^T) H + beta k v^T with the d x d matrix written out; k is left for the
/// backward pass.
void eager_delta(Delta& b, const Row& context, Row& keys) {
  b.steps.launch(
      operations::kUnfusedElementwise,
      {place(Operand::layer_output, b.f), place(Operand::recent, b.own),
       place(Operand::recent, context), place(Operand::streams, b.X), place(Operand::recent, keys)},
      [&](CountingAccess& access) {
        for (std::size_t t = 0; t < b.T; ++t) {
          const Row f = Steps::loaded(access, b.f, t, b.d);
          const Row x = Steps::loaded(access, b.own, t, b.d);
          const Row c = Steps::loaded(access, context, t, b.d);
          const Rows H = cut(Steps::loaded(access, b.X, t, b.m * b.d), b.d);
          double squares = 1e-10;
          double logit = b.kBias;
          for (std::size_t e = 0; e < b.d; ++e) {
            squares += f[e] * f[e];
            logit += b.w[e] * c[e];
          }
          const double beta = 2 / (1 + std::exp(-logit));
          for (std::size_t e = 0; e < b.d; ++e)
            access.store(&keys[t * b.d + e], f[e] / std::sqrt(squares));
          for (std::size_t column = 0; column < b.m; ++column) {
            double v = b.W_bias[column];
            for (std::size_t e = 0; e < b.d; ++e) v += b.W[column * b.d + e] * x[e];
            for (std::size_t e = 0; e < b.d; ++e) {
              const double k = f[e] / std::sqrt(squares);
              double sum = beta * k * v;
              for (std::size_t j = 0; j < b.d; ++j)
                sum += ((e == j ? 1 : 0) - beta * k * f[j] / std::sqrt(squares)) * H[column][j];
              access.store(&b.X[(t * b.m + column) * b.d + e], sum);
            }
          }
        }
      });
}

/// y_t = sum over the last four tokens and all columns, over the whole sequence at once.
void eager_compressor(Delta& b, Row& y) {
  b.steps.launch(operations::kUnfusedElementwise,
                 {place(Operand::streams, b.X), place(Operand::recent, y)},
                 [&](CountingAccess& access) {
                   const Rows states = cut(Steps::loaded(access, b.X, 0, b.X.size()), b.d);
                   for (std::size_t i = 0; i < b.T * b.d; ++i) {
                     double sum = 0;
                     for (std::size_t j = 0; j < 4 && j <= i / b.d; ++j)
                       for (std::size_t column = 0; column < b.m; ++column)
                         sum += b.read[column] * b.taps[(j * b.m + column) * b.d + i % b.d] *
                                states[(i / b.d - j) * b.m + column][i % b.d];
                     access.store(&y[i], sum);
                   }
                 });
}

Rows deep_delta(Counter& counter, const SchemeLayer& at, Schedule schedule) {
  Delta b(counter, at);
  if (schedule == Schedule::unfused) {
    Row keys = b.empty();
    Row y = b.empty();
    const Row context = b.own;
    eager_delta(b, context, keys);
    eager_compressor(b, y);
    b.steps.norm(y, b.input(), b.gain);
    return {b.x, b.X};
  }
  const reference::DeltaLearning<double> op{.num_tokens = b.T,
                                            .hidden_size = b.d,
                                            .value_width = b.m,
                                            .state = b.X.data(),
                                            .layer_output = b.f.data(),
                                            .layer_input = b.own.data(),
                                            .gate = b.w.data(),
                                            .gate_bias = b.kBias,
                                            .values = b.W.data(),
                                            .value_bias = b.W_bias.data(),
                                            .convolution = b.taps.data(),
                                            .read_vector = b.read.data(),
                                            .norm = b.norm(),
                                            .output = b.x.data()};
  b.steps.launch(operations::kRowUpdate,
                 b.places({place(Operand::streams, b.X), place(Operand::recent, b.own)}),
                 [&](CountingAccess& access) { reference::delta_learning(op, access); });
  return {b.x, b.X};
}

}  // namespace

Launchers delta_launchers() { return {{"deep_delta", deep_delta}}; }

}  // namespace depthcost::test
