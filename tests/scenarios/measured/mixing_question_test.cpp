// The shapes in which `mixing` shows schemes: the scenario's parameters, no larger than its layers
// permit.
#include "scenarios/measured/mixing_question.hpp"

#include <gtest/gtest.h>

#include "scenarios/text/input_error.hpp"
#include "tests/scenarios/read/parsed.hpp"

namespace depthcost::mixing_question_test {
namespace {

/// The shape of the scheme, which is added to a scenario of so many layers.
MixingShape shape_of(const std::string& scheme, Count num_layers) {
  const Study study =
      test::parsed("model: {num_layers: " + std::to_string(num_layers) +
                   ", hidden_size: 64, dtype: bf16}\nresidual: {scheme: standard}\n")
          .study;
  const MixedSchemes mixed = mixed_schemes(study, {.schemes = {scheme}});
  return mixed.schemes.back().shape;
}

TEST(MixingQuestion, TakesTheDefaultsOfDenseFormerWhereTheModelIsDeepEnough) {
  const SchemeParameters defaults;
  const MixingShape shape = shape_of("denseformer", 64);
  EXPECT_EQ(shape.period, defaults.period);
  EXPECT_EQ(shape.dilation, defaults.dilation);
}

// Two decoder layers have no period of five.
TEST(MixingQuestion, LimitsTheDefaultsByTheModelsLayers) {
  const SchemeParameters defaults;
  ASSERT_GT(defaults.period, 2);
  ASSERT_GT(defaults.dilation, 2);
  const MixingShape shape = shape_of("denseformer", 4);
  EXPECT_EQ(shape.period, 2);
  EXPECT_EQ(shape.dilation, 2);
}

TEST(MixingQuestion, RefusesAScenarioOfWhichNothingCanBeShown) {
  const Study study = test::parsed(
                          "model: {num_layers: 8, hidden_size: 4096, dtype: bf16}\n"
                          "residual: {scheme: gated_residual}\n")
                          .study;
  try {
    mixed_schemes(study, {.scenario = "it.yaml"});
    FAIL() << "is not refused";
  } catch (const InputError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("it.yaml:1:1: error: ")) << error.what();
    EXPECT_NE(std::string(error.what()).find("gated_residual"), std::string::npos) << error.what();
  }
}

TEST(MixingQuestion, RefusesMatricesThatWouldBeTooLarge) {
  Study study;
  study.model.num_layers = 2049;
  try {
    mixed_schemes(study, {.scenario = "it.yaml"});
    FAIL() << "is not refused";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()),
              "it.yaml:1:1: error: too many layers for a mixing matrix (2049, more than 2048)");
  }
}

}  // namespace
}  // namespace depthcost::mixing_question_test
