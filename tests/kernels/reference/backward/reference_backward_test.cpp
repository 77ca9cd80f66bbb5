// Backward passes of the references: each gradient against central differences of the forward
// reference, in float64, and what is moved against the backward rules of the schemes. It is long
// because each scheme needs its own operands; they share the ledger and the shapes.
#include <gtest/gtest.h>

#include "kernels/reference/attnres.hpp"
#include "kernels/reference/backward/attnres.hpp"
#include "kernels/reference/backward/dense_mix.hpp"
#include "kernels/reference/backward/mhc.hpp"
#include "kernels/reference/backward/residual.hpp"
#include "kernels/reference/dense_mix.hpp"
#include "kernels/reference/projection.hpp"
#include "kernels/reference/residual.hpp"
#include "kernels/reference/scaled_residual.hpp"
#include "model/ledger/backward.hpp"
#include "model/schemes/list.hpp"
#include "tests/kernels/reference/backward/backward_access.hpp"

namespace depthcost::test::backward_test {
namespace {

using reference::dot;
using reference::run;

constexpr std::size_t kTokens = 3;

struct Shape {
  std::size_t T = kTokens;
  std::size_t d = 5;
};
constexpr Shape kShapes[] = {{1, 1}, {3, 1}, {3, 5}, {1, 8}};

BackwardLayer ledger(const SchemeRule& rule, Schedule schedule, Count layer,
                     GradientAccumulation mode = GradientAccumulation::fused,
                     SchemeParameters parameters = {.hidden_size = 64}, Count num_layers = 12) {
  return backward_layers({Scheme{rule, std::move(parameters)}, num_layers}, schedule,
                         mode)[static_cast<std::size_t>(layer) - 1];
}

/// Rows of a state with one stream, and the gradients that arrive.
struct OneState {
  std::size_t T, d;
  RandomRows draw{1};
  Row h = draw(T * d), f = draw(T * d), z = draw(T * d), gain = draw(d), dx = draw(T * d),
      next = draw(T * d), x = Row(T * d), dh = Row(T * d), df = Row(T * d), dz = Row(T * d),
      dgain = Row(d);

