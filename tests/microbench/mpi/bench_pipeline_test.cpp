// A pipeline that is run sends the bytes of the model and computes every value. Each way in which
// that can fail is reported.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>
#include <tuple>

#include "microbench/mpi/plan_file.hpp"
#include "tests/microbench/mpi/mpirun.hpp"
#include "tests/microbench/mpi/plan_json.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::bench::bench_pipeline_test {
namespace {

using test::content_of;
using test::MpiOutcome;
using test::mpirun;
using test::mpirun_each;
using test::run_alone;
using test::TemporaryFolder;

const std::string kProgram = DEPTHCOST_BENCH_PIPELINE;
const std::string kFig3 = DEPTHCOST_SOURCE_DIR "/tests/microbench/mpi/fig3.json";
/// Three layers per chunk. The last block has the layers that remain.
PipelinePlan plan_of(PipelineSchedule schedule, Count num_stages, Count num_virtual_stages,
                     Count block_size, Cache cache) {
  const auto num_chunks = static_cast<std::size_t>(num_stages * num_virtual_stages);
  PipelinePlan plan{.schedule = schedule,
                    .layout = {num_stages, num_virtual_stages, std::vector<Count>(num_chunks, 3)},
                    .num_micro_batches = std::max<Count>(4, num_stages),
                    .tokens = 3,
                    .hidden_size = 65};
  BlockPayload payload{.cache = cache};
  for (Count rest = static_cast<Count>(3 * num_chunks); rest > 0; rest -= block_size)
    payload.block_sizes.push_back(std::min(rest, block_size));
  plan.payload = payload;
  plan.chunks.assign(num_chunks, {{2e-5}, {2e-5}, {2e-5}, {2e-5}});
  plan.links.assign(num_chunks - 1, {{1e-6}, {1e9}});
  return plan;
}

struct Order {
  PipelineSchedule schedule{};
  Count num_virtual_stages = 0;
};

/// Block sizes 3: blocks end where chunks do; 4 and 6: partial sums; 5 and 7: short last blocks
/// too, whatever the number of chunks; 1: Full AttnRes.
std::vector<PipelinePlan> plans_of(Count num_stages, const Order& order) {
  std::vector<PipelinePlan> plans;
  for (const Count block_size : {1, 3, 4, 5, 6, 7})
    for (const Cache cache : {Cache::none, Cache::received, Cache::own})
      if (num_stages < 8 || block_size == 3 || block_size == 5)
        plans.push_back(
            plan_of(order.schedule, num_stages, order.num_virtual_stages, block_size, cache));
  plans.back().activations = Activations::recomputed;
  plans.front().sends = Sends::blocking;
  return plans;
}

/// Standard and mHC residuals, with every width of elements and of gradients.
std::vector<PipelinePlan> plans_of_states(Count num_stages) {
  std::vector<PipelinePlan> plans;
  for (const Count width : {1, 2, 4})
    for (const Count vectors : {1, 4}) {
      plans.push_back(plan_of(PipelineSchedule::interleaved, num_stages, 2, 3, Cache::none));
      plans.back().payload = FixedPayload{vectors};
      plans.back().bytes_per_element = width;
      plans.back().gradient_bytes_per_element = vectors;
    }
  return plans;
}

std::string written(const TemporaryFolder& folder, const std::vector<PipelinePlan>& plans) {
  std::string files;
  for (std::size_t i = 0; i < plans.size(); ++i)
    files += " " + folder.written(fmt::format("{}.json", i), to_json(plans[i]));
  return files;
}

/// Bytes of every transition that a run says it has sent, "forward backward".
std::vector<std::string> sent_in(const std::string& output) {
  std::vector<std::string> sent;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    Count transition = -1, from = 0, to = 0, vectors = 0;
    std::string sign, blocks, model, forward, backward;
    if (words >> transition >> from >> sign >> to >> blocks >> vectors >> model >> forward >>
        model >> backward)
      sent.push_back(forward + " " + backward);
  }
  return sent;
}

/// The same by the model, for two steps.
std::vector<std::string> modelled(const std::vector<PipelinePlan>& plans) {
  std::vector<std::string> bytes;
  for (const PipelinePlan& plan : plans)
    for (const Transition& transition : traffic_of(plan).transitions) {
      const Count elements =
          2 * plan.num_micro_batches * transition.vectors * plan.tokens * plan.hidden_size;
      bytes.push_back(fmt::format("{} {}", elements * plan.bytes_per_element,
                                  elements * plan.gradient_bytes_per_element));
    }
  return bytes;
}

