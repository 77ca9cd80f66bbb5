// Chains of operations: every schedule computes the same network, and Eq. 6 as plain loops.
#include "kernels/reference/network.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <random>

#include "kernels/reference/attention.hpp"
#include "tests/kernels/reference/schedules.hpp"

namespace depthcost::test::network_test {
namespace {

/// A random network. Layers are f_l(x) = v_l + c x: what comes later depends on what came before.
struct RandomNetwork {
  std::size_t num_tokens = *rc::gen::inRange<std::size_t>(1, 4);
  std::size_t hidden_size = *rc::gen::inRange<std::size_t>(1, 6);
  std::size_t num_layers = *rc::gen::inRange<std::size_t>(1, 13);
  double feedback = 0.5;  // c
  Row queries, gains, embedding;
  Rows values;

  explicit RandomNetwork(double query_scale) {
    std::mt19937 random(*rc::gen::arbitrary<unsigned>());
    std::normal_distribution<double> normal;
    const auto fill = [&](std::size_t count, double scale) {
      Row row(count);
      for (double& element : row) element = scale * normal(random);
      return row;
    };
    queries = fill((num_layers + 1) * hidden_size, query_scale);
    gains = fill((num_layers + 1) * hidden_size, 1);
    embedding = fill(num_tokens * hidden_size, 1);
    for (std::size_t l = 0; l < num_layers; ++l)
      values.push_back(fill(num_tokens * hidden_size, 1));
  }

  Row layer(std::size_t l, const Row& x) const {
    Row f = values[l - 1];
    reference::add(f, reference::scaled(feedback, x));
    return f;
  }

  AttnResNetwork<double> with_blocks(std::vector<std::size_t> block_sizes) const {
    return {.num_tokens = num_tokens,
            .hidden_size = hidden_size,
            .block_sizes = std::move(block_sizes),
            .queries = queries.data(),
            .gains = gains.data()};
  }

  Trace run(Execution execution, const std::vector<std::size_t>& block_sizes,
            SumUpdate update = SumUpdate::folded) const {
    return trace(
        execution, with_blocks(block_sizes), embedding,
        [this](std::size_t l, const Row& x) { return layer(l, x); }, update);
  }

  /// The input of layer `l` from its sources, each (T, d), token by token: Eq. 2-4.
  Row aggregated(std::size_t l, const Rows& sources) const {
    Row x;
    const Row w = cut(queries, hidden_size)[l - 1];
    const Row gain = cut(gains, hidden_size)[l - 1];
    for (std::size_t t = 0; t < num_tokens; ++t) {
      Rows of_token;
      for (const Row& source : sources) of_token.push_back(cut(source, hidden_size)[t]);
      const Row h = reference::attend(w, of_token, 1e-6);
      const Row part = reference::next_norm(h, BasicNextNorm<double>{gain.data(), 1e-6});
      x.insert(x.end(), part.begin(), part.end());
    }
    return x;
  }