  explicit OneState(const Shape& shape) : T(shape.T), d(shape.d) {}
  BasicNextNorm<double> norm() const { return {.gain = gain.data()}; }
  BackwardAccess access() const {
    BackwardAccess all(T, d);
    for (const Row* row : {&h, &f, &z, &dx}) all.holds(Saved::activation, *row);
    for (const Row* row : {&next, &dh, &df, &dz}) all.holds(Saved::gradient, *row);
    return all;
  }
  double weighed(const Row& state) const { return dot(dx, x) + dot(next, state); }
};

TEST(ReferenceBackward, OfTheStandardResidual) {
  for (const Shape& shape : kShapes) {
    OneState s(shape);
    const auto loss = [&] {
      Row h = s.h;
      run(ResidualAddRmsNorm<double>{s.T, s.d, h.data(), s.f.data(), s.norm(), s.x.data()});
      return s.weighed(h);
    };
    Row saved = s.h;
    for (std::size_t i = 0; i < saved.size(); ++i) saved[i] += s.f[i];
    BackwardAccess access = s.access();
    access.holds(Saved::activation, saved);
    s.dh = s.next;
    run(ResidualAddRmsNormBackward<double>{.num_tokens = s.T,
                                           .hidden_size = s.d,
                                           .hidden_state = saved.data(),
                                           .output_gradient = s.dx.data(),
                                           .norm = s.norm(),
                                           .gradient = s.dh.data(),
                                           .gain_gradient = s.dgain.data()},
        access);
    expect_gradient("h", s.dh, s.h, loss);
    expect_gradient("f", s.dh, s.f, loss);
    expect_gradient("gain", s.dgain, s.gain, loss);
    EXPECT_EQ(access.moved(), ledger(schemes::kStandard, Schedule::fused, 1).traffic);
  }
}

void scaled_add(const Shape& shape, std::size_t num_scales, const SchemeRule& rule) {
  OneState s(shape);
  Row lambda = s.draw(num_scales), beta{0.7}, dlambda(num_scales), dbeta(1);
  const auto loss = [&] {
    Row h = s.h;
    run(ScaledAddRmsNorm<double>{s.T, s.d, h.data(), s.f.data(), num_scales, lambda.data(), beta[0],
                                 s.norm(), s.x.data()});
    return s.weighed(h);
  };
  BackwardAccess access = s.access();
  run(reference::ScaledAddRmsNormBackward<double>{s.T, s.d, s.h.data(), s.f.data(), s.dx.data(),
                                                  s.next.data(), num_scales, lambda.data(), beta[0],
                                                  s.norm(), s.dh.data(), s.df.data(),
                                                  dlambda.data(), dbeta.data(), s.dgain.data()},
      access);
  expect_gradient("h", s.dh, s.h, loss);
  expect_gradient("f", s.df, s.f, loss);
  expect_gradient("lambda", dlambda, lambda, loss);
  expect_gradient("beta", dbeta, beta, loss);
  expect_gradient("gain", s.dgain, s.gain, loss);
  EXPECT_EQ(access.moved(), ledger(rule, Schedule::fused, 1).traffic);
}

TEST(ReferenceBackward, OfScaledAdds) {
  for (const Shape& shape : kShapes) {
    scaled_add(shape, 1, schemes::kReZero);
    scaled_add(shape, 1, schemes::kLaurelRw);
    scaled_add(shape, shape.d, schemes::kLayerScale);
  }
}

/// The scan and, on what it leaves, the gate's products.
TEST(ReferenceBackward, OfHighway) {
  for (const Shape& shape : kShapes) {
    OneState s(shape);
    Row W = s.draw(s.d * s.d), bias = s.draw(s.d), dW(s.d * s.d);
    const auto forward = [&](Row& h) {
      reference::projection(reference::Projection<double, double>{s.T, s.d, s.d, h.data(), W.data(),
                                                                  bias.data(), s.z.data()});
      run(HighwayRmsNorm<double>{s.T, s.d, h.data(), s.f.data(), s.z.data(), s.norm(), s.x.data()});
    };
    const auto loss = [&] {
      Row h = s.h;
      forward(h);
      return s.weighed(h);
    };
    loss();
    BackwardAccess access = s.access();
    run(reference::HighwayRmsNormBackward<double>{s.T, s.d, s.h.data(), s.f.data(), s.z.data(),
                                                  s.dx.data(), s.next.data(), s.norm(), s.dh.data(),
                                                  s.df.data(), s.dz.data(), s.dgain.data()},
        access);
    run(reference::ProjectionBackward<double>{s.T, s.d, s.d, s.h.data(), s.dz.data(), W.data(),
                                              GradientStore::add, s.dh.data(), dW.data()},
        access);
    expect_gradient("h", s.dh, s.h, loss);
    expect_gradient("f", s.df, s.f, loss);
    expect_gradient("W", dW, W, loss);
    expect_gradient("gain", s.dgain, s.gain, loss);
    EXPECT_EQ(access.moved(), ledger(schemes::kHighway, Schedule::fused, 1).traffic);
  }
}

// Attention over depth.

/// n rows of a bank and a partial sum. `scale` is that of the query.
struct Sources {
  std::size_t T, d, n;
  double scale;
  RandomRows draw{2};
  Row bank = draw(n * T * d), partial = draw(T * d), w = draw(d, scale), gain = draw(d),
      dx = draw(T * d), x = Row(T * d), dbank = draw(n * T * d), dpartial = draw(T * d),
      dw = Row(d), dgain = Row(d);

