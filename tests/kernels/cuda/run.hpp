// Runs operations on the device with operands of the host, and compares them with the reference.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "kernels/cuda/device.hpp"
#include "kernels/cuda/run.hpp"
#include "tests/kernels/cpu/run.hpp"
#include "tests/kernels/cuda/device_operands.hpp"
#include "tests/kernels/cuda/tensor_core_accuracy.hpp"

namespace depthcost::test {

#ifdef DEPTHCOST_EMULATED
/// An emulated device has few multiprocessors, so that few tokens are many.
inline constexpr std::size_t kMostTestTokens = 24;
/// It is slow. Of each operation it runs the first case and every 48th; another seed runs
/// others.
inline constexpr std::size_t kCasesPerRun = 48;
#else
inline constexpr std::size_t kMostTestTokens = std::numeric_limits<std::size_t>::max();
inline constexpr std::size_t kCasesPerRun = 1;
#endif

/// Whether the case is one of this run; `cases` counts those before it.
inline bool is_in_this_run(std::size_t cases) {
  const char* text = std::getenv("DEPTHCOST_EMULATION_SEED");
  const std::size_t seed = text == nullptr ? 1 : std::strtoull(text, nullptr, 10);
  return cases == 0 || cases % kCasesPerRun == seed % kCasesPerRun;
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
void expect_matches_on_device_after(Shape shape, const Accuracy& accuracy, const Change& change) {
  static std::size_t cases = 0;
  if (!is_in_this_run(cases++)) return;
  shape.num_tokens = std::min(shape.num_tokens, kMostTestTokens);
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

template <class Problem, class Shape>
void expect_matches_on_device(const Shape& shape, const Accuracy& accuracy = {}) {
  expect_matches_on_device_after<Problem>(shape, accuracy, [](const Problem&) {});
}

}  // namespace depthcost::test
