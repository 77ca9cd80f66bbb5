// The choices in the table of keys are the enums of the model.
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
std::vector<std::string> sorted_names() {
  std::vector<std::string> names(kNames<Enum>.begin(), kNames<Enum>.end());
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
  const auto schedules = sorted_names<Schedule>();
  EXPECT_EQ(choices_of(scenario_keys(), "residual.schedule"), schedules);
  const auto remainders = sorted_names<Remainder>();
  EXPECT_EQ(choices_of(scenario_keys(), "residual.remainder"), remainders);
  EXPECT_EQ(choices_of(model_keys(), "residual.remainder"), remainders);
  EXPECT_EQ(choices_of(model_keys(), "dtype"), sorted_names<Dtype>());
  EXPECT_EQ(choices_of(scenario_keys(), "residual.attach"), sorted_names<Attachment>());
  EXPECT_EQ(choices_of(scenario_keys(), "residual.implementation"), sorted_names<Implementation>());
  EXPECT_EQ(choices_of(scenario_keys(), "residual.layout"), sorted_names<Layout>());
  const auto launches = sorted_names<Launch>();
  EXPECT_EQ(choices_of(scenario_keys(), "workload.decode.launch"), launches);
  EXPECT_EQ(choices_of(scenario_keys(), "workload.prefill.launch"), launches);
  EXPECT_EQ(choices_of(scenario_keys(), "workload.decode.phase1"), sorted_names<Phase1Order>());
  EXPECT_EQ(choices_of(hardware_keys(), "launch_floor[].launch"), launches);
  EXPECT_EQ(choices_of(hardware_keys(), "launch_floor[].level"), sorted_names<Level>());
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
  EXPECT_EQ(names, sorted_names<BudgetKind>());
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