  Sources(const Shape& shape, std::size_t num_rows, double query_scale)
      : T(shape.T), d(shape.d), n(num_rows), scale(query_scale) {}
  BackwardAccess access() const {
    BackwardAccess all(T, d);
    for (const Row* row : {&bank, &partial, &dx}) all.holds(Saved::activation, *row);
    for (const Row* row : {&dbank, &dpartial}) all.holds(Saved::gradient, *row);
    return all;
  }
};

/// The place of Block AttnRes with `n` blocks of S = 3 layers, and a partial sum if `index` > 1.
Count layer_with(std::size_t n, Count index) { return 3 * (static_cast<Count>(n) - 1) + index; }
const SchemeParameters kBlocksOfThree{.hidden_size = 64, .blocks = partition_by_size(12, 3)};

void single_pass(Sources s, bool has_partial, bool adds) {
  const auto loss = [&] {
    run(AttnResSinglePass<double>{.num_tokens = s.T,
                                  .hidden_size = s.d,
                                  .num_bank_rows = s.n,
                                  .num_bank_sources = s.n,
                                  .bank = s.bank.data(),
                                  .partial_sum = has_partial ? s.partial.data() : nullptr,
                                  .query = s.w.data(),
                                  .norm = {.gain = s.gain.data()},
                                  .output = s.x.data()});
    return dot(s.dx, s.x);
  };
  const Row had_bank = adds ? s.dbank : Row{}, had_partial = adds ? s.dpartial : Row{};
  BackwardAccess access = s.access();
  run(AttnResSinglePassBackward<double>{.num_tokens = s.T,
                                        .hidden_size = s.d,
                                        .num_bank_sources = s.n,
                                        .bank = s.bank.data(),
                                        .partial_sum = has_partial ? s.partial.data() : nullptr,
                                        .output_gradient = s.dx.data(),
                                        .query = s.w.data(),
                                        .norm = {.gain = s.gain.data()},
                                        .store =
                                            adds ? GradientStore::add : GradientStore::overwrite,
                                        .bank_gradients = s.dbank.data(),
                                        .partial_gradient = s.dpartial.data(),
                                        .query_gradient = s.dw.data(),
                                        .gain_gradient = s.dgain.data()},
      access);
  expect_gradient("bank", s.dbank, s.bank, loss, had_bank);
  if (has_partial) expect_gradient("partial sum", s.dpartial, s.partial, loss, had_partial);
  expect_gradient("query", s.dw, s.w, loss);
  expect_gradient("gain", s.dgain, s.gain, loss);
  if (adds) {
    EXPECT_EQ(access.moved(), ledger(schemes::kBlockAttnRes, Schedule::single_pass,
                                     layer_with(s.n, has_partial ? 2 : 1),
                                     GradientAccumulation::fused, kBlocksOfThree)
                                  .traffic);
  } else if (!has_partial) {
    EXPECT_EQ(access.moved(), one_read_backward(static_cast<Count>(s.n)));
  }
}

TEST(ReferenceBackward, OfAttnResInOneScan) {
  for (const Shape& shape : kShapes)
    for (const std::size_t n : {1U, 2U, 4U})
      for (const bool has_partial : {false, true})
        for (const bool adds : {false, true}) single_pass({shape, n, 1}, has_partial, adds);
}

/// Logits of some hundreds, keys that are all equal, and rows of zeros, whose norm is that of eps.
TEST(ReferenceBackward, OfAttnResAtItsEdges) {
  for (const double scale : {0.0, 300.0}) single_pass({{3, 5}, 3, scale}, true, true);
  Sources equal({3, 5}, 3, 1);
  for (std::size_t i = 0; i < equal.bank.size(); ++i) equal.bank[i] = equal.partial[i % 15];
  single_pass(equal, true, true);
  Sources zero({3, 5}, 2, 1);
  std::fill_n(zero.bank.begin(), 15, 0.0);
  single_pass(zero, true, true);
}

Row row_of(const Row& rows, std::size_t index, std::size_t size) {
  const auto first = rows.begin() + static_cast<std::ptrdiff_t>(index * size);
  return Row(first, first + static_cast<std::ptrdiff_t>(size));
}

/// log sum_i e^{s_i} of each query and token, over the bank and, but for the first, a partial sum.
Row log_sums_of(const Sources& s, const Row& queries, const Row& partials) {
  Row all;
  for (std::size_t j = 0; j < queries.size() / s.d; ++j)
    for (std::size_t t = 0; t < s.T; ++t) {
      reference::Rows v;
      for (std::size_t i = 0; i < s.n; ++i) v.push_back(row_of(s.bank, i * s.T + t, s.d));
      if (j > 0) v.push_back(row_of(partials, j * s.T + t, s.d));
      const auto of = reference::attend_with_stats(row_of(queries, j, s.d), v, kNormEps<double>);
      all.push_back(of.m + std::log(of.l));
    }
  return all;
}

/// A block of S layers over n rows, in both phases: the loss is over the normed mixes of all
/// layers, from given partial sums.
struct TwoPhases {
  Sources s;
  std::size_t S;
  std::size_t size = s.T * s.d;
  Row queries = s.draw(S * s.d, s.scale), partials = s.draw(S * size), dx = s.draw(S * size),
      dpartials = s.draw(S * size), mixes = Row(S * size), inputs = Row(S * size),
      log_sums = log_sums_of(s, queries, partials), products = Row((S - 1) * s.T),
      dqueries = Row(S * s.d);
  // Before the backward pass.
  Row given = dx, had_bank = s.dbank, had_partials = dpartials;

