// Placements of a scenario: which it can have, and what each replica does there.
#include "scenarios/read/placed_studies.hpp"

#include <gtest/gtest.h>

#include <set>

#include "model/evaluation/predicted_work.hpp"
#include "tests/scenarios/read/parsed.hpp"

namespace depthcost::placed_studies_test {
namespace {

PlacedStudies placed_on_eight(const std::string& workload) {
  const std::string text =
      "schema: depthcost/1\nmodel: llama_3_1_8b\nhardware: h200_sxm\nresidual: {scheme: block_attnres, block_size: 8}\n"
      "workload: " +
      workload + "\n";
  const UnreadScenario source{parse_document(text, "it.yaml"), "it.yaml"};
  const Study own = test::parse_scenario(text, "it.yaml").study;
  PlanWork work;
  return placed_studies({.source = source, .own = own}, 8, {"it.yaml", 1, 1}, work, 2);
}

/// How many replicas the placements have.
std::set<Count> replicas_of(const PlacedStudies& studies) {
  std::set<Count> replicas;
  for (const PlacedStudy& placed : studies.placed) replicas.insert(placed.placement.data);
  return replicas;
}

/// A placement that does not fit is not simulated, so that its passes do not count.
TEST(PlanWork, LeavesOutWhatDoesNotFit) {
  PlacedStudies studies =
      placed_on_eight("{training: {sequence_length: 8192, micro_batches: 512}}");
  ASSERT_FALSE(studies.placed.empty());
  PlacedStudy& placed = studies.placed.front();
  // Few placements of many choices: each is counted, and none of these is simulated.
  auto& values = placed.axes.front().values;
  while (2 * swept_passes(placed.study, placed.axes) <= kMaxPlannedPasses)
    values.resize(2 * values.size());
  placed.study.machine->memory_capacity = Bytes{1e9};
  ASSERT_TRUE(is_too_large(placed));
  const auto ask_often = [&] {
    PlanWork work;
    for (int i = 0; i < 3; ++i) work.add(placed);
  };
  EXPECT_NO_THROW(ask_often());
  placed.study.machine->memory_capacity = Bytes{1e15};
  ASSERT_FALSE(is_too_large(placed));
  EXPECT_THROW(ask_often(), InputError);
}

/// Every replica takes a chunk along, so that more replicas would do more work in a step.
TEST(PlacedStudies, RefuseAChunkOfAPromptInEachStep) {
  try {
    placed_on_eight("{decode: {sequences: [64], prefill_tokens: 512}}");
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(error.message(),
              "conflicting workload.decode.prefill_tokens (every replica takes so many along, so "
              "that placements with more replicas do more work)");
  }
}

TEST(PlacedStudies, ShareTheSequencesOfEachBatchEvenly) {
  EXPECT_EQ(replicas_of(placed_on_eight("{decode: {sequences: [8, 64]}}")),
            (std::set<Count>{1, 2, 4, 8}));
  EXPECT_EQ(replicas_of(placed_on_eight("{decode: {sequences: [64, 6]}}")),
            (std::set<Count>{1, 2}));
  EXPECT_EQ(placed_on_eight("{decode: {sequences: [8, 64]}}").left_out_data, 0U);
  // With one sequence no replica but the first has any: 3 placements on 8, 2 on 4 and 1 on 2
  // devices.
  const PlacedStudies single = placed_on_eight("{decode: {sequences: [1, 64]}}");
  EXPECT_EQ(replicas_of(single), std::set<Count>{1});
  EXPECT_EQ(single.left_out_data, 6U);
  for (const PlacedStudy& placed : placed_on_eight("{decode: {sequences: [8, 64]}}").placed) {
    const Count replicas = placed.placement.data;
    EXPECT_EQ(placed.study.decode->sequences, (std::vector<Count>{8 / replicas, 64 / replicas}));
  }
}

TEST(PlacedStudies, KeepTheShardsOfAPromptThatAreWritten) {
  for (const PlacedStudy& placed : placed_on_eight("{prefill: {tokens: 4096}}").placed)
    EXPECT_EQ(placed.study.prefill->sequence_shards, placed.placement.tensor);
  for (const PlacedStudy& placed :
       placed_on_eight("{prefill: {tokens: 4096, sequence_shards: 1}}").placed)
    EXPECT_EQ(placed.study.prefill->sequence_shards, 1);
  const PlacedStudies sharded = placed_on_eight("{prefill: {tokens: 4096, sequence_shards: 4}}");
  EXPECT_FALSE(sharded.placed.empty());
  for (const PlacedStudy& placed : sharded.placed) {
    EXPECT_EQ(placed.study.prefill->sequence_shards, 4);
    EXPECT_GE(placed.placement.tensor, 4);
  }
  EXPECT_GT(sharded.refused, 0U);
  EXPECT_EQ(
      sharded.first_refusal,
      "data 8: invalid workload.prefill.sequence_shards '4' (more than tensor x context = 1)");
}

TEST(PlacedStudies, ShareTheMicroBatchesOfAStepEvenly) {
  const PlacedStudies studies =
      placed_on_eight("{training: {sequence_length: 4096, micro_batches: 12}}");
  EXPECT_EQ(replicas_of(studies), (std::set<Count>{1, 2, 4}));
  for (const PlacedStudy& placed : studies.placed)
    EXPECT_EQ(placed.study.training->num_micro_batches * placed.placement.data, 12);
}

}  // namespace
}  // namespace depthcost::placed_studies_test
