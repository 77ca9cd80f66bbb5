// The AttnRes operations at their edges, one operation at a time.
#include "kernels/reference/attnres.hpp"

#include <gtest/gtest.h>

#include "tests/kernels/reference/comparison.hpp"

namespace depthcost::test::attnres_test {
namespace {

constexpr std::size_t kTokens = 2;
constexpr std::size_t kHidden = 3;
constexpr std::size_t kRow = kTokens * kHidden;
constexpr std::size_t kBankRows = 5;

/// Operands of an operation. Bank rows that are not valid, and every output, are NaN.
struct Operands {
  Row bank = Row(kBankRows * kRow, kNaN);
  Row partial_sum{1, 2, 3, 4, 5, 6};
  Row layer_output{0.5, -2, 1, 8, 0, -1};
  Row query{0.3, -1.2, 0.7};
  Row output = Row(kRow, kNaN);

  explicit Operands(std::size_t num_valid) {
    for (std::size_t i = 0; i < num_valid * kRow; ++i)
      bank[i] = static_cast<double>((i * 7 + 3) % 11) - 5;
  }

  AttnResSinglePass<double> single_pass(std::size_t num_sources) {
    return {.num_tokens = kTokens,
            .hidden_size = kHidden,
            .num_bank_rows = kBankRows,
            .num_bank_sources = num_sources,
            .bank = bank.data(),
            .query = query.data(),
            .output = output.data()};
  }

  Row bank_row(std::size_t row) const { return cut(bank, kRow)[row]; }
  Row sum() const {
    Row b = partial_sum;
    reference::add(b, layer_output);
    return b;
  }

