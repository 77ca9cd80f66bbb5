// A decoder layer of AltUp with LAuReL against plain loops, and its ends where the result is known.
#include "kernels/reference/altup.hpp"

#include <gtest/gtest.h>

#include "kernels/reference/without_kernels/altup.hpp"
#include "tests/kernels/reference/steps.hpp"

namespace depthcost::test::altup_test {
namespace {

constexpr double kTolerance = 1e-12;
constexpr std::size_t kT = 3, kD = 5, kA = 4, kR = 2;

/// One token's rows in plain loops.
Row plus(Row a, const Row& b, double factor = 1) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += factor * b[i];
  return a;
}
Row normed(const Row& h, const Row& gain) {
  double squares = 0;
  for (const double element : h) squares += element * element;
  Row x = h;
  for (std::size_t i = 0; i < h.size(); ++i)
    x[i] *= gain[i] / std::sqrt(squares / static_cast<double>(h.size()) + 1e-6);
  return x;
}
Row times(const Row& matrix, const Row& x) {
  Row y(matrix.size() / x.size(), 0);
  for (std::size_t i = 0; i < matrix.size(); ++i) y[i / x.size()] += matrix[i] * x[i % x.size()];
  return y;
}

struct Block {
  Draw draw{};
  Row h = draw(kT * kA * kD), M = draw(kA * kD), router_gain = draw(kD), P = draw(kA * kA * kA);
  Row C = draw(kA * kA), gain = draw(kD), L = draw(kR * kD), R = draw(kD * kR);
  Row laurel_gain = draw(kD), attention_gain = draw(kD), mlp_gain = draw(kD), gain2 = draw(kD);
  Row attention = draw(kT * kD), mlp = draw(kT * kD);
  Row x = Row(kT * kD, kNaN), x2 = x, q = x;

  BasicAltupRouter<double> router() const { return {M.data(), {.gain = router_gain.data()}}; }

  void run() {
    reference::run(AltupPredict<double>{
        kT, kD, kA, h.data(), router(), P.data(), {.gain = gain.data()}, x.data()});
    reference::run(AltupLaurel<double>{
        kT, kD, kR, x.data(), L.data(), R.data(), {.gain = laurel_gain.data()}, q.data()});
    reference::run(AltupMiddle<double>{kT,
                                       kD,
                                       kA,
                                       h.data(),
                                       attention.data(),
                                       q.data(),
                                       {.gain = attention_gain.data()},
                                       {.gain = gain2.data()},
                                       x2.data()});
    reference::run(AltupCorrect<double>{
        kT, kD, kA, h.data(), mlp.data(), q.data(), {.gain = mlp_gain.data()}, router(), C.data()});
  }

  Row modalities(const Row& row) const {
    Row m = times(M, normed(row, router_gain));
    for (double& element : m) element = std::tanh(element / static_cast<double>(kD));
    return m;
  }
};

TEST(Altup, IsADullLoop) {
  Block b;
  const Row before = b.h;
  b.run();
  for (std::size_t t = 0; t < kT; ++t) {
    Rows h;
    for (std::size_t i = 0; i < kA; ++i) h.push_back(cut(before, kD)[t * kA + i]);
    const Row P = times(b.P, b.modalities(h[0]));
    Rows p = h;
    for (std::size_t i = 0; i < kA; ++i)
      for (std::size_t j = 0; j < kA; ++j) p[i] = plus(p[i], h[j], P[i * kA + j]);
    const Row x = normed(p[0], b.gain);
    const Row l = plus(x, normed(times(b.R, times(b.L, x)), b.laurel_gain));
    Row q = plus(plus(p[0], normed(cut(b.attention, kD)[t], b.attention_gain)), l);
    for (double& element : q) element /= std::sqrt(2.0);
    const Row a = plus(q, normed(cut(b.mlp, kD)[t], b.mlp_gain));
    const Row c = times(b.C, b.modalities(a));
    for (std::size_t i = 0; i < kA; ++i)
      EXPECT_LE(relative_error(cut(b.h, kD)[t * kA + i], plus(p[i], plus(a, p[0], -1), c[i] + 1)),
                kTolerance);
    EXPECT_LE(relative_error(cut(b.x, kD)[t], x), kTolerance);
    EXPECT_LE(relative_error(cut(b.x2, kD)[t], normed(q, b.gain2)), kTolerance);
  }
}

/// Without its own weights nothing is predicted, and every copy takes the change of the active one.
TEST(Altup, WithoutWeightsMovesAllCopiesAlike) {
  Block b;
  std::fill(b.P.begin(), b.P.end(), 0);
  std::fill(b.C.begin(), b.C.end(), 0);
  const Rows before = cut(b.h, kD);
  b.run();
  const Rows after = cut(b.h, kD);
  for (std::size_t row = 0; row < kT * kA; ++row) {
    const std::size_t active = row / kA * kA;
    EXPECT_LE(
        relative_error(plus(after[row], before[row], -1), plus(after[active], before[active], -1)),
        kTolerance);
  }
}

/// Copies made by identities are the embedding, and their mean is it again.
TEST(Altup, EndsWhereItBeganIfNothingHappens) {
  Draw draw;
  const Row embedding = draw(kT * kD), gain = draw(kD);
  Row products;
  for (std::size_t t = 0; t < kT; ++t)
    for (std::size_t i = 1; i < kA; ++i)
      for (std::size_t e = 0; e < kD; ++e)  // of any size
        products.push_back(static_cast<double>(i) * embedding[t * kD + e]);
  Row copies(kT * kA * kD, kNaN), x(kT * kD, kNaN);
  reference::altup_entry(reference::AltupEntry<double>{kT, kD, kA, embedding.data(),
                                                       products.data(), 0, copies.data()});
  for (std::size_t row = 0; row < kT * kA; ++row)
    EXPECT_LE(relative_error(cut(copies, kD)[row], cut(embedding, kD)[row / kA]), kTolerance);
  reference::altup_exit(reference::AltupExit<double>{
      kT, kD, kA, copies.data(), products.data(), 0, {.gain = gain.data()}, x.data()});
  for (std::size_t t = 0; t < kT; ++t)
    EXPECT_LE(relative_error(cut(x, kD)[t], normed(cut(embedding, kD)[t], gain)), kTolerance);
}

}  // namespace
}  // namespace depthcost::test::altup_test