  /// Inputs of all layers and the output aggregation, with all sources kept side by side: Eq. 5-6.
  Rows expected(const std::vector<std::size_t>& block_sizes) const {
    Rows inputs;
    Rows sources{embedding};
    reference::each_place(block_sizes, [&](const reference::LayerPlace& at) {
      const Row f = layer(at.layer, inputs.emplace_back(aggregated(at.layer, sources)));
      if (at.opens_block())
        sources.push_back(f);
      else
        reference::add(sources.back(), f);
    });
    inputs.push_back(aggregated(num_layers + 1, sources));
    return inputs;
  }
};

std::vector<std::size_t> random_blocks(std::size_t num_layers) {
  std::vector<std::size_t> sizes;
  while (num_layers > 0) {
    sizes.push_back(*rc::gen::inRange<std::size_t>(1, num_layers + 1));
    num_layers -= sizes.back();
  }
  return sizes;
}

double largest_error(const Trace& seen, const Rows& expected) {
  Rows all = seen.inputs;
  all.push_back(seen.out);
  if (all.size() != expected.size()) return std::numeric_limits<double>::infinity();
  double error = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    error = std::max(error, relative_error(all[i], expected[i]));
  return error;
}

TEST(BlockAttnRes, IsTheSameNetworkInEverySchedule) {
  EXPECT_TRUE(rc::check([] {
    const RandomNetwork network(1);
    const auto blocks = random_blocks(network.num_layers);
    const Rows expected = network.expected(blocks);
    for (const SumUpdate update : {SumUpdate::folded, SumUpdate::closing_apart, SumUpdate::apart}) {
      RC_ASSERT(largest_error(network.run(Execution::single_pass, blocks, update), expected) <=
                1e-12);
      RC_ASSERT(largest_error(network.run(Execution::two_phase, blocks, update), expected) <=
                1e-12);
    }
    RC_ASSERT(largest_error(network.run(Execution::unfused, blocks), expected) <= 1e-12);
  }));
}

/// Blocks of one layer (N = L), and Full in two phases whatever its groups.
TEST(FullAttnRes, IsBlockAttnResWithBlocksOfOneLayer) {
  EXPECT_TRUE(rc::check([] {
    const RandomNetwork network(1);
    const std::vector<std::size_t> ones(network.num_layers, 1);
    Rows inputs;
    Rows sources{network.embedding};
    for (std::size_t l = 1; l <= network.num_layers; ++l)  // Eq. 4
      sources.push_back(network.layer(l, inputs.emplace_back(network.aggregated(l, sources))));
    inputs.push_back(network.aggregated(network.num_layers + 1, sources));
    for (const Execution execution :
         {Execution::single_pass, Execution::two_phase, Execution::unfused})
      RC_ASSERT(largest_error(network.run(execution, ones), inputs) <= 1e-12);
    const auto groups = random_blocks(network.num_layers);
    RC_ASSERT(largest_error(network.run(Execution::full_two_phase, groups), inputs) <= 1e-12);
  }));
}

/// Logits of a few hundred: exp amplifies their rounding by their size, so layers must not feed the
/// difference back.
TEST(TwoPhase, EqualsSinglePassForHugeLogits) {
  EXPECT_TRUE(rc::check([] {
    RandomNetwork network(300);
    network.feedback = 0;
    const auto blocks = random_blocks(network.num_layers);
    const Trace single = network.run(Execution::single_pass, blocks);
    Rows expected = single.inputs;
    expected.push_back(single.out);
    RC_ASSERT(largest_error(network.run(Execution::two_phase, blocks), expected) <= 1e-10);
    RC_ASSERT(largest_error(network.run(Execution::unfused, blocks), expected) <= 1e-10);
  }));
}

/// The output aggregation of `network` with constant layers, in storage T.
template <class T, class O>
Row output_in(const RandomNetwork& network, const std::vector<std::size_t>& blocks,
              Execution execution) {
  const auto rounded = [](const Row& values) {
    std::vector<T> result;
    for (const double value : values) result.push_back(reference::round_to<T>(value));
    return result;
  };
  const std::vector<Scalar<T>> queries(network.queries.begin(), network.queries.end());
  const AttnResNetwork<T> shape{network.num_tokens, network.hidden_size, blocks, queries.data()};
  AttnResBuffers<T> buffers(shape, blocks.size() + 1, rounded(network.embedding).data());
  const auto layer = [&](std::size_t l, const T*, T* f) {
    const std::vector<T> values = rounded(network.values[l - 1]);
    std::copy(values.begin(), values.end(), f);
  };
  const auto run = [](const auto& operation) { reference::run(operation); };
  if (execution == Execution::single_pass)
    reference::run_single_pass(shape, buffers, SumUpdate::folded, layer, run);
  if (execution == Execution::two_phase)
    reference::run_two_phase<O>(shape, buffers, SumUpdate::folded, layer, run);
  if (execution == Execution::unfused) reference::run_unfused(shape, buffers, layer, run);
  Row out;
  for (const T element : buffers.layer_input) out.push_back(reference::to_double(element));
  return out;
}

/// Largest |actual - expected| over the largest element that a sum of all sources could have:
/// sources may cancel.
double error_in_sources(const RandomNetwork& network, const Row& actual, const Row& expected) {
  double largest_sum = 0;
  for (std::size_t e = 0; e < expected.size(); ++e) {
    double sum = std::abs(network.embedding[e]);
    for (const Row& value : network.values) sum += std::abs(value[e]);
    largest_sum = std::max(largest_sum, sum);
  }
  double error = 0;
  for (std::size_t e = 0; e < expected.size(); ++e) {
    if (std::isnan(actual[e])) return std::numeric_limits<double>::infinity();
    error = std::max(error, std::abs(actual[e] - expected[e]));
  }
  return error / largest_sum;
}

/// A few roundings of 2^-24, or of 2^-9 in bf16, amplified by logits of a few units.
TEST(StorageTypes, StayWithinTheirRounding) {
  EXPECT_TRUE(rc::check([] {
    const RandomNetwork network(0.5);
    const auto blocks = random_blocks(network.num_layers);
    for (const Execution execution :
         {Execution::single_pass, Execution::two_phase, Execution::unfused}) {
      const Row exact = output_in<double, double>(network, blocks, execution);
      const auto error = [&](const Row& out) { return error_in_sources(network, out, exact); };
      RC_ASSERT(error(output_in<float, float>(network, blocks, execution)) <= 0x1p-21);
      RC_ASSERT(error(output_in<Bf16, Bf16>(network, blocks, execution)) <= 0x1p-6);
      RC_ASSERT(error(output_in<Bf16, float>(network, blocks, execution)) <= 0x1p-6);
    }
  }));
}

/// With zero queries h_l is the standard residual stream over the number of sources: [ours] C8.
TEST(ZeroQueries, GiveTheMeanOfTheSources) {
  EXPECT_TRUE(rc::check([] {
    const RandomNetwork network(0);
    const auto blocks = random_blocks(network.num_layers);
    auto shape = network.with_blocks(blocks);
    shape.gains = nullptr;
    for (const Execution execution :
         {Execution::single_pass, Execution::two_phase, Execution::unfused}) {
      const Trace seen = trace(execution, shape, network.embedding,
                               [&](std::size_t l, const Row&) { return network.values[l - 1]; });
      Row stream = network.embedding;
      reference::each_place(blocks, [&](const reference::LayerPlace& at) {
        const double num_sources = static_cast<double>(at.block + (at.opens_block() ? 0 : 1));
        const Row mean = reference::scaled(1 / num_sources, stream);
        RC_ASSERT(relative_error(seen.inputs[at.layer - 1], mean) <= 1e-14 * 40);
        reference::add(stream, network.values[at.layer - 1]);
      });
    }
  }));
}

}  // namespace
}  // namespace depthcost::test::network_test
