// The twelve networks of golden/kernels.json, in every schedule: standard, Full and Block AttnRes.
#include <gtest/gtest.h>

#include "kernels/reference/attention.hpp"
#include "kernels/reference/residual.hpp"
#include "tests/golden.hpp"
#include "tests/kernels/reference/schedules.hpp"

namespace depthcost::test::golden_network_test {
namespace {

using nlohmann::json;

/// A golden network: one token, layers f_l as `layer_kind` says, gains folded into the queries.
class GoldenNetwork {
 public:
  explicit GoldenNetwork(const json& entry) : entry_(entry), queries_(flat(entry.at("W"))) {
    if (entry.at("gain").is_null()) return;
    const Row gains = flat(entry.at("gain"));
    for (std::size_t i = 0; i < queries_.size(); ++i) queries_[i] *= gains[i];
  }

  double eps() const { return entry_.at("eps").get<double>(); }
  Row embedding() const { return flat(entry_.at("h1")); }
  Row query(std::size_t layer) const { return cut(queries_, embedding().size())[layer - 1]; }

  AttnResNetwork<double> with_blocks(std::vector<std::size_t> block_sizes) const {
    return {.num_tokens = 1,
            .hidden_size = embedding().size(),
            .block_sizes = std::move(block_sizes),
            .queries = queries_.data(),
            .key_eps = eps()};
  }

  Row layer(std::size_t l, Row h) const {
    const std::string kind = entry_.at("layer_kind");
    if (kind == "const") return flat(entry_.at("values").at(l - 1));
    if (kind == "prenorm") h = reference::rms_norm(h, eps());
    Row f;
    for (const json& row : entry_.at("matrices").at(l - 1))
      f.push_back(reference::dot(flat(row), h));
    return f;
  }

 private:
  const json& entry_;
  Row queries_;
};

std::vector<std::size_t> ones(const json& entry) {
  return std::vector<std::size_t>(entry.at("L").get<std::size_t>(), 1);
}

std::vector<std::size_t> blocks_of(const json& entry) {
  return entry.at("block_sizes").get<std::vector<std::size_t>>();
}

/// b_0 .. b_N from the layers' outputs: Eq. 5.
Rows block_sums(const Trace& seen, const std::vector<std::size_t>& block_sizes, Row embedding) {
  Rows sums{std::move(embedding)};
  reference::each_place(block_sizes, [&](const reference::LayerPlace& at) {
    if (at.opens_block())
      sums.push_back(seen.outputs[at.layer - 1]);
    else
      reference::add(sums.back(), seen.outputs[at.layer - 1]);
  });
  return sums;
}

/// alpha of every layer: Eq. 2 over the sources of Eq. 6.
Rows weights_of_layers(const GoldenNetwork& network, const Trace& seen,
                       const std::vector<std::size_t>& block_sizes) {
  Rows all;
  Rows sources{network.embedding()};
  reference::each_place(block_sizes, [&](const reference::LayerPlace& at) {
    all.push_back(reference::depth_weights(network.query(at.layer), sources, network.eps()));
    if (at.opens_block())
      sources.push_back(seen.outputs[at.layer - 1]);
    else
      reference::add(sources.back(), seen.outputs[at.layer - 1]);
  });
  return all;
}

struct GoldenRun {
  std::string scheme;
  Execution execution;
  SumUpdate update = SumUpdate::folded;
};

void check(const json& entry, const GoldenRun& run) {
  const GoldenNetwork golden(entry);
  const auto sources_blocks = run.scheme == "full" ? ones(entry) : blocks_of(entry);
  // Full in two phases batches the queries of the same groups that Block has.
  const auto run_blocks =
      run.execution == Execution::full_two_phase ? blocks_of(entry) : sources_blocks;
  const Trace seen = trace(
      run.execution, golden.with_blocks(run_blocks), golden.embedding(),
      [&](std::size_t l, const Row& x) { return golden.layer(l, x); }, run.update);
  const json& expected = entry.at("expect").at(run.scheme);
  const std::string where = run.scheme + " L=" + entry.at("L").dump() + " execution " +
                            std::to_string(static_cast<int>(run.execution));
  expect_close(seen.inputs, expected.at("h"), where + " h");
  expect_close(seen.out, expected.at("out"), where + " out");
  expect_close(weights_of_layers(golden, seen, sources_blocks), expected.at("alpha"), where);
  if (run.scheme == "full") return;
  const Rows sums = block_sums(seen, sources_blocks, golden.embedding());
  expect_close(sums, expected.at("blocks"), where + " blocks");
  const Rows bank = cut(seen.bank, golden.embedding().size());
  for (std::size_t n = 0; n + 1 < bank.size(); ++n)
    expect_close(bank[n], expected.at("blocks").at(n), where + " bank");
}

TEST(GoldenNetworks, AreReproducedInEverySchedule) {
  const auto golden = load_golden("kernels.json");
  ASSERT_EQ(golden.at("cases").size(), 12U);
  for (const json& entry : golden.at("cases"))
    for (const GoldenRun& run :
         {GoldenRun{"full", Execution::single_pass}, GoldenRun{"full", Execution::two_phase},
          GoldenRun{"full", Execution::full_two_phase}, GoldenRun{"full", Execution::unfused},
          GoldenRun{"block", Execution::single_pass}, GoldenRun{"block", Execution::two_phase},
          GoldenRun{"block", Execution::unfused},
          GoldenRun{"block", Execution::single_pass, SumUpdate::apart},
          GoldenRun{"block", Execution::two_phase, SumUpdate::apart},
          GoldenRun{"block", Execution::two_phase, SumUpdate::closing_apart}})
      check(entry, run);
}

TEST(GoldenNetworks, AreReproducedByTheStandardResidual) {
  const auto golden = load_golden("kernels.json");
  for (const json& entry : golden.at("cases")) {
    const GoldenNetwork network(entry);
    Row h = network.embedding();
    Row fused_h = h;
    Row x(h.size(), kNaN);
    const Row gain(h.size(), 2);
    Rows inputs;
    for (std::size_t l = 1; l <= entry.at("L").get<std::size_t>(); ++l) {
      const Row f = network.layer(l, inputs.emplace_back(h));
      reference::run(ResidualAdd<double>{1, h.size(), h.data(), f.data()});
      reference::run(ResidualAddRmsNorm<double>{
          1, h.size(), fused_h.data(), f.data(), {gain.data(), network.eps()}, x.data()});
      EXPECT_EQ(fused_h, h);
      expect_close(x, reference::scaled(2, reference::rms_norm(h, network.eps())), "standard x");
    }
    expect_close(inputs, entry.at("expect").at("standard").at("h"), "standard h");
    expect_close(h, entry.at("expect").at("standard").at("out"), "standard out");
  }
}

}  // namespace
}  // namespace depthcost::test::golden_network_test