  /// Eq. 2-4 for each token over `sources`, each (T, d), by loops of their own.
  Row expected(const Rows& sources) const {
    Row h(kRow, 0.0);
    for (std::size_t t = 0; t < kTokens; ++t) {
      Row phi;
      double total = 0;
      for (const Row& v : sources) {
        double squares = 0;
        double product = 0;
        for (std::size_t e = t * kHidden; e < (t + 1) * kHidden; ++e) {
          squares += v[e] * v[e];
          product += query[e - t * kHidden] * v[e];
        }
        phi.push_back(std::exp(product / std::sqrt(squares / kHidden + 1e-6)));
        total += phi.back();
      }
      for (std::size_t i = 0; i < sources.size(); ++i)
        for (std::size_t e = t * kHidden; e < (t + 1) * kHidden; ++e)
          h[e] += phi[i] / total * sources[i][e];
    }
    return h;
  }
};

TEST(SinglePass, OfTheFirstLayerReturnsTheEmbedding) {
  Operands o(1);
  reference::run(o.single_pass(1));
  EXPECT_EQ(o.output, o.bank_row(0));
}

TEST(SinglePass, OfTheFirstLayerOfABlockHasNoPartialSumAndIgnoresInvalidRows) {
  Operands o(3);
  reference::run(o.single_pass(3));
  EXPECT_LE(relative_error(o.output, o.expected({o.bank_row(0), o.bank_row(1), o.bank_row(2)})),
            1e-14);
}

TEST(SinglePass, OfTheSecondLayerTakesThePartialSumAsItStands) {
  Operands o(2);
  auto op = o.single_pass(2);
  op.partial_sum = o.partial_sum.data();
  const Row b = o.partial_sum;
  reference::run(op);
  EXPECT_LE(relative_error(o.output, o.expected({o.bank_row(0), o.bank_row(1), b})), 1e-14);
  EXPECT_EQ(o.partial_sum, b);
}

TEST(SinglePass, TakesThePartialSumAloneWithoutABank) {
  Operands o(0);
  auto op = o.single_pass(0);
  op.bank = nullptr;
  op.num_bank_rows = 0;
  op.partial_sum = o.partial_sum.data();
  reference::run(op);
  EXPECT_EQ(o.output, o.partial_sum);
}

TEST(SinglePass, StoresTheSumWhereItIsTold) {
  for (const SumStore store : {SumStore::partial_sum, SumStore::bank_row, SumStore::nowhere}) {
    Operands o(2);
    const Row b = o.partial_sum;
    const Row sum = o.sum();
    auto op = o.single_pass(2);
    op.partial_sum = o.partial_sum.data();
    op.layer_output = o.layer_output.data();
    op.store = store;
    op.bank_row = store == SumStore::bank_row ? 3 : kNoRow;
    reference::run(op);
    EXPECT_LE(relative_error(o.output, o.expected({o.bank_row(0), o.bank_row(1), sum})), 1e-14);
    EXPECT_EQ(o.partial_sum, store == SumStore::partial_sum ? sum : b);
    if (store == SumStore::bank_row)
      EXPECT_EQ(o.bank_row(3), sum);
    else
      EXPECT_TRUE(std::isnan(o.bank_row(3)[0]));
    EXPECT_TRUE(std::isnan(o.bank_row(2)[0]));
    EXPECT_TRUE(std::isnan(o.bank_row(4)[0]));
  }
}

TEST(SinglePass, WithZeroQueryIsTheExactMean) {
  Operands o(4);
  o.query.assign(kHidden, 0);
  reference::run(o.single_pass(4));
  for (std::size_t i = 0; i < kRow; ++i)
    EXPECT_EQ(o.output[i],
              (o.bank[i] + o.bank[i + kRow] + o.bank[i + 2 * kRow] + o.bank[i + 3 * kRow]) / 4);
}

TEST(SinglePass, NormalisesForTheNextLayer) {
  Operands o(1);
  const Row gain{2, 3, 4};
  auto op = o.single_pass(1);
  op.norm = {gain.data(), 1e-6};
  reference::run(op);
  const Row h = o.bank_row(0);
  for (std::size_t t = 0; t < kTokens; ++t) {
    const double* v = h.data() + t * kHidden;
    const double rms = std::sqrt((v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) / 3 + 1e-6);
    for (std::size_t e = 0; e < kHidden; ++e)
      EXPECT_NEAR(o.output[t * kHidden + e], v[e] / rms * gain[e], 1e-14);
  }
}

TEST(SinglePass, TakesAZeroSource) {
  Operands o(2);
  std::fill_n(o.bank.begin(), kRow, 0.0);
  reference::run(o.single_pass(2));
  EXPECT_LE(relative_error(o.output, o.expected({Row(kRow, 0.0), o.bank_row(1)})), 1e-14);
}

/// Sources whose keys are +-1 in every element, so that d = 1 and w = 700 make logits of +-700.
TEST(SinglePass, TakesLogitsOf700) {
  Row bank{-3, 5, -2};
  const double query = 700;
  double h = kNaN;
  reference::run(AttnResSinglePass<double>{.num_tokens = 1,
                                           .hidden_size = 1,
                                           .num_bank_rows = 3,
                                           .num_bank_sources = 3,
                                           .bank = bank.data(),
                                           .query = &query,
                                           .output = &h});
  EXPECT_DOUBLE_EQ(h, 5);
}

/// Phase 1 over `bank`, one closing source and two queries, with poisoned results.
struct Phases {
  Operands operands{2};
  Row queries{0.1, 0.2, 0.3, 0.3, -1.2, 0.7};
  Row o = Row(kRow, kNaN);
  Row m = Row(kTokens, kNaN);
  Row l = Row(kTokens, kNaN);

  AttnResPhase1<double, double> phase1() {
    return {.num_tokens = kTokens,
            .hidden_size = kHidden,
            .num_bank_rows = kBankRows,
            .num_bank_sources = 2,
            .num_queries = 2,
            .bank = operands.bank.data(),
            .queries = queries.data(),
            .output = operands.output.data(),
            .outputs = o.data(),
            .maxima = m.data(),
            .sums = l.data()};
  }

