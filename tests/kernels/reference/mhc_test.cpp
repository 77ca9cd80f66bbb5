// mHC: golden/mhc_dynamic.json through every kernel, the static networks of golden/kernels.json,
// and Sinkhorn's iteration in both orders.
#include "kernels/reference/mhc.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "kernels/reference/run.hpp"
#include "tests/golden.hpp"
#include "tests/kernels/reference/comparison.hpp"

namespace depthcost::test::mhc_test {
namespace {

using nlohmann::json;
using reference::DirectAccess;
using reference::StreamPasses;

json dynamic_cases() { return load_golden("mhc_dynamic.json").at("cases"); }

/// A golden case, and poisoned results of every kernel.
struct DynamicCase {
  std::size_t T;  // tokens
  std::size_t m;
  std::size_t d;
  std::size_t iterations;
  SinkhornOrder order;
  double eps;
  Row phi, bias, scales, X, f;
  Row x, pre, post, residual, next;

  explicit DynamicCase(const json& entry)
      : T(entry.at("T")),
        m(entry.at("m")),
        d(entry.at("d")),
        iterations(entry.at("iterations")),
        order(entry.at("order") == "col_row" ? SinkhornOrder::col_row : SinkhornOrder::row_col),
        eps(entry.at("eps")),
        phi(flat(entry.at("phi"))),
        bias(flat(entry.at("b"))),
        scales(flat(entry.at("a"))),
        X(flat(entry.at("X"))),
        f(flat(entry.at("f"))),
        x(T * d, kNaN),
        pre(T * m, kNaN),
        post(T * m, kNaN),
        residual(T * m * m, kNaN),
        next(T * m * d, kNaN) {}

