// The passes of a core for an operation, counted by hand, and the forms that combine them with
// memory.
#include "model/machine/core_work.hpp"

#include <gtest/gtest.h>

#include <map>

#include "kernels/cpu/tuning.hpp"
#include "model/ledger/path_operations.hpp"
#include "model/machine/catalogue.hpp"
#include "model/machine/time.hpp"
#include "model/schemes/list.hpp"

namespace depthcost::core_work_test {
namespace {

using Rows = std::map<Primitive, double>;

/// Rows of each primitive, streamed and kept together.
Rows rows_of(std::string_view operation, const CallCounts& counts) {
  Rows rows;
  for (const CorePass& pass : core_work(catalogue_row(operation, counts)).passes)
    if (pass.rows > 0 && pass.rows_of != RowsOf::registers) rows[pass.primitive] += pass.rows;
  return rows;
}

/// Multiply-adds of rows that are in registers already.
double held_of(std::string_view operation, const CallCounts& counts) {
  double held = 0;
  for (const CorePass& pass : core_work(catalogue_row(operation, counts)).passes)
    if (pass.rows_of == RowsOf::registers) held += pass.rows;
  return held;
}

TEST(CoreWork, OfAttentionOverDepthIsAPassForScoresAndOneForTheMix) {
  using enum Primitive;
  EXPECT_EQ(rows_of("attnres_single_pass", {.num_sources = 8}),
            (Rows{{score, 8}, {add, 1}, {mix, 9}, {scale, 1}}));
  EXPECT_EQ(rows_of("attnres_single_pass/bare", {.num_sources = 9}),
            (Rows{{score, 9}, {mix, 9}, {scale, 1}}));
  EXPECT_EQ(rows_of("attnres_single_pass/input_dependent", {.num_sources = 8}),
            (Rows{{score, 8}, {add, 1}, {mix, 9}, {scale, 1}, {widen, 1}}));
  EXPECT_EQ(rows_of("attnres_phase2", {}), (Rows{{add, 1}, {mix, 4}, {scale, 1}}));
  // 24 queries over 8 sources, a multiply-add for the score and one for the mix.
  EXPECT_EQ(rows_of("attnres_phase1", {.num_sources = 8, .num_queries = 24}),
            (Rows{{add, 1}, {multiply, 2 * 8 * 24}, {widen, 16}, {scale, 1}}));
}

TEST(CoreWork, OfMhcIsItsProjectionAndItsMixes) {
  using enum Primitive;
  const double phi = 4 * 24;  // m streams onto m^2 + 2m coefficients
  EXPECT_EQ(rows_of("mhc_pre", {.num_streams = 4}),
            (Rows{{multiply, phi}, {widen, 4}, {mix, 4}, {scale, 1}}));
  EXPECT_EQ(rows_of("mhc_boundary", {.num_streams = 4}),
            (Rows{{multiply, phi + 15}, {widen, 4}, {mix, 4 + 5}, {scale, 1}}));
  EXPECT_EQ(rows_of("unfused_mhc_coefficients", {.num_streams = 2})[multiply], 2 * 8);
}

TEST(CoreWork, OfOneScanIsItsMixesAndANorm) {
  using enum Primitive;
  EXPECT_EQ(rows_of("scaled_add_rmsnorm", {}), (Rows{{add, 1}, {scale, 1}}));
  EXPECT_EQ(rows_of("residual_scaling_rmsnorm", {}), (Rows{{mix, 2.5}, {scale, 1}}));
  EXPECT_EQ(rows_of("hc_boundary", {.num_streams = 4}), (Rows{{mix, 5}, {scale, 1}}));
  EXPECT_EQ(rows_of("single_pass_mhc", {.num_streams = 4}),
            (Rows{{multiply, 4 * 24 + 15 + 4}, {widen, 4}, {mix, 5}, {scale, 1}}));
  EXPECT_EQ(rows_of("dense_mix", {.num_sources = 8}), (Rows{{mix, 9}, {scale, 1}}));
  EXPECT_EQ(rows_of("dense_mix/stream", {.num_sources = 8}),
            (Rows{{mix, 9}, {add, 1}, {scale, 1}}));
}

TEST(CoreWork, OfAMapOfStreamsTakesEachInOnce) {
  using enum Primitive;
  // 5 rows make 4 sums of 5 products; the first sum takes them in.
  EXPECT_EQ(rows_of("mhc_post", {.num_streams = 4}), (Rows{{mix, 5}}));
  EXPECT_EQ(held_of("mhc_post", {.num_streams = 4}), 3 * 5);
  // And their mix for the layer's input is made of what is there.
  EXPECT_EQ(held_of("hc_boundary", {.num_streams = 4}), 3 * 5 + 4);
  EXPECT_EQ(rows_of("unfused_mhc_residual", {.num_streams = 4}), (Rows{{mix, 4}}));
  EXPECT_EQ(held_of("unfused_mhc_residual", {.num_streams = 4}), 3 * 4);
  EXPECT_EQ(rows_of("unfused_mhc_post", {.num_streams = 4}), (Rows{{mix, 1}}));
  EXPECT_EQ(held_of("unfused_mhc_post", {.num_streams = 4}), 3);
  // 9 rows are more than registers hold.
  for (const CorePass& pass : core_work(catalogue_row("mhc_post", {.num_streams = 8})).passes)
    EXPECT_NE(pass.primitive, multiply);
}

TEST(CoreWork, OfPiecesOfGatedResidualIsAPassOverWhatTheyRead) {
  using enum Primitive;
  const CallCounts four{.num_streams = 4};
  EXPECT_EQ(rows_of("unfused_gated_norm", four), (Rows{{add, 4}}));
  EXPECT_EQ(rows_of("unfused_gate_down", four), (Rows{{product, 4 * 320}}));
  EXPECT_EQ(rows_of("unfused_gate_up", four), (Rows{{product, 4 * 320}}));
  EXPECT_EQ(rows_of("unfused_activation", four), (Rows{{add, 4}}));
  EXPECT_EQ(rows_of("unfused_gate_product", four), (Rows{{add, 8}}));
  EXPECT_EQ(rows_of("unfused_stream_mean", four), (Rows{{add, 4}}));
}

TEST(CoreWork, IsNeverLessThanNothing) {
  for (const SchemeRule* rule : scheme_rules()) {
    SchemeParameters parameters;
    parameters.hidden_size = 64;
    parameters.blocks = partition_by_size(12, 5);
    const ResidualPath path{Scheme{*rule, parameters}, 12};
    for (const Schedule schedule : path.scheme.rule->schedules)
      for (const auto& [operation, calls] : distinct_operations(path, schedule))
        for (const CorePass& pass : core_work(operation).passes)
          EXPECT_GE(pass.rows, 0) << rule->id << " " << name(operation.id);
  }
}

TEST(CoreWork, KnowsHowManyStreamsThereAre) {
  for (Count m = 1; m <= 16; ++m)
    for (const char* operation :
         {"mhc_pre", "mhc_pre/on_chip", "mhc_boundary", "single_pass_mhc"}) {
      const auto streams = static_cast<double>(m);
      EXPECT_EQ(core_work(catalogue_row(operation, {.num_streams = m})).tile_rows,
                streams * (streams * streams + 2 * streams))
          << operation << " " << m;
    }
}

TEST(CoreWork, SharesPhiAmongTheTokensOfATile) {
  EXPECT_EQ(kTokensPerTile, static_cast<double>(cpu::kMhcTokens));
  for (const CatalogueEntry& entry : catalogue()) {
    const Operation operation = entry.operation({});
    const bool is_product = operation.unit == ExecutionUnit::tensor_cores;
    const bool has_phi = is_product && operation.parameters > 0;
    const double matrix = is_product ? operation.weights_d : 0;  // else it is a gain
    EXPECT_EQ(core_work(operation).tile_rows, has_phi ? 4 * 24 : matrix) << entry.name;
  }
}

/// As the kernels go about it: every thread its share of the tokens, tile by tile.
double tiles_by_counting(std::size_t tokens) {
  double tiles = 0;
  for (std::size_t first = 0; first < tokens; first += cpu::kMhcTokens) ++tiles;
  return tiles;
}

TEST(CoreWork, HasATileForEveryKMhcTokensThatBegin) {
  for (const std::size_t tokens : {1U, 95U, 96U, 97U, 192U, 2048U})
    for (const std::size_t threads : {1U, 2U})
      EXPECT_EQ(
          tiles_of_thread(static_cast<double>(threads * tokens), static_cast<double>(threads)),
          tiles_by_counting(tokens))
          << tokens << " tokens for each of " << threads;
}

TEST(CoreWork, ExistsForEveryOperation) {
  for (const CatalogueEntry& entry : catalogue())
    EXPECT_FALSE(rows_of(entry.name, {.num_sources = 3, .num_queries = 5}).empty()) << entry.name;
}

/// One second for each element, whatever the pass.
Core unit_core(CoreForm form) {
  Core core{.first_level = {1e9}, .form = form};
  for (const Primitive primitive : kEnumerators<Primitive>)
    for (const CoreLevel level : {CoreLevel::L1, CoreLevel::L2})
      for (const Dtype dtype : {Dtype::bf16, Dtype::f32})
        core.rates.push_back({primitive, dtype, level, {{1}, {1}, {1}}});
  return core;
}

TEST(CoreTime, CountsEveryElementOnce) {
  const Operation operation = catalogue_row("attnres_single_pass", {.num_sources = 8});
  for (const CoreForm form : kEnumerators<CoreForm>) {
    const CoreTime time = core_time(unit_core(form), operation, 10, 16, Dtype::bf16);
    EXPECT_EQ((time.beside + time.on_top).value, 10 * 16 * (8 + 1 + 9 + 1));
  }
}

TEST(CoreTime, IsHiddenAsFarAsTheFormSays) {
  const Operation operation = catalogue_row("attnres_single_pass", {.num_sources = 8});
  const auto on_top = [&](CoreForm form, double first_level) {
    Core core = unit_core(form);
    core.first_level = {first_level};
    return core_time(core, operation, 1, 16, Dtype::bf16).on_top.value;
  };
  EXPECT_EQ(on_top(CoreForm::max, 0), 0);
  EXPECT_EQ(on_top(CoreForm::sum, 1e9), 16 * 19);
  // Nine kept rows of 32 bytes: mix and norm wait for L2 where L1 does not hold them.
  EXPECT_EQ(on_top(CoreForm::passes, 9 * 32), 0);
  EXPECT_EQ(on_top(CoreForm::passes, 9 * 32 - 1), 16 * 10);
}

TEST(CoreTime, WidensPhiOnceATileHoweverFewTokensItHas) {
  const Operation operation = catalogue_row("unfused_mhc_coefficients", {.num_streams = 4});
  const auto seconds = [&](double tokens) {
    const CoreTime time = core_time(unit_core(CoreForm::passes), operation, tokens, 16, Dtype::f32);
    return (time.beside + time.on_top).value;
  };
  const double phi = 4 * 24;
  EXPECT_EQ(seconds(1), 16 * ((phi + 4) + phi));
  EXPECT_EQ(seconds(96), 16 * (96 * (phi + 4) + phi));
  EXPECT_EQ(seconds(97), 16 * (97 * (phi + 4) + 2 * phi));
}

TEST(CoreTime, OfAProductIsThatOfRegistersWhereNobodyHasMeasuredOne) {
  const Operation operation = catalogue_row("gated_residual_up_mix", {});
  Core core = unit_core(CoreForm::max);
  const auto seconds = [&] { return core_time(core, operation, 64, 16, Dtype::bf16).beside.value; };
  const double of_products = seconds();
  for (CoreRate& rate : core.rates)
    if (rate.primitive == Primitive::product) rate.per_element.value.value /= 8;
  EXPECT_LT(seconds(), of_products / 6);
  std::erase_if(core.rates,
                [](const CoreRate& rate) { return rate.primitive == Primitive::product; });
  EXPECT_EQ(seconds(), of_products);
}

TEST(CoreTime, OfMoreThreadsIsShared) {
  Core core = unit_core(CoreForm::max);
  core.threads = 4;
  const Operation operation = catalogue_row("residual_add", {});
  EXPECT_EQ(core_time(core, operation, 8, 16, Dtype::f32).beside.value, 8 * 16 / 4.0);
}

}  // namespace
}  // namespace depthcost::core_work_test