void expect_good(const MpiOutcome& outcome, const std::vector<PipelinePlan>& plans) {
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors << outcome.output;
  EXPECT_EQ(sent_in(outcome.output), modelled(plans));
  std::size_t num_checked = 0;
  for (std::size_t at = 0; (at = outcome.output.find("checked: ", at)) != std::string::npos; ++at)
    ++num_checked;
  EXPECT_EQ(num_checked, plans.size()) << outcome.output;
}

/// One order per test: on a busy machine a rank waits long for its turn.
class RunPipeline : public testing::TestWithParam<std::tuple<Count, Order>> {};

TEST_P(RunPipeline, SendsTheBytesOfTheModelAndFormsEveryValue) {
  const TemporaryFolder folder;
  const auto& [num_stages, order] = GetParam();
  const std::vector<PipelinePlan> plans = plans_of(num_stages, order);
  expect_good(
      mpirun(static_cast<int>(num_stages), kProgram + written(folder, plans) + " --steps 1"),
      plans);
}

std::string name_of(const testing::TestParamInfo<RunPipeline::ParamType>& row) {
  const auto& [num_stages, order] = row.param;
  std::string schedule(name(order.schedule));
  std::erase_if(schedule, [](char c) { return c == '-' || c == '_'; });
  return fmt::format("P{}V{}{}", num_stages, order.num_virtual_stages, schedule);
}

INSTANTIATE_TEST_SUITE_P(
    Stages, RunPipeline,
    testing::Combine(testing::Values<Count>(2, 4, 8),
                     testing::Values(Order{PipelineSchedule::one_forward_one_backward, 1},
                                     Order{PipelineSchedule::zb_h1, 1},
                                     Order{PipelineSchedule::interleaved, 1},
                                     Order{PipelineSchedule::interleaved, 2},
                                     Order{PipelineSchedule::interleaved, 4})),
    name_of);

class RunPipelineOfStates : public testing::TestWithParam<Count> {};

TEST_P(RunPipelineOfStates, SendsTheBytesOfTheModelAndFormsEveryValueWithStandardAndMhc) {
  const TemporaryFolder folder;
  const std::vector<PipelinePlan> plans = plans_of_states(GetParam());
  expect_good(
      mpirun(static_cast<int>(GetParam()), kProgram + written(folder, plans) + " --steps 1"),
      plans);
}

INSTANTIATE_TEST_SUITE_P(Stages, RunPipelineOfStates, testing::Values(2, 4, 8),
                         [](const auto& row) { return fmt::format("P{}", row.param); });

/// Messages of 195 bytes and more in pieces of 150, with and without a short last piece.
TEST(RunPipelineOfStagedMessages, SendsThemInPiecesThatArriveWhole) {
  const TemporaryFolder folder;
  std::vector<PipelinePlan> plans = plans_of_states(4);
  plans.push_back(plan_of(PipelineSchedule::interleaved, 4, 2, 5, Cache::received));
  plans.back().sends = Sends::blocking;
  plans.back().hidden_size = 50;
  const MpiOutcome outcome =
      mpirun(4, kProgram + written(folder, plans) + " --steps 1 --memory emulated --piece 150");
  expect_good(outcome, plans);
  EXPECT_NE(outcome.output.find("in emulated memory, staged through the host"), std::string::npos);
}

/// A copy is lost from the sender's memory, and one into the receiver's.
TEST(RunPipelineOfStagedMessages, BreaksWithoutOneOfTheirPieces) {
  for (const MpiOutcome& outcome :
       mpirun_each(4, {kProgram + " " + kFig3 + " --memory emulated --piece 500 --lose 0@3",
                       kProgram + " " + kFig3 + " --memory emulated --piece 500 --lose 3@0"})) {
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_NE(outcome.errors.find("is wrong at element"), std::string::npos) << outcome.errors;
  }
}

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

