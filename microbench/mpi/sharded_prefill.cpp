// Sequence-sharded prefill (arXiv:2603.15031 Sec. 4.2), run:
//
//   mpirun -n P sharded_prefill [--tokens T] [--chunk C] [--hidden D] [--blocks S,S,...]
//
// Each rank holds the bank of its share of the tokens, and a share of every layer's weights. The
// layer's output, partial sums of all tokens, is reduce-scattered; the rank merges Phase 1 of its
// bank with the running sum, and norms; the next layer's input is gathered from all. In float64,
// against the unsharded network of kernels/reference in one pass: exit code 1 where an input of a
// layer differs by more than 1e-12 of the largest element of its token, or where bytes sent or held
// are not those of model/step/prefill.hpp; 2 for bad input.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/reference/run.hpp"
#include "kernels/reference/single_pass_network.hpp"
#include "kernels/reference/two_phase_network.hpp"
#include "microbench/mpi/arguments.hpp"
#include "microbench/mpi/prefill_network.hpp"
#include "microbench/mpi/ring.hpp"
#include "model/step/prefill.hpp"

namespace depthcost::bench {
namespace {

constexpr double kWithin = 1e-12;
constexpr std::size_t kUnits = 12;  // [ours] more than most ranks, so that each has some

using Inputs = std::vector<std::vector<double>>;  // x (T, d) of layers 1 .. L and the output

struct Run {
  std::size_t num_tokens = 0;
  std::size_t chunk = 0;
};

const auto kRun = [](const auto& operation) { reference::run(operation); };

Inputs unsharded(const PrefillNetwork& network, std::size_t num_tokens) {
  const auto shape = network.attnres(num_tokens);
  const std::vector<double> embedding = network.embedding(0, num_tokens, num_tokens);
  reference::AttnResBuffers<double> buffers(shape, network.block_sizes.size() + 1,
                                            embedding.data());
  LayerUnits units(network, 0, 1);
  Inputs inputs;
  const auto layer = [&](std::size_t l, const double* x, double* f) {
    inputs.emplace_back(x, x + shape.row_size());
    units.run(l, x, num_tokens, f);
  };
  reference::run_single_pass(shape, buffers, reference::SumUpdate::folded, layer, kRun);
  inputs.push_back(buffers.layer_input);
  return inputs;
}

/// The larger of the two, and NaN for ever.
double worse(double a, double b) { return std::isnan(a) || b <= a ? a : b; }

/// The largest difference in `count` tokens, relative to the largest element of its token.
double difference(const double* x, const double* expected, std::size_t count, std::size_t d) {
  double worst = 0;
  for (std::size_t t = 0; t < count; ++t) {
    double largest = 0;
    double apart = 0;
    for (std::size_t i = t * d; i < (t + 1) * d; ++i) {
      largest = std::max(largest, std::abs(expected[i]));
      apart = worse(apart, std::abs(x[i] - expected[i]));
    }
    worst = worse(worst, apart / largest);
  }
  return worst;
}

/// What a rank has found; and what the model says of it, `difference` being what is allowed.
struct Findings {
  double difference = 0;
  Count bank_bytes = 0;
  Count reduce_scatter_bytes = 0;
  Count all_gather_bytes = 0;
};

class ShardedPrefill {
 public:
  ShardedPrefill(const PrefillNetwork& network, const Ranks& ranks, const Inputs& expected)
      : network_(network),
        ranks_(ranks),
        expected_(expected),
        ring_(ranks),
        units_(network, static_cast<std::size_t>(ranks.rank),
               static_cast<std::size_t>(ranks.size)) {}

  Findings run(const Run& run) {
    for (std::size_t first = 0; first < run.num_tokens; first += run.chunk)
      run_chunk(first, std::min(run.chunk, run.num_tokens - first));
    findings_.reduce_scatter_bytes = ring_.reduce_scatter_bytes();
    findings_.all_gather_bytes = ring_.all_gather_bytes();
    return findings_;
  }

 private:
  void run_chunk(std::size_t first, std::size_t count) {
    const auto num_ranks = static_cast<std::size_t>(ranks_.size);
    const std::size_t share = (count + num_ranks - 1) / num_ranks;
    const std::size_t own_first = std::min(count, share * static_cast<std::size_t>(ranks_.rank));
    const std::size_t own_count = std::min(share, count - own_first);
    const std::size_t d = network_.hidden_size;
    const auto shape = network_.attnres(share);
    const std::vector<double> embedding = network_.embedding(first + own_first, own_count, share);
    reference::AttnResBuffers<double> buffers(shape, network_.block_sizes.size() + 1,
                                              embedding.data());
    findings_.bank_bytes =
        std::max(findings_.bank_bytes, static_cast<Count>(buffers.bank.size() * sizeof(double)));
    std::vector<double> whole(num_ranks * share * d);
    std::vector<double> partial(whole.size());
    const auto layer = [&](std::size_t l, const double* x, double* f) {
      ring_.all_gather(whole, {x, share * d});
      compare(whole.data(), l, first, count);
      std::fill(partial.begin(), partial.end(), 0.0);
      units_.run(l, whole.data(), count, partial.data());
      ring_.reduce_scatter({f, share * d}, partial);
    };
    reference::run_two_phase<double>(shape, buffers, reference::SumUpdate::folded, layer, kRun);
    compare(buffers.layer_input.data(), network_.num_layers() + 1, first + own_first, own_count);
  }

