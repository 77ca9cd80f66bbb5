// Sequence-sharded prefill (arXiv:2603.15031 Sec. 4.2), each rank a thread: its results equal those
// of the unsharded network, and its bank and its messages have the bytes of the model.
//
// Each rank holds the bank of its share of the tokens, and a share of every layer's weights. A
// layer's output, partial sums of all tokens, is reduce-scattered. The rank merges Phase 1 of its
// bank with the running sum, and norms. The next layer's input is gathered from all ranks.
#include "model/step/prefill.hpp"

#include <gtest/gtest.h>

#include <barrier>
#include <cmath>
#include <numeric>
#include <random>
#include <span>
#include <thread>

#include "kernels/reference/run.hpp"
#include "kernels/reference/single_pass_network.hpp"
#include "kernels/reference/two_phase_network.hpp"

namespace depthcost::test::sharded_prefill_test {
namespace {

using Row = std::vector<double>;

const auto kRun = [](const auto& operation) { reference::run(operation); };

Row random_row(std::size_t size) {
  static std::mt19937 random(20260316);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Row row(size);
  for (double& value : row) value = uniform(random);
  return row;
}

struct PrefillCase {
  const char* name;
  std::size_t num_ranks;
  std::size_t num_tokens;
  std::size_t chunk;
  std::size_t hidden_size;
  std::vector<std::size_t> block_sizes;
  Count bank_bytes;  // by hand: (N + 1) ceil(min(T, chunk) / P) d 8
};

void PrintTo(const PrefillCase& row, std::ostream* out) { *out << row.name; }

/// A small network. Layer l is f(t) = sum_k v_k tanh(u_k . x(t)) over units k.
struct Network {
  static constexpr std::size_t kUnits = 12;

  explicit Network(const PrefillCase& row)
      : d(row.hidden_size),
        block_sizes(row.block_sizes),
        num_layers(std::accumulate(block_sizes.begin(), block_sizes.end(), std::size_t{0})),
        queries(random_row((num_layers + 1) * d)),
        gains(random_row((num_layers + 1) * d)),
        embedding(random_row(row.num_tokens * d)),
        units(random_row(num_layers * kUnits * 2 * d)) {}

  reference::AttnResNetwork<double> attnres(std::size_t num_tokens) const {
    return {.num_tokens = num_tokens,
            .hidden_size = d,
            .block_sizes = block_sizes,
            .queries = queries.data(),
            .gains = gains.data()};
  }

  std::size_t d;
  std::vector<std::size_t> block_sizes;
  std::size_t num_layers;
  Row queries, gains, embedding;
  Row units;  // (L, units, 2, d): u and v
};

/// f (tokens, d) of the units first, first + stride, ... of layer l on x (tokens, d).
Row partial_layer(const Network& network, std::size_t l, std::size_t first, std::size_t stride,
                  std::span<const double> x) {
  const std::size_t d = network.d;
  Row f(x.size());
  for (std::size_t k = first; k < Network::kUnits; k += stride) {
    const double* u = network.units.data() + ((l - 1) * Network::kUnits + k) * 2 * d;
    for (std::size_t t = 0; t < x.size(); t += d) {
      const double unit = std::tanh(std::inner_product(u, u + d, x.data() + t, 0.0));
      for (std::size_t i = 0; i < d; ++i) f[t + i] += u[d + i] * unit;
    }
  }
  return f;
}

/// x (T, d) of layers 1 .. L and the output, unsharded and in one pass.
std::vector<Row> unsharded(const Network& network, std::size_t num_tokens) {
  const auto shape = network.attnres(num_tokens);
  reference::AttnResBuffers<double> buffers(shape, network.block_sizes.size() + 1,
                                            network.embedding.data());
  std::vector<Row> inputs;
  const auto layer = [&](std::size_t l, const double* x, double* f) {
    inputs.emplace_back(x, x + shape.row_size());
    std::ranges::copy(partial_layer(network, l, 0, 1, inputs.back()), f);
  };
  reference::run_single_pass(shape, buffers, reference::SumUpdate::folded, layer, kRun);
  inputs.push_back(buffers.layer_input);
  return inputs;
}

/// What all ranks share. A ring sends every rank's part to each of the others but one.
class Collectives {
 public:
  explicit Collectives(std::size_t num_ranks)
      : parts_(num_ranks), meeting_(static_cast<std::ptrdiff_t>(num_ranks)) {}