  TwoPhases(const Shape& shape, std::size_t n, std::size_t num_layers, double scale)
      : s(shape, n, scale), S(num_layers) {
    forward(nullptr, mixes);
  }

  void forward(const double* gain, Row& outputs) {
    for (std::size_t j = 0; j < S; ++j)
      run(AttnResSinglePass<double>{.num_tokens = s.T,
                                    .hidden_size = s.d,
                                    .num_bank_rows = s.n,
                                    .num_bank_sources = s.n,
                                    .bank = s.bank.data(),
                                    .partial_sum = j > 0 ? &partials[j * size] : nullptr,
                                    .query = &queries[j * s.d],
                                    .norm = {.gain = gain},
                                    .output = &outputs[j * size]});
  }

  double loss() {
    forward(s.gain.data(), inputs);
    return dot(given, inputs);
  }

  BackwardAccess access() const {
    BackwardAccess all = s.access();
    for (const Row* each : {&partials, &mixes}) all.holds(Saved::activation, *each);
    for (const Row* each : {&log_sums, &products}) all.holds(Saved::scalars, *each);
    return all.holds(Saved::arriving, dx).holds(Saved::gradient, dpartials);
  }

  GradientTraffic in_ledger(std::size_t layer) const {
    const auto per_block = static_cast<Count>(S);
    const Count layers = static_cast<Count>(s.n) * per_block;
    return ledger(schemes::kBlockAttnRes, Schedule::two_phase,
                  layers - per_block + static_cast<Count>(layer), GradientAccumulation::per_block,
                  {.hidden_size = 64, .blocks = partition_by_size(layers, per_block)}, layers)
        .traffic;
  }

  /// Of layer j + 1 of the block.
  void phase2_backward(std::size_t j) {
    BackwardAccess counted = access();
    run(AttnResPhase2Backward<double>{.num_tokens = s.T,
                                      .hidden_size = s.d,
                                      .partial_sum = &partials[j * size],
                                      .mix = &mixes[j * size],
                                      .log_sum = &log_sums[j * s.T],
                                      .query = &queries[j * s.d],
                                      .norm = {.gain = s.gain.data()},
                                      .mix_gradient = &dx[j * size],
                                      .partial_gradient = &dpartials[j * size],
                                      .product = &products[(j - 1) * s.T],
                                      .query_gradient = &dqueries[j * s.d],
                                      .gain_gradient = s.dgain.data()},
        counted);
    EXPECT_EQ(counted.moved(), in_ledger(j + 1));
  }

  void phase1_backward() {
    BackwardAccess counted = access();
    run(AttnResPhase1Backward<double>{.num_tokens = s.T,
                                      .hidden_size = s.d,
                                      .num_bank_sources = s.n,
                                      .num_queries = S,
                                      .bank = s.bank.data(),
                                      .mix_gradients = dx.data(),
                                      .log_sums = log_sums.data(),
                                      .products = products.data(),
                                      .queries = queries.data(),
                                      .norm = {.gain = s.gain.data()},
                                      .bank_gradients = s.dbank.data(),
                                      .query_gradients = dqueries.data(),
                                      .gain_gradient = s.dgain.data()},
        counted);
    EXPECT_EQ(counted.moved(), in_ledger(1));
  }