  AttnResPhase2<double, double> phase2() {
    return {.num_tokens = kTokens,
            .hidden_size = kHidden,
            .partial_sum = operands.partial_sum.data(),
            .phase1_output = o.data(),
            .maximum = m.data(),
            .sum = l.data(),
            .query = queries.data() + kHidden,
            .output = operands.output.data()};
  }
};

TEST(Phase1, ClosesThePreviousBlockAndAttendsToIt) {
  Phases p;
  const Row sum = p.operands.sum();
  auto op = p.phase1();
  op.partial_sum = p.operands.partial_sum.data();
  op.layer_output = p.operands.layer_output.data();
  op.bank_row = 2;
  reference::run(op);
  EXPECT_EQ(p.operands.bank_row(2), sum);
  const Rows sources{p.operands.bank_row(0), p.operands.bank_row(1), sum};
  p.operands.query = {0.1, 0.2, 0.3};
  EXPECT_LE(relative_error(p.operands.output, p.operands.expected(sources)), 1e-14);
  p.operands.query = {0.3, -1.2, 0.7};
  Row second = p.o;
  for (std::size_t i = 0; i < kRow; ++i) second[i] /= p.l[i / kHidden];
  EXPECT_LE(relative_error(second, p.operands.expected(sources)), 1e-14);
  for (const double l : p.l) EXPECT_TRUE(l >= 1 && l <= 3);  // the largest term is 1
}

TEST(Phase1, OfABlockOfOneLayerLeavesNoStatistics) {
  Phases p;
  auto op = p.phase1();
  op.num_queries = 1;
  op.outputs = nullptr;
  op.maxima = nullptr;
  op.sums = nullptr;
  reference::run(op);
  p.operands.query = {0.1, 0.2, 0.3};
  EXPECT_LE(relative_error(p.operands.output,
                           p.operands.expected({p.operands.bank_row(0), p.operands.bank_row(1)})),
            1e-14);
}

TEST(Phase2, AddsTheLayerOutputFirst) {
  Phases p;
  reference::run(p.phase1());
  const Row sum = p.operands.sum();
  auto op = p.phase2();
  op.layer_output = p.operands.layer_output.data();
  reference::run(op);
  EXPECT_EQ(p.operands.partial_sum, sum);
  EXPECT_LE(relative_error(p.operands.output, p.operands.expected({p.operands.bank_row(0),
                                                                   p.operands.bank_row(1), sum})),
            1e-14);
}

TEST(Phase2, AttendsToTheFurtherSourcesOfFullAttnRes) {
  Phases p;
  reference::run(p.phase1());
  const Row further{1, 1, 2, 3, 5, 8, -1, -2, 0, 4, -4, 6};
  auto op = p.phase2();
  op.num_further_sources = 2;
  op.further_sources = further.data();
  reference::run(op);
  const Rows sources{p.operands.bank_row(0), p.operands.bank_row(1), cut(further, kRow)[0],
                     cut(further, kRow)[1], p.operands.partial_sum};
  EXPECT_LE(relative_error(p.operands.output, p.operands.expected(sources)), 1e-14);
}

/// Scores of +-700 in either phase; the other one's mass vanishes without a NaN.
TEST(Phase2, MergesLogitsOf700) {
  for (const double own : {3.0, -3.0}) {
    double bank = -own;
    double b = own;
    double x = kNaN, o = kNaN, m = kNaN, l = kNaN;
    const double queries[2] = {700, 700};
    reference::run(AttnResPhase1<double, double>{.num_tokens = 1,
                                                 .hidden_size = 1,
                                                 .num_bank_rows = 1,
                                                 .num_bank_sources = 1,
                                                 .num_queries = 2,
                                                 .bank = &bank,
                                                 .queries = queries,
                                                 .output = &x,
                                                 .outputs = &o,
                                                 .maxima = &m,
                                                 .sums = &l});
    EXPECT_EQ(x, -own);
    reference::run(AttnResPhase2<double, double>{.num_tokens = 1,
                                                 .hidden_size = 1,
                                                 .partial_sum = &b,
                                                 .phase1_output = &o,
                                                 .maximum = &m,
                                                 .sum = &l,
                                                 .query = queries,
                                                 .output = &x});
    EXPECT_EQ(x, 3.0);
  }
}

}  // namespace
}  // namespace depthcost::test::attnres_test
