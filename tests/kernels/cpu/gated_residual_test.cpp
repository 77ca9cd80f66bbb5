// Both passes of Gated Residual on the CPU against the reference, over shapes.
#include "tests/kernels/cpu/hyper_connections_problems.hpp"
#include "tests/kernels/cpu/run.hpp"

namespace depthcost::test::gated_residual_test {
namespace {

struct GateShape {
  std::size_t num_tokens;
  std::size_t hidden_size;
  std::size_t num_streams;
  std::size_t rank;
  std::size_t in_place = 0;
  std::size_t is_exit = 0;
};

/// Weights whose products with rows of ones are about one.
template <class T>
Tensor<T> matrix(std::size_t rows, std::size_t columns, std::uint64_t seed) {
  Tensor<T> weights(rows, 1, columns);
  fill(weights, seed, std::sqrt(3.0F / static_cast<float>(columns)));
  return weights;
}

template <class T>
struct ApplyDownProblem {
  Tensor<T> streams, next_streams, layer_output, gain, down, inject_weights;
  Tensor<float> inject, inverse_rms, activation, next_inject;
  GatedApplyDown<T> op;

  explicit ApplyDownProblem(const GateShape& s)
      : streams(1, s.num_tokens, s.num_streams * s.hidden_size),
        next_streams(1, s.num_tokens, s.num_streams * s.hidden_size),
        layer_output(1, s.num_tokens, s.hidden_size),
        gain(s.num_streams, 1, s.hidden_size),
        down(matrix<T>(s.rank, s.num_streams * s.hidden_size, 31)),
        inject_weights(matrix<T>(s.num_streams, s.num_streams * s.hidden_size, 32)),
        inject(1, s.num_tokens, s.num_streams),
        inverse_rms(1, s.num_tokens, s.num_streams),
        activation(1, s.num_tokens, s.rank),
        next_inject(1, s.num_tokens, s.num_streams) {
    fill(streams, 1, 2);
    fill(layer_output, 2, 1);
    fill(gain, 3, 0.5F);
    fill(inject, 4, 2);
    op = {.num_tokens = s.num_tokens,
          .hidden_size = s.hidden_size,
          .num_streams = s.num_streams,
          .rank = s.rank,
          .streams = streams.data(),
          .layer_output = layer_output.data(),
          .inject = inject.data(),
          .gain = gain.data(),
          .down = down.data(),
          .inject_weights = s.is_exit != 0 ? nullptr : inject_weights.data(),
          .next_streams = s.in_place != 0 ? streams.data() : next_streams.data(),
          .inverse_rms = inverse_rms.data(),
          .activation = activation.data()};
    if (s.is_exit == 0) op.next_inject = s.in_place != 0 ? inject.data() : next_inject.data();
  }

  auto outputs() const {
    return std::tie(streams, next_streams, inject, inverse_rms, activation, next_inject);
  }
};

/// What follows the update starts from the streams that the CPU has stored, which may be rounded
/// the other way where they lie between two numbers.
template <class T>
void run_reference(ApplyDownProblem<T>& expected, const ApplyDownProblem<T>& actual,
                   RecordingAccess& access) {
  GatedApplyDown<T>& op = expected.op;
  const std::vector<float> inject(op.inject, op.inject + op.num_tokens * op.num_streams);
  GatedApplyDown<T> first = op;
  first.inject = inject.data();
  reference::run(first, access);
  take_streams(op, actual.op);
  const std::vector<float> none(inject.size(), 0.0F);
  Tensor<T> unused(1, op.num_tokens, op.num_streams * op.hidden_size);
  GatedApplyDown<T> rest = op;
  rest.streams = op.next_streams;
  rest.inject = none.data();
  rest.next_streams = unused.data();
  reference::run(rest, access);
}

template <class T>
struct UpMixProblem {
  Tensor<T> streams, gain, up, output;
  Tensor<float> inverse_rms, activation;
  GatedUpMix<T> op;

