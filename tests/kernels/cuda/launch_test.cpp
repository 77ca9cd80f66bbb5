// Launches can be captured: the replay of a graph yields the same bits as plain launches.
#include <set>

#include "tests/kernels/cpu/attnres_problems.hpp"
#include "tests/kernels/cuda/run.hpp"

namespace depthcost::test::launch_test {
namespace {

class Graphs : public OnDevice {};

/// Phase 1, Phase 2, a single pass, a norm and an ablation, each of which reads what those before
/// have written.
struct Chain {
  Phase1Problem<Bf16, Bf16> first;
  Tensor<Bf16> h;
  Tensor<Bf16> x;
  Tensor<Bf16> last;
  Tensor<Bf16> by_head;

  explicit Chain(std::size_t num_tokens)
      : first(Phase1Shape{num_tokens, 7168, 2, 2, 1, 1}),
        h(1, num_tokens, 7168),
        x(1, num_tokens, 7168),
        last(1, num_tokens, 7168),
        by_head(1, num_tokens, 7168) {}

  auto outputs() const {
    return std::tie(first.output, first.mixes, first.bank, h, x, last, by_head);
  }

  /// On device pointers where `buffers` has them.
  template <class LaunchOne>
  void each(DeviceBuffers& buffers, const LaunchOne& launch_one) const {
    const auto& op = first.op;
    const std::size_t T = op.num_tokens;
    const std::size_t d = op.hidden_size;
    launch_one(on_device(op, buffers));
    launch_one(on_device(AttnResPhase2<Bf16, Bf16>{.num_tokens = T,
                                                   .hidden_size = d,
                                                   .partial_sum = first.output.data(),
                                                   .phase1_output = first.mixes.data(),
                                                   .maximum = first.maxima.data(),
                                                   .sum = first.sums.data(),
                                                   .query = op.queries,
                                                   .norm = op.norm,
                                                   .output = h.data()},
                         buffers));
    launch_one(on_device(AttnResSinglePass<Bf16>{.num_tokens = T,
                                                 .hidden_size = d,
                                                 .num_bank_rows = op.num_bank_rows,
                                                 .num_bank_sources = 3,
                                                 .bank = op.bank,
                                                 .partial_sum = h.data(),
                                                 .layer_output = first.output.data(),
                                                 .store = SumStore::bank_row,
                                                 .bank_row = 3,
                                                 .query = op.queries,
                                                 .norm = op.norm,
                                                 .output = x.data()},
                         buffers));
    launch_one(on_device(ResidualAddRmsNorm<Bf16>{T, d, h.data(), x.data(), op.norm, last.data()},
                         buffers));
    launch_one(on_device(
        AttnResSinglePass<Bf16>{.num_tokens = T,
                                .hidden_size = d,
                                .num_bank_rows = op.num_bank_rows,
                                .num_bank_sources = 3,
                                .bank = op.bank,
                                .partial_sum = h.data(),
                                .norm = op.norm,
                                .output = by_head.data(),
                                .variant = {.num_heads = 16, .token_queries = last.data()}},
        buffers));
  }
};

/// What the chain leaves when it is launched plainly, or from a graph.
enum class Launched { plainly, from_a_graph };

void run_chain(const Chain& chain, Launched how, cuda::Overlap overlap) {
  DeviceBuffers buffers;
  chain.each(buffers, [](const auto&) {});  // every buffer is known from here on
  buffers.upload();
  cudaStream_t cuda_stream = nullptr;
  cuda::check(cudaStreamCreateWithFlags(&cuda_stream, cudaStreamNonBlocking));
  if (how == Launched::from_a_graph)
    cuda::check(cudaStreamBeginCapture(cuda_stream, cudaStreamCaptureModeThreadLocal));
  chain.each(buffers, [&](const auto& op) { cuda::run(op, {cuda_stream, overlap}); });
  if (how == Launched::from_a_graph) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    cuda::check(cudaStreamEndCapture(cuda_stream, &graph));
    cuda::check(cudaGraphInstantiate(&executable, graph, 0));
    cuda::check(cudaGraphLaunch(executable, cuda_stream));
    cuda::check(cudaStreamSynchronize(cuda_stream));
    cuda::check(cudaGraphExecDestroy(executable));
    cuda::check(cudaGraphDestroy(graph));
  }
  buffers.download();
  cuda::check(cudaStreamDestroy(cuda_stream));
}

TEST_F(Graphs, ReplayTheBitsOfPlainLaunches) {
  std::set<std::size_t> all;
  for (const std::size_t num_tokens : {1, 65, 700})
    all.insert(std::min(num_tokens, most_test_tokens()));
  for (const std::size_t num_tokens : all) {
    const Chain plain(num_tokens);
    run_chain(plain, Launched::plainly, cuda::Overlap::none);
    for (const Launched how : {Launched::plainly, Launched::from_a_graph})
      for (const cuda::Overlap overlap : {cuda::Overlap::none, cuda::Overlap::programmatic}) {
        if (how == Launched::plainly && overlap == cuda::Overlap::none) continue;  // as `plain`
        const Chain other(num_tokens);
        run_chain(other, how, overlap);
        for_each_output(plain, other, [&](const auto& a, const auto& b, const std::string& what) {
          EXPECT_TRUE(a.same_bits(b)) << what << ", T " << num_tokens;
        });
      }
  }
}

}  // namespace
}  // namespace depthcost::test::launch_test
