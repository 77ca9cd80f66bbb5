// References of mechanisms without kernels of their own. With extreme parameters their results are
// known.
#include <gtest/gtest.h>

#include "kernels/reference/run.hpp"
#include "kernels/reference/without_kernels/delta_learning.hpp"
#include "kernels/reference/without_kernels/laurel.hpp"
#include "kernels/reference/without_kernels/muddformer.hpp"
#include "kernels/reference/without_kernels/other_depth_attention.hpp"
#include "kernels/reference/without_kernels/post_norm.hpp"
#include "kernels/reference/without_kernels/value_residual.hpp"
#include "kernels/reference/without_kernels/wide_residual.hpp"
#include "tests/kernels/reference/steps.hpp"

namespace depthcost::test::mechanism_values_test {
namespace {

constexpr double kTolerance = 1e-12;
constexpr std::size_t kT = 6;
constexpr std::size_t kD = 5;
constexpr std::size_t kSize = kT * kD;

/// A layer's output, the state, the gain of the next norm, and what the standard residual makes of
/// them.
struct Standard {
  Draw draw{};
  Row f = draw(kSize), h = draw(kSize), gain = draw(kD);
  Row next_h = h, next_x = Row(kSize, kNaN);
  Row x = next_x;

  Standard() {
    reference::run(
        ResidualAddRmsNorm<double>{kT, kD, next_h.data(), f.data(), norm(), next_x.data()});
  }
  BasicNextNorm<double> norm() const { return {.gain = gain.data()}; }
};

TEST(ResidualScaling, OfOnesAndZeroShiftsIsTheStandardResidual) {
  Standard b;
  const Row ones(kD, 1), zeros(kD, 0);
  reference::run(ResidualScalingRmsNorm<double>{kT, kD, b.h.data(), b.f.data(), ones.data(),
                                                zeros.data(), ones.data(), zeros.data(), b.norm(),
                                                b.x.data()});
  EXPECT_LE(relative_error(b.h, b.next_h), kTolerance);
  EXPECT_LE(relative_error(b.x, b.next_x), kTolerance);
}

/// 2 sigmoid(0) = 1, and sigmoid(-1000) = 0: a stream that is written as a whole and read alone.
TEST(WideResidual, OfOneReadStreamIsTheStandardResidual) {
  Standard b;
  Row X;
  for (std::size_t t = 0; t < kT; ++t)
    for (const std::size_t k : {0U, 1U, 2U})
      for (std::size_t e = 0; e < kD; ++e) X.push_back((k == 1 ? 1 : 7) * b.h[t * kD + e]);
  const Row write(3, 0), read{-1000, 1000, -1000};
  reference::wide_residual(reference::WideResidual<double>{
      kT, kD, 3, X.data(), b.f.data(), write.data(), read.data(), b.norm(), b.x.data()});
  EXPECT_LE(relative_error(b.x, b.next_x), kTolerance);
  for (std::size_t t = 0; t < kT; ++t)
    EXPECT_LE(relative_error(cut(X, kD)[3 * t + 1], cut(b.next_h, kD)[t]), kTolerance);
}

TEST(LaurelLowRank, WithoutItsPathIsTheStandardResidual) {
  Standard b;
  const Row A = b.draw(2 * kD);
  const Row B(kD * 2, 0);
  reference::laurel_low_rank(reference::LaurelLowRank<double>{
      kT, kD, 2, b.h.data(), b.f.data(), A.data(), B.data(), b.norm(), b.x.data()});
  EXPECT_LE(relative_error(b.h, b.next_h), kTolerance);
  EXPECT_LE(relative_error(b.x, b.next_x), kTolerance);
}

TEST(LaurelHistory, OfNoWeightIsTheStandardResidual) {
  Standard b;
  const Row A = b.draw(2 * kD), B = b.draw(kD * 2), earlier = b.draw(3 * kSize), gamma(3, 0);
  Row next(kSize, kNaN);
  reference::laurel_history(reference::LaurelHistory<double>{
      kT, kD, 2, 3, b.h.data(), earlier.data(), b.f.data(), gamma.data(), A.data(), B.data(),
      b.norm(), next.data(), b.x.data()});
  EXPECT_LE(relative_error(next, b.next_h), kTolerance);
  EXPECT_LE(relative_error(b.x, b.next_x), kTolerance);
}

/// One earlier state of weight one is a low-rank path that starts from it.
TEST(LaurelHistory, OfTheStateItselfIsTheLowRankPath) {
  Standard b;
  const Row A = b.draw(2 * kD), B = b.draw(kD * 2), gamma(1, 1);
  const Row earlier = b.h;
  Row next(kSize, kNaN);
  reference::laurel_history(reference::LaurelHistory<double>{
      kT, kD, 2, 1, b.h.data(), earlier.data(), b.f.data(), gamma.data(), A.data(), B.data(),
      b.norm(), next.data(), b.x.data()});
  reference::laurel_low_rank(reference::LaurelLowRank<double>{
      kT, kD, 2, b.h.data(), b.f.data(), A.data(), B.data(), b.norm(), b.x.data()});
  EXPECT_LE(relative_error(next, b.h), kTolerance);
}

TEST(DeepNorm, ThatAmplifiesNothingIsTheStandardResidualsNorm) {
  Standard b;
  reference::deep_norm(
      reference::DeepNorm<double>{kT, kD, b.h.data(), b.f.data(), 1, b.norm(), b.x.data()});
  EXPECT_LE(relative_error(b.x, b.next_x), kTolerance);
}

TEST(Keel, CarriesTheStateOfDeepNorm) {
  Standard b;
  const Row inner = b.draw(kD);
  reference::deep_norm(
      reference::DeepNorm<double>{kT, kD, b.h.data(), b.f.data(), 3, b.norm(), b.x.data()});
  Row x(kSize, kNaN);
  reference::keel(reference::Keel<double>{
      kT, kD, b.h.data(), b.f.data(), 3, b.norm(), {inner.data()}, x.data()});
  EXPECT_LE(relative_error(b.h, b.x), kTolerance);
  EXPECT_GT(relative_error(x, b.x), 1e-3);  // a norm of its own lies in between
}

/// Its second stream is the standard residual's, and what the layer reads of it is that one's norm.
TEST(SiameseNorm, CarriesTheStandardResidualInItsSecondStream) {
  Standard b;
  Row h1 = b.draw(kSize);
  const Row stream_gain = b.draw(kD);
  reference::siamese_norm(reference::SiameseNorm<double>{
      kT, kD, h1.data(), b.h.data(), b.f.data(), {stream_gain.data()}, b.norm(), b.x.data()});
  EXPECT_LE(relative_error(b.h, b.next_h), kTolerance);
  for (std::size_t i = 0; i < kSize; ++i) EXPECT_NEAR(b.x[i] - h1[i], b.next_x[i], kTolerance);
}

// -- Deep Delta Learning ----------------------------------------------------------------------

struct Delta : Standard {
  std::size_t d_v;
  Row H, W, W_bias, w, taps, read;
  double bias = 0.3;

