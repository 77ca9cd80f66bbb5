// The pipeline that is run: bytes as the model counts them, every value formed, and every way in
// which that can fail.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "microbench/pipeline_plan.hpp"
#include "tests/microbench/mpi/mpirun.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::bench {
namespace {

using test::content_of;
using test::MpiOutcome;
using test::mpirun;
using test::run_alone;
using test::TemporaryFolder;

const std::string kProgram = DEPTHCOST_BENCH_PIPELINE;
const std::string kFig3 = DEPTHCOST_SOURCE_DIR "/tests/microbench/mpi/fig3.json";
constexpr Count kMicroBatches = 4;

/// Three layers a chunk; `block_size` decides where boundaries fall.
PipelinePlan plan_of(PipelineSchedule schedule, Count num_stages, Count num_virtual_stages,
                     Count block_size, Cache cache) {
  const auto num_chunks = static_cast<std::size_t>(num_stages * num_virtual_stages);
  PipelinePlan plan{.schedule = schedule,
                    .layout = {num_stages, num_virtual_stages, std::vector<Count>(num_chunks, 3)},
                    .num_micro_batches = kMicroBatches,
                    .tokens = 3,
                    .hidden_size = 65,
                    .bytes_per_element = 2};
  BlockPayload payload{.cache = cache};
  for (Count rest = static_cast<Count>(3 * num_chunks); rest > 0; rest -= block_size)
    payload.block_sizes.push_back(std::min(rest, block_size));
  plan.payload = payload;
  plan.chunks.assign(num_chunks, {{1e-4}, {1e-4}, {1e-4}, {1e-4}});
  plan.links.assign(num_chunks - 1, {{1e-6}, {1e9}});
  return plan;
}

/// 3: blocks end where chunks do. 6 on an odd number of chunks, 4, 5: partial sums and short last
/// blocks. 1: Full AttnRes.
std::vector<PipelinePlan> plans_of(Count num_stages) {
  std::vector<PipelinePlan> plans;
  for (const auto& [schedule, num_virtual_stages] :
       {std::pair{PipelineSchedule::one_forward_one_backward, 1},
        {PipelineSchedule::zb_h1, 1},
        {PipelineSchedule::interleaved, 1},
        {PipelineSchedule::interleaved, 2}})
    for (const Count block_size : {1, 3, 4, 5, 6})
      for (const Cache cache : {Cache::none, Cache::received, Cache::own})
        plans.push_back(plan_of(schedule, num_stages, num_virtual_stages, block_size, cache));
  plans.back().activations = Activations::recomputed;
  plans.front().sends = Sends::blocking;
  return plans;
}

std::string written(const TemporaryFolder& folder, const std::vector<PipelinePlan>& plans) {
  std::string files;
  for (std::size_t i = 0; i < plans.size(); ++i)
    files += " " + folder.written(fmt::format("{}.json", i), to_json(plans[i]));
  return files;
}

class RunPipeline : public testing::TestWithParam<Count> {};

TEST_P(RunPipeline, SendsTheBytesOfTheModelAndFormsEveryValue) {
  const TemporaryFolder folder;
  std::vector<PipelinePlan> plans = plans_of(GetParam());
  const MpiOutcome outcome =
      mpirun(static_cast<int>(GetParam()), kProgram + written(folder, plans) + " --steps 1");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors << outcome.output;
  std::size_t num_checked = 0;
  for (std::size_t at = 0; (at = outcome.output.find("checked: ", at)) != std::string::npos; ++at)
    ++num_checked;
  EXPECT_EQ(num_checked, plans.size()) << outcome.output;
  EXPECT_EQ(outcome.output.find("WRONG"), std::string::npos) << outcome.output;
}

TEST_P(RunPipeline, HandsOverTheStatesOfStandardAndMhc) {
  const TemporaryFolder folder;
  std::vector<PipelinePlan> plans;
  for (const Count width : {1, 2, 4})
    for (const Count vectors : {1, 4}) {
      plans.push_back(plan_of(PipelineSchedule::interleaved, GetParam(), 2, 3, Cache::none));
      plans.back().payload = FixedPayload{vectors};
      plans.back().bytes_per_element = width;
    }
  const MpiOutcome outcome =
      mpirun(static_cast<int>(GetParam()), kProgram + written(folder, plans) + " --steps 1");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors << outcome.output;
}

INSTANTIATE_TEST_SUITE_P(Stages, RunPipeline, testing::Values(2, 4),
                         [](const auto& row) { return fmt::format("P{}", row.param); });

TEST(RunPipelineOfOneStage, SendsNothing) {
  const TemporaryFolder folder;
  const std::string file = folder.written(
      "plan.json", to_json(plan_of(PipelineSchedule::interleaved, 1, 4, 5, Cache::received)));
  const MpiOutcome outcome =
      mpirun(1, kProgram + " " + file + " --steps 1 --json " + folder.path("run.json"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
  const auto json = nlohmann::json::parse(content_of(folder.path("run.json")));
  EXPECT_EQ(json.at("sent_forward_bytes"), nlohmann::json::parse("[0, 0, 0]"));
  EXPECT_EQ(json.at("sent_backward_bytes"), nlohmann::json::parse("[0, 0, 0]"));
}

/// [attnres] Fig. 3: 13 blocks where 19 are sent without a cache, and the 4 unfinished partial sums
/// that the figure leaves out.
TEST(RunPipelineOfFig3, Sends17Vectors) {
  const TemporaryFolder folder;
  const MpiOutcome outcome =
      mpirun(4, kProgram + " " + kFig3 + " --steps 1 --json " + folder.path("run.json"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
  const auto json = nlohmann::json::parse(content_of(folder.path("run.json")));
  constexpr Count kBytes = 16 * 64 * 2 * 4 * 2;  // tokens, d, bytes, micro-batches, steps
  for (const char* direction : {"sent_forward_bytes", "sent_backward_bytes"}) {
    const std::vector<Count> sent = json.at(direction);
    EXPECT_EQ(std::accumulate(sent.begin(), sent.end(), Count{0}), 17 * kBytes);
  }
}

/// Every vector of every transition, one at a time.
TEST(RunPipelineOfFig3, BreaksWithoutAnyOneOfItsVectors) {
  const PipelinePlan plan = parse_plan(content_of(kFig3), kFig3);
  const PipelineTraffic traffic = traffic_of(plan);
  for (std::size_t i = 0; i < traffic.transitions.size(); ++i) {
    const Transition& transition = traffic.transitions[i];
    std::vector<std::string> vectors;
    for (Count id = transition.first_block; id < transition.end_block; ++id)
      vectors.push_back(std::to_string(id));
    if (transition.open_layers > 0) vectors.emplace_back("partial");
    for (const std::string& vector : vectors) {
      const MpiOutcome outcome =
          mpirun(4, fmt::format("{} {} --drop {}@{}", kProgram, kFig3, vector, i));
      const std::string what = vector == "partial" ? "the partial sum" : "block " + vector;
      EXPECT_EQ(outcome.exit_code, 1) << vector << "@" << i << outcome.errors;
      EXPECT_NE(outcome.errors.find(fmt::format("error: rank {}: stage {}, micro-batch 0, layer",
                                                (i + 1) % 4, (i + 1) % 4)),
                std::string::npos)
          << outcome.errors;
      EXPECT_NE(outcome.errors.find(what + " is missing"), std::string::npos) << outcome.errors;
    }
  }
}

TEST(RunPipelineErrors, NameTheVectorThatATransitionDoesNotCarry) {
  const MpiOutcome outcome = mpirun(4, kProgram + " " + kFig3 + " --drop 3@0");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(
      outcome.errors.find("error: invalid drop '3@0' (transition 0 does not carry block 3)\n"),
      std::string::npos)
      << outcome.errors;
}

TEST(RunPipelineErrors, NameTheRankThatDied) {
  const MpiOutcome outcome = mpirun(4, kProgram + " " + kFig3 + " --die 2@1");
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_NE(outcome.errors.find("rank 2 "), std::string::npos) << outcome.errors;
  EXPECT_LT(outcome.seconds, 10);
}

TEST(RunPipelineErrors, NameTheRankThatStandsStill) {
  const MpiOutcome outcome = mpirun(4, kProgram + " " + kFig3 + " --stall 2@1");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.errors.find(": no message from rank 2 for 5 s\n"), std::string::npos)
      << outcome.errors;
  EXPECT_LT(outcome.seconds, 10);
}

TEST(RunPipelineErrors, SayHowManyProcessesAreNeeded) {
  for (const MpiOutcome& outcome :
       {mpirun(3, kProgram + " " + kFig3), run_alone(kProgram + " " + kFig3)}) {
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_NE(outcome.errors.find("started (mpirun -n 4: one for each stage of " + kFig3 + ")\n"),
              std::string::npos)
        << outcome.errors;
  }
}

TEST(RunPipelineErrors, SayWhatIsWrongWithAPlanOnce) {
  const TemporaryFolder folder;
  const std::string file = folder.written("plan.json", R"({"schema": "depthcost-pipeline/1"})");
  const MpiOutcome outcome = mpirun(2, kProgram + " " + file);
  EXPECT_EQ(outcome.exit_code, 2);
  const std::string line = file + ": error: missing key 'schedule' (of the plan)\n";
  EXPECT_EQ(outcome.errors.find(line), outcome.errors.rfind(line)) << outcome.errors;
  EXPECT_NE(outcome.errors.find(line), std::string::npos) << outcome.errors;
}

TEST(RunPipelineErrors, NameTheFileThatIsNotThere) {
  const MpiOutcome outcome = mpirun(2, kProgram + " nowhere.json");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.errors.find("nowhere.json: error: cannot be read\n"), std::string::npos)
      << outcome.errors;
}

}  // namespace
}  // namespace depthcost::bench
