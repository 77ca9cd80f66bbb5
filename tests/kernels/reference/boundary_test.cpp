// The operations between two layers beside AttnRes and mHC. They move what the ledger says and
// compute what a plain loop computes. With extreme parameters they equal operations that are tested
// elsewhere.
#include "kernels/operations/operations.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <random>

#include "kernels/reference/run.hpp"
#include "model/operations/attnres_operations.hpp"
#include "model/operations/dense_operations.hpp"
#include "model/operations/hyper_connection_operations.hpp"
#include "model/operations/residual_operations.hpp"
#include "tests/kernels/reference/comparison.hpp"
#include "tests/kernels/reference/launched.hpp"
#include "tests/kernels/reference/operands/operands.hpp"

namespace depthcost::test::boundary_test {
namespace {

Row random_row(std::size_t size) {
  static std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Row row(size);
  for (double& element : row) element = uniform(random);
  return row;
}

/// Buffers of every operation at one boundary, all of them their own.
struct Boundary {
  std::size_t T = 3;
  std::size_t d = 5;
  std::size_t m = 4;
  std::size_t n = 6;  // bank rows
  Row h = random_row(T * d), f = random_row(T * d), z = random_row(T * d);
  Row gain = random_row(d), lambda = random_row(d);
  Row X = random_row(T * m * d), next = Row(T * m * d, kNaN);
  Row A = random_row(T * m), B = random_row(T * m * m), C = random_row(T * m);
  Row next_A = Row(T * m, kNaN), next_B = Row(T * m * m, kNaN), next_C = next_A;
  Row phi = random_row((m * m + 2 * m) * m * d), bias = random_row(m * m + 2 * m);
  Row bank = random_row((n + 1) * T * d), alpha = random_row(n + 1);
  Row x = Row(T * d, kNaN);

