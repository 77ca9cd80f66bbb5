// Names in the catalogue lead to the operations that schedules launch.
#include "model/machine/catalogue.hpp"

#include <gtest/gtest.h>

#include <set>

#include "model/ledger/path_operations.hpp"
#include "model/operations/attnres_operations.hpp"
#include "model/operations/eager_operations.hpp"
#include "model/operations/mhc_operations.hpp"
#include "model/schemes/list.hpp"

namespace depthcost::catalogue_test {
namespace {

TEST(Catalogue, HasEveryNameOnce) {
  const std::vector<std::string> names = catalogue_names();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  EXPECT_EQ(names.size(), catalogue().size());
  for (const CatalogueEntry& entry : catalogue()) EXPECT_EQ(find_entry(entry.name), &entry);
  EXPECT_EQ(find_entry("residual_ad"), nullptr);
}

TEST(Catalogue, NamesTheOperationThatItsRowIs) {
  for (const CatalogueEntry& entry : catalogue()) {
    const std::string plain(entry.name.substr(0, entry.name.find('/')));
    EXPECT_EQ(name(entry.operation({}).id), plain) << entry.name;
  }
}

/// All operations of a schedule with n = 8, S = 24 and m = 4 are rows of the catalogue.
TEST(Catalogue, HoldsWhatTheSchedulesLaunch) {
  std::set<Operation> known;
  for (Count n = 1; n <= 9; ++n)
    for (const CatalogueEntry& entry : catalogue())
      known.insert(entry.operation({.num_sources = n, .num_queries = 24, .num_streams = 4}));
  std::size_t checked = 0;
  const auto expect_known = [&](const Operation& operation) {
    EXPECT_TRUE(known.contains(operation)) << name(operation.id) << " " << operation.sources;
    ++checked;
  };
  for (const Scheme& scheme : {Scheme{schemes::kStandard}, Scheme{schemes::kMhc}})
    for (const Schedule schedule : scheme.rule->schedules)
      for (const PlacedOperation& placed : all_operations({scheme, 1}, schedule))
        expect_known(placed.operation);
  const Partition blocks = partition_by_size(186, 24);
  for (const Count index : {Count{1}, Count{3}})
    expect_known(operations::block_single_pass(position(blocks, 7, index)));
  expect_known(operations::block_phase1(position(blocks, 1, 1)));
  expect_known(operations::block_phase1(position(blocks, 7, 1)));
  expect_known(operations::block_phase2(position(blocks, 7, 3)));
  EXPECT_EQ(checked, 18U);
}

struct RowCase {
  const char* name;
  double reads_d;
  double writes_d;
};

TEST(Catalogue, MovesWhatItsDocumentationSays) {
  const CallCounts counts{.num_sources = 8, .num_queries = 24, .num_streams = 4};
  const RowCase rows[] = {{"residual_add_rmsnorm", 2, 2},
                          {"attnres_single_pass", 10, 2},
                          {"attnres_single_pass/bare", 8, 1},
                          {"attnres_single_pass/sigmoid", 10, 2},
                          {"attnres_single_pass/multihead", 10, 2},
                          {"attnres_single_pass/raw_keys", 10, 2},
                          {"attnres_single_pass/input_dependent", 11, 2},
                          {"attnres_single_pass/sliding_window", 9, 1},
                          {"attnres_phase1", 9, 25},
                          {"attnres_single_pass/closing", 10, 2},
                          {"attnres_phase2", 3, 2},
                          {"mhc_pre", 8, 1},
                          {"mhc_pre/on_chip", 4, 1},
                          {"mhc_post", 5, 4},
                          {"mhc_boundary", 9, 5},
                          {"mhc_boundary/on_chip", 5, 5},
                          {"unfused_stack", 8, 8},
                          {"scaled_add_rmsnorm", 2, 2},
                          {"highway_rmsnorm", 3, 2},
                          {"residual_scaling_rmsnorm", 3, 3},
                          {"residual_scaling_rmsnorm/one_type", 2, 2},
                          {"hc_boundary", 5, 5},
                          {"single_pass_mhc", 5, 5},
                          {"gated_residual_apply_down", 5, 4},
                          {"gated_residual_up_mix", 4, 1},
                          {"dense_mix", 9, 1},
                          {"dense_mix/stream", 10, 3},
                          {"altup_predict", 4, 5},
                          {"altup_laurel", 1, 1},
                          {"altup_middle", 3, 2},
                          {"altup_correct", 6, 4}};
  for (const RowCase& row : rows) {
    const Traffic moved = traffic(catalogue_row(row.name, counts));
    EXPECT_EQ(moved.reads_d, row.reads_d) << row.name;
    EXPECT_EQ(moved.writes_d, row.writes_d) << row.name;
  }
}

TEST(StandaloneCall, IsNamedByTheCountsThatItDependsOn) {
  StandaloneCall call{.operation = "attnres_phase1",
                      .counts = {.num_sources = 8, .num_queries = 24, .num_streams = 4},
                      .num_tokens = 2048,
                      .hidden_size = 7168};
  EXPECT_EQ(case_id(call), "attnres_phase1/n:8/S:24/bf16/T:2048/d:7168/graph/cold");
  call.operation = "mhc_pre/on_chip";
  call.temperature = Temperature::hot;
  call.launch = Launch::graph_pdl;
  EXPECT_EQ(case_id(call), "mhc_pre/on_chip/m:4/bf16/T:2048/d:7168/graph_pdl/hot");
  call.operation = "residual_add";
  call.dtype = Dtype::f32;
  EXPECT_EQ(case_id(call), "residual_add/f32/T:2048/d:7168/graph_pdl/hot");
}

/// The stream of residual scaling is f32: two vectors of a bf16 model, one of an f32 model.
TEST(StandaloneCall, CountsAStreamOfF32ByTheOtherRows) {
  const auto moved = [](Dtype dtype) {
    return traffic(*find_operation({.operation = "residual_scaling_rmsnorm", .dtype = dtype}));
  };
  EXPECT_EQ(moved(Dtype::bf16).reads_d + moved(Dtype::bf16).writes_d, 6);
  EXPECT_EQ(moved(Dtype::f32).reads_d + moved(Dtype::f32).writes_d, 4);
}

TEST(StandaloneCall, HasNoOperationForAnUnknownName) {
  EXPECT_FALSE(find_operation({.operation = "mhc_past"}).has_value());
  EXPECT_EQ(find_operation({.operation = "mhc_post"}), operations::mhc_post(4));
}

}  // namespace
}  // namespace depthcost::catalogue_test