  void expect_gradients() {
    const auto of = [this] { return loss(); };
    expect_gradient("bank", s.dbank, s.bank, of, had_bank);
    expect_gradient("partial sums", dpartials, partials, of, had_partials);
    expect_gradient("queries", dqueries, queries, of);
    expect_gradient("gain", s.dgain, s.gain, of);
  }
};

void two_phases(const Shape& shape, std::size_t n, std::size_t S, double scale) {
  TwoPhases block(shape, n, S, scale);
  for (std::size_t j = S; j-- > 1;) block.phase2_backward(j);
  block.phase1_backward();
  block.expect_gradients();
}

TEST(ReferenceBackward, OfAttnResInTwoPhases) {
  for (const Shape& shape : kShapes)
    for (const std::size_t n : {1U, 3U})
      for (const std::size_t S : {1U, 2U, 4U}) two_phases(shape, n, S, 1);
  two_phases({3, 5}, 3, 3, 300);
  two_phases({3, 5}, 3, 3, 0);
}

TEST(ReferenceBackward, OfADenseMix) {
  for (const Shape& shape : kShapes)
    for (const std::size_t s : {1U, 2U, 5U}) {
      // Row s - 1 is h + f, with h = 0.
      Sources b(shape, s, 1);
      const std::size_t size = b.T * b.d;
      Row alpha = b.draw(s), dalpha(s), y(size), next = b.draw(size), newest;
      const auto loss = [&] {
        newest.assign(b.bank.end() - static_cast<std::ptrdiff_t>(size), b.bank.end());
        run(DenseMix<double>{.num_tokens = b.T,
                             .hidden_size = b.d,
                             .num_bank_rows = s,
                             .num_bank_sources = s - 1,
                             .bank = b.bank.data(),
                             .layer_output = newest.data(),
                             .weights = alpha.data(),
                             .norm = {.gain = b.gain.data()},
                             .mixed = y.data(),
                             .output = b.x.data()});
        return dot(b.dx, b.x) + dot(next, y);
      };
      const Row had = b.dbank;
      BackwardAccess access = b.access();
      access.holds(Saved::gradient, next);
      run(reference::DenseMixBackward<double>{b.T,
                                              b.d,
                                              s,
                                              b.bank.data(),
                                              b.dx.data(),
                                              next.data(),
                                              alpha.data(),
                                              {.gain = b.gain.data()},
                                              GradientStore::add,
                                              b.dbank.data(),
                                              dalpha.data(),
                                              b.dgain.data()},
          access);
      expect_gradient("sources", b.dbank, b.bank, loss, had);
      expect_gradient("alpha", dalpha, alpha, loss);
      expect_gradient("gain", b.dgain, b.gain, loss);
      if (s == 1) continue;  // the embedding alone is never mixed
      // The mix behind Transformer block s - 1, of 2 s.
      EXPECT_EQ(access.moved(),
                ledger(schemes::kDenseFormer, Schedule::fused, 2 * (static_cast<Count>(s) - 1),
                       GradientAccumulation::fused, {.hidden_size = 64, .dilation = 1, .period = 1},
                       4 * static_cast<Count>(s))
                    .traffic);
    }
}

// Streams.

struct Streams {
  std::size_t T, d, m;
  RandomRows draw{3};
  Row X = draw(T * m * d), f = draw(T * d), dx = draw(T * d), gain = draw(d), x = Row(T * d),
      dnext = draw(T * m * d), next = Row(T * m * d), dX = Row(T * m * d), df = Row(T * d),
      dgain = Row(d), post = draw(T * m), residual = draw(T * m * m), dpost = Row(T * m),
      dresidual = Row(T * m * m);