  explicit UpMixProblem(const GateShape& s)
      : streams(1, s.num_tokens, s.num_streams * s.hidden_size),
        gain(s.num_streams, 1, s.hidden_size),
        up(matrix<T>(s.num_streams * s.hidden_size, s.rank, 33)),
        output(1, s.num_tokens, s.hidden_size),
        inverse_rms(1, s.num_tokens, s.num_streams),
        activation(1, s.num_tokens, s.rank) {
    fill(streams, 1, 2);
    fill(gain, 3, 0.5F);
    fill(inverse_rms, 5, 1);
    fill(activation, 6, 2);
    op = {s.num_tokens,      s.hidden_size,      s.num_streams, s.rank,
          streams.data(),    inverse_rms.data(), gain.data(),   up.data(),
          activation.data(), output.data()};
  }

  auto outputs() const { return std::tie(output); }
};

/// Every size meets every other. The reference takes n d r steps a token.
template <template <class> class Problem, class T>
void expect_all_match() {
  const auto is_feasible = [](const Levels& l) { return l[1] * l[2] * l[3] <= 4'000'000; };
  for (const Levels& l : covering_cases({{0, 1, 3, 17, 33, 65},
                                         {1, 7, 64, 72, 2560},
                                         {1, 2, 4, 8},
                                         {1, 8, 65, 320},
                                         {0, 1},
                                         {0, 1}},
                                        is_feasible)) {
    SCOPED_TRACE("T, d, n, r, in place, exit:" + text_of(l));
    expect_matches<Problem<T>>(GateShape{l[0], l[1], l[2], l[3], l[4], l[5]});
    if (testing::Test::HasFailure()) return;
  }
}

TEST(GatedResidualOnCpu, UpdatesAndProjectsAsTheReferenceInFloat) {
  expect_all_match<ApplyDownProblem, float>();
}
TEST(GatedResidualOnCpu, UpdatesAndProjectsAsTheReferenceInBf16) {
  expect_all_match<ApplyDownProblem, Bf16>();
}
TEST(GatedResidualOnCpu, GatesAndMixesAsTheReferenceInFloat) {
  expect_all_match<UpMixProblem, float>();
}
TEST(GatedResidualOnCpu, GatesAndMixesAsTheReferenceInBf16) {
  expect_all_match<UpMixProblem, Bf16>();
}

TEST(GatedResidualOnCpu, IsRepeatable) {
  expect_repeatable<ApplyDownProblem<Bf16>>(GateShape{101, 264, 4, 24});
  expect_repeatable<UpMixProblem<Bf16>>(GateShape{101, 264, 4, 24});
}

TEST(GatedResidualOnCpu, WritesNothingIfAnArgumentIsWrong) {
  const GateShape shape{3, 8, 2, 4};
  expect_refused<ApplyDownProblem<float>>(shape, [](auto& op) { op.down = nullptr; });
  expect_refused<ApplyDownProblem<float>>(shape, [](auto& op) { op.rank = 0; });
  expect_refused<ApplyDownProblem<float>>(shape, [](auto& op) { op.next_inject = nullptr; });
  expect_refused<ApplyDownProblem<float>>(shape, [](auto& op) { op.activation = op.inverse_rms; });
  expect_refused<UpMixProblem<float>>(shape, [](auto& op) { op.up = nullptr; });
  expect_refused<UpMixProblem<float>>(shape, [](auto& op) { op.num_streams = 0; });
}

TEST(GatedResidualOnCpu, SaysWhatIsWrong) {
  ApplyDownProblem<float> problem(GateShape{3, 8, 2, 4});
  problem.op.next_inject = nullptr;
  try {
    cpu::run(problem.op);
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "gated_residual_apply_down: inject_weights and next_inject are not both null "
                 "(only the exit has neither)");
  }
}

}  // namespace
}  // namespace depthcost::test::gated_residual_test
