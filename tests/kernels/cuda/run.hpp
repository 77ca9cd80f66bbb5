// Every CUDA operation by the type of its arguments, and the comparison that all of them undergo.
#pragma once

#include "kernels/cuda/operations.hpp"
#include "tests/kernels/cpu/run.hpp"
#include "tests/kernels/cuda/device_operands.hpp"
#include "tests/kernels/cuda/tensor_core_accuracy.hpp"

namespace depthcost::test {

/// Skips without a device.
class OnDevice : public testing::Test {
 protected:
  void SetUp() override {
    int num_devices = 0;
    if (cudaGetDeviceCount(&num_devices) != cudaSuccess || num_devices == 0)
      GTEST_SKIP() << "no CUDA device";
  }
};

/// The kernel of an operation, by the type of its arguments, which are the device's.
struct Launch {
  cuda::LaunchOptions options;

  template <class T>
  void operator()(const ResidualAdd<T>& op) const {
    cuda::residual_add(op, options);
  }
  template <class T>
  void operator()(const ResidualAddRmsNorm<T>& op) const {
    cuda::residual_add_rmsnorm(op, options);
  }
  template <class T>
  void operator()(const AttnResSinglePass<T>& op) const {
    cuda::attnres_single_pass(op, options);
  }
  template <class T, class O>
  void operator()(const AttnResPhase1<T, O>& op) const {
    cuda::attnres_phase1(op, options);
  }
  template <class T, class O>
  void operator()(const AttnResPhase2<T, O>& op) const {
    cuda::attnres_phase2(op, options);
  }
  template <class T>
  void operator()(const MhcPre<T>& op) const {
    cuda::mhc_pre(op, options);
  }
  template <class T>
  void operator()(const MhcPost<T>& op) const {
    cuda::mhc_post(op, options);
  }
  template <class T>
  void operator()(const MhcBoundary<T>& op) const {
    cuda::mhc_boundary(op, options);
  }
  void operator()(const Sinkhorn& op) const { cuda::sinkhorn(op, options); }
  template <class T>
  void operator()(const UnfusedRmsNorm<T>& op) const {
    cuda::unfused_rmsnorm(op, options);
  }
  template <class T>
  void operator()(const UnfusedStack<T>& op) const {
    cuda::unfused_stack(op, options);
  }
  template <class T>
  void operator()(const UnfusedKeyNorm<T>& op) const {
    cuda::unfused_key_norm(op, options);
  }
  template <class T>
  void operator()(const UnfusedScores<T>& op) const {
    cuda::unfused_scores(op, options);
  }
  template <class T>
  void operator()(const UnfusedMix<T>& op) const {
    cuda::unfused_mix(op, options);
  }
  template <class T>
  void operator()(const UnfusedMhcCoefficients<T>& op) const {
    cuda::unfused_mhc_coefficients(op, options);
  }
  template <class T>
  void operator()(const UnfusedMhcPre<T>& op) const {
    cuda::unfused_mhc_pre(op, options);
  }
  template <class T>
  void operator()(const UnfusedMhcPost<T>& op) const {
    cuda::unfused_mhc_post(op, options);
  }
  template <class T>
  void operator()(const UnfusedMhcResidual<T>& op) const {
    cuda::unfused_mhc_residual(op, options);
  }
  template <class T>
  void operator()(const UnfusedMhcMerge<T>& op) const {
    cuda::unfused_mhc_merge(op, options);
  }
};

/// Runs an operation, whose pointers are the host's, on the device.
template <class Op>
void run_on_device(const Op& op, const cuda::LaunchOptions& options = {}) {
  DeviceBuffers buffers;
  const Op twin = on_device(op, buffers);
  buffers.upload();
  Launch{options}(twin);
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
  Launch{options}(twin);
  buffers.download();
}

/// After change(problem): a run against the reference on the distinct tokens, all others against
/// those, and a second run, with overlap, against the first.
template <class Problem, class Shape, class Change>
void expect_matches_on_device_after(const Shape& shape, const Accuracy& accuracy,
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
  for_each_output(problem, expected,
                  [&](const auto& actual, const auto& wanted, const std::string& what) {
                    expect_accurate_on_device(actual, wanted, access, accuracy, what);
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