  void compare(const double* x, std::size_t layer, std::size_t first, std::size_t count) {
    const std::size_t d = network_.hidden_size;
    findings_.difference = worse(findings_.difference,
                                 difference(x, expected_[layer - 1].data() + first * d, count, d));
  }

  const PrefillNetwork& network_;
  Ranks ranks_;
  const Inputs& expected_;
  Ring ring_;
  LayerUnits units_;
  Findings findings_;
};

Findings of_model(const PrefillNetwork& network, const Run& run, const Ranks& ranks) {
  Findings model{.difference = kWithin};
  const auto shape_of = [&](std::size_t tokens) {
    return PrefillShape{.num_tokens = static_cast<Count>(tokens),
                        .sequence_shards = ranks.size,
                        .hidden_size = static_cast<Count>(network.hidden_size)};
  };
  PrefillShape whole = shape_of(run.num_tokens);
  whole.chunk = static_cast<Count>(run.chunk);
  // The model's types end at 4 bytes.
  model.bank_bytes =
      static_cast<Count>(2 * bank_bytes(whole, static_cast<Count>(network.block_sizes.size()),
                                        BankEmbedding::stored, Dtype::f32)
                                 .value);
  for (std::size_t first = 0; first < run.num_tokens; first += run.chunk) {
    const auto shape = shape_of(std::min(run.chunk, run.num_tokens - first));
    model.reduce_scatter_bytes += static_cast<Count>(network.num_layers() * sizeof(double)) *
                                  sharded_collective_elements(shape);
  }
  model.all_gather_bytes = model.reduce_scatter_bytes;
  return model;
}

/// Least and most over ranks: a number that one of them alone has wrong shows.
std::array<Count, 2> range_of(const Ranks& ranks, Count own) {
  std::array<Count, 2> range{-own, own};
  check(MPI_Allreduce(MPI_IN_PLACE, range.data(), 2, MPI_INT64_T, MPI_MAX, ranks.communicator),
        "MPI_Allreduce");
  return {-range[0], range[1]};
}

/// Prints a row on rank 0. False where a rank has another number than the model.
bool compare_bytes(const Ranks& ranks, const char* what, Count own, Count model) {
  const auto [least, most] = range_of(ranks, own);
  const bool is_equal = least == model && most == model;
  if (ranks.is_first())
    fmt::print("{:<24} {:>14} {:>14} {:>14}{}\n", what, least, most, model,
               is_equal ? "" : "  WRONG");
  return is_equal;
}

int run(const Ranks& ranks, const Arguments& arguments) {
  if (!arguments.words().empty()) arguments.fail("too many words");
  const auto size = [](int count) { return static_cast<std::size_t>(count); };
  const Run run{size(arguments.count("tokens", 37)),
                size(arguments.count("chunk", arguments.count("tokens", 37)))};
  std::vector<std::size_t> blocks;
  for (const int block : arguments.counts("blocks", {4, 4, 3})) blocks.push_back(size(block));
  const PrefillNetwork network(size(arguments.count("hidden", 48)), blocks, kUnits);

  const Inputs expected = unsharded(network, run.num_tokens);
  const Findings found = ShardedPrefill(network, ranks, expected).run(run);
  const Findings model = of_model(network, run, ranks);
  if (ranks.is_first())
    fmt::print(
        "prefill of {} tokens in chunks of {}, d = {}, {} blocks, {} ranks\n{:<24} {:>14} "
        "{:>14} {:>14}\n",
        run.num_tokens, run.chunk, network.hidden_size, network.block_sizes.size(), ranks.size,
        "bytes of each rank", "least", "most", "model");
  bool is_good = compare_bytes(ranks, "bank", found.bank_bytes, model.bank_bytes);
  is_good &= compare_bytes(ranks, "sent, reduce-scatter", found.reduce_scatter_bytes,
                           model.reduce_scatter_bytes);
  is_good &=
      compare_bytes(ranks, "sent, all-gather", found.all_gather_bytes, model.all_gather_bytes);
  // MPI_MAX may lose a NaN.
  double worst =
      std::isnan(found.difference) ? std::numeric_limits<double>::infinity() : found.difference;
  check(MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE, MPI_MAX, ranks.communicator),
        "MPI_Allreduce");
  is_good &= worst <= kWithin;
  if (ranks.is_first())
    fmt::print(
        "largest difference from the unsharded network: {:.1e} of a token's largest element "
        "({:.0e} at most){}\n",
        worst, kWithin, worst <= kWithin ? "" : "  WRONG");
  return is_good ? 0 : 1;
}

}  // namespace
}  // namespace depthcost::bench

int main(int argc, char** argv) {
  using namespace depthcost::bench;
  return run_ranks(argc, argv, [&](const Ranks& ranks) {
    return run(ranks, Arguments(argc, argv, {"tokens", "chunk", "hidden", "blocks"},
                                "mpirun -n P sharded_prefill [--tokens T] [--chunk C] [--hidden D] "
                                "[--blocks S,S,...]"));
  });
}
