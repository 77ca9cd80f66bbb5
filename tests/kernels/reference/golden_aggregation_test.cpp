// The rest of golden/kernels.json: statistics of Algorithm 1, the ablations of [attnres] Table 4,
// and three readings of Fig. 2. The ablations have no kernels of ours; their definitions are here.
#include <gtest/gtest.h>

#include "kernels/reference/attention.hpp"
#include "kernels/reference/mhc_mapping.hpp"
#include "tests/golden.hpp"
#include "tests/kernels/reference/comparison.hpp"

namespace depthcost::test {
namespace {

using nlohmann::json;
using reference::attend;
using reference::attend_with_stats;
using reference::rms_norm;
using reference::scores;
using reference::softmax;
using reference::Statistics;
using reference::weighted_sum;

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

/// phi(w, k) = sigmoid(w . RMSNorm(k)), without normalisation over depth.
Row sigmoid_aggregation(const Row& w, const Rows& sources, double eps) {
  Row weights = scores(w, sources, eps);
  for (double& weight : weights) weight = reference::sigmoid(weight);
  return weighted_sum(weights, sources);
}

/// phi(w, k) = exp(w . k).
Row aggregation_without_norm(const Row& w, const Rows& sources) {
  Row logits;
  for (const Row& k : sources) logits.push_back(reference::dot(w, k));
  return weighted_sum(softmax(logits), sources);
}

/// Heads of d / H channels, each with its own softmax over depth. Keys are normalised over d, or
/// with `norm_per_head` over the head.
Row multihead_aggregation(const Row& w, const Rows& sources, std::size_t num_heads, double eps,
                          bool norm_per_head) {
  const std::size_t head_size = w.size() / num_heads;
  const Rows queries = cut(w, head_size);
  Row h;
  for (std::size_t head = 0; head < num_heads; ++head) {
    Row logits;
    Rows values;
    for (const Row& source : sources) {
      values.push_back(cut(source, head_size)[head]);
      const Row key = norm_per_head ? rms_norm(values.back(), eps)
                                    : cut(rms_norm(source, eps), head_size)[head];
      logits.push_back(reference::dot(queries[head], key));
    }
    const Row part = weighted_sum(softmax(logits), values);
    h.insert(h.end(), part.begin(), part.end());
  }
  return h;
}

/// What a blog of third parties describes: normalised values, logits over sqrt(d). Kept as a
/// regression case of what the paper does not say.
Row aggregation_of_seed_004(const Row& w, const Rows& sources, double eps) {
  Rows values;
  Row logits;
  for (const Row& source : sources) {
    values.push_back(rms_norm(source, eps));
    logits.push_back(reference::dot(w, values.back()) / std::sqrt(static_cast<double>(w.size())));
  }
  return weighted_sum(softmax(logits), values);
}

TEST(GoldenVariants, FollowTheirDefinitions) {
  const auto golden = load_golden("kernels.json");
  ASSERT_EQ(golden.at("variants").size(), 3U);
  for (const json& entry : golden.at("variants")) {
    const Row w = flat(entry.at("q"));
    const Rows sources = entry.at("sources").get<Rows>();
    const double eps = eps_of(entry);
    const auto heads = entry.at("heads").get<std::size_t>();
    expect_close(attend(w, sources, eps), entry.at("softmax"), "softmax");
    expect_close(sigmoid_aggregation(w, sources, eps), entry.at("sigmoid"), "sigmoid");
    expect_close(aggregation_without_norm(w, sources), entry.at("no_rmsnorm"), "no_rmsnorm");
    expect_close(multihead_aggregation(w, sources, heads, eps, false), entry.at("multihead"),
                 "multihead");
    expect_close(multihead_aggregation(w, sources, heads, eps, true),
                 entry.at("multihead_per_head_norm"), "multihead_per_head_norm");
    expect_close(aggregation_of_seed_004(w, sources, eps), entry.at("not_the_paper_seed004"),
                 "seed 004");
  }
}

/// The embedding, and the last W of the layers that came before.
TEST(GoldenSlidingWindow, KeepsTheEmbeddingAndTheMostRecentLayers) {
  const json entry = load_golden("kernels.json").at("swa");
  const Rows values = entry.at("values").get<Rows>();
  const Rows queries = entry.at("W").get<Rows>();
  const auto window = entry.at("window").get<std::size_t>();
  Rows h;
  for (std::size_t layer = 1; layer <= values.size(); ++layer) {
    Rows sources{flat(entry.at("h1"))};
    const std::size_t oldest = layer - 1 > window ? layer - window : 1;
    for (std::size_t i = oldest; i < layer; ++i) sources.push_back(values[i - 1]);
    h.push_back(attend(queries[layer - 1], sources, eps_of(entry)));
  }
  expect_close(h, entry.at("h"), "swa");
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
}  // namespace depthcost::test
