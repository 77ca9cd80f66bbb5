// Pipeline traffic: the golden cases, the published examples, and what is refused.
#include "model/pipeline/pipeline.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/base/infeasible.hpp"
#include "tests/model/pipeline/payloads.hpp"
#include "tests/model/pipeline/pipeline_theory.hpp"

namespace depthcost::pipeline_test {
namespace {

using test::as_index;
using test::Counts;
using test::kCaches;
using test::vectors_of;

using Json = nlohmann::json;

std::vector<Counts> ids_of(const PipelineTraffic& traffic) {
  std::vector<Counts> ids;
  for (const Transition& t : traffic.transitions) {
    ids.emplace_back(as_index(t.end_block - t.first_block));
    std::iota(ids.back().begin(), ids.back().end(), t.first_block);
  }
  return ids;
}

const Json& golden_cases() {
  static const Json file = [] {
    const std::string path = DEPTHCOST_GOLDEN_DIR "/pipeline_comm.json";
    std::ifstream in(path);
    if (!in) throw std::runtime_error("cannot open " + path);
    return Json::parse(in);
  }();
  const Json& cases = file.at("cases");
  if (cases.empty()) throw std::runtime_error("pipeline_comm.json has no cases");
  return cases;
}

PipelineLayout layout_of(const Json& golden) {
  return {.num_stages = golden.at("P").get<Count>(),
          .num_virtual_stages = golden.at("V").get<Count>(),
          .chunk_layers = golden.at("chunk_layers").get<Counts>()};
}

Payload payload_of(const Json& run) {
  const auto cache = run.at("cache").get<std::string>();
  if (cache != "none" && cache != "received" && cache != "own") {
    throw std::runtime_error("unknown cache " + cache);
  }
  return {.cache = cache == "none"       ? Cache::none
                   : cache == "received" ? Cache::received
                                         : Cache::own,
          .embedding = run.at("embedding").get<bool>() ? Embedding::sent : Embedding::omitted,
          .partial = run.at("partial").get<bool>() ? PartialSum::sent : PartialSum::omitted};
}

void expect_run(const PipelineTraffic& traffic, const Json& run) {
  EXPECT_EQ(traffic.total, run.at("total").get<Count>());
  EXPECT_EQ(traffic.peak, run.at("peak").get<Count>());
  EXPECT_EQ(vectors_of(traffic), run.at("vectors").get<Counts>());
  if (!run.contains("blocks")) return;
  EXPECT_EQ(ids_of(traffic), run.at("blocks").get<std::vector<Counts>>());
  std::vector<bool> unfinished;
  for (const Transition& t : traffic.transitions) unfinished.push_back(t.open_layers > 0);
  EXPECT_EQ(unfinished, run.at("partial_sum").get<std::vector<bool>>());
}

// The drawing at the head of model/pipeline/pipeline.hpp: P = 3, V = 2.
TEST(PipelineStages, TakeTheChunksInTurn) {
  const Counts stages{0, 1, 2, 0, 1, 2};
  for (Count chunk = 0; chunk < 6; ++chunk) {
    const Count v = chunk < 3 ? 0 : 1;
    EXPECT_EQ(stage_of_chunk(chunk, 3), stages[as_index(chunk)]);
    EXPECT_EQ(virtual_stage_of_chunk(chunk, 3), v);
    EXPECT_EQ(chunk_of_stage(stages[as_index(chunk)], v, 3), chunk);
  }
  EXPECT_EQ(chunks_of_stage(1, 3, 6), (std::vector<std::size_t>{1, 4}));
  EXPECT_EQ(chunks_of_stage(0, 1, 2), (std::vector<std::size_t>{0, 1}));
}

TEST(PipelineTraffic, MatchesEveryGoldenRun) {
  ASSERT_EQ(golden_cases().size(), 40u);
  std::size_t num_runs_with_blocks = 0;
  for (const Json& golden : golden_cases()) {
    const PipelineLayout layout = layout_of(golden);
    const auto block_sizes = golden.at("block_sizes").get<Counts>();
    ASSERT_EQ(golden.at("runs").size(), 12u);
    for (const Json& run : golden.at("runs")) {
      SCOPED_TRACE(golden.at("note").get<std::string>() + " " + run.dump());
      expect_run(pipeline_traffic(layout, block_sizes, payload_of(run)), run);
      num_runs_with_blocks += run.contains("blocks") ? 1 : 0;
    }
  }
  EXPECT_EQ(num_runs_with_blocks, 3u * 40u);
}

TEST(PipelineMemory, MatchesEveryGoldenCase) {
  for (const Json& golden : golden_cases()) {
    SCOPED_TRACE(golden.dump());
    const PipelineLayout layout = layout_of(golden);
    const auto block_sizes = golden.at("block_sizes").get<Counts>();
    EXPECT_EQ(cached_blocks_per_stage(layout, block_sizes),
              golden.at("cache_blocks_per_rank").get<Counts>());
    EXPECT_EQ(uncached_copies_per_stage(layout, block_sizes),
              golden.at("copies_without_cache_per_rank").get<Counts>());
  }
}

/// "p/q" or "p".
struct Rational {
  double p;
  double q;
};

Rational rational(const Json& text) {
  const auto s = text.get<std::string>();
  const std::size_t slash = s.find('/');
  return {std::stod(s), slash == std::string::npos ? 1 : std::stod(s.substr(slash + 1))};
}

/// Both formulas are a whole number of N_p, so that N_p = 1 gives an exact coefficient k and
/// k N / (P V) = p / q can be held against the golden rational without rounding.
void expect_formula(double value, double coefficient, const Json& golden, const Json& expected) {
  const Rational r = rational(expected);
  const auto num_blocks = static_cast<double>(golden.at("block_sizes").size());
  const auto num_chunks = static_cast<double>(golden.at("chunk_layers").size());
  EXPECT_EQ(coefficient * num_blocks * r.q, r.p * num_chunks);
  EXPECT_DOUBLE_EQ(value, r.p / r.q);
}

TEST(PipelineFormula, MatchesEveryGoldenCase) {
  for (const Json& golden : golden_cases()) {
    SCOPED_TRACE(golden.dump());
    const Json& expected = golden.at("formula");
    const auto P = golden.at("P").get<Count>();
    const auto V = golden.at("V").get<Count>();
    const double N_p = blocks_per_chunk(static_cast<Count>(golden.at("block_sizes").size()), P, V);
    expect_formula(N_p, 1, golden, expected.at("Np"));
    expect_formula(naive_traffic(P, V, N_p), naive_traffic(P, V, 1), golden, expected.at("naive"));
    expect_formula(cached_traffic(P, V, N_p), cached_traffic(P, V, 1), golden,
                   expected.at("cached"));
    expect_formula(test::naive_peak(P, V, N_p), test::naive_peak(P, V, 1), golden,
                   expected.at("peak_naive"));
    expect_formula(test::cached_peak(P, V, N_p), test::cached_peak(P, V, 1), golden,
                   expected.at("peak_cached"));
    EXPECT_NEAR(naive_traffic(P, V, N_p) - cached_traffic(P, V, N_p),
                rational(expected.at("saved")).p / rational(expected.at("saved")).q, 1e-9);
  }
}

struct NamedCase {
  const char* name;
  Count num_stages;
  Count num_virtual_stages;
  Count num_layers;
  Count block_size;
  double naive;
  double cached;
  Counts blocks_only;    ///< events for none, received, own: without b_0
  Counts with_b0;        ///< with b_0
  Counts with_partials;  ///< with b_0 and partial sums
  Count standard;
};

void PrintTo(const NamedCase& c, std::ostream* out) { *out << c.name; }

class PipelineExample : public testing::TestWithParam<NamedCase> {};

TEST_P(PipelineExample, GivesTheFormulasAndTheEvents) {
  const NamedCase& c = GetParam();
  const Count P = c.num_stages;
  const Count V = c.num_virtual_stages;
  const PipelineLayout layout = even_layout(P, V, c.num_layers, 1);
  Counts block_sizes(as_index(c.num_layers / c.block_size), c.block_size);
  if (c.num_layers % c.block_size > 0) block_sizes.push_back(c.num_layers % c.block_size);
  const double N_p = blocks_per_chunk(static_cast<Count>(block_sizes.size()), P, V);
  EXPECT_EQ(naive_traffic(P, V, N_p), c.naive);
  EXPECT_EQ(cached_traffic(P, V, N_p), c.cached);
  const auto totals = [&](Embedding embedding, PartialSum partial) {
    Counts total;
    for (const Cache cache : kCaches) {
      total.push_back(pipeline_traffic(layout, block_sizes, {cache, embedding, partial}).total);
    }
    return total;
  };
  EXPECT_EQ(totals(Embedding::omitted, PartialSum::omitted), c.blocks_only);
  EXPECT_EQ(totals(Embedding::sent, PartialSum::omitted), c.with_b0);
  EXPECT_EQ(totals(Embedding::sent, PartialSum::sent), c.with_partials);
  EXPECT_EQ(uniform_traffic(layout, 1).total, c.standard);
}

// [attnres] Fig. 3 shows 6 saved transmissions: 19 to 13. Eq. 7 and 8 save 6 in another case, the
// aligned one: 28 to 22. The remaining numbers are [ours], counted by moving blocks.
INSTANTIATE_TEST_SUITE_P(
    AttnRes, PipelineExample,
    testing::Values(
        NamedCase{"Figure3", 4, 2, 24, 6, 14, 11, {12, 10, 8}, {19, 13, 11}, {23, 17, 15}, 7},
        NamedCase{"Aligned", 4, 2, 48, 6, 28, 22, {28, 22, 18}, {35, 25, 21}, {35, 25, 21}, 7},
        NamedCase{"L54P4V2", 4, 2, 54, 6, 31.5, 24.75, {30, 24, 20}, {37, 27, 23}, {42, 32, 28}, 7},
        NamedCase{"L54P3V3", 3, 3, 54, 6, 36, 21, {36, 21, 15}, {44, 23, 17}, {44, 23, 17}, 8},
        NamedCase{"KimiK3", 8, 2, 186, 24, 60, 46, {54, 42, 38}, {69, 49, 45}, {79, 59, 55}, 15}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(PipelineTraffic, SendsThePairsOfFigure3InTheSecondVirtualStage) {
  const PipelineTraffic traffic =
      pipeline_traffic(even_layout(4, 2, 24, 1), Counts{6, 6, 6, 6},
                       {Cache::received, Embedding::sent, PartialSum::omitted});
  EXPECT_EQ(ids_of(traffic),
            (std::vector<Counts>{{0}, {0, 1}, {0, 1}, {1, 2}, {1, 2}, {2, 3}, {2, 3}}));
  EXPECT_EQ(traffic.peak, 2);
}

// Kimi K3: 93 decoder layers, 186 layers, blocks of 24 layers. One chunk for each decoder layer, so
// that transition i stands before decoder layer i + 1.
TEST(PipelineTraffic, CarriesOnePlusCeilOfTwelfthsBeforeEachDecoderLayerOfKimiK3) {
  const Counts block_sizes = {24, 24, 24, 24, 24, 24, 24, 18};
  const PipelineTraffic traffic = pipeline_traffic(
      even_layout(93, 1, 93, 2), block_sizes, {Cache::none, Embedding::sent, PartialSum::sent});
  ASSERT_EQ(traffic.transitions.size(), 92u);
  for (Count i = 1; i <= 92; ++i) {
    const Count expected = 1 + (i + 11) / 12;
    EXPECT_EQ(traffic.transitions[as_index(i - 1)].vectors, expected) << "decoder layer " << i;
    EXPECT_EQ(naive_transition(boundary_after(2 * i, 24), Embedding::sent, PartialSum::sent),
              expected);
  }
}

/// Blocks of one layer.
TEST(PipelineTraffic, OfFullAttnResIsEveryLayerOutputSoFar) {
  const PipelineTraffic traffic =
      pipeline_traffic(even_layout(4, 2, 32, 1), std::vector<Count>(32, 1), {});
  EXPECT_EQ(vectors_of(traffic), (Counts{5, 9, 13, 17, 21, 25, 29}));
}

TEST(PipelineTraffic, OfHyperConnectionsIsEveryStreamAtEveryTransition) {
  const PipelineTraffic traffic = uniform_traffic(even_layout(4, 2, 32, 1), 4);
  EXPECT_EQ(vectors_of(traffic), Counts(7, 4));
  EXPECT_EQ(traffic.total, 28);
  EXPECT_EQ(traffic.peak, 4);
}

TEST(EvenChunks, MakeTheFirstChunksOneDecoderLayerLarger) {
  EXPECT_EQ(even_chunks(93, 2, 16),
            (Counts{12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 10, 10, 10}));
  EXPECT_EQ(even_chunks(54, 1, 8), (Counts{7, 7, 7, 7, 7, 7, 6, 6}));
  EXPECT_EQ(even_chunks(3, 2, 3), (Counts{2, 2, 2}));
}

template <class Function>
std::string refusal(Function function) {
  try {
    function();
  } catch (const Infeasible& e) {
    return e.what();
  }
  return "not refused";
}

TEST(EvenChunks, RefuseMoreChunksThanLayers) {
  EXPECT_EQ(
      refusal([] { even_chunks(93, 2, 94); }),
      "invalid number of pipeline chunks '94' (must be 1 to 93, the number of decoder layers; "
      "write chunk_layers to leave chunks empty)");
  EXPECT_EQ(refusal([] { even_layout(8, 5, 36, 1); }),
            "invalid number of pipeline chunks '8 x 5' (must be 1 to 36, the number of layers; "
            "write chunk_layers to leave chunks empty)");
  constexpr Count kHuge = std::numeric_limits<Count>::max();
  EXPECT_THROW(even_layout(kHuge, kHuge, 93, 2), Infeasible);
  EXPECT_THROW(even_chunks(93, 2, 0), Infeasible);
}

TEST(PipelineTraffic, RefusesChunksThatAreNotTheModel) {
  const Counts block_sizes = {4, 4};
  const auto refuse = [&](const PipelineLayout& layout) {
    return refusal([&] { pipeline_traffic(layout, block_sizes, {}); });
  };
  EXPECT_EQ(
      refuse({2, 2, {4, 4}}),
      "invalid chunk_layers of length '2' (must have one entry for each of the 2 x 2 chunks)");
  EXPECT_EQ(refuse({2, 1, {4, 3}}),
            "invalid chunk_layers (must add up to the model's 8 layers, but add up to 7)");
  EXPECT_EQ(refuse({2, 1, {9, -1}}), "invalid chunk_layers entry '-1' (must not be negative)");
  EXPECT_NE(refuse({0, 1, {}}), "not refused");
}

}  // namespace
}  // namespace depthcost::pipeline_test