  BasicNextNorm<double> norm() const { return {.gain = gain.data()}; }
  ScaledAddRmsNorm<double> scaled(std::size_t num_scales) {
    return {T, d, h.data(), f.data(), num_scales, lambda.data(), 0.5, norm(), x.data()};
  }
  HighwayRmsNorm<double> highway() {
    return {T, d, h.data(), f.data(), z.data(), norm(), x.data()};
  }
  HcBoundary<double> hc() {
    return {T,        d,        m,      X.data(),    f.data(), B.data(),
            C.data(), A.data(), norm(), next.data(), x.data()};
  }
  BasicMhcMapping<double> mapping() const { return {phi.data(), bias.data(), {1, 1, 1}}; }
  SinglePassMhc<double> single_pass() {
    return {.num_tokens = T,
            .hidden_size = d,
            .num_streams = m,
            .streams = X.data(),
            .layer_output = f.data(),
            .pre = A.data(),
            .post = C.data(),
            .residual = B.data(),
            .mapping = mapping(),
            .norm = norm(),
            .next_streams = next.data(),
            .output = x.data(),
            .next_pre = next_A.data(),
            .next_post = next_C.data(),
            .next_residual = next_B.data()};
  }
  MhcBoundary<double> boundary() {
    return {{T, d, m, X.data(), f.data(), C.data(), B.data(), next.data()},
            mapping(),
            norm(),
            x.data(),
            next_C.data(),
            next_B.data()};
  }
  /// Input-independent mixing; DenseFormer if `stored`.
  DenseMix<double> dense(bool stored) {
    DenseMix<double> op{.num_tokens = T,
                        .hidden_size = d,
                        .num_bank_rows = n + 1,
                        .num_bank_sources = n,
                        .bank = bank.data(),
                        .layer_output = f.data(),
                        .weights = alpha.data(),
                        .norm = norm(),
                        .output = x.data()};
    if (!stored) return op;
    op.hidden_state = op.mixed = h.data();
    op.bank_row = n;
    return op;
  }
};

// -- What they move ---------------------------------------------------------------------------

template <class Op>
Moved counted(const Op& op, std::vector<Place> places) {
  CountingAccess access;
  access.places = std::move(places);
  reference::run(op, access);
  return access.moved(op.num_tokens, op.hidden_size);
}

template <class Op>
std::vector<Place> hidden_places(const Op& op) {
  return {rows(Operand::hidden_state, op.hidden_state, size_of(op)),
          rows(Operand::layer_output, op.layer_output, size_of(op)),
          rows(Operand::layer_input, op.output, size_of(op))};
}

template <class Op>
std::vector<Place> stream_places(const Op& op) {
  const std::size_t size = op.num_streams * size_of(op);
  return {rows(Operand::streams, op.streams, size), rows(Operand::streams, op.next_streams, size),
          rows(Operand::layer_output, op.layer_output, size_of(op)),
          rows(Operand::layer_input, op.output, size_of(op))};
}

std::vector<Place> dense_places(const DenseMix<double>& op) {
  std::vector<Place> places = hidden_places(op);
  places.push_back(rows(Operand::bank, op.bank, op.num_bank_rows * size_of(op)));
  return places;
}

TEST(CountedBoundary, IsTheLedgersRows) {
  EXPECT_TRUE(rc::check([] {
    Boundary b{.T = *rc::gen::inRange<std::size_t>(1, 4),
               .d = *rc::gen::inRange<std::size_t>(1, 4),
               .m = *rc::gen::inRange<std::size_t>(1, 6),
               .n = *rc::gen::inRange<std::size_t>(0, 6)};
    const auto expect = [](const Moved& moved, const Operation& row) {
      RC_ASSERT((Launched{row.id, moved}) == from_ledger(row));
    };
    using namespace operations;
    expect(counted(b.scaled(1), hidden_places(b.scaled(1))),
           scaled_add_rmsnorm(ScaleShape::scalar));
    expect(counted(b.scaled(b.d), hidden_places(b.scaled(b.d))),
           scaled_add_rmsnorm(ScaleShape::vector));
    auto gated = hidden_places(b.highway());
    gated.push_back(rows(Operand::recent, b.z.data(), b.z.size()));
    expect(counted(b.highway(), gated), highway_rmsnorm());
    const auto m = static_cast<double>(b.m);
    expect(counted(b.hc(), stream_places(b.hc())), hc_boundary(m));
    auto single = stream_places(b.single_pass());
    for (const Row* coefficients : {&b.A, &b.B, &b.C, &b.next_A, &b.next_B, &b.next_C})
      single.push_back(scalars(coefficients->data(), coefficients->size()));
    expect(counted(b.single_pass(), single), single_pass_mhc(m));
    const auto n = static_cast<Count>(b.n);
    expect(counted(b.dense(false), dense_places(b.dense(false))), dense_mix(n));
    expect(counted(b.dense(true), dense_places(b.dense(true))), denseformer_mix(n));
  }));
}

// -- What they compute ------------------------------------------------------------------------

/// x / sqrt(mean(x^2) + eps) * gain, of one row.
Row normed(const Row& h, const Row& gain) {
  double squares = 0;
  for (const double element : h) squares += element * element;
  Row x(h.size());
  for (std::size_t i = 0; i < h.size(); ++i)
    x[i] = h[i] / std::sqrt(squares / static_cast<double>(h.size()) + 1e-6) * gain[i];
  return x;
}

/// `actual` (T, d) against the norms of `rows`, (T, d) too.
void expect_norms(const Row& actual, const Row& rows, const Boundary& b) {
  const Rows expected = cut(rows, b.d);
  for (std::size_t t = 0; t < b.T; ++t)
    EXPECT_LE(relative_error(cut(actual, b.d)[t], normed(expected[t], b.gain)), 1e-12) << t;
}

TEST(ScaledAdd, IsADullLoop) {
  for (const std::size_t num_scales : {1U, 5U}) {
    Boundary b;
    Row expected(b.T * b.d);
    for (std::size_t i = 0; i < expected.size(); ++i)
      expected[i] = 0.5 * b.h[i] + b.lambda[num_scales == 1 ? 0 : i % b.d] * b.f[i];
    reference::run(b.scaled(num_scales));
    EXPECT_LE(relative_error(b.h, expected), 1e-12);
    expect_norms(b.x, expected, b);
  }
}

/// DeepSeek-V4.1-Flash reads its first layer's input from one stream alone.
TEST(SinglePassMhc, StartsFromOneStream) {
  Boundary b;
  for (std::size_t t = 0; t < b.T; ++t)
    for (std::size_t i = 0; i < b.m; ++i) b.A[t * b.m + i] = i == 0 ? 1 : 0;
  reference::run(b.single_pass());
  Row first;
  for (std::size_t t = 0; t < b.T; ++t)
    for (std::size_t e = 0; e < b.d; ++e) first.push_back(b.next[t * b.m * b.d + e]);
  expect_norms(b.x, first, b);
}

/// ReZero starts at lambda = 0.
TEST(ScaledAdd, OfNothingLeavesTheStreamAlone) {
  Boundary b;
  const Row before = b.h;
  b.lambda[0] = 0;
  auto op = b.scaled(1);
  op.hidden_scale = 1;
  reference::run(op);
  EXPECT_EQ(b.h, before);
}

TEST(Highway, IsADullLoop) {
  Boundary b;
  Row expected(b.T * b.d);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double shut = 1 / (1 + std::exp(b.z[i]));
    expected[i] = shut * b.h[i] + (1 - shut) * b.f[i];
  }
  reference::run(b.highway());
  EXPECT_LE(relative_error(b.h, expected), 1e-12);
  expect_norms(b.x, expected, b);
}

/// Element e of stream i of token t, of (T, m, d).
std::size_t at(const Boundary& b, std::size_t t, std::size_t i, std::size_t e) {
  return (t * b.m + i) * b.d + e;
}

TEST(HcBoundary, IsADullLoop) {
  Boundary b;
  Row streams(b.T * b.m * b.d, 0);
  Row mixed(b.T * b.d, 0);
  for (std::size_t t = 0; t < b.T; ++t)
    for (std::size_t e = 0; e < b.d; ++e)
      for (std::size_t i = 0; i < b.m; ++i) {
        double sum = b.C[i] * b.f[t * b.d + e];
        for (std::size_t j = 0; j < b.m; ++j) sum += b.B[j * b.m + i] * b.X[at(b, t, j, e)];
        streams[at(b, t, i, e)] = sum;
        mixed[t * b.d + e] += b.A[i] * sum;
      }
  reference::run(b.hc());
  EXPECT_LE(relative_error(b.next, streams), 1e-12);
  expect_norms(b.x, mixed, b);
}

/// Streams of their own that never mix, of which the layer sees the first.
TEST(HcBoundary, OfSeparateStreamsIsTheStandardResidual) {
  Boundary b;
  std::fill(b.B.begin(), b.B.end(), 0);
  for (std::size_t i = 0; i < b.m; ++i) b.B[i * b.m + i] = b.C[i] = 1;
  for (std::size_t i = 0; i < b.m; ++i) b.A[i] = i == 0 ? 1 : 0;
  for (std::size_t t = 0; t < b.T; ++t)
    for (std::size_t e = 0; e < b.d; ++e) b.X[at(b, t, 0, e)] = b.h[t * b.d + e];
  reference::run(b.hc());
  const Row hyper = b.x;
  reference::run(
      ResidualAddRmsNorm<double>{b.T, b.d, b.h.data(), b.f.data(), b.norm(), b.x.data()});
  EXPECT_LE(relative_error(hyper, b.x), 1e-12);
}

/// The coefficients do not depend on X if phi is zero: then a delayed A is the same A.
TEST(SinglePassMhc, OfConstantCoefficientsIsMhc) {
  Boundary b;
  std::fill(b.phi.begin(), b.phi.end(), 0);
  reference::run(UnfusedMhcCoefficients<double>{b.T, b.d, b.m, b.X.data(), b.mapping(), b.A.data(),
                                                b.C.data(), b.B.data()});
  reference::run(b.single_pass());
  const Row x = b.x;
  const Row next = b.next;
  EXPECT_LE(relative_error(b.next_A, b.A), 1e-12);
  reference::run(b.boundary());
  EXPECT_LE(relative_error(x, b.x), 1e-12);
  EXPECT_LE(relative_error(next, b.next), 1e-12);
}

/// X_{l+1} = B_l X_l + C_l f_l, x_{l+1} = A_l X_{l+1} with (A, B, C)_l = H(X_l), over two layers:
/// what a call leaves is what the next one reads.
TEST(SinglePassMhc, MixesByTheCoefficientsOfTheBoundaryBefore) {
  Boundary b{.T = 1};
  reference::Rows X = cut(b.X, b.d);
  auto op = b.single_pass();
  op.norm = {};
  op.next_streams = b.X.data();
  op.next_pre = b.A.data();
  op.next_post = b.C.data();
  op.next_residual = b.B.data();
  auto H = reference::mhc_coefficients(b.mapping(), X);
  b.A = H.pre;
  b.C = H.post;
  b.B = H.residual;
  for (int layer = 0; layer < 2; ++layer) {
    const auto A_l = H.pre;
    X = reference::mhc_next_streams(X, b.f, H.post, H.residual);
    H = reference::mhc_coefficients(b.mapping(), X);
    op.pre = op.next_pre = b.A.data();
    op.post = op.next_post = b.C.data();
    op.residual = op.next_residual = b.B.data();
    reference::run(op);
    EXPECT_LE(relative_error(b.x, reference::weighted_sum(A_l, X)), 1e-12) << layer;
    EXPECT_GT(relative_error(b.x, reference::weighted_sum(H.pre, X)), 1e-3) << layer;
    EXPECT_LE(relative_error(b.A, H.pre), 1e-12) << layer;
    EXPECT_LE(relative_error(b.B, H.residual), 1e-12) << layer;
  }
}

TEST(DenseMix, IsADullLoop) {
  for (const bool stored : {false, true}) {
    Boundary b;
    const Row h = b.h;
    Row last(b.T * b.d);
    Row mixed(b.T * b.d);
    for (std::size_t i = 0; i < last.size(); ++i) {
      last[i] = stored ? h[i] + b.f[i] : b.f[i];
      mixed[i] = b.alpha[b.n] * last[i];
      for (std::size_t j = 0; j < b.n; ++j) mixed[i] += b.alpha[j] * b.bank[j * last.size() + i];
    }
    const Row free_row(b.bank.end() - static_cast<std::ptrdiff_t>(last.size()), b.bank.end());
    reference::run(b.dense(stored));
    expect_norms(b.x, mixed, b);
    const Row row(b.bank.end() - static_cast<std::ptrdiff_t>(last.size()), b.bank.end());
    EXPECT_EQ(row, stored ? last : free_row);
    EXPECT_LE(relative_error(b.h, stored ? mixed : h), 1e-12);
  }
}

/// DenseFormer starts there (arXiv:2402.02622, section 3).
TEST(DenseMix, OfTheNewestAloneIsTheStandardResidual) {
  Boundary b;
  std::fill(b.alpha.begin(), b.alpha.end(), 0);
  b.alpha.back() = 1;
  Row h = b.h;
  reference::run(b.dense(true));
  const Row dense = b.x;
  reference::run(ResidualAddRmsNorm<double>{b.T, b.d, h.data(), b.f.data(), b.norm(), b.x.data()});
  EXPECT_EQ(dense, b.x);
  EXPECT_EQ(b.h, h);
}

/// Attention whose query is zero weighs all sources alike.
TEST(DenseMix, OfEqualWeightsIsAttentionWithoutAQuery) {
  Boundary b;
  std::fill(b.alpha.begin(), b.alpha.end(), 1.0 / static_cast<double>(b.n + 1));
  reference::run(b.dense(false));
  const Row dense = b.x;
  const Row query(b.d, 0);
  std::copy(b.f.begin(), b.f.end(), b.bank.end() - static_cast<std::ptrdiff_t>(b.f.size()));
  reference::run(AttnResSinglePass<double>{.num_tokens = b.T,
                                           .hidden_size = b.d,
                                           .num_bank_rows = b.n + 1,
                                           .num_bank_sources = b.n + 1,
                                           .bank = b.bank.data(),
                                           .query = query.data(),
                                           .norm = b.norm(),
                                           .output = b.x.data()});
  EXPECT_LE(relative_error(dense, b.x), 1e-12);
}

}  // namespace
}  // namespace depthcost::test::boundary_test
