// Runs of batches against a loop over every batch.
#include "model/decision/batch_runs.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/schemes/list.hpp"
#include "model/step/memory.hpp"
#include "tests/architectures.hpp"
#include "tests/studies.hpp"

namespace depthcost::batch_runs_test {
namespace {

Study served() {
  Study study = test::as_llama_8b(test::modelled_study());
  study.machine->memory_capacity = Bytes{1e15};
  study.decode = Decode{.sequences = {1}, .context = 1000};
  return study;
}

double overhead_at(Study study, Count sequences) {
  study.decode->sequences = {sequences};
  return step_rows(study, study.path, study.schedule).front().overhead->value;
}

TEST(KeptBatches, AreThoseOfALoop) {
  const Study study = served();
  double least = overhead_at(study, 1);
  double most = least;
  for (Count batch = 1; batch <= kMostSequences; ++batch) {
    least = std::min(least, overhead_at(study, batch));
    most = std::max(most, overhead_at(study, batch));
  }
  ASSERT_LT(least, most);
  const double limit = (least + most) / 2;
  const auto runs = batch_runs(study, study.path, study.schedule, limit);
  ASSERT_GT(runs.size(), 1u);
  Count next = 1;
  for (const BatchRun& run : runs) {
    EXPECT_EQ(run.first, next);
    next = run.last + 1;
    for (Count batch = run.first; batch <= run.last; ++batch)
      EXPECT_EQ(run.fate == BatchFate::keeps, overhead_at(study, batch) <= limit) << batch;
  }
  EXPECT_EQ(next, kMostSequences + 1);
}

TEST(KeptBatches, AreAllOrNoneBeyondTheRange) {
  const Study study = served();
  const auto fate = [&](double limit) {
    const auto runs = batch_runs(study, study.path, study.schedule, limit);
    return runs.size() == 1 ? runs.front().fate : BatchFate::unknown;
  };
  EXPECT_EQ(fate(1e9), BatchFate::keeps);
  EXPECT_EQ(fate(-1e9), BatchFate::breaks);
}

TEST(KeptBatches, EndWhereTheMemoryEnds) {
  Study study = served();
  study.machine->memory_capacity = Bytes{40e9};
  const auto runs = batch_runs(study, study.path, study.schedule, 1e9);
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[0].fate, BatchFate::keeps);
  EXPECT_EQ(runs[1].fate, BatchFate::may_not_fit);
  EXPECT_EQ(runs[2].fate, BatchFate::does_not_fit);
  EXPECT_EQ(runs[2].last, kMostSequences);
  // The last batch that leaves a tenth of the device, and the first that does not.
  const auto memory = [&](Count batch) {
    study.decode->sequences = {batch};
    return memory_of(memory_rows(study, study.path), WorkloadId::decode(batch), study.path.scheme);
  };
  EXPECT_LE(memory(runs[0].last).value, 0.9 * 40e9);
  EXPECT_GT(memory(runs[1].first).value, 0.9 * 40e9);
  EXPECT_LE(memory(runs[1].last).value, 40e9);
}

TEST(KeptBatches, AreUnknownWhereTheUserHasMeasuredTheSteps) {
  Study study = served();
  study.decode->baseline_steps = {Seconds{12e-3}};
  EXPECT_TRUE(batch_runs(study, study.path, study.schedule, 0.02).empty());
  study.decode.reset();
  EXPECT_TRUE(batch_runs(study, study.path, study.schedule, 0.02).empty());
}

/// A time for each batch says nothing of others; one for all does.
TEST(KeptBatches, AreUnknownWhereATermIsWrittenBatchByBatch) {
  Study study = served();
  study.decode->sequences = {1, 256};
  study.written_terms = {
      {WorkloadKind::decode, RestTerm::attention, {Seconds{1e-3}, Seconds{500e-3}}}};
  EXPECT_TRUE(batch_runs(study, study.path, study.schedule, 0.02).empty());
  study.written_terms = {{WorkloadKind::decode, RestTerm::attention, {Seconds{1e-3}}}};
  EXPECT_FALSE(batch_runs(study, study.path, study.schedule, 0.02).empty());
}

}  // namespace
}  // namespace depthcost::batch_runs_test