  std::size_t num_ranks() const { return parts_.size(); }
  Row all_gather(std::size_t rank, const Row& own) {
    parts_[rank] = own;
    meeting_.arrive_and_wait();
    Row whole;
    for (const Row& part : parts_) whole.insert(whole.end(), part.begin(), part.end());
    meeting_.arrive_and_wait();
    return whole;
  }
  Row reduce_scatter(std::size_t rank, const Row& whole) {
    parts_[rank] = whole;
    meeting_.arrive_and_wait();
    Row own(whole.size() / num_ranks());
    for (const Row& part : parts_)
      for (std::size_t i = 0; i < own.size(); ++i) own[i] += part[rank * own.size() + i];
    meeting_.arrive_and_wait();
    return own;
  }
  Count ring_bytes(const Row& own) const {
    return static_cast<Count>((num_ranks() - 1) * own.size() * sizeof(double));
  }

 private:
  std::vector<Row> parts_;
  std::barrier<> meeting_;
};

struct Findings {
  double worst = 0;  // difference, relative to the largest element of its token
  Count bank_bytes = 0;
  Count reduce_scatter_bytes = 0;
  Count all_gather_bytes = 0;
};

class Rank {
 public:
  Rank(const Network& network, Collectives& all, std::size_t rank, const std::vector<Row>& expected)
      : network_(network), all_(all), rank_(rank), expected_(expected) {}

  void run_chunk(std::size_t first, std::size_t count) {
    const std::size_t d = network_.d;
    const std::size_t share = (count + all_.num_ranks() - 1) / all_.num_ranks();
    const std::size_t own_first = std::min(count, share * rank_);
    const std::size_t own_count = std::min(share, count - own_first);
    Row embedding(share * d);
    std::copy_n(network_.embedding.data() + (first + own_first) * d, own_count * d,
                embedding.data());
    const auto shape = network_.attnres(share);
    reference::AttnResBuffers<double> buffers(shape, network_.block_sizes.size() + 1,
                                              embedding.data());
    found_.bank_bytes =
        std::max(found_.bank_bytes, static_cast<Count>(buffers.bank.size() * sizeof(double)));
    const auto layer = [&](std::size_t l, const double* x, double* f) {
      const Row own(x, x + share * d);
      const Row whole = all_.all_gather(rank_, own);
      found_.all_gather_bytes += all_.ring_bytes(own);
      compare(whole.data(), l, first, count);
      const Row sum =
          all_.reduce_scatter(rank_, partial_layer(network_, l, rank_, all_.num_ranks(), whole));
      found_.reduce_scatter_bytes += all_.ring_bytes(sum);
      std::ranges::copy(sum, f);
    };
    reference::run_two_phase<double>(shape, buffers, reference::SumUpdate::folded, layer, kRun);
    compare(buffers.layer_input.data(), network_.num_layers + 1, first + own_first, own_count);
  }
  const Findings& found() const { return found_; }

 private:
  void compare(const double* x, std::size_t l, std::size_t first, std::size_t count) {
    for (std::size_t t = 0; t < count; ++t) {
      const double* expected = expected_[l - 1].data() + (first + t) * network_.d;
      double largest = 0, apart = 0;
      for (std::size_t i = 0; i < network_.d; ++i) {
        largest = std::max(largest, std::abs(expected[i]));
        const double difference = std::abs(x[t * network_.d + i] - expected[i]);
        if (!(difference <= apart)) apart = difference;
      }
      if (!(apart / largest <= found_.worst)) found_.worst = apart / largest;
    }
  }

