// Layers of hyper-connections, which differ in where their coefficients come from.
#include "kernels/reference/stream_mappings.hpp"
#include "kernels/reference/without_kernels/kromhc.hpp"
#include "kernels/reference/without_kernels/wide_residual.hpp"
#include "model/operations/eager_operations.hpp"
#include "model/operations/hyper_connection_operations.hpp"
#include "model/operations/residual_operations.hpp"
#include "tests/kernels/reference/mechanism_launches.hpp"

namespace depthcost::test {
namespace {

/// Streams (T, m, d) and the coefficients of a boundary.
struct Streams : Layer {
  std::size_t m;
  Row X = draw(T * m * d), next = Row(T * m * d, kNaN);
  Row pre = Row(T * m, kNaN), post = pre, residual = Row(T * m * m, kNaN);

  Streams(Counter& with, const SchemeLayer& at)
      : Layer(with), m(static_cast<std::size_t>(at.parameters.num_streams)) {}

  std::vector<Place> coefficients() const {
    return {scalar_place(pre), scalar_place(post), scalar_place(residual)};
  }
};

/// Where an eager kernel has its coefficients from.
enum class Coefficients { parameters, per_token };

/// H_pre X, H_post f, H_res X, and the sum, as launches of their own.
class EagerBoundary {
 public:
  EagerBoundary(Streams& b, Coefficients from) : b_(b), from_(from) {}

  /// X' = H_res X + H_post f.
  void post() {
    Row spread = b_.next;
    Row mixed = b_.next;
    launch(operations::kUnfusedMhcPost, place(Operand::layer_output, b_.f), spread,
           [&](CountingAccess& access, std::size_t t) {
             const Row H = loaded(access, b_.post, t, b_.m);
             const Row f = Steps::loaded(access, b_.f, t, b_.d);
             for (std::size_t i = 0; i < b_.m * b_.d; ++i)
               access.store(&spread[t * b_.m * b_.d + i], H[i / b_.d] * f[i % b_.d]);
           });
    launch(operations::kUnfusedMhcResidual, place(Operand::streams, b_.X), mixed,
           [&](CountingAccess& access, std::size_t t) {
             const Row H = loaded(access, b_.residual, t, b_.m * b_.m);
             const Row X = Steps::loaded(access, b_.X, t, b_.m * b_.d);
             for (std::size_t i = 0; i < b_.m * b_.d; ++i) {
               double sum = 0;
               for (std::size_t j = 0; j < b_.m; ++j)
                 sum += H[i / b_.d * b_.m + j] * X[j * b_.d + i % b_.d];
               access.store(&mixed[t * b_.m * b_.d + i], sum);
             }
           });
    b_.steps.elementwise(
        {{Operand::recent, &mixed}, {Operand::recent, &spread}}, {Operand::streams, &b_.next},
        [](const Row& v, std::size_t) { return v[0] + v[1]; }, operations::kUnfusedMhcMerge);
  }

  /// x = norm(H_pre X').
  void pre() {
    Row sum = b_.empty();
    launch(operations::kUnfusedMhcPre, place(Operand::streams, b_.next), sum,
           [&](CountingAccess& access, std::size_t t) {
             const Row H = loaded(access, b_.pre, t, b_.m);
             const Row X = Steps::loaded(access, b_.next, t, b_.m * b_.d);
             for (std::size_t e = 0; e < b_.d; ++e) {
               double x = 0;
               for (std::size_t i = 0; i < b_.m; ++i) x += H[i] * X[i * b_.d + e];
               access.store(&sum[t * b_.d + e], x);
             }
           });
    b_.steps.norm(sum, b_.input(), b_.gain);
  }

 private:
  Streams& b_;
  Coefficients from_;