  BasicMhcMapping<double> mapping() const {
    return {phi.data(), bias.data(), {scales[0], scales[1], scales[2]}, eps, iterations, order};
  }
  MhcPre<double> mhc_pre(const Row& streams) {
    return {T, d, m, streams.data(), mapping(), {}, x.data(), post.data(), residual.data()};
  }
  MhcPost<double> mhc_post() {
    return {T, d, m, X.data(), f.data(), post.data(), residual.data(), next.data()};
  }
};

void expect_golden_coefficients(const DynamicCase& c, const json& entry) {
  expect_close(c.post, flat(entry.at("H_post")), "H_post");
  expect_close(c.residual, flat(entry.at("H_res")), "H_res");
  expect_close(c.x, flat(entry.at("x")), "x");
}

TEST(GoldenDynamicMhc, IsReproducedByPreAndPost) {
  const json cases = dynamic_cases();
  ASSERT_EQ(cases.size(), 6U);
  for (const json& entry : cases)
    for (const StreamPasses passes : {StreamPasses::one, StreamPasses::two}) {
      DynamicCase c(entry);
      reference::mhc_pre(c.mhc_pre(c.X), DirectAccess{}, passes);
      expect_golden_coefficients(c, entry);
      reference::run(c.mhc_post());
      expect_close(c.next, flat(entry.at("X_next")), "X_next");
      MhcPost<double> in_place = c.mhc_post();
      in_place.next_streams = c.X.data();
      reference::run(in_place);
      EXPECT_EQ(c.X, c.next);
    }
}

TEST(GoldenDynamicMhc, IsReproducedByTheUnfusedLaunches) {
  const json cases = dynamic_cases();
  for (const json& entry : cases) {
    DynamicCase c(entry);
    Row spread(c.next.size(), kNaN);
    Row mixed(c.next.size(), kNaN);
    reference::run(UnfusedMhcCoefficients<double>{c.T, c.d, c.m, c.X.data(), c.mapping(),
                                                  c.pre.data(), c.post.data(), c.residual.data()});
    reference::run(UnfusedMhcPre<double>{c.T, c.d, c.m, c.X.data(), c.pre.data(), c.x.data()});
    expect_close(c.pre, flat(entry.at("H_pre")), "H_pre");
    expect_golden_coefficients(c, entry);
    reference::run(UnfusedMhcPost<double>{c.T, c.d, c.m, c.f.data(), c.post.data(), spread.data()});
    reference::run(
        UnfusedMhcResidual<double>{c.T, c.d, c.m, c.X.data(), c.residual.data(), mixed.data()});
    reference::run(
        UnfusedMhcMerge<double>{c.T, c.d, c.m, mixed.data(), spread.data(), c.next.data()});
    expect_close(c.next, flat(entry.at("X_next")), "X_next");
  }
}

TEST(MhcBoundary, IsPostThenPreInOneKernel) {
  const json cases = dynamic_cases();
  for (const json& entry : cases)
    for (const StreamPasses passes : {StreamPasses::one, StreamPasses::two}) {
      DynamicCase apart(entry);
      Row gain(apart.d, 1.5);
      reference::run(apart.mhc_pre(apart.X));
      DynamicCase together = apart;
      reference::run(apart.mhc_post());
      MhcPre<double> next = apart.mhc_pre(apart.next);
      next.norm.gain = gain.data();
      reference::run(next);

      // Coefficients are updated in place, as the next boundary needs them.
      const MhcBoundary<double> boundary{together.mhc_post(),   together.mapping(),
                                         {.gain = gain.data()}, together.x.data(),
                                         together.post.data(),  together.residual.data()};
      reference::run(boundary, DirectAccess{}, passes);
      EXPECT_EQ(together.next, apart.next);
      EXPECT_EQ(together.x, apart.x);
      EXPECT_EQ(together.post, apart.post);
      EXPECT_EQ(together.residual, apart.residual);
    }
}

TEST(Mhc, CoefficientsStayFiniteForLogitsOf700) {
  DynamicCase c(dynamic_cases().at(0));
  c.scales.assign(3, 0);
  for (std::size_t i = 0; i < c.bias.size(); ++i) c.bias[i] = i % 2 == 0 ? 700 : 710;
  reference::run(c.mhc_pre(c.X));
  for (const Row* result : {&c.x, &c.post, &c.residual})
    for (const double value : *result) EXPECT_TRUE(std::isfinite(value));
}

/// A [d, m] state times A, plus f beta^T: matrices act on the right, so H_res is A transposed.
Row transposed(const Row& A, std::size_t m) {
  Row result(A.size());
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < m; ++j) result[i * m + j] = A[j * m + i];
  return result;
}

void check_static_network(const json& entry) {
  const auto m = entry.at("m").get<std::size_t>();
  const auto d = entry.at("d").get<std::size_t>();
  const Rows values = entry.at("values").get<Rows>();
  const Rows alpha = entry.at("alpha").get<Rows>();
  const Rows beta = entry.at("beta").get<Rows>();
  const Row h1 = flat(entry.at("h1"));
  Row X(m * d, kNaN);
  reference::run(UnfusedMhcPost<double>{1, d, m, h1.data(), beta[0].data(), X.data()});
  Rows h;
  for (std::size_t l = 1; l <= values.size(); ++l) {
    if (l > 1) {
      const Row residual = transposed(flat(entry.at("A").at(l - 2)), m);
      reference::run(MhcPost<double>{1, d, m, X.data(), values[l - 2].data(), beta[l - 1].data(),
                                     residual.data(), X.data()});
    }
    Row& input = h.emplace_back(d, kNaN);
    reference::run(UnfusedMhcPre<double>{1, d, m, X.data(), alpha[l - 1].data(), input.data()});
  }
  expect_close(h, entry.at("h"), "static mhc h");
}

Row exponentials(Row logits) {
  for (double& element : logits) element = std::exp(element);
  return logits;
}

TEST(GoldenStaticMhc, IsReproducedWithItsMatrices) {
  const auto golden = load_golden("kernels.json");
  ASSERT_EQ(golden.at("mhc").size(), 2U);
  for (const json& entry : golden.at("mhc")) {
    check_static_network(entry);
    Row matrices = exponentials(flat(entry.at("A_logits")));
    const auto order =
        entry.at("sinkhorn_order") == "col_row" ? SinkhornOrder::col_row : SinkhornOrder::row_col;
    reference::run(BasicSinkhorn<double>{entry.at("A").size(), entry.at("m"), matrices.data(),
                                         entry.at("sinkhorn_iters"), order});
    expect_close(matrices, flat(entry.at("A")), "A");
  }
}

/// Largest distance of a line's sum from one.
double imbalance(const Row& matrix, std::size_t m, const auto& line_of) {
  double worst = 0;
  for (std::size_t index = 0; index < m; ++index) {
    const reference::Line line = line_of(index, m);
    double sum = 0;
    for (std::size_t i = 0; i < m; ++i) sum += matrix[line.first + i * line.stride];
    worst = std::max(worst, std::abs(sum - 1));
  }
  return worst;
}

Row random_positive_matrix(std::size_t m) {
  Row matrix;
  for (std::size_t i = 0; i < m * m; ++i)
    matrix.push_back(std::exp(*rc::gen::inRange(-1000, 1001) / 200.0));
  return matrix;
}

TEST(Sinkhorn, MakesTheSideItNormalisesLastExact) {
  EXPECT_TRUE(rc::check([] {
    const auto m = *rc::gen::inRange<std::size_t>(1, 9);
    const auto iterations = *rc::gen::inRange<std::size_t>(1, 30);
    for (const SinkhornOrder order : {SinkhornOrder::col_row, SinkhornOrder::row_col}) {
      Row matrix = random_positive_matrix(m);
      reference::run(BasicSinkhorn<double>{1, m, matrix.data(), iterations, order});
      const double error = order == SinkhornOrder::col_row
                               ? imbalance(matrix, m, reference::row_line)
                               : imbalance(matrix, m, reference::column_line);
      RC_ASSERT(error <= 1e-12);
    }
  }));
}

TEST(Sinkhorn, OrdersAreTransposesOfEachOther) {
  EXPECT_TRUE(rc::check([] {
    const auto m = *rc::gen::inRange<std::size_t>(1, 9);
    Row matrix = random_positive_matrix(m);
    Row other = transposed(matrix, m);
    reference::run(BasicSinkhorn<double>{1, m, matrix.data(), 7, SinkhornOrder::col_row});
    reference::run(BasicSinkhorn<double>{1, m, other.data(), 7, SinkhornOrder::row_col});
    RC_ASSERT(transposed(other, m) == matrix);
  }));
}

TEST(Sinkhorn, IgnoresACommonFactorAndSoMayTakeExpRelativeToTheLargest) {
  EXPECT_TRUE(rc::check([] {
    const auto m = *rc::gen::inRange<std::size_t>(1, 6);
    const Row positive = random_positive_matrix(m);
    Row logits = positive;
    for (double& element : logits) element = std::log(element);
    for (const SinkhornOrder order : {SinkhornOrder::col_row, SinkhornOrder::row_col}) {
      const Row plain = reference::sinkhorn_of(positive, m, 3, order);
      const Row relative =
          reference::sinkhorn_of(reference::exp_for_sinkhorn(logits, m, order), m, 3, order);
      RC_ASSERT(relative_error(relative, plain) <= 1e-12);
    }
  }));
}

}  // namespace
}  // namespace depthcost::test::mhc_test