  Streams(const Shape& shape, std::size_t num_streams) : T(shape.T), d(shape.d), m(num_streams) {}
  BackwardAccess access() const {
    BackwardAccess all(T, d);
    for (const Row* row : {&X, &f, &dx, &next}) all.holds(Saved::activation, *row);
    for (const Row* row : {&dnext, &dX, &df}) all.holds(Saved::gradient, *row);
    for (const Row* row : {&post, &residual, &dpost, &dresidual}) all.holds(Saved::scalars, *row);
    return all;
  }
  MhcPost<double> forward() {
    return {T, d, m, X.data(), f.data(), post.data(), residual.data(), next.data()};
  }
  /// From the gradients of the next streams in dX.
  MhcPostBackward<double> backward() {
    return {T,
            d,
            m,
            X.data(),
            f.data(),
            post.data(),
            residual.data(),
            dX.data(),
            df.data(),
            dpost.data(),
            dresidual.data()};
  }
  void expect_post(const std::function<double()>& loss) {
    expect_gradient("streams", dX, X, loss);
    expect_gradient("layer output", df, f, loss);
    expect_gradient("post", dpost, post, loss);
    expect_gradient("residual", dresidual, residual, loss);
    expect_gradient("gain", dgain, gain, loss);
  }
};

TEST(ReferenceBackward, OfStaticHyperConnections) {
  for (const Shape& shape : kShapes)
    for (const std::size_t m : {1U, 2U, 4U}) {
      Streams s(shape, m);
      Row A_r = s.draw(m * m), beta = s.draw(m), A_m = s.draw(m), dA_r(m * m), dbeta(m), dA_m(m);
      const HcBoundary<double> forward{s.T,           s.d,        m,
                                       s.X.data(),    s.f.data(), A_r.data(),
                                       beta.data(),   A_m.data(), {.gain = s.gain.data()},
                                       s.next.data(), s.x.data()};
      const auto loss = [&] {
        run(forward);
        return dot(s.dx, s.x) + dot(s.dnext, s.next);
      };
      BackwardAccess access = s.access();
      run(reference::HcBoundaryBackward<double>{forward, s.dx.data(), s.dnext.data(), s.dX.data(),
                                                s.df.data(), dA_r.data(), dbeta.data(), dA_m.data(),
                                                s.dgain.data()},
          access);
      expect_gradient("streams", s.dX, s.X, loss);
      expect_gradient("layer output", s.df, s.f, loss);
      expect_gradient("A_r", dA_r, A_r, loss);
      expect_gradient("beta", dbeta, beta, loss);
      expect_gradient("A_m", dA_m, A_m, loss);
      const SchemeParameters parameters{.hidden_size = 64, .num_streams = static_cast<Count>(m)};
      for (const SchemeRule* rule :
           {&schemes::kHcStatic, &schemes::kHcIdentity, &schemes::kWideResidual})
        EXPECT_EQ(
            access.moved(),
            ledger(*rule, Schedule::fused, 1, GradientAccumulation::fused, parameters).traffic);
    }
}

/// A boundary's parameters, and the gradients that arrive for its coefficients.
struct Mapped {
  Streams& s;
  std::size_t rows = s.m * s.m + 2 * s.m;
  Row phi = s.draw(rows * s.m * s.d, 0.5), bias = s.draw(rows), scales = {0.6, -0.8, 0.9};
  Row c_post = s.draw(s.T * s.m), c_residual = s.draw(s.T * s.m * s.m);
  Row next_post = Row(s.T * s.m), next_residual = Row(s.T * s.m * s.m);
  Row dphi = Row(phi.size()), dbias = Row(rows), dscales = Row(3);
  SinkhornOrder order = SinkhornOrder::col_row;