  template <class Token>
  void launch(OperationId id, const Place& read, const Row& written, const Token& token) {
    std::vector<Place> places = b_.coefficients();
    places.push_back(read);
    places.push_back(place(Operand::recent, written));
    b_.steps.launch(id, std::move(places), [&](CountingAccess& access) {
      for (std::size_t t = 0; t < b_.T; ++t) token(access, t);
    });
  }
  Row loaded(CountingAccess& access, const Row& values, std::size_t t, std::size_t size) const {
    if (from_ == Coefficients::per_token) return Steps::loaded(access, values, t, size);
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(t * size);
    return {first, first + static_cast<std::ptrdiff_t>(size)};
  }
};

/// The ledger's layer begins at its coefficients; a boundary begins behind the layer before, which
/// has run `num_first` launches by then.
void rotate(Counter& counter, std::ptrdiff_t num_first) {
  std::rotate(counter.launches.begin(), counter.launches.begin() + num_first,
              counter.launches.end());
}

/// The coefficients of one token's streams in a row: pre (m), post (m), residual (m, m).
template <class Dull>
void store_coefficients(Streams& b, const Row& streams, CountingAccess& access, const Dull& dull) {
  const std::size_t m = b.m;
  for (std::size_t t = 0; t < b.T; ++t) {
    const Row H = dull(cut(Steps::loaded(access, streams, t, m * b.d), b.d));
    for (std::size_t i = 0; i < m; ++i) access.store(&b.pre[t * m + i], H[i]);
    for (std::size_t i = 0; i < m; ++i) access.store(&b.post[t * m + i], H[m + i]);
    for (std::size_t i = 0; i < m * m; ++i) access.store(&b.residual[t * m * m + i], H[2 * m + i]);
  }
}

/// A boundary of which only the coefficients are its own: `mapping`, and as dull loops `dull`.
template <class Mapping, class Dull>
Rows mapped_streams(Streams& b, Schedule schedule, const Mapping& mapping, const Dull& dull) {
  CountingAccess uncounted;
  uncounted.places = b.coefficients();
  uncounted.places.push_back(place(Operand::streams, b.X));
  store_coefficients(b, b.X, uncounted, dull);
  if (schedule == Schedule::unfused) {
    EagerBoundary eager(b, Coefficients::per_token);
    eager.post();
    auto places = b.coefficients();
    places.push_back(place(Operand::streams, b.next));
    b.steps.launch(operations::kUnfusedProjection, std::move(places),
                   [&](CountingAccess& access) { store_coefficients(b, b.next, access, dull); });
    eager.pre();
    rotate(b.counter, 3);
    return {b.x, b.next, b.post, b.residual};
  }
  b.counter.run(MhcPost<double>{b.T, b.d, b.m, b.X.data(), b.f.data(), b.post.data(),
                                b.residual.data(), b.next.data()});
  const reference::MappedPre<double, Mapping> op{b.T,           b.d,           b.m,
                                                 b.next.data(), mapping,       b.norm(),
                                                 b.x.data(),    b.post.data(), b.residual.data()};
  auto places = b.coefficients();
  places.push_back(place(Operand::recent, b.next));
  places.push_back(place(Operand::layer_input, b.x));
  b.steps.launch(operations::kRowUpdate, std::move(places),
                 [&](CountingAccess& access) { reference::mhc_pre(op, access); });
  return {b.x, b.next, b.post, b.residual};
}

Rows hc_static(Counter& counter, const SchemeLayer& at, Schedule schedule) {
  Streams b(counter, at);
  const std::size_t m = b.m;
  const Row A_m = b.draw(m), beta = b.draw(m), A_r = b.draw(m * m);
  if (schedule == Schedule::unfused) {
    for (std::size_t t = 0; t < b.T; ++t)
      for (std::size_t i = 0; i < m; ++i) {
        b.pre[t * m + i] = A_m[i];
        b.post[t * m + i] = beta[i];
        for (std::size_t j = 0; j < m; ++j) b.residual[(t * m + i) * m + j] = A_r[j * m + i];
      }
    EagerBoundary eager(b, Coefficients::parameters);
    eager.post();
    eager.pre();
    rotate(counter, 3);
    return {b.x, b.next};
  }
  const HcBoundary<double> op{b.T,        b.d,           m,           b.X.data(),
                              b.f.data(), A_r.data(),    beta.data(), A_m.data(),
                              b.norm(),   b.next.data(), b.x.data()};
  b.steps.launch(operations::kHcBoundary,
                 b.places({place(Operand::streams, b.X), place(Operand::streams, b.next)}),
                 [&](CountingAccess& access) { reference::run(op, access); });
  return {b.x, b.next};
}

/// X_k += write_k f, x = norm(sum_k read_k X_k), as a framework runs it; a row of X takes `row_d`.
Rows eager_unmixed(Streams& b, const Row& write, const Row& read, double row_d) {
  const std::size_t K = b.m;
  const Place streams = with_rows(place(Operand::streams, b.X), row_d);
  b.steps.launch(operations::kUnfusedElementwise, b.places({streams}), [&](CountingAccess& access) {
    for (std::size_t t = 0; t < b.T; ++t) {
      const Row f = Steps::loaded(access, b.f, t, b.d);
      for (std::size_t i = 0; i < K * b.d; ++i) {
        double* X = &b.X[t * K * b.d + i];
        access.store(X, access.load(X) + write[i / b.d] * f[i % b.d]);
      }
    }
  });
  Row z = b.empty();
  b.steps.launch(operations::kUnfusedElementwise, {streams, place(Operand::recent, z)},
                 [&](CountingAccess& access) {
                   for (std::size_t t = 0; t < b.T; ++t)
                     for (std::size_t e = 0; e < b.d; ++e) {
                       double sum = 0;
                       for (std::size_t k = 0; k < K; ++k)
                         sum += read[k] * access.load(&b.X[(t * K + k) * b.d + e]);
                       access.store(&z[t * b.d + e], sum);
                     }
                 });
  b.steps.norm(z, b.input(), b.gain);
  return {b.x, b.X};
}

/// Static weights behind sigmoids.
Rows wide_residual(Counter& counter, const SchemeLayer& at, Schedule schedule) {
  Streams b(counter, at);
  const Row beta = b.draw(b.m), alpha = b.draw(b.m);
  const double row_d = at.parameters.stream_row_d.value_or(1);
  if (schedule == Schedule::unfused) {
    Row write, read;
    for (std::size_t k = 0; k < b.m; ++k) {
      write.push_back(2 / (1 + std::exp(-beta[k])));
      read.push_back(1 / (1 + std::exp(-alpha[k])));
    }
    return eager_unmixed(b, write, read, row_d);
  }
  const reference::WideResidual<double> op{
      b.T, b.d, b.m, b.X.data(), b.f.data(), beta.data(), alpha.data(), b.norm(), b.x.data()};
  b.steps.launch(operations::kRowUpdate, b.places({with_rows(place(Operand::streams, b.X), row_d)}),
                 [&](CountingAccess& access) { reference::wide_residual(op, access); });
  return {b.x, b.X};
}

/// hc_static's kernel with the identity between the streams.
Rows hc_identity(Counter& counter, const SchemeLayer& at, Schedule schedule) {
  Streams b(counter, at);
  const Row A_m = b.draw(b.m), beta = b.draw(b.m);
  if (schedule == Schedule::unfused) return eager_unmixed(b, beta, A_m, 1);
  Row identity(b.m * b.m, 0);
  for (std::size_t i = 0; i < b.m; ++i) identity[i * b.m + i] = 1;
  const HcBoundary<double> op{
      b.T,         b.d,        b.m,      b.X.data(),    b.f.data(), identity.data(),
      beta.data(), A_m.data(), b.norm(), b.next.data(), b.x.data()};
  b.steps.launch(operations::kHcBoundary,
                 b.places({place(Operand::streams, b.X), place(Operand::streams, b.next)}),
                 [&](CountingAccess& access) { reference::run(op, access); });
  return {b.x, b.next};
}

/// tanh of LayerNorm(h) . W's row `column`.
double dull_tanh(const Row& h, const Row& W, std::size_t column) {
  const auto d = static_cast<double>(h.size());
  double mean = 0;
  for (const double element : h) mean += element / d;
  double variance = 0;
  for (const double element : h) variance += (element - mean) * (element - mean) / d;
  double product = 0;
  for (std::size_t e = 0; e < h.size(); ++e)
    product += W[column * h.size() + e] * (h[e] - mean) / std::sqrt(variance + 1e-6);
  return std::tanh(product);
}

Rows hc_dynamic(Counter& counter, const SchemeLayer& at, Schedule schedule) {
  Streams b(counter, at);
  const std::size_t m = b.m;
  const Row W = b.draw((m + 2) * b.d), A_m = b.draw(m), beta = b.draw(m), A_r = b.draw(m * m);
  constexpr double kWidthScale = 0.4;
  constexpr double kDepthScale = 0.3;
  const auto dull = [&](const Rows& X) {
    Row H(2 * m + m * m);
    for (std::size_t i = 0; i < m; ++i) {
      H[i] = A_m[i] + kWidthScale * dull_tanh(X[i], W, 0);
      H[m + i] = beta[i] + kDepthScale * dull_tanh(X[i], W, 1);
      for (std::size_t j = 0; j < m; ++j)  // from stream i to stream j
        H[2 * m + j * m + i] = A_r[i * m + j] + kWidthScale * dull_tanh(X[i], W, 2 + j);
    }
    return H;
  };
  const reference::HcMapping<double> mapping{W.data(),   A_m.data(),  beta.data(),
                                             A_r.data(), kWidthScale, kDepthScale};
  return mapped_streams(b, schedule, mapping, dull);
}

/// mHC's phi with `num_rows` rows, drawn, and what it makes of streams, with the bias added.
struct Phi {
  std::size_t num_rows;
  Row phi, bias;

