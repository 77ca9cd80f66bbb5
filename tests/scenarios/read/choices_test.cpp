// The table of keys and the enums of the model.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "model/schemes/list.hpp"
#include "model/schemes/scheme.hpp"
#include "scenarios/keys/keys.hpp"
#include "scenarios/read/scenario.hpp"
#include "tests/scenarios/read/parsed.hpp"

namespace depthcost::choices_test {
namespace {

using namespace test;

template <class Enum>
std::vector<std::string> names_up_to(Enum last) {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(last); ++i) names.emplace_back(name(static_cast<Enum>(i)));
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> choices_of(const KeyTable& table, std::string_view path) {
  const Key* key = find_key(table, path);
  if (key == nullptr) return {"no such key"};
  std::vector<std::string> choices(key->choices.begin(), key->choices.end());
  std::sort(choices.begin(), choices.end());
  return choices;
}

TEST(Choices, AreTheNamesOfTheEnums) {
  const auto schedules = names_up_to(Schedule::two_phase);
  EXPECT_EQ(choices_of(scenario_keys(), "residual.schedule"), schedules);
  const auto remainders = names_up_to(Remainder::literal);
  EXPECT_EQ(choices_of(scenario_keys(), "residual.remainder"), remainders);
  EXPECT_EQ(choices_of(model_keys(), "residual.remainder"), remainders);
  EXPECT_EQ(choices_of(model_keys(), "dtype"), names_up_to(Dtype::f32));
  EXPECT_EQ(choices_of(scenario_keys(), "residual.attach"), names_up_to(Attachment::gemm_epilogue));
  EXPECT_EQ(choices_of(scenario_keys(), "residual.layout"), names_up_to(Layout::sequence_sharded));
  const auto launches = names_up_to(Launch::graph_pdl);
  EXPECT_EQ(choices_of(scenario_keys(), "workload.decode.launch"), launches);
  EXPECT_EQ(choices_of(scenario_keys(), "workload.prefill.launch"), launches);
  EXPECT_EQ(choices_of(hardware_keys(), "launch_floor[].launch"), launches);
  EXPECT_EQ(choices_of(hardware_keys(), "launch_floor[].level"), names_up_to(Level::memory));
}

TEST(Choices, OfSchemesAreTheNamesOfTheList) {
  std::vector<std::string> schemes;
  for (const SchemeRule* rule : scheme_rules()) schemes.emplace_back(rule->id);
  std::sort(schemes.begin(), schemes.end());
  EXPECT_EQ(choices_of(scenario_keys(), "residual.scheme"), schemes);
  EXPECT_EQ(choices_of(scenario_keys(), "residual.compare"), schemes);
  EXPECT_EQ(choices_of(model_keys(), "residual.scheme"), schemes);
}

TEST(Choices, OfBudgetsAreTheNamesOfTheEnum) {
  auto names = names_inside(scenario_keys(), "budgets");
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, names_up_to(BudgetKind::device_memory));
}

TEST(Keys, StandOnceInTheirTable) {
  for (const KeyTable* table : {&scenario_keys(), &model_keys(), &hardware_keys()})
    for (const Key& key : table->keys) {
      EXPECT_EQ(find_key(*table, key.path), &key) << key.path;
      EXPECT_FALSE(key.meaning.empty()) << key.path;
      EXPECT_EQ(key.fallback.empty(), key.fallback_source.empty()) << key.path;
      if (key.instead_of.empty()) continue;
      EXPECT_NE(find_key(*table, key.instead_of), nullptr) << key.path;
    }
}

}  // namespace
}  // namespace depthcost::choices_test
