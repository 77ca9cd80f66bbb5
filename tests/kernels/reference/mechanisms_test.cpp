// Every row of model/schemes that has a reference: what the ledger says of a layer is
// what the counting accessor sees, launch by launch and operand by operand, and both schedules
// compute the same. Ablations of AttnRes are in attnres_ablations_test.cpp, values at known ends in
// mechanism_values_test.cpp.
#include <gtest/gtest.h>

#include <filesystem>

#include "model/schemes/list.hpp"
#include "tests/kernels/reference/mechanism_launches.hpp"

namespace depthcost::test::mechanisms_test {
namespace {

constexpr Count kLayers = 12;

Launchers all_launchers() {
  Launchers all = single_state_launchers();
  all.merge(stream_launchers());
  all.merge(altup_launchers());
  all.merge(gated_residual_launchers());
  all.merge(delta_launchers());
  all.merge(cross_layer_launchers());
  return all;
}

/// Two settings, the second at the smallest value of most.
std::vector<SchemeParameters> settings() {
  const auto d = static_cast<Count>(kWidth);
  return {{.hidden_size = d,
           .block_size = 3,
           .num_streams = 4,
           .value_width = 4,
           .dilation = 2,
           .period = 2,
           .ways = 4,
           .rank = 3,
           .gate_rank = 5,
           .history = 3,
           .kv_size = 3},
          {.hidden_size = d,
           .block_size = 1,
           .num_streams = 2,
           .value_width = 1,
           .dilation = 1,
           .period = 1,
           .ways = 1,
           .rank = 1,
           .gate_rank = 1,
           .history = 1,
           .kv_size = 0,
           .stream_row_d = 3}};
}

std::vector<Launched> from_ledger(const SchemeRule& rule, const SchemeLayer& at,
                                  Schedule schedule) {
  std::vector<Launched> launches;
  for (const Operation& operation : rule.operations(at, schedule))
    launches.push_back(test::from_ledger(operation));
  return launches;
}

/// Visits every layer of every mechanism here, in every setting.
template <class Visit>
void each_layer(const Visit& visit) {
  for (const auto& [id, run] : all_launchers()) {
    const SchemeRule* rule = find_scheme(id);
    ASSERT_NE(rule, nullptr) << id;
    for (const SchemeParameters& parameters : settings())
      for (Count layer = 1; layer <= kLayers; ++layer) {
        SCOPED_TRACE(std::string(id) + " layer " + std::to_string(layer));
        visit(*rule, SchemeLayer{parameters, layer, kLayers}, run);
      }
  }
}

TEST(CountedMechanisms, MoveWhatTheLedgerSays) {
  each_layer([](const SchemeRule& rule, const SchemeLayer& at, RunLayer run) {
    for (const Schedule schedule : rule.schedules) {
      Counter counter;
      run(counter, at, schedule);
      EXPECT_EQ(counter.launches, from_ledger(rule, at, schedule)) << name(schedule);
    }
  });
}

TEST(CountedMechanisms, ComputeInOneKernelWhatTheyComputeStepByStep) {
  each_layer([](const SchemeRule& rule, const SchemeLayer& at, RunLayer run) {
    if (rule.schedules.size() == 1) return;
    Counter unused;
    const Rows expected = run(unused, at, rule.schedules.front());
    for (const Schedule schedule : rule.schedules.subspan(1)) {
      const Rows actual = run(unused, at, schedule);
      ASSERT_EQ(actual.size(), expected.size());
      for (std::size_t i = 0; i < actual.size(); ++i)
        EXPECT_LE(relative_error(actual[i], expected[i]), 1e-12) << name(schedule) << i;
    }
  });
}

/// Those of attnres_ablations_test.cpp have names of their own.
TEST(CountedMechanisms, AreAllThatHaveAReference) {
  const Launchers counted = all_launchers();
  for (const SchemeRule* rule : scheme_rules()) {
    // The schemes of Table 1 have networks of their own.
    if (rule->id.starts_with("attnres_") || !rule->countings.empty()) continue;
    EXPECT_EQ(counted.contains(rule->id), !rule->reference.empty()) << rule->id;
  }
}

TEST(Mechanisms, NameReferencesThatExist) {
  const std::filesystem::path folder =
      std::filesystem::path(DEPTHCOST_SOURCE_DIR) / "kernels/reference";
  for (const SchemeRule* rule : scheme_rules()) {
    const bool has_one = !rule->reference.empty();
    EXPECT_EQ(has_one, std::filesystem::is_regular_file(folder / rule->reference))
        << rule->id << ": " << rule->reference;
    EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::path(DEPTHCOST_SOURCE_DIR) /
                                                 "model/schemes" / rule->file))
        << rule->id << ": " << rule->file;
  }
}

}  // namespace
}  // namespace depthcost::test::mechanisms_test