  const Network& network_;
  Collectives& all_;
  std::size_t rank_;
  const std::vector<Row>& expected_;
  Findings found_;
};

/// Elements that one rank sends in the reduce-scatter of a layer's output, and again in the
/// all-gather of the next layer's input: (P - 1) ceil(T / P) d. [attnres] Sec. 4.2 scatters and
/// gathers T d elements, of which a ring sends (P - 1)/P; tokens are padded to a multiple of P.
Count collective_elements(const PrefillShape& shape) {
  return (shape.sequence_shards - 1) * tokens_per_device(shape) * shape.hidden_size;
}

Findings modelled(const PrefillCase& row, const Network& network) {
  PrefillShape shape{.num_tokens = static_cast<Count>(row.num_tokens),
                     .chunk = static_cast<Count>(row.chunk),
                     .sequence_shards = static_cast<Count>(row.num_ranks),
                     .hidden_size = static_cast<Count>(row.hidden_size)};
  // The model's types end at 4 bytes.
  Findings model{
      .bank_bytes = static_cast<Count>(
          2 * bank_bytes(shape, static_cast<Count>(row.block_sizes.size()) + 1, Dtype::f32).value)};
  shape.chunk.reset();
  for (std::size_t first = 0; first < row.num_tokens; first += row.chunk) {
    shape.num_tokens = static_cast<Count>(std::min(row.chunk, row.num_tokens - first));
    model.reduce_scatter_bytes +=
        static_cast<Count>(network.num_layers * sizeof(double)) * collective_elements(shape);
  }
  model.all_gather_bytes = model.reduce_scatter_bytes;
  return model;
}

class ShardedPrefill : public testing::TestWithParam<PrefillCase> {};

TEST_P(ShardedPrefill, EqualsTheUnshardedNetworkAndTheModelsBytes) {
  const PrefillCase& row = GetParam();
  const Network network(row);
  const std::vector<Row> expected = unsharded(network, row.num_tokens);
  const Findings model = modelled(row, network);
  Collectives all(row.num_ranks);
  std::vector<Rank> ranks;
  for (std::size_t rank = 0; rank < row.num_ranks; ++rank)
    ranks.emplace_back(network, all, rank, expected);
  std::vector<std::thread> threads;
  for (Rank& rank : ranks)
    threads.emplace_back([&] {
      for (std::size_t first = 0; first < row.num_tokens; first += row.chunk)
        rank.run_chunk(first, std::min(row.chunk, row.num_tokens - first));
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(model.bank_bytes, row.bank_bytes);
  for (const Rank& rank : ranks) {
    EXPECT_LE(rank.found().worst, 1e-12);
    EXPECT_EQ(rank.found().bank_bytes, model.bank_bytes);
    EXPECT_EQ(rank.found().reduce_scatter_bytes, model.reduce_scatter_bytes);
    EXPECT_EQ(rank.found().all_gather_bytes, model.all_gather_bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, ShardedPrefill,
    testing::Values(PrefillCase{"OneRank", 1, 5, 5, 16, {4, 4, 3}, 2560},
                    PrefillCase{"TokensDivide", 4, 64, 64, 16, {2, 2}, 6144},
                    PrefillCase{"TokensDoNotDivide", 4, 37, 37, 48, {4, 4, 3}, 15360},
                    PrefillCase{"FewerTokensThanRanks", 4, 2, 2, 48, {3, 1}, 1152},
                    PrefillCase{"InChunks", 4, 37, 10, 48, {4, 4, 3}, 4608},
                    PrefillCase{"FullAttnRes", 2, 9, 9, 8, {1, 1, 1, 1, 1}, 1920}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace depthcost::test::sharded_prefill_test
