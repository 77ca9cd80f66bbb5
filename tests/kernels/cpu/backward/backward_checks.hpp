// Backward passes against the reference in float64, over shapes and at their edges. `Device` runs
// an operation, and says which of the covering cases it has time for.
#pragma once

#include <gtest/gtest.h>

#include "kernels/reference/backward/attnres.hpp"
#include "kernels/reference/backward/mhc.hpp"
#include "kernels/reference/backward/residual.hpp"
#include "tests/kernels/cpu/backward/backward_problems.hpp"

namespace depthcost::test {

/// What rounding the exact result once would cost, a little more, and what f32 loses of terms that
/// cancel. Logits of hundreds lose digits of their weights.
template <class P>
void expect_close(const std::string& what, const P* actual, const double* exact, std::size_t count,
                  double largest_logit) {
  SquaredError error;
  SquaredError floor;
  for (std::size_t i = 0; i < count; ++i) {
    error.add(reference::to_double(actual[i]), exact[i]);
    floor.add(reference::to_double(reference::round_to<P>(exact[i])), exact[i]);
  }
  const double lost = 4e-6 * std::sqrt(static_cast<double>(count)) +
                      4 * float_tolerance(largest_logit) * std::sqrt(error.scale);
  EXPECT_LE(std::sqrt(error.error), kFloorFactor * std::sqrt(floor.error) + lost)
      << what << ": scale " << std::sqrt(error.scale);
}

template <class Problem>
void expect_same_bits(const Problem& a, const Problem& b, const std::string& of_what) {
  Problem::each_output(a.op, b.op,
                       [&](const char* what, const auto* x, const auto* y, std::size_t count) {
                         EXPECT_EQ(0, std::memcmp(x, y, count * sizeof(*x))) << what << of_what;
                       });
}

template <class Device>
struct BackwardChecks {
  template <class Problem>
  static void expect_matches_reference(Problem& problem, double largest_logit = kLargestLogit) {
    Doubles copies;
    const auto exact = in_doubles(problem.op, copies);
    reference::run(exact);
    Device::run(problem.op);
    Problem::each_output(
        problem.op, exact,
        [&](const char* what, const auto* actual, const double* of_exact, std::size_t count) {
          expect_close(what, actual, of_exact, count, largest_logit);
        });
  }

  template <template <class> class Problem>
  static void expect_matches_in_both(const BackwardShape& shape,
                                     double largest_logit = kLargestLogit) {
    Problem<float> in_float(shape);
    expect_matches_reference(in_float, largest_logit);
    Problem<Bf16> in_bf16(shape);
    expect_matches_reference(in_bf16, largest_logit);
  }

  /// Every size meets every other: tokens, widths, rows or streams, queries, norm, slices, partial
  /// sum, store.
  template <template <class> class Problem>
  static void expect_all_match(const std::vector<Levels>& levels) {
    constexpr std::size_t kMostElements = 100'000;
    const auto is_feasible = [](const Levels& l) {
      return l[0] * l[1] * std::max<std::size_t>(l[2], 1) * std::max<std::size_t>(l[3], 1) <=
             kMostElements;
    };
    for (const Levels& l : Device::cases(levels, is_feasible)) {
      SCOPED_TRACE("T, d, count, S, norm, slices, partial, store:" + text_of(l));
      expect_matches_in_both<Problem>({l[0], l[1], l[2], l[3], l[4], l[5], l[6],
                                       l[7] == 0 ? GradientStore::overwrite : GradientStore::add});
      if (testing::Test::HasFailure()) return;
    }
  }

  inline static const Levels kTokens{0, 1, 2, 5, 33};
  inline static const Levels kWidths{1, 7, 32, 65, 130, 600};

  static void row_operations() {
    const std::vector<Levels> levels{kTokens, kWidths, {1}, {1}, {1}, {1, 3, 40}, {0}, {1}};
#define DEPTHCOST_MATCH(Op, name)          \
  {                                        \
    SCOPED_TRACE(#name);                   \
    expect_all_match<Op##Problem>(levels); \
  }
    DEPTHCOST_RESIDUAL_BACKWARD_OPERATIONS(DEPTHCOST_MATCH)
#undef DEPTHCOST_MATCH
  }
  static void single_pass() {
    expect_all_match<SinglePassBackwardProblem>(
        {kTokens, kWidths, {1, 2, 3, 9, 17}, {1}, {0, 1}, {1, 3, 40}, {0, 1}, {0, 1}});
    expect_matches_in_both<SinglePassBackwardProblem>({3, 40, 0, 1, 1, 2, 1});  // b alone
  }
  static void phase2() {
    expect_all_match<Phase2BackwardProblem>(
        {kTokens, kWidths, {1}, {1}, {0, 1}, {1, 3, 40}, {0}, {1}});
  }
  static void phase1() {
    expect_all_match<Phase1BackwardProblem>(
        {kTokens, kWidths, {1, 2, 3, 9}, {1, 2, 5, 12}, {0, 1}, {1, 3, 40}, {0}, {1}});
  }
  static void mhc_post() {
    expect_all_match<MhcPostBackwardProblem>(
        {kTokens, kWidths, {1, 2, 3, 4, 7}, {1}, {1}, {1}, {0}, {1}});
  }
  static void mhc_pre() {
    expect_all_match<MhcPreBackwardProblem>(
        {kTokens, kWidths, {1, 2, 4, 5}, {1}, {0, 1}, {1, 3, 40}, {0}, {1}});
    for (const SinkhornOrder order : {SinkhornOrder::col_row, SinkhornOrder::row_col}) {
      MhcPreBackwardProblem<float> problem({5, 48, 4, 1, 1, 2}, order);
      expect_matches_reference(problem);
    }
  }

  static void mhc_boundary() {
    expect_all_match<MhcBoundaryBackwardProblem>(
        {kTokens, kWidths, {1, 2, 3, 4, 7}, {1}, {0, 1}, {1, 3, 40}, {0}, {1}});
    for (const SinkhornOrder order : {SinkhornOrder::col_row, SinkhornOrder::row_col}) {
      MhcBoundaryBackwardProblem<float> problem({5, 48, 4, 1, 1, 2}, order);
      expect_matches_reference(problem);
    }
  }

  /// One source has all the weight, or all have the same; rows of zeros have the norm of eps.
  static void edges_of_attnres() {
    for (const float scale : {0.0F, 140.0F})
      expect_matches_in_both<SinglePassBackwardProblem>(
          {5, 64, 9, 1, 1, 2, 1, GradientStore::add, scale}, 5.0 * static_cast<double>(scale));
    SinglePassBackwardProblem<float> equal({3, 40, 4, 1, 1, 1});
    for (std::size_t i = 0; i < equal.bank.count(); ++i)
      equal.bank.data()[i] = equal.bank.data()[i % 120];
    expect_matches_reference(equal);
    SinglePassBackwardProblem<float> zero({3, 40, 3, 1, 0, 1});
    std::fill_n(zero.bank.data(), 120, 0.0F);
    expect_matches_reference(zero);
  }
};

}  // namespace depthcost::test