  Phi(Layer& b, std::size_t m, std::size_t rows)
      : num_rows(rows), phi(b.draw(rows * m * kWidth)), bias(b.draw(rows)) {}

  Row logits(const Rows& X) const {
    Row vec;
    for (const Row& stream : X) vec.insert(vec.end(), stream.begin(), stream.end());
    double squares = 0;
    for (const double element : vec) squares += element * element;
    Row z = bias;
    for (std::size_t i = 0; i < num_rows; ++i)
      for (std::size_t e = 0; e < vec.size(); ++e)
        z[i] += phi[i * vec.size() + e] * vec[e] /
                std::sqrt(squares / static_cast<double>(vec.size()) + 1e-6);
    return z;
  }
};

/// H_pre and H_post of logits, and room for H_res behind them.
Row dull_gates(const Row& z, std::size_t m) {
  Row H(2 * m + m * m, 0);
  for (std::size_t i = 0; i < 2 * m; ++i) H[i] = (i < m ? 1 : 2) / (1 + std::exp(-z[i]));
  return H;
}

Rows mhc_lite(Counter& counter, const SchemeLayer& at, Schedule schedule) {
  Streams b(counter, at);
  const std::size_t m = b.m;
  const Phi phi(b, m, 2 * m + reference::factorial(m));
  const auto dull = [&](const Rows& X) {
    const Row z = phi.logits(X);
    Row H = dull_gates(z, m);
    double sum = 0;
    for (std::size_t i = 2 * m; i < z.size(); ++i) sum += std::exp(z[i]);
    // All maps of the streams onto themselves in lexicographic order, of which some are one to one.
    std::size_t permutation = 2 * m;
    for (std::size_t code = 0; code < static_cast<std::size_t>(std::pow(m, m)); ++code) {
      std::vector<std::size_t> to(m);
      for (std::size_t i = m, rest = code; i-- > 0; rest /= m) to[i] = rest % m;
      std::size_t distinct = 0;
      for (std::size_t j = 0; j < m; ++j)
        distinct += std::find(to.begin(), to.end(), j) != to.end() ? 1 : 0;
      if (distinct < m) continue;
      for (std::size_t i = 0; i < m; ++i)
        H[2 * m + i * m + to[i]] += std::exp(z[permutation]) / sum;
      ++permutation;
    }
    return H;
  };
  const reference::MhcLiteMapping<double> mapping{phi.phi.data(), phi.bias.data(), {1, 1, 1}};
  return mapped_streams(b, schedule, mapping, dull);
}

/// Streams i and j meet by factor k as their bits there agree, the first factor's being the
/// highest.
Rows kromhc(Counter& counter, const SchemeLayer& at, Schedule schedule) {
  Streams b(counter, at);
  const std::size_t m = b.m;
  const std::size_t factors = m == 4 ? 2 : 1;
  const Phi phi(b, m, 2 * m + 2 * factors);
  const auto dull = [&](const Rows& X) {
    const Row z = phi.logits(X);
    Row H = dull_gates(z, m);
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < m; ++j) {
        H[2 * m + i * m + j] = 1;
        for (std::size_t k = 0; k < factors; ++k) {
          const double stays = z[2 * m + 2 * k] - z[2 * m + 2 * k + 1];
          const bool agrees = ((i ^ j) >> (factors - 1 - k)) % 2 == 0;
          H[2 * m + i * m + j] /= 1 + std::exp(agrees ? -stays : stays);
        }
      }
    return H;
  };
  const reference::KromHcMapping<double> mapping{phi.phi.data(), phi.bias.data(), {1, 1, 1}};
  return mapped_streams(b, schedule, mapping, dull);
}

Rows single_pass_mhc(Counter& counter, const SchemeLayer& at, Schedule) {
  Streams b(counter, at);
  const Phi phi(b, b.m, b.m * b.m + 2 * b.m);
  b.pre = b.draw(b.pre.size());
  b.post = b.draw(b.post.size());
  b.residual = b.draw(b.residual.size());
  const SinglePassMhc<double> op{.num_tokens = b.T,
                                 .hidden_size = b.d,
                                 .num_streams = b.m,
                                 .streams = b.X.data(),
                                 .layer_output = b.f.data(),
                                 .pre = b.pre.data(),
                                 .post = b.post.data(),
                                 .residual = b.residual.data(),
                                 .mapping = {phi.phi.data(), phi.bias.data(), {1, 1, 1}},
                                 .norm = b.norm(),
                                 .next_streams = b.next.data(),
                                 .output = b.x.data(),
                                 .next_pre = b.pre.data(),
                                 .next_post = b.post.data(),
                                 .next_residual = b.residual.data()};
  auto places = b.places(b.coefficients());
  places.push_back(place(Operand::streams, b.X));
  places.push_back(place(Operand::streams, b.next));
  b.steps.launch(operations::kSinglePassMhc, std::move(places),
                 [&](CountingAccess& access) { reference::run(op, access); });
  return {b.x, b.next};
}

}  // namespace

Launchers stream_launchers() {
  return {{"hc_static", hc_static},
          {"hc_identity", hc_identity},
          {"wide_residual", wide_residual},
          {"hc_dynamic", hc_dynamic},
          {"mhc_lite", mhc_lite},
          {"kromhc", kromhc},
          {"single_pass_mhc", single_pass_mhc}};
}

}  // namespace depthcost::test
