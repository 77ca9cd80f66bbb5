// Operands at the edges of what kernels take: parameters that begin in the middle of a vector, more
// tokens than a ring has places, tensors of more than 2^31 elements, sizes that no shared memory
// holds.
#include <deque>
#include <stdexcept>

#include "tests/kernels/cpu/attnres_problems.hpp"
#include "tests/kernels/cpu/mhc_problems.hpp"
#include "tests/kernels/cpu/row_problems.hpp"
#include "tests/kernels/cuda/run.hpp"

namespace depthcost::test::limits_test {
namespace {

class LimitsOnDevice : public OnDevice {
 protected:
  /// A copy that begins 4 bytes behind a multiple of 16.
  void misalign(const float*& parameters, std::size_t count) {
    if (parameters == nullptr) return;
    std::vector<float>& copy = copies_.emplace_back(count + 8);
    float* to = copy.data();
    while (reinterpret_cast<std::uintptr_t>(to) % 16 != 4) ++to;
    std::copy_n(parameters, count, to);
    parameters = to;
  }

 private:
  std::deque<std::vector<float>> copies_;
};

TEST_F(LimitsOnDevice, TakesQueriesAndGainsThatAreNotAligned) {
  const auto query_and_gain = [&](auto& problem) {
    misalign(problem.op.query, problem.op.hidden_size);
    misalign(problem.op.norm.gain, problem.op.hidden_size);
  };
  for (const std::size_t num_tokens : {3, 300}) {
    SCOPED_TRACE("T " + std::to_string(num_tokens));
    const SinglePassShape single{num_tokens, 2304, 4, added_sum, 1};
    expect_matches_on_device_after<SinglePassProblem<Bf16>>(single, {kLargestLogit},
                                                            query_and_gain);
    expect_matches_on_device_after<SinglePassProblem<float>>(single, {kLargestLogit},
                                                             query_and_gain);
    const Phase2Shape second{num_tokens, 2304, 1, 1, 1};
    expect_matches_on_device_after<Phase2Problem<Bf16, float>>(second, {kLargestLogit},
                                                               query_and_gain);
    expect_matches_on_device_after<Phase1Problem<Bf16, float>>(
        Phase1Shape{num_tokens, 2304, 4, 3, 1, 1}, {kLargestLogit}, [&](auto& problem) {
          misalign(problem.op.queries, 3 * problem.op.hidden_size);
          misalign(problem.op.norm.gain, problem.op.hidden_size);
        });
  }
}

TEST_F(LimitsOnDevice, TakesProjectionsThatAreNotAligned) {
  const MhcShape shape{5, 2304, 4, 1, 0};
  const auto change = [&](auto& problem) {
    auto& op = problem.op;
    misalign(op.mapping.phi, 4 * 6 * 4 * op.hidden_size);
    misalign(op.mapping.bias, 24);
    misalign(op.norm.gain, op.hidden_size);
  };
  expect_matches_on_device_after<MhcPreProblem<Bf16>>(shape, kMhcAccuracy<Bf16>, change);
  expect_matches_on_device_after<MhcPreProblem<float>>(shape, kMhcAccuracy<float>, change);
}

TEST_F(LimitsOnDevice, TakesGainsOfRowsThatAreNotAligned) {
  for (const std::size_t d : {512, 2304, 40000})
    expect_matches_on_device_after<RowProblem<ResidualAddRmsNorm, Bf16>>(
        RowShape{5, d}, {}, [&](auto& problem) { misalign(problem.op.norm.gain, d); });
}

/// Rows are short, so that the emulation has time for all tokens.
TEST_F(LimitsOnDevice, RunsMoreThanAThousandTokensThroughARing) {
  const SinglePassShape shape{1030, 256, 5, closed_block, 1};
  expect_matches_at_its_size<SinglePassProblem<Bf16>>(shape, {kLargestLogit}, [](const auto&) {});
}

/// Elements on the device, anything until they are set.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) { cuda::check(cudaMalloc(&memory_, count * sizeof(T))); }
  ~DeviceArray() { cudaFree(memory_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* data() const { return static_cast<T*>(memory_); }
  void set(std::size_t at, const T* from, std::size_t count) const {
    cuda::check(cudaMemcpy(data() + at, from, count * sizeof(T), cudaMemcpyHostToDevice));
  }
  std::vector<T> get(std::size_t at, std::size_t count) const {
    std::vector<T> elements(count);
    cuda::check(
        cudaMemcpy(elements.data(), data() + at, count * sizeof(T), cudaMemcpyDeviceToHost));
    return elements;
  }

 private:
  void* memory_ = nullptr;
};

/// The bank of two rows is larger than that, and the last token lies beyond it. The emulation has
/// no time for as many tokens.
TEST_F(LimitsOnDevice, CountsElementsBeyondTwoToThe31) {
  constexpr std::size_t d = 8192;
  constexpr cuda::LaunchOptions kOptions{.batch = cuda::Batch::invariant};
  const std::size_t T =
      std::min<std::size_t>((std::size_t{1} << 31) / (2 * d) + 2, most_test_tokens());
  SinglePassProblem<Bf16> alone(SinglePassShape{1, d, 2, stored_sum, 1});
  const DeviceArray<Bf16> bank(2 * T * d);
  const DeviceArray<Bf16> sum(T * d);
  const DeviceArray<Bf16> output(T * d);
  const DeviceArray<float> query(d);
  const DeviceArray<float> gain(d);
  for (const std::size_t row : {0, 1}) bank.set((row * T + T - 1) * d, alone.bank.at(row, 0), d);
  sum.set((T - 1) * d, alone.partial_sum.data(), d);
  query.set(0, alone.query.data(), d);
  gain.set(0, alone.gain.data(), d);
  cuda::run(AttnResSinglePass<Bf16>{.num_tokens = T,
                                    .hidden_size = d,
                                    .num_bank_rows = 2,
                                    .num_bank_sources = 2,
                                    .bank = bank.data(),
                                    .partial_sum = sum.data(),
                                    .query = query.data(),
                                    .norm = {.gain = gain.data()},
                                    .output = output.data()},
            kOptions);
  const std::vector<Bf16> last = output.get((T - 1) * d, d);
  run_on_device(alone.op, kOptions);
  EXPECT_EQ(std::memcmp(last.data(), alone.output.data(), d * sizeof(Bf16)), 0);
}

/// Addresses that nobody reads: far apart, and as aligned as an allocation.
template <class T>
T* nowhere_at(std::uintptr_t number) {
  return reinterpret_cast<T*>((number + 1) << 40U);
}

template <class Op>
std::string refusal_of(const Op& op) {
  try {
    cuda::run(op);
  } catch (const std::invalid_argument& refused) {
    return refused.what();
  }
  return "was taken";
}

std::string takes(std::size_t num_bytes) {
  int most = 0;
  cuda::check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  return " (takes " + std::to_string(num_bytes) +
         " bytes of shared memory for each CTA, and this device has " + std::to_string(most) + ")";
}

TEST_F(LimitsOnDevice, NamesTheSizeThatNoSharedMemoryHolds) {
  EXPECT_EQ(refusal_of(Sinkhorn{.count = 1, .num_streams = 300, .matrices = nowhere_at<float>(0)}),
            "sinkhorn: num_streams is 300" + takes(360000));
  EXPECT_EQ(refusal_of(UnfusedMix<float>{.num_tokens = 1,
                                         .hidden_size = 8,
                                         .num_sources = 60000,
                                         .stack = nowhere_at<float>(0),
                                         .logits = nowhere_at<float>(1),
                                         .output = nowhere_at<float>(2)}),
            "unfused_mix: num_sources is 60000" + takes(240000));
  AttnResSinglePass<float> single{.num_tokens = 1,
                                  .hidden_size = 7,
                                  .num_bank_rows = 60000,
                                  .num_bank_sources = 60000,
                                  .bank = nowhere_at<float>(0),
                                  .query = nowhere_at<float>(1),
                                  .output = nowhere_at<float>(2)};
  EXPECT_EQ(refusal_of(single),
            "attnres_single_pass: the number of sources is 60000" + takes(240132));
  single.variant.num_heads = 7;
  EXPECT_EQ(refusal_of(single),
            "attnres_single_pass: the number of sources is 60000" + takes(2160100));
  EXPECT_EQ(refusal_of(AttnResPhase1<float, float>{.num_tokens = 1,
                                                   .hidden_size = 7,
                                                   .num_bank_rows = 60000,
                                                   .num_bank_sources = 60000,
                                                   .num_queries = 1,
                                                   .bank = nowhere_at<float>(0),
                                                   .queries = nowhere_at<float>(1),
                                                   .output = nowhere_at<float>(2)}),
            "attnres_phase1: the number of sources is 60000" + takes(240128));
  EXPECT_EQ(refusal_of(MhcPre<float>{
                .num_tokens = 1,
                .hidden_size = 7,
                .num_streams = 300,
                .streams = nowhere_at<float>(0),
                .mapping = {.phi = nowhere_at<float>(1), .bias = nowhere_at<float>(2)},
                .output = nowhere_at<float>(3),
                .post = nowhere_at<float>(4),
                .residual = nowhere_at<float>(5)}),
            "mhc: num_streams is 300" + takes(363728));
  EXPECT_EQ(refusal_of(MhcPost<float>{.num_tokens = 1,
                                      .hidden_size = 7,
                                      .num_streams = 1000,
                                      .streams = nowhere_at<float>(0),
                                      .layer_output = nowhere_at<float>(1),
                                      .post = nowhere_at<float>(2),
                                      .residual = nowhere_at<float>(3),
                                      .next_streams = nowhere_at<float>(4)}),
            "a mix of streams: the number of streams is 1000" + takes(256000));
}

}  // namespace
}  // namespace depthcost::test::limits_test
