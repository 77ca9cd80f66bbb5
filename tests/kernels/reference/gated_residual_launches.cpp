// A site of Gated Residual as each implementation launches it: plain loops over the counting
// accessor, and the reference for the two passes.
#include "kernels/reference/gated_residual.hpp"
#include "model/operations/gated_residual_operations.hpp"
#include "tests/kernels/reference/mechanism_launches.hpp"

namespace depthcost::test {
namespace {

double gate_of(double z) { return 1 / (1 + std::exp(-z)); }

/// Operands of a site; all rows of scalars are (T, size).
struct Site : Layer {
  std::size_t n, r, nd;
  Row X = draw(T * n * d), lambda = draw(T * n), g = draw(n * d), D = draw(r * n * d);
  Row B = draw(n * n * d), U = draw(n * d * r);
  Row Xn = Row(T * nd, kNaN), logits = Xn, factors = Row(T * n, kNaN);
  Row a = Row(T * r, kNaN), next = Row(T * n, kNaN);

  Site(Counter& with, const SchemeLayer& at)
      : Layer(with),
        n(static_cast<std::size_t>(at.parameters.num_streams)),
        r(static_cast<std::size_t>(at.parameters.gate_rank)),
        nd(n * d) {}

  Place rows(const Row& values) const { return place(Operand::recent, values); }
  std::vector<Place> scalars_of_site() const {
    return {scalar_place(lambda), scalar_place(factors), scalar_place(a), scalar_place(next)};
  }
  template <class Token>
  void launch(OperationId id, std::vector<Place> places, const Token& token) {
    for (const Place& scalars : scalars_of_site()) places.push_back(scalars);
    steps.launch(id, std::move(places), [&](CountingAccess& access) {
      for (std::size_t t = 0; t < T; ++t) token(access, t);
    });
  }

