// Bugs planted into the kernels are found: a barrier that is left out, a wait for the wrong phase.
// Each is one call at one place of the code; a run with it faults, or its outputs differ.
#include "tests/kernels/cuda/emulation/planted.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/kernels/cpu/altup_problems.hpp"
#include "tests/kernels/cpu/attnres_problems.hpp"
#include "tests/kernels/cpu/backward/backward_problems.hpp"
#include "tests/kernels/cpu/eager_gated_problems.hpp"
#include "tests/kernels/cpu/mhc_problems.hpp"
#include "tests/kernels/cuda/backward_operands.hpp"
#include "tests/kernels/cuda/run.hpp"

namespace depthcost::test::planted_test {
namespace {

using emulation::Bug;

/// One launch of an operation, and what it leaves.
template <class Problem>
std::string outputs_of(const Problem& problem) {
  std::string bytes;
  for_each_output(problem, problem, [&](const auto& tensor, const auto&, const std::string&) {
    bytes.append(reinterpret_cast<const char*>(tensor.data()),
                 tensor.count() * sizeof(*tensor.data()));
  });
  return bytes;
}

/// What runs, and the bytes that it leaves.
using Run = std::function<std::string()>;

template <class Problem, class Shape>
Run run_of(const Shape& shape) {
  return [shape] {
    Problem problem(shape);
    run_on_device(problem.op);
    return outputs_of(problem);
  };
}

/// The same of a backward operation.
template <class Problem>
Run backward_run_of(const BackwardShape& shape) {
  return [shape] {
    Problem problem(shape);
    run_on_device(problem.op);
    std::string bytes;
    Problem::each_output(problem.op, problem.op,
                         [&](const char*, const auto* actual, const auto*, std::size_t count) {
                           bytes.append(reinterpret_cast<const char*>(actual),
                                        count * sizeof(*actual));
                         });
    return bytes;
  };
}

/// Two launches, of which the second reads what the first writes, and may overlap it.
std::string overlapped() {
  using Problem = SinglePassProblem<float>;
  Problem first(SinglePassShape{3, 2304, 2, added_sum, 0});
  Problem second(SinglePassShape{3, 2304, 2, added_sum, 1});
  second.op.layer_output = first.output.data();
  DeviceBuffers buffers;
  const auto a = on_device(first.op, buffers);
  const auto b = on_device(second.op, buffers);
  buffers.upload();
  cuda::run(a, {});
  cuda::run(b, {.overlap = cuda::Overlap::programmatic});
  buffers.download();
  return outputs_of(second);
}

/// Kernels of every kind: rows by warps and by rings, clusters, tiles on tensor cores.
std::vector<Run> runs() {
  return {run_of<SinglePassProblem<Bf16>>(SinglePassShape{1, 7168, 8, closed_block, 1}),
          run_of<SinglePassProblem<Bf16>>(SinglePassShape{64, 1024, 8, added_sum, 1}),
          run_of<SinglePassProblem<float>>(SinglePassShape{5, 136, 23, added_sum, 1}),
          run_of<Phase1Problem<Bf16, Bf16>>(Phase1Shape{17, 2304, 7, 24, 1, 1}),
          run_of<Phase1Problem<float, float>>(Phase1Shape{3, 512, 5, 5, 1, 1}),
          run_of<MhcBoundaryProblem<Bf16>>(MhcShape{17, 2304, 4, 1, 0}),
          run_of<MhcPreProblem<Bf16>>(MhcShape{17, 2304, 4, 1, 0}),
          run_of<MhcBoundaryProblem<float>>(MhcShape{3, 512, 3, 1, 0}),
          run_of<GatedApplyDownProblem<Bf16>>(GateShape{24, 128, 4, 24}),
          run_of<GatedApplyDownProblem<Bf16>>(GateShape{2, 128, 5, 40}),
          run_of<GatedApplyDownProblem<float>>(GateShape{2, 72, 4, 8}),
          run_of<GatedUpMixProblem<Bf16>>(GateShape{40, 32, 4, 24}),
          run_of<UnfusedGateDownProblem<Bf16>>(GateShape{19, 64, 3, 40}),
          run_of<UnfusedGatedNormProblem<Bf16>>(GateShape{3, 1032, 2, 1}),
          run_of<AltupPredictProblem<Bf16>>(AltupShape{3, 512, 4}),
          run_of<AltupLaurelProblem<Bf16>>(AltupShape{3, 136, 64}),
          backward_run_of<SinglePassBackwardProblem<Bf16>>({5, 1096, 9, 1, 1, 2, 1}),
          backward_run_of<Phase2BackwardProblem<float>>({5, 1096, 1, 1, 1, 2}),
          backward_run_of<Phase1BackwardProblem<Bf16>>({5, 600, 9, 3, 1, 2}),
          backward_run_of<MhcPostBackwardProblem<Bf16>>({3, 600, 4}),
          backward_run_of<MhcPostBackwardProblem<float>>({3, 131, 5}),
          backward_run_of<MhcPreBackwardProblem<Bf16>>({9, 136, 4, 1, 1, 2}),
          backward_run_of<MhcBoundaryBackwardProblem<Bf16>>({9, 136, 4, 1, 1, 2}),
          backward_run_of<MhcBoundaryBackwardProblem<float>>({5, 67, 5, 1, 1, 2})};
}

/// And every backward pass on rows.
std::vector<Run> all_runs() {
  std::vector<Run> all = runs();
#define DEPTHCOST_RUN(Op, name) \
  all.push_back(backward_run_of<Op##Problem<Bf16>>({5, 1100, 1, 1, 1, 2}));
  DEPTHCOST_RESIDUAL_BACKWARD_OPERATIONS(DEPTHCOST_RUN)
#undef DEPTHCOST_RUN
  return all;
}

/// In a process of its own: what a kernel reads too early may be an address. Bugs that hang are
/// found, too.
bool is_found(const Run& run, const std::string& good, emulation::PlantedBug bug) {
  constexpr unsigned kMostSeconds = 60;
  const pid_t child = fork();
  if (child == 0) {
    alarm(kMostSeconds);
    emulation::plant(bug);
    try {
      _exit(run() == good ? 0 : 1);
    } catch (const std::runtime_error&) {
      _exit(1);
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status != 0;
}

struct Found {
  std::size_t places = 0;
  std::size_t found = 0;
};

Found hunt(Bug bug, const std::vector<Run>& all) {
  constexpr int kTries = 8;  // in other random orders
  Found sum;
  for (const Run& run : all) {
    emulation::plant(std::nullopt);
    const std::string good = run();
    const std::size_t places = emulation::num_places(bug);
    for (std::size_t place = 0; place < places; ++place) {
      bool is_seen = is_found(run, good, {bug, place});
      for (int i = 1; i < kTries && !is_seen; ++i) {
        run();  // draws other seeds
        is_seen = is_found(run, good, {bug, place});
      }
      ++sum.places;
      sum.found += is_seen ? 1 : 0;
    }
  }
  emulation::plant(std::nullopt);
  return sum;
}

/// Not every call is needed in an emulation: some only keep a thread from running far ahead.
void expect_most_found(const Found& result, double least_share) {
  EXPECT_GT(result.places, 0U);
  EXPECT_GE(static_cast<double>(result.found), least_share * static_cast<double>(result.places))
      << result.found << " of " << result.places;
}

class PlantedBugs : public testing::TestWithParam<Bug> {};

TEST_P(PlantedBugs, AreFound) { expect_most_found(hunt(GetParam(), all_runs()), 0.8); }

INSTANTIATE_TEST_SUITE_P(Kinds, PlantedBugs,
                         testing::Values(Bug::no_barrier, Bug::no_syncwarp, Bug::no_cluster_wait,
                                         Bug::no_wait, Bug::flipped_parity));

TEST(PlantedOverlap, IsFound) {
  expect_most_found(hunt(Bug::no_wait_for_previous_kernel, {overlapped}), 1);
}

}  // namespace
}  // namespace depthcost::test::planted_test
