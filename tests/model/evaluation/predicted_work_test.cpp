// What is predicted holds for what is done, at n, 2n and 4n layers.
#include "model/evaluation/predicted_work.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/base/partition.hpp"
#include "model/ledger/path_operations.hpp"
#include "model/schemes/list.hpp"

namespace depthcost::predicted_work_test {
namespace {

SchemeParameters parameters_of(Count num_layers) {
  return {.hidden_size = 64,
          .block_size = 8,
          .kv_size = 64,
          .blocks = partition_by_size(num_layers, std::min<Count>(num_layers, 8))};
}

template <class Visit>
void each_run(Count num_layers, const Visit& visit) {
  for (const SchemeRule* rule : scheme_rules())
    for (const Schedule schedule : rule->schedules) {
      SCOPED_TRACE(std::string(rule->id) + " " + std::string(name(schedule)));
      visit(ResidualPath{{*rule, parameters_of(num_layers)}, num_layers}, schedule);
    }
}

TEST(PredictedWork, HoldsEveryKindOfLaunch) {
  for (const Count layers : {8, 64, 128, 256})
    each_run(layers, [](const ResidualPath& path, Schedule schedule) {
      EXPECT_LE(static_cast<double>(distinct_operations(path, schedule).size()),
                distinct_launches(path, schedule));
    });
}

// A bound that grows where nothing does would refuse deep models of schemes that are cheap.
TEST(PredictedWork, GrowsWithLayersOnlyWhereLaunchesDo) {
  int num_alike = 0;
  each_run(256, [&](const ResidualPath& path, Schedule schedule) {
    const ResidualPath half{{*path.scheme.rule, parameters_of(128)}, 128};
    if (distinct_operations(path, schedule).size() != distinct_operations(half, schedule).size())
      return;
    ++num_alike;
    EXPECT_EQ(distinct_launches(path, schedule), distinct_launches(half, schedule));
  });
  EXPECT_GT(num_alike, 20);
}

// Full AttnRes has 64 layers that all differ, standard has one kind. Shards are no choice of a
// path.
TEST(SweptLayers, AreThoseOfEveryChoice) {
  Study study;
  study.path = {{schemes::kFullAttnRes, parameters_of(64)}, 64};
  const SweptAxis shards{.key = SweptKey::sequence_shards, .values = {1, 2, 4}};
  const SweptAxis schedules{.key = SweptKey::schedule, .values = {0, 1}};
  EXPECT_EQ(swept_layers(study, {shards}), 64);
  EXPECT_EQ(swept_layers(study, {schedules}), 2 * 64);
  const SweptAxis both{
      .key = SweptKey::scheme,
      .values = {0, 1},
      .schemes = {{.path = study.path}, {.path = {{schemes::kStandard, parameters_of(64)}, 64}}}};
  EXPECT_EQ(swept_layers(study, {both}), 64 + 1);
  EXPECT_EQ(swept_layers(study, {both, schedules}), 2 * (64 + 1));
}

}  // namespace
}  // namespace depthcost::predicted_work_test