  /// Xn of one token from X, and its factors.
  Row normed(const Row& row, Row& inverse) const {
    Row y = row;
    for (std::size_t i = 0; i < n; ++i) {
      double squares = 0;
      for (std::size_t e = 0; e < d; ++e) squares += row[i * d + e] * row[i * d + e];
      inverse.push_back(1 / std::sqrt(squares / static_cast<double>(d) + 1e-6));
      for (std::size_t e = 0; e < d; ++e) y[i * d + e] *= inverse[i] * (1 + g[i * d + e]);
    }
    return y;
  }
  double product(const Row& weights, std::size_t row, const Row& y) const {
    double sum = 0;
    for (std::size_t i = 0; i < nd; ++i) sum += weights[row * nd + i] * y[i];
    return sum / static_cast<double>(n);
  }
  double logit(const Row& act, std::size_t element) const {
    double sum = 0;
    for (std::size_t i = 0; i < r; ++i) sum += U[element * r + i] * act[i];
    return sum;
  }
  static void put(CountingAccess& access, Row& to, std::size_t t, const Row& values) {
    for (std::size_t i = 0; i < values.size(); ++i)
      access.store(&to[t * values.size() + i], values[i]);
  }
  Row updated(CountingAccess& access, std::size_t t) {
    Row row = Steps::loaded(access, X, t, nd);
    const Row y = Steps::loaded(access, f, t, d);
    const Row by = Steps::loaded(access, lambda, t, n);
    for (std::size_t i = 0; i < nd; ++i) row[i] += by[i / d] * y[i % d];
    put(access, X, t, row);
    return row;
  }
  std::pair<Row, Row> activated(const Row& y) const {
    std::pair<Row, Row> made;
    for (std::size_t i = 0; i < r; ++i) {
      const double p = product(D, i, y);
      made.first.push_back(p * gate_of(p));
    }
    for (std::size_t i = 0; i < n; ++i) made.second.push_back(2 * gate_of(product(B, i, y)));
    return made;
  }
  Row mixed(const Row& act, const Row& y) const {
    Row out(d, 0);
    for (std::size_t i = 0; i < nd; ++i)
      out[i % d] += gate_of(logit(act, i)) * y[i] / static_cast<double>(n);
    return out;
  }
};

using operations::StreamNorm;

void apply(Site& b, StreamNorm norm) {
  b.launch(operations::kGateApply, b.places({place(Operand::streams, b.X), b.rows(b.Xn)}),
           [&](CountingAccess& access, std::size_t t) {
             Row inverse;
             const Row y = b.normed(b.updated(access, t), inverse);
             if (norm == StreamNorm::stored)
               Site::put(access, b.Xn, t, y);
             else
               Site::put(access, b.factors, t, inverse);
           });
}

/// Xn as it is stored, or made again of X and its factors.
Row read_norm(Site& b, CountingAccess& access, std::size_t t, StreamNorm norm) {
  if (norm == StreamNorm::stored) return Steps::loaded(access, b.Xn, t, b.nd);
  const Row inverse = Steps::loaded(access, b.factors, t, b.n);
  Row y = Steps::loaded(access, b.X, t, b.nd);
  for (std::size_t i = 0; i < b.nd; ++i) y[i] *= inverse[i / b.d] * (1 + b.g[i]);
  return y;
}

void down(Site& b, StreamNorm norm) {
  b.launch(operations::kGateDownSilu, {b.rows(b.X), b.rows(b.Xn)},
           [&](CountingAccess& access, std::size_t t) {
             const auto [act, next] = b.activated(read_norm(b, access, t, norm));
             Site::put(access, b.a, t, act);
             Site::put(access, b.next, t, next);
           });
}

void up_mix(Site& b, StreamNorm norm) {
  b.launch(operations::kGateUpMix, {b.rows(b.X), b.rows(b.Xn), place(Operand::layer_input, b.x)},
           [&](CountingAccess& access, std::size_t t) {
             const Row act = Steps::loaded(access, b.a, t, b.r);
             Site::put(access, b.x, t, b.mixed(act, read_norm(b, access, t, norm)));
           });
}

/// Products without their activations, and a kernel for these: scalars of `count` a token.
void scalar_kernel(Site& b, OperationId id, std::vector<Row*> rows) {
  b.launch(id, {}, [&](CountingAccess& access, std::size_t t) {
    for (Row* row : rows) {
      const std::size_t size = row->size() / b.T;
      Row values = Steps::loaded(access, *row, t, size);
      for (double& p : values) p = row == &b.a ? p * gate_of(p) : 2 * gate_of(p);
      Site::put(access, *row, t, values);
    }
  });
}

void products(Site& b, OperationId id, bool has_down, bool has_inject) {
  b.launch(id, {b.rows(b.Xn)}, [&](CountingAccess& access, std::size_t t) {
    const Row y = Steps::loaded(access, b.Xn, t, b.nd);
    Row p, q;
    for (std::size_t i = 0; has_down && i < b.r; ++i) p.push_back(b.product(b.D, i, y));
    for (std::size_t i = 0; has_inject && i < b.n; ++i) q.push_back(b.product(b.B, i, y));
    Site::put(access, b.a, t, p);
    Site::put(access, b.next, t, q);
  });
}

void up(Site& b, OperationId id) {
  b.launch(id, {b.rows(b.logits)}, [&](CountingAccess& access, std::size_t t) {
    const Row act = Steps::loaded(access, b.a, t, b.r);
    Row z;
    for (std::size_t i = 0; i < b.nd; ++i) z.push_back(b.logit(act, i));
    Site::put(access, b.logits, t, z);
  });
}

Rows five_kernels(Site& b) {
  apply(b, StreamNorm::stored);
  products(b, operations::kGateDown, true, true);
  scalar_kernel(b, operations::kUnfusedElementwise, {&b.a, &b.next});
  up(b, operations::kGateUp);
  b.launch(operations::kGateMix, {b.rows(b.logits), b.rows(b.Xn), place(Operand::layer_input, b.x)},
           [&](CountingAccess& access, std::size_t t) {
             const Row z = Steps::loaded(access, b.logits, t, b.nd);
             const Row y = Steps::loaded(access, b.Xn, t, b.nd);
             Row out(b.d, 0);
             for (std::size_t i = 0; i < b.nd; ++i)
               out[i % b.d] += gate_of(z[i]) * y[i] / static_cast<double>(b.n);
             Site::put(access, b.x, t, out);
           });
  return {b.x, b.X, b.next};
}

/// out = compute(in...), element by element of (T, n d).
template <class Compute>
void rows_kernel(Site& b, OperationId id, const std::vector<Row*>& in, Row& out,
                 const Compute& compute) {
  std::vector<Place> places{b.rows(out)};
  for (const Row* row : in) places.push_back(b.rows(*row));
  b.launch(id, std::move(places), [&](CountingAccess& access, std::size_t t) {
    Rows values;
    for (const Row* row : in) values.push_back(Steps::loaded(access, *row, t, b.nd));
    Site::put(access, out, t, compute(values));
  });
}

Rows eager(Site& b) {
  Row term(b.T * b.nd, kNaN);
  b.launch(operations::kUnfusedElementwise, b.places({b.rows(term)}),
           [&](CountingAccess& access, std::size_t t) {
             const Row y = Steps::loaded(access, b.f, t, b.d);
             const Row by = Steps::loaded(access, b.lambda, t, b.n);
             Row row;
             for (std::size_t i = 0; i < b.nd; ++i) row.push_back(by[i / b.d] * y[i % b.d]);
             Site::put(access, term, t, row);
           });
  b.steps.elementwise({{Operand::recent, &term}, {Operand::streams, &b.X}},
                      {Operand::streams, &b.X},
                      [](const Row& v, std::size_t) { return v[0] + v[1]; });
  rows_kernel(b, operations::kUnfusedGatedNorm, {&b.X}, b.Xn, [&](const Rows& in) {
    Row unused;
    return b.normed(in[0], unused);
  });
  products(b, operations::kUnfusedGateDown, true, false);
  scalar_kernel(b, operations::kUnfusedActivation, {&b.a});
  products(b, operations::kUnfusedGateDown, false, true);
  scalar_kernel(b, operations::kUnfusedActivation, {&b.next});
  up(b, operations::kUnfusedGateUp);
  rows_kernel(b, operations::kUnfusedActivation, {&b.logits}, b.logits, [](const Rows& in) {
    Row gates;
    for (const double z : in[0]) gates.push_back(gate_of(z));
    return gates;
  });
  rows_kernel(b, operations::kUnfusedGateProduct, {&b.logits, &b.Xn}, term, [](const Rows& in) {
    Row y = in[0];
    for (std::size_t i = 0; i < y.size(); ++i) y[i] *= in[1][i];
    return y;
  });
  b.launch(operations::kUnfusedStreamMean, {b.rows(term), place(Operand::layer_input, b.x)},
           [&](CountingAccess& access, std::size_t t) {
             const Row y = Steps::loaded(access, term, t, b.nd);
             Row out(b.d, 0);
             for (std::size_t i = 0; i < b.nd; ++i) out[i % b.d] += y[i] / static_cast<double>(b.n);
             Site::put(access, b.x, t, out);
           });
  return {b.x, b.X, b.next};
}

Rows two_passes(Site& b) {
  const GatedApplyDown<double> first{.num_tokens = b.T,
                                     .hidden_size = b.d,
                                     .num_streams = b.n,
                                     .rank = b.r,
                                     .streams = b.X.data(),
                                     .layer_output = b.f.data(),
                                     .inject = b.lambda.data(),
                                     .gain = b.g.data(),
                                     .down = b.D.data(),
                                     .inject_weights = b.B.data(),
                                     .next_streams = b.X.data(),
                                     .inverse_rms = b.factors.data(),
                                     .activation = b.a.data(),
                                     .next_inject = b.next.data()};
  std::vector<Place> places = b.places({place(Operand::streams, b.X)});
  for (const Place& scalars : b.scalars_of_site()) places.push_back(scalars);
  b.steps.launch(operations::kGateApplyDown, places,
                 [&](CountingAccess& access) { reference::run(first, access); });
  const GatedUpMix<double> second{
      b.T,        b.d,        b.n,        b.r,       b.X.data(), b.factors.data(),
      b.g.data(), b.U.data(), b.a.data(), b.x.data()};
  places.push_back(b.rows(b.X));
  b.steps.launch(operations::kGateUpMix, places,
                 [&](CountingAccess& access) { reference::run(second, access); });
  return {b.x, b.X, b.next};
}

Rows one_kernel(Site& b) {
  b.launch(operations::kGateBoundary, b.places({place(Operand::streams, b.X)}),
           [&](CountingAccess& access, std::size_t t) {
             Row inverse;
             const Row y = b.normed(b.updated(access, t), inverse);
             const auto [act, next] = b.activated(y);
             Site::put(access, b.next, t, next);
             Site::put(access, b.x, t, b.mixed(act, y));
           });
  return {b.x, b.X, b.next};
}

Rows gated_residual(Counter& counter, const SchemeLayer& at, Schedule schedule) {
  Site b(counter, at);
  if (schedule == Schedule::unfused) return eager(b);
  if (schedule == Schedule::fused) return five_kernels(b);
  if (schedule == Schedule::two_pass) return two_passes(b);
  if (schedule == Schedule::one_pass) return one_kernel(b);
  const StreamNorm norm =
      schedule == Schedule::fused_gate ? StreamNorm::stored : StreamNorm::folded;
  apply(b, norm);
  down(b, norm);
  up_mix(b, norm);
  return {b.x, b.X, b.next};
}

}  // namespace

Launchers gated_residual_launchers() { return {{"gated_residual", gated_residual}}; }

}  // namespace depthcost::test