  explicit Delta(std::size_t value_width)
      : d_v(value_width),
        H(draw(kT * d_v * kD)),
        W(draw(d_v * kD)),
        W_bias(draw(d_v)),
        w(draw(kD)),
        taps(draw(reference::kCompressorWidth * d_v * kD)),
        read(draw(d_v)) {}

  void run() {
    reference::delta_learning(reference::DeltaLearning<double>{
        kT, kD, d_v, H.data(), f.data(), h.data(), w.data(), bias, W.data(), W_bias.data(),
        taps.data(), read.data(), 1e-5, norm(), x.data()});
  }
  Row direction(std::size_t t) const { return reference::direction_of(cut(f, kD)[t], 1e-5); }
};

TEST(DeltaLearning, WithAShutGateLeavesTheState) {
  Delta b(1);
  b.bias = -1000;
  const Row before = b.H;
  b.run();
  EXPECT_EQ(b.H, before);
}

/// arXiv:2601.00417 Eq. 3.7: h <- h + beta k (v - k . h).
TEST(DeltaLearning, OfOneColumnIsTheScalarRule) {
  Delta b(1);
  Rows h = cut(b.H, kD);
  for (std::size_t t = 0; t < kT; ++t) {
    const Row k = b.direction(t);
    const Row x = cut(b.h, kD)[t];
    double logit = b.bias;
    double v = b.W_bias[0];
    double along = 0;
    for (std::size_t e = 0; e < kD; ++e) {
      logit += b.w[e] * x[e];
      v += b.W[e] * x[e];
      along += k[e] * h[t][e];
    }
    for (std::size_t e = 0; e < kD; ++e) h[t][e] += 2 / (1 + std::exp(-logit)) * k[e] * (v - along);
  }
  b.run();
  for (std::size_t t = 0; t < kT; ++t) EXPECT_LE(relative_error(cut(b.H, kD)[t], h[t]), kTolerance);
}

/// beta = 1 replaces what lies along k by v; with no v and beta = 2 it is a reflection.
TEST(DeltaLearning, ReplacesOrReflectsAlongItsDirection) {
  Delta b(3);
  std::fill(b.w.begin(), b.w.end(), 0);
  std::fill(b.W.begin(), b.W.end(), 0);
  b.bias = 0;
  b.run();
  Rows columns = cut(b.H, kD);
  for (std::size_t i = 0; i < columns.size(); ++i)
    EXPECT_NEAR(reference::dot(b.direction(i / 3), columns[i]), b.W_bias[i % 3], 1e-8);
  std::fill(b.W_bias.begin(), b.W_bias.end(), 0);
  b.bias = 1000;
  const Row before = b.H = b.draw(b.H.size());
  b.run();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Row now = cut(b.H, kD)[i];
    const Row old = cut(before, kD)[i];
    EXPECT_NEAR(reference::dot(now, now), reference::dot(old, old), 1e-8);
  }
}

TEST(DeltaLearning, SeesNoLaterToken) {
  Delta whole(2);
  Delta changed(2);
  for (std::size_t i = kSize - kD; i < kSize; ++i) changed.f[i] += 1;
  whole.run();
  changed.run();
  for (std::size_t t = 0; t < kT; ++t)
    EXPECT_EQ(cut(whole.x, kD)[t] == cut(changed.x, kD)[t], t + 1 < kT) << t;
}

/// Four tokens of one column, each tap and the read vector one: sums of four.
TEST(DeltaLearning, CompressesTheLastFourTokens) {
  Delta b(1);
  b.bias = -1000;
  b.read = {1};
  std::fill(b.taps.begin(), b.taps.end(), 1);
  std::fill(b.gain.begin(), b.gain.end(), 1);
  b.run();
  for (std::size_t t = 0; t < kT; ++t) {
    Row sum(kD, 0);
    for (std::size_t past = t < 3 ? 0 : t - 3; past <= t; ++past)
      reference::add(sum, cut(b.H, kD)[past]);
    EXPECT_LE(relative_error(cut(b.x, kD)[t], reference::rms_norm(sum, 1e-6)), kTolerance) << t;
  }
}

// -- MUDDFormer and Value Residual ------------------------------------------------------------

/// Behind a block with three states in front of it, with two ways of which the last is the state.
struct Mudd : Standard {
  static constexpr std::size_t kSources = 4, kWays = 2, kInner = 3;
  Row bank = draw(kSources * kSize);
  Row W_1 = draw(kInner * kD), W_2 = Row(kWays * kSources * kInner, 0), prior;
  Row weights = Row(kT * kWays * kSources, kNaN);

