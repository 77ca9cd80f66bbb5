// The rest of golden/kernels.json: statistics of Algorithm 1, the ablations of [attnres] Table 4,
// what others call attention residuals, and three readings of Fig. 2.
#include <gtest/gtest.h>

#include "kernels/reference/attnres.hpp"
#include "kernels/reference/without_kernels/other_depth_attention.hpp"
#include "tests/golden.hpp"
#include "tests/kernels/reference/comparison.hpp"

namespace depthcost::test::golden_aggregation_test {
namespace {

using nlohmann::json;
using reference::attend;
using reference::attend_with_stats;
using reference::Statistics;

double eps_of(const json& entry) { return entry.at("eps").get<double>(); }

TEST(GoldenStatistics, OfBothPhasesMergeToTheWhole) {
  const auto golden = load_golden("kernels.json");
  ASSERT_EQ(golden.at("stats").size(), 4U);
  for (const json& entry : golden.at("stats")) {
    const Row q = flat(entry.at("q"));
    const Rows sources = entry.at("sources").get<Rows>();
    const auto split = sources.begin() + entry.at("split").get<std::ptrdiff_t>();
    const Statistics first = attend_with_stats(q, Rows(sources.begin(), split), eps_of(entry));
    const Statistics second = attend_with_stats(q, Rows(split, sources.end()), eps_of(entry));
    expect_close(first.o, entry.at("o1"), "o1");
    expect_close(second.o, entry.at("o2"), "o2");
    expect_close(Row{first.m, first.l, second.m, second.l},
                 json{entry.at("m1"), entry.at("l1"), entry.at("m2"), entry.at("l2")}, "m and l");
    expect_close(reference::divided(reference::merge(first, second)), entry.at("h"), "merged");
    expect_close(attend(q, sources, eps_of(entry)), entry.at("h"), "single pass");
  }
}

/// One token's single pass over `sources`, without a norm behind it.
Row single_pass(const Row& w, const Rows& sources, double eps,
                const AttentionVariant<double>& variant = {}) {
  Row bank;
  for (const Row& source : sources) bank.insert(bank.end(), source.begin(), source.end());
  Row h(w.size(), kNaN);
  reference::run(AttnResSinglePass<double>{.num_tokens = 1,
                                           .hidden_size = w.size(),
                                           .num_bank_rows = sources.size(),
                                           .num_bank_sources = sources.size(),
                                           .bank = bank.data(),
                                           .query = w.data(),
                                           .key_eps = eps,
                                           .output = h.data(),
                                           .variant = variant});
  return h;
}

/// The last of `sources` is the stream, with nothing added to it.
Row boundary_attention(const Row& w, const Rows& sources, double eps) {
  Row checkpoints;
  for (const Row& source : sources)
    checkpoints.insert(checkpoints.end(), source.begin(), source.end());
  Row h(w.size(), kNaN);
  const Row f(w.size(), 0);
  const Row gain(w.size(), 1);
  reference::boundary_depth_attention(
      reference::BoundaryDepthAttention<double>{.num_tokens = 1,
                                                .hidden_size = w.size(),
                                                .num_checkpoints = sources.size() - 1,
                                                .checkpoints = checkpoints.data(),
                                                .hidden_state = sources.back().data(),
                                                .layer_output = f.data(),
                                                .query = w.data(),
                                                .values = {gain.data(), eps},
                                                .output = h.data()});
  EXPECT_TRUE(std::equal(h.rbegin(), h.rend(), checkpoints.rbegin()));
  return h;
}

TEST(GoldenVariants, AreSinglePasses) {
  const auto golden = load_golden("kernels.json");
  ASSERT_EQ(golden.at("variants").size(), 3U);
  for (const json& entry : golden.at("variants")) {
    const Row w = flat(entry.at("q"));
    const Rows sources = entry.at("sources").get<Rows>();
    const double eps = eps_of(entry);
    const auto heads = entry.at("heads").get<std::size_t>();
    const auto expect = [&](const AttentionVariant<double>& variant, const std::string& name) {
      expect_close(single_pass(w, sources, eps, variant), entry.at(name), name);
      // The query of the token, with another one that must have no effect.
      AttentionVariant<double> by_token = variant;
      by_token.token_queries = w.data();
      expect_close(single_pass(Row(w.size(), kNaN), sources, eps, by_token), entry.at(name),
                   name + " by token");
    };
    expect({}, "softmax");
    expect({.weighting = DepthWeighting::sigmoid}, "sigmoid");
    expect({.key_norm = KeyNorm::none}, "no_rmsnorm");
    expect({.num_heads = heads}, "multihead");
    expect({.key_norm = KeyNorm::head, .num_heads = heads}, "multihead_per_head_norm");
  }
}

TEST(GoldenVariants, HaveOneThatIsNotThePapers) {
  const auto golden = load_golden("kernels.json");
  for (const json& entry : golden.at("variants"))
    expect_close(
        boundary_attention(flat(entry.at("q")), entry.at("sources").get<Rows>(), eps_of(entry)),
        entry.at("not_the_paper_seed004"), "boundary attention");
}

/// The embedding, and the last W of the layers that came before.
TEST(GoldenSlidingWindow, KeepsTheEmbeddingAndTheMostRecentLayers) {
  const json entry = load_golden("kernels.json").at("swa");
  const Rows values = entry.at("values").get<Rows>();
  const Rows queries = entry.at("W").get<Rows>();
  const auto window = entry.at("window").get<std::size_t>();
  Rows sources{flat(entry.at("h1"))};
  Rows h;
  for (std::size_t layer = 1; layer <= values.size(); ++layer) {
    const std::size_t oldest = layer - 1 > window ? layer - window : 1;
    h.push_back(
        single_pass(queries[layer - 1], sources, eps_of(entry), {.first_recent_row = oldest}));
    sources.push_back(values[layer - 1]);
  }
  expect_close(h, entry.at("h"), "swa");
}

/// h = x + sum_i softmax_i(q . k_i / sqrt(d_k)) v_i, element by element.
TEST(HistoryAttention, IsADullLoop) {
  constexpr std::size_t kSize = 3;
  constexpr std::size_t kKeySize = 2;
  constexpr std::size_t kStates = 2;
  const Row x{0.5, -1, 2};
  Row states{1, 2, 3, -1, 0.5, 0.25, kNaN, kNaN, kNaN};
  const Row W_q{0.1, 0.2, 0.3, -0.4, 0.5, -0.6};
  const Row W_k{0.7, -0.8, 0.9, 1.0, 1.1, -1.2};
  const Row W_v{1, 2, 3, 4, 5, 6, 7, 8, 9};
  Row weights(kStates, 0);
  for (std::size_t i = 0; i < kStates; ++i) {
    double logit = 0;
    for (std::size_t k = 0; k < kKeySize; ++k) {
      double query = 0;
      double key = 0;
      for (std::size_t e = 0; e < kSize; ++e) {
        query += W_q[k * kSize + e] * x[e];
        key += W_k[k * kSize + e] * states[i * kSize + e];
      }
      logit += query * key;
    }
    weights[i] = std::exp(logit / std::sqrt(2.0));
  }
  Row expected = x;
  for (std::size_t e = 0; e < kSize; ++e)
    for (std::size_t i = 0; i < kStates; ++i)
      for (std::size_t c = 0; c < kSize; ++c)
        expected[e] +=
            weights[i] / (weights[0] + weights[1]) * W_v[e * kSize + c] * states[i * kSize + c];
  reference::history_attention(reference::HistoryAttention<double>{.num_tokens = 1,
                                                                   .hidden_size = kSize,
                                                                   .key_size = kKeySize,
                                                                   .num_states = kStates,
                                                                   .states = states.data(),
                                                                   .layer_output = x.data(),
                                                                   .queries = W_q.data(),
                                                                   .keys = W_k.data(),
                                                                   .values = W_v.data()});
  EXPECT_LE(relative_error(Row(states.end() - kSize, states.end()), expected), 1e-12);
}

/// Fig. 2 as it is written, on two sublayers per transformer layer.
Rows fig2(const json& entry, std::size_t first_layer_number, bool embedding_in_blocks) {
  const Rows values = entry.at("values").get<Rows>();
  const Rows W = entry.at("W").get<Rows>();
  const auto block_size = entry.at("block_size").get<std::size_t>();
  Rows blocks;
  Rows h;
  Row partial_block = flat(entry.at("h1"));
  if (embedding_in_blocks) blocks.push_back(partial_block);
  const auto block_attn_res = [&] {
    Rows V = blocks;
    V.push_back(partial_block);
    h.push_back(attend(W[h.size()], V, eps_of(entry)));
  };
  for (std::size_t attention = 0; attention < values.size(); attention += 2) {
    const std::size_t layer_number = first_layer_number + attention / 2;
    block_attn_res();
    if (layer_number % (block_size / 2) == 0) {
      blocks.push_back(partial_block);
      partial_block.assign(partial_block.size(), 0);
    }
    reference::add(partial_block, values[attention]);
    block_attn_res();
    reference::add(partial_block, values[attention + 1]);
  }
  return h;
}

TEST(GoldenFig2, ReadsInThreeWaysOfWhichOneIsEq6) {
  const json entry = load_golden("kernels.json").at("fig2");
  const Rows first_reading = fig2(entry, 0, false);
  expect_close(first_reading, entry.at("layer_number_from_0_blocks_empty"), "from 0, empty");
  expect_close(first_reading, entry.at("eq6"), "Eq. 6");
  expect_close(fig2(entry, 0, true), entry.at("layer_number_from_0_blocks_embedding"), "from 0");
  expect_close(fig2(entry, 1, true), entry.at("layer_number_from_1_blocks_embedding"), "from 1");
}

}  // namespace
}  // namespace depthcost::test::golden_aggregation_test
