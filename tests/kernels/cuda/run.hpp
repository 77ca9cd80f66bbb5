// Runs operations on the device with operands of the host, and compares them with the reference.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "kernels/cuda/device.hpp"
#include "kernels/cuda/run.hpp"
#include "tests/kernels/cpu/covering.hpp"
#include "tests/kernels/cpu/run.hpp"
#include "tests/kernels/cuda/device_operands.hpp"
#include "tests/kernels/cuda/tensor_core_accuracy.hpp"

namespace depthcost::test {

/// A number from the environment.
inline std::size_t number_from(const char* variable, std::size_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// The emulation is slow, and its device has few multiprocessors, so that few tokens are many. A
// sanitizer is slow, too: DEPTHCOST_MOST_TOKENS and DEPTHCOST_CASES_PER_RUN ask a device for less.
#ifdef DEPTHCOST_EMULATED
inline constexpr bool kIsEmulated = true;
inline constexpr std::size_t kMostTokens = 24;
inline constexpr std::size_t kCasesPerRun = 48;
#else
inline constexpr bool kIsEmulated = false;
inline constexpr std::size_t kMostTokens = std::numeric_limits<std::size_t>::max();
inline constexpr std::size_t kCasesPerRun = 1;
#endif

inline std::size_t most_test_tokens() { return number_from("DEPTHCOST_MOST_TOKENS", kMostTokens); }

/// Whether the covering case of this index is one of this run: the first, and every 48th in the
/// emulation. Another DEPTHCOST_EMULATION_SEED runs others.
inline bool is_in_this_run(std::size_t index) {
  const std::size_t step = number_from("DEPTHCOST_CASES_PER_RUN", kCasesPerRun);
  return index == 0 || index % step == number_from("DEPTHCOST_EMULATION_SEED", 1) % step;
}

/// Covering cases: all of them on a device, some of them in the emulation.
inline std::vector<Levels> covering_cases_on_device(
    const std::vector<Levels>& factors,
    const std::function<bool(const Levels&)>& is_feasible = [](const Levels&) { return true; }) {
  std::vector<Levels> chosen;
  std::size_t index = 0;
  for (Levels& levels : covering_cases(factors, is_feasible))
    if (is_in_this_run(index++)) chosen.push_back(std::move(levels));
  return chosen;
}

/// Skips without a device.
class OnDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda::has_device()) GTEST_SKIP() << "no CUDA device";
  }
};

/// Runs an operation with host pointers on the device.
template <class Op>
void run_on_device(const Op& op, const cuda::LaunchOptions& options = {}) {
  DeviceBuffers buffers;
  const Op twin = on_device(op, buffers);
  buffers.upload();
  cuda::run(twin, options);
  buffers.download();
}

template <class T>
void run_on_device(const UnfusedStack<T>& op, const cuda::LaunchOptions& options = {}) {
  DeviceBuffers buffers;
  UnfusedStack<T> twin = op;
  std::vector<const T*> sources(op.sources, op.sources + op.num_sources);
  for (const T*& source : sources) buffers.move(source, op.num_tokens * op.hidden_size);
  twin.sources = sources.data();
  buffers.move(twin.stack, op.num_sources * op.num_tokens * op.hidden_size);
  buffers.upload();
  cuda::run(twin, options);
  buffers.download();
}

/// After change(problem), compares a run with the reference on the distinct tokens, all other
/// tokens with those, and a second run, with overlap, with the first.
template <class Problem, class Shape, class Change>
void expect_matches_at_its_size(const Shape& shape, const Accuracy& accuracy,
                                const Change& change) {
  Problem problem(shape);
  change(problem);
  run_on_device(problem.op);

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
        expect_accurate_on_device(actual, wanted, access, accuracy, lost_of_terms(expected), what);
        expect_repeated(actual, what);
      });

  Problem again(shape);
  change(again);
  run_on_device(again.op, {.overlap = cuda::Overlap::programmatic});
  for_each_output(problem, again, [&](const auto& a, const auto& b, const std::string& what) {
    EXPECT_TRUE(a.same_bits(b)) << what << " of another run, with overlap";
  });
}

/// The same, of no more tokens than the device has time for.
template <class Problem, class Shape, class Change>
void expect_matches_on_device_after(Shape shape, const Accuracy& accuracy, const Change& change) {
  shape.num_tokens = std::min(shape.num_tokens, most_test_tokens());
  expect_matches_at_its_size<Problem>(shape, accuracy, change);
}

template <class Problem, class Shape>
void expect_matches_on_device(const Shape& shape, const Accuracy& accuracy = {}) {
  expect_matches_on_device_after<Problem>(shape, accuracy, [](const Problem&) {});
}

}  // namespace depthcost::test