/// Leaves out every vector of every transition, one at a time.
TEST(RunPipelineOfFig3, BreaksWithoutAnyOneOfItsVectors) {
  const PipelineTraffic traffic = traffic_of(parse_plan(content_of(kFig3), kFig3));
  std::vector<std::string> programs;
  std::vector<std::string> complaints;
  const auto drop = [&](const std::string& vector, std::size_t at, const std::string& what) {
    programs.push_back(fmt::format("{} {} --drop {}@{}", kProgram, kFig3, vector, at));
    const std::size_t stage = (at + 1) % 4;
    complaints.push_back(
        fmt::format("error: rank {}: stage {}, micro-batch 0, layer {}: {} is missing\n", stage,
                    stage, 3 * at + 4, what));
  };
  for (std::size_t i = 0; i < traffic.transitions.size(); ++i) {
    const Transition& transition = traffic.transitions[i];
    for (Count id = transition.first_block; id < transition.end_block; ++id)
      drop(std::to_string(id), i, fmt::format("block {}", id));
    if (transition.open_layers > 0) drop("partial", i, "the partial sum");
  }
  const std::vector<MpiOutcome> outcomes = mpirun_each(4, programs);
  ASSERT_EQ(outcomes.size(), 17u);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    EXPECT_EQ(outcomes[i].exit_code, 1) << programs[i] << outcomes[i].errors;
    EXPECT_NE(outcomes[i].errors.find(complaints[i]), std::string::npos)
        << complaints[i] << outcomes[i].errors;
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

TEST(RunPipelineErrors, NameTheRankThatDiedOrStandsStill) {
  const std::vector<MpiOutcome> outcomes =
      mpirun_each(4, {kProgram + " " + kFig3 + " --die 2@1",
                      kProgram + " " + kFig3 + " --stall 2@1 --patience 1"});
  EXPECT_NE(outcomes[0].exit_code, 0);
  EXPECT_NE(outcomes[0].errors.find("rank 2 "), std::string::npos) << outcomes[0].errors;
  EXPECT_EQ(outcomes[1].exit_code, 1);
  EXPECT_NE(outcomes[1].errors.find(": no message from rank 2 for 1 s\n"), std::string::npos)
      << outcomes[1].errors;
  for (const MpiOutcome& outcome : outcomes) EXPECT_LT(outcome.seconds, 6);
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
  const std::string line = file + ":1:1: error: missing key 'schedule' (this record needs it)\n";
  EXPECT_EQ(outcome.errors.find(line), outcome.errors.rfind(line)) << outcome.errors;
  EXPECT_NE(outcome.errors.find(line), std::string::npos) << outcome.errors;
}

TEST(RunPipelineErrors, NameTheMemoryThatIsNotThere) {
  const MpiOutcome outcome = mpirun(4, kProgram + " " + kFig3 + " --memory devise");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.errors.find(
                "error: invalid memory 'devise' (must be one of: host, device, staged) (usage: "),
            std::string::npos)
      << outcome.errors;
}

/// A plan without times is run only for its messages.
TEST(RunPipelineOfNoTime, CallsNoTaskLate) {
  const TemporaryFolder folder;
  PipelinePlan plan = plan_of(PipelineSchedule::zb_h1, 2, 1, 3, Cache::none);
  plan.chunks.assign(plan.chunks.size(), {});
  const MpiOutcome outcome = mpirun(2, kProgram + written(folder, {plan}) + " --steps 1");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_NE(outcome.output.find(", not judged: the plan gives its tasks no time\n"),
            std::string::npos)
      << outcome.output;
  EXPECT_EQ(outcome.output.find("late"), std::string::npos) << outcome.output;
}

TEST(RunPipelineErrors, TakeRegularFilesAlone) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo(folder.path("fifo").c_str(), 0600), 0);
  const std::vector<std::pair<std::string, std::string>> cases{
      {folder.path(), "a directory"},
      {folder.path("fifo"), "not a regular file"},
      {"/dev/zero", "not a regular file"}};
  for (const auto& [file, reason] : cases) {
    const MpiOutcome outcome = run_alone(kProgram + " " + file);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.errors, file + ":1:1: error: cannot read the file (" + reason + ")\n");
  }
}

TEST(RunPipelineErrors, NameTheFileThatIsNotThere) {
  const MpiOutcome outcome = mpirun(2, kProgram + " nowhere.json");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.errors.find(
                "nowhere.json:1:1: error: cannot read the file (no such file or directory)\n"),
            std::string::npos)
      << outcome.errors;
}

}  // namespace
}  // namespace depthcost::bench::bench_pipeline_test
