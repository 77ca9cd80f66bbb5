// Compares every CPU operation with the reference.
#pragma once

#include <omp.h>

#include <tuple>
#include <variant>

#include "kernels/cpu/run.hpp"
#include "kernels/reference/run.hpp"
#include "tests/kernels/cpu/accuracy.hpp"
#include "tests/kernels/cpu/covering.hpp"

namespace depthcost::test {

/// A problem is the operands of one operation: constructed from its Shape, `op` is the operation,
/// and `outputs()` all the tensors that it may write: a tuple of references, or pointers.
template <class Problem, class Check>
void for_each_output(const Problem& a, const Problem& b, const Check& check) {
  const auto of_a = a.outputs();
  const auto of_b = b.outputs();
  [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
    (check(std::get<kIndex>(of_a), std::get<kIndex>(of_b), "output " + std::to_string(kIndex)),
     ...);
  }
  (std::make_index_sequence<std::tuple_size_v<decltype(of_a)>>{});
}

/// As above, where there are as many tensors as the operation has outputs, of one type or another.
template <class Problem, class Check>
requires requires(const Problem& problem) { problem.outputs().size(); }
void for_each_output(const Problem& a, const Problem& b, const Check& check) {
  for (std::size_t i = 0; i < a.outputs().size(); ++i)
    std::visit(
        [&]<class Of>(const Of* of_a) {
          check(*of_a, *std::get<const Of*>(b.outputs()[i]), "output " + std::to_string(i));
        },
        a.outputs()[i]);
}

/// The reference on `expected`, whose stores `access` records. `actual` has been run on the CPU.
template <class Problem>
void run_reference(Problem& expected, const Problem& /*actual*/, RecordingAccess& access) {
  reference::run(expected.op, access);
}

/// What a kernel may lose of the terms of an element before that is rounded.
template <class Problem>
double lost_of_terms(const Problem& /*problem*/) {
  return 0;
}

/// After change(problem), compares the CPU with the reference on the distinct tokens, and all other
/// tokens with those.
template <class Problem, class Shape, class Change>
void expect_matches_after(const Shape& shape, double largest_logit, const Change& change) {
  Problem problem(shape);
  change(problem);
  cpu::run(problem.op);

  Shape distinct = shape;
  distinct.num_tokens = std::min(shape.num_tokens, kDistinctTokens);
  Problem expected(distinct);
  change(expected);
  RecordingAccess access;
  for_each_output(expected, expected,
                  [&](const auto& tensor, const auto&, const auto&) { access.record(tensor); });
  run_reference(expected, problem, access);
  for_each_output(
      problem, expected, [&](const auto& actual, const auto& wanted, const std::string& what) {
        expect_accurate(actual, wanted, access, largest_logit, lost_of_terms(expected), what);
        expect_repeated(actual, what);
      });
}

template <class Problem, class Shape>
void expect_matches(const Shape& shape, double largest_logit = 0) {
  expect_matches_after<Problem>(shape, largest_logit, [](const Problem&) {});
}

/// Expects arguments that change(op) has spoilt to be refused, and nothing to be written.
template <class Problem, class Shape, class Change>
void expect_refused(const Shape& shape, const Change& change) {
  const Problem untouched(shape);
  Problem problem(shape);
  change(problem.op);
  EXPECT_THROW(cpu::run(problem.op), std::invalid_argument);
  for_each_output(untouched, problem, [&](const auto& a, const auto& b, const std::string& what) {
    EXPECT_TRUE(a.same_bits(b)) << what;
  });
}

/// Expects a second run and runs with other numbers of threads to yield the same bits.
template <class Problem, class Shape>
void expect_repeatable(const Shape& shape) {
  Problem first(shape);
  cpu::run(first.op);
  const int num_threads = omp_get_max_threads();
  for (const int threads : {num_threads, 1, 2, 3}) {
    omp_set_num_threads(threads);
    Problem again(shape);
    cpu::run(again.op);
    for_each_output(first, again, [&](const auto& a, const auto& b, const std::string& what) {
      EXPECT_TRUE(a.same_bits(b)) << what << " with " << threads << " threads";
    });
  }
  omp_set_num_threads(num_threads);
}

inline std::string text_of(const Levels& levels) {
  std::string text;
  for (const std::size_t level : levels) text += ' ' + std::to_string(level);
  return text;
}

}  // namespace depthcost::test