  explicit Mudd(const Row& way) {
    for (std::size_t i = 0; i < kWays; ++i) prior.insert(prior.end(), way.begin(), way.end());
  }
  void run() {
    double* newest = bank.data() + (kSources - 1) * kSize;
    reference::mudd_weights(reference::MuddWeights<double>{
        kT, kD, kWays * kSources, kInner, h.data(), f.data(), W_1.data(), W_2.data(), prior.data(),
        1e-6, newest, weights.data()});
    reference::mudd_mix(reference::MuddMix<double>{kT, kD, kSources, kWays, bank.data(),
                                                   weights.data(), norm(), h.data(), x.data()});
  }
};

/// The prior alone, which its models start from.
TEST(MuddFormer, OfTheNewestStateAloneIsTheStandardResidual) {
  Mudd b({0, 0, 0, 1});
  b.run();
  EXPECT_LE(relative_error(b.x, b.next_x), kTolerance);
  EXPECT_LE(relative_error(b.h, b.next_h), kTolerance);
}

TEST(MuddFormer, OfStaticWeightsIsDenseFormer) {
  const Row alpha{0.5, -0.25, 2, 1};
  Mudd b(alpha);
  Row bank = b.bank;
  Row h = b.h;
  Row x = b.x;
  b.run();
  reference::run(DenseMix<double>{kT, kD, 4, 3, bank.data(), h.data(), b.f.data(), 3, alpha.data(),
                                  b.norm(), h.data(), x.data()});
  EXPECT_LE(relative_error(b.x, x), kTolerance);
  EXPECT_LE(relative_error(b.h, h), kTolerance);
  EXPECT_EQ(b.bank, bank);
}

/// A weight's source is the state that it stands for: the second, of the second way.
TEST(MuddFormer, AddsWhatTheProjectionSays) {
  Mudd b({0, 0, 0, 0});
  const std::size_t weight = Mudd::kSources + 1;
  for (std::size_t i = 0; i < Mudd::kInner; ++i) b.W_2[weight * Mudd::kInner + i] = 1;
  const Rows second = cut(Row(b.bank.begin() + kSize, b.bank.begin() + 2 * kSize), kD);
  b.run();
  for (std::size_t t = 0; t < kT; ++t) {
    const double made = b.weights[t * 8 + weight];
    EXPECT_NE(made, 0);
    EXPECT_LE(relative_error(cut(b.h, kD)[t], reference::scaled(made, second[t])), kTolerance);
  }
}

TEST(Gelu, IsItsDefinition) {
  EXPECT_EQ(reference::gelu(0), 0);
  EXPECT_NEAR(reference::gelu(1), 0.841344746068543, 1e-14);
  EXPECT_NEAR(reference::gelu(-1), 0.841344746068543 - 1, 1e-14);
}

TEST(ValueResidual, OfOneTermIsThatTerm) {
  Standard b;
  const Row W = b.draw(3 * kD), first = b.draw(3 * kT);
  Row own(3 * kT, kNaN);
  Row values = own;
  reference::projection(
      reference::Projection<double, double>{kT, kD, 3, b.h.data(), W.data(), nullptr, own.data()});
  reference::ValueResidual<double> op{kT,           kD, 3, b.h.data(),   W.data(),
                                      first.data(), 0,  1, values.data()};
  reference::value_residual(op);
  EXPECT_EQ(values, own);
  op.first_scale = 1;
  op.own_scale = 0;
  reference::value_residual(op);
  EXPECT_EQ(values, first);
}

// -- Attention that is not the paper's --------------------------------------------------------

/// Keys and values that are kept are those that would be made again.
TEST(HistoryScan, OfKeptKeysAndValuesIsHistoryAttention) {
  Standard b;
  constexpr std::size_t n = 3, d_k = 2;
  const Row W_q = b.draw(d_k * kD), W_k = b.draw(d_k * kD), W_v = b.draw(kD * kD);
  Row states = b.draw((n + 1) * kSize), q(kT * d_k), k(n * kT * d_k), v(n * kSize);
  using Product = reference::Projection<double, double>;
  reference::projection(Product{kT, kD, d_k, b.f.data(), W_q.data(), nullptr, q.data()});
  reference::projection(Product{n * kT, kD, d_k, states.data(), W_k.data(), nullptr, k.data()});
  reference::projection(Product{n * kT, kD, kD, states.data(), W_v.data(), nullptr, v.data()});
  reference::history_scan(reference::HistoryScan<double>{
      kT, kD, d_k, n, q.data(), k.data(), v.data(), b.f.data(), {}, b.h.data(), b.x.data()});
  reference::history_attention(reference::HistoryAttention<double>{
      kT, kD, d_k, n, states.data(), b.f.data(), W_q.data(), W_k.data(), W_v.data()});
  EXPECT_LE(relative_error(b.h, Row(states.end() - kSize, states.end())), kTolerance);
  EXPECT_EQ(b.x, b.h);
}

/// Without values nothing is added to what the layer has made.
TEST(HistoryScan, OfNoValuesIsTheLayersOutput) {
  Standard b;
  const Row q = b.draw(kSize), k = b.draw(2 * kSize), v(2 * kSize, 0);
  reference::history_scan(reference::HistoryScan<double>{
      kT, kD, kD, 2, q.data(), k.data(), v.data(), b.f.data(), b.norm(), b.h.data(), b.x.data()});
  EXPECT_EQ(b.h, b.f);
}

/// A query of zero weighs all normalised states alike.
TEST(BoundaryAttention, WithoutAQueryIsTheMeanOfNorms) {
  Standard b;
  Row bank = b.draw(3 * kSize);
  const Row w(kD, 0);
  reference::boundary_depth_attention(reference::BoundaryDepthAttention<double>{
      kT, kD, 2, bank.data(), b.h.data(), b.f.data(), w.data(), b.norm(), {}, b.x.data()});
  for (std::size_t t = 0; t < kT; ++t) {
    Row mean = cut(b.next_x, kD)[t];
    for (const std::size_t row : {t, kT + t})
      reference::add(mean, reference::next_norm(cut(bank, kD)[row], b.norm()));
    EXPECT_LE(relative_error(cut(b.x, kD)[t], reference::scaled(1.0 / 3, mean)), kTolerance);
  }
}

}  // namespace
}  // namespace depthcost::test::mechanism_values_test