  BasicMhcMapping<double> mapping() const {
    return {.phi = phi.data(),
            .bias = bias.data(),
            .scales = {scales[0], scales[1], scales[2]},
            .iterations = 4,
            .order = order};
  }
  MhcMappingGradients<double> into() { return {dphi.data(), dbias.data(), dscales.data()}; }
  double loss() {
    run(MhcBoundary<double>{s.forward(),
                            mapping(),
                            {.gain = s.gain.data()},
                            s.x.data(),
                            next_post.data(),
                            next_residual.data()});
    return dot(s.dx, s.x) + dot(s.dnext, s.next) + dot(c_post, next_post) +
           dot(c_residual, next_residual);
  }
  void expect() {
    const auto of = [this] { return loss(); };
    s.expect_post(of);
    expect_gradient("phi", dphi, phi, of);
    expect_gradient("bias", dbias, bias, of);
    expect_gradient("scales", dscales, scales, of);
  }
};

void in_one_scan(const Shape& shape, std::size_t m, SinkhornOrder order, double bias_scale) {
  Streams s(shape, m);
  Mapped b{s};
  b.order = order;
  for (double& each : b.bias) each *= bias_scale;
  b.loss();
  Row dz(s.T * b.rows);
  BackwardAccess access = s.access();
  for (const Row* row : {&b.c_post, &b.c_residual, &dz}) access.holds(Saved::scalars, *row);
  s.dX = s.dnext;
  run(MhcBoundaryBackward<double>{.post = s.backward(),
                                  .next_streams = s.next.data(),
                                  .output_gradient = s.dx.data(),
                                  .next_post_gradients = b.c_post.data(),
                                  .next_residual_gradients = b.c_residual.data(),
                                  .mapping = b.mapping(),
                                  .norm = {.gain = s.gain.data()},
                                  .projection_gradients = dz.data(),
                                  .into = b.into(),
                                  .gain_gradient = s.dgain.data()},
      access);
  b.expect();
  const SchemeParameters parameters{.hidden_size = 64, .num_streams = static_cast<Count>(m)};
  EXPECT_EQ(access.moved(),
            ledger(schemes::kMhc, Schedule::one_pass, 1, GradientAccumulation::fused, parameters)
                .traffic);
}

TEST(ReferenceBackward, OfAnMhcBoundaryInOneScan) {
  for (const Shape& shape : kShapes)
    for (const std::size_t m : {1U, 2U, 4U})
      for (const SinkhornOrder order : {SinkhornOrder::col_row, SinkhornOrder::row_col})
        in_one_scan(shape, m, order, 1);
  // Logits of hundreds, where gates and Sinkhorn are saturated.
  in_one_scan({3, 5}, 2, SinkhornOrder::col_row, 300);
}

/// Post, mix and mapping as three kernels, as TileKernels has them.
TEST(ReferenceBackward, OfMhcInThreeKernels) {
  for (const Shape& shape : kShapes)
    for (const std::size_t m : {1U, 2U, 4U}) {
      Streams s(shape, m);
      Mapped b{s};
      b.loss();
      Row pre, dpre(s.T * m);
      s.dX = s.dnext;
      for (std::size_t t = 0; t < s.T; ++t) {
        reference::DirectAccess direct;
        const Row of_token =
            reference::mhc_gates(b.mapping(),
                                 reference::load_streams(direct, s.next.data(), t, m, s.d), m * m)
                .pre;
        pre.insert(pre.end(), of_token.begin(), of_token.end());
      }
      BackwardAccess access = s.access();
      for (const Row* row : {&b.c_post, &b.c_residual, &pre, &dpre})
        access.holds(Saved::scalars, *row);
      run(reference::MhcMixBackward<double>{s.T,
                                            s.d,
                                            m,
                                            s.next.data(),
                                            s.dx.data(),
                                            pre.data(),
                                            {.gain = s.gain.data()},
                                            s.dX.data(),
                                            dpre.data(),
                                            s.dgain.data()},
          access);
      run(reference::MhcMappingBackward<double>{s.T, s.d, m, s.next.data(), dpre.data(),
                                                b.c_post.data(), b.c_residual.data(), b.mapping(),
                                                b.into(), s.dX.data()},
          access);
      run(s.backward(), access);
      b.expect();
      const SchemeParameters parameters{.hidden_size = 64, .num_streams = static_cast<Count>(m)};
      EXPECT_EQ(access.moved(),
                schemes::kMhc.backward->others.front().layer({parameters, 1, 2}).traffic);
    }
}

/// Mix and mapping in one kernel, then post; dphi again as a product of what the first leaves.
TEST(ReferenceBackward, OfMhcInTwoKernels) {
  for (const Shape& shape : kShapes)
    for (const std::size_t m : {1U, 2U, 4U}) {
      Streams s(shape, m);
      Mapped b{s};
      b.loss();
      Row dz(s.T * b.rows);
      s.dX = s.dnext;
      BackwardAccess access = s.access();
      for (const Row* row : {&b.c_post, &b.c_residual, &dz}) access.holds(Saved::scalars, *row);
      run(MhcPreBackward<double>{.num_tokens = s.T,
                                 .hidden_size = s.d,
                                 .num_streams = m,
                                 .streams = s.next.data(),
                                 .output_gradient = s.dx.data(),
                                 .post_gradients = b.c_post.data(),
                                 .residual_gradients = b.c_residual.data(),
                                 .mapping = b.mapping(),
                                 .norm = {.gain = s.gain.data()},
                                 .gradients = s.dX.data(),
                                 .projection_gradients = dz.data(),
                                 .into = b.into(),
                                 .gain_gradient = s.dgain.data()},
          access);
      const double streams = static_cast<double>(m);
      EXPECT_EQ(total_d(access.moved()), 3 * streams + 1);
      run(s.backward(), access);
      EXPECT_EQ(total_d(access.moved()), 6 * streams + 3);
      b.expect();
      Row product(b.phi.size());
      for (std::size_t t = 0; t < s.T; ++t)
        for (std::size_t i = 0; i < b.rows; ++i)
          for (std::size_t e = 0; e < m * s.d; ++e)
            product[i * m * s.d + e] += dz[t * b.rows + i] * s.next[t * m * s.d + e];
      for (std::size_t i = 0; i < product.size(); ++i) EXPECT_NEAR(product[i], b.dphi[i], 1e-9);
    }
}

}  // namespace
}  // namespace depthcost::test::backward_test
