// Training steps, terms that the user has measured, and ranks: read, defaulted, refused.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "scenarios/read/scenario.hpp"
#include "scenarios/text/input_error.hpp"
#include "tests/scenarios/read/parsed.hpp"
#include "tests/scenarios/read/refused_case.hpp"

namespace depthcost::training_test {
namespace {

/// About 16 layers of which nothing is known but their number; from line 3 on.
std::string asked(const std::string& body) {
  return "schema: depthcost/1\nmodel: {decoder_layers: 8, hidden_size: 8, dtype: f16, residual: "
         "{scheme: block_attnres, block_size: 4}}\n" +
         body;
}

/// On P = 2 stages of V virtual ones; training's keys start at line 4, column 24.
std::string pipelined(int num_virtual_stages, const std::string& training) {
  return asked(
      fmt::format("parallelism: {{pipeline: 2, virtual_stages: {}}}\nworkload: {{training: "
                  "{{sequence_length: 4096{}}}}}\n",
                  num_virtual_stages, training));
}

Scenario parsed(const std::string& text) { return test::parse_scenario(text, "it.yaml"); }

Training read(const std::string& text) { return parsed(text).study.training.value(); }

std::string listed(const Scenario& scenario, const std::string& key) {
  for (const ResolvedValue& value : scenario.values)
    if (value.key == key) return fmt::format("{} <- {}", value.value, value.origin);
  return "";
}

TEST(TrainingSteps, AreNotAskedForByThemselves) { EXPECT_FALSE(parsed(asked("")).study.training); }

/// One stage sends nothing, so that its schedule changes nothing.
TEST(TrainingSteps, TakeAnySchedulesOfOneStage) {
  const auto schedule_of = [](const std::string& schedule) {
    return read(asked("parallelism: {pipeline: 1}\nworkload: {training: {sequence_length: 8, "
                      "micro_batches: 4, schedule: " +
                      schedule + "}}\n"))
        .schedule;
  };
  EXPECT_EQ(schedule_of("1f1b"), PipelineSchedule::one_forward_one_backward);
  EXPECT_EQ(schedule_of("interleaved_1f1b"), PipelineSchedule::interleaved);
}

TEST(TrainingSteps, HoldWhatIsWritten) {
  const std::string keys =
      ", micro_batch: 3, micro_batches: 8, schedule: interleaved_1f1b, activations: offload, "
      "gradient_accumulation: per_block, cache: own, sends: blocking, gradient_dtype: f32, "
      "wire_dtype: bf16, precision: fp8, layers: recompute, optimizer: muon, sharding: weights, "
      "main_gradients: bf16";
  const Training got = read(pipelined(2, keys) + "baseline_step: {training: 1.5 s}\n");
  EXPECT_EQ(got.sequence_length, 4096);
  EXPECT_EQ(got.micro_batch_size, 3);
  EXPECT_EQ(got.num_micro_batches, 8);
  EXPECT_EQ(got.schedule, PipelineSchedule::interleaved);
  EXPECT_EQ(got.activations, ActivationPolicy::offload);
  EXPECT_EQ(got.gradient_accumulation, GradientAccumulation::per_block);
  EXPECT_EQ(got.cache, Cache::own);
  EXPECT_EQ(got.sends, Sends::blocking);
  EXPECT_EQ(got.gradient_dtype, Dtype::f32);
  EXPECT_EQ(got.wire_dtype, Dtype::bf16);
  EXPECT_EQ(got.precision, Precision::fp8);
  EXPECT_EQ(got.layers, LayerActivations::recompute);
  EXPECT_EQ(got.optimizer, Optimizer::muon);
  EXPECT_EQ(got.sharding, StateSharding::weights);
  EXPECT_EQ(got.main_gradients, Dtype::bf16);
  EXPECT_EQ(got.baseline_step->value, 1.5);
}

TEST(TrainingSteps, HaveDefaultsWithoutAPipeline) {
  const Scenario scenario = parsed(asked("workload: {training: {sequence_length: 4096}}\n"));
  const Training& got = *scenario.study.training;
  EXPECT_EQ(got.micro_batch_size, 1);
  EXPECT_EQ(got.num_micro_batches, 512);
  EXPECT_EQ(got.activations, ActivationPolicy::recompute);
  EXPECT_EQ(got.gradient_accumulation, GradientAccumulation::fused);
  EXPECT_EQ(got.gradient_dtype, Dtype::f16);
  EXPECT_EQ(got.precision, Precision::bf16);
  EXPECT_EQ(got.layers, LayerActivations::keep);
  EXPECT_EQ(got.optimizer, Optimizer::adamw);
  EXPECT_EQ(got.sharding, StateSharding::optimizer);
  EXPECT_EQ(got.main_gradients, Dtype::f32);
  EXPECT_FALSE(got.baseline_step);
  EXPECT_EQ(listed(scenario, "workload.training.micro_batches"),
            "512 <- default: a step of 4 Mi tokens over all replicas, at most 512: "
            "arXiv:2407.21783 Sec. 3.4.1");
  EXPECT_EQ(listed(scenario, "workload.training.gradient_dtype"),
            "f16 <- default: the model's dtype");
  for (const std::string key : {"schedule", "cache", "sends", "wire_dtype"})
    EXPECT_EQ(listed(scenario, "workload.training." + key), "") << key;
}

TEST(TrainingSteps, HaveDefaultsOfTheirPipeline) {
  const Scenario scenario = parsed(pipelined(1, ", micro_batches: 3"));
  const Training& got = *scenario.study.training;
  EXPECT_EQ(got.schedule, PipelineSchedule::one_forward_one_backward);
  EXPECT_EQ(got.cache, Cache::received);
  EXPECT_EQ(got.sends, Sends::overlapped);
  EXPECT_EQ(got.wire_dtype, Dtype::f16);
  EXPECT_EQ(listed(scenario, "workload.training.schedule"),
            "1f1b <- default: there are no virtual stages");
  EXPECT_EQ(listed(scenario, "workload.training.cache"), "received <- default: [attnres] Sec. 4.1");
}

TEST(TrainingSteps, InterleaveVirtualStages) {
  const Scenario scenario = parsed(pipelined(2, ", micro_batches: 4"));
  EXPECT_EQ(scenario.study.training->schedule, PipelineSchedule::interleaved);
  EXPECT_EQ(listed(scenario, "workload.training.schedule"),
            "interleaved_1f1b <- default: there are virtual stages");
}

TEST(TrainingSteps, TakeAnyNumberOfMicroBatchesWithoutVirtualStages) {
  for (const std::string_view schedule : {"1f1b", "zb_h1"})
    EXPECT_EQ(
        name(
            read(pipelined(1, fmt::format(", micro_batches: 3, schedule: {}", schedule))).schedule),
        schedule);
}

TEST(WrittenTerms, StandInTheOrderOfTheWorkloads) {
  const auto terms =
      parsed(asked("workload: {decode: {sequences: [1, 2]}, prefill: {tokens: 8}, training: "
                   "{sequence_length: 8}}\n"
                   "step_terms: {training: {head: 3 ms}, decode: {attention: [1 ms, 2 ms], "
                   "collectives: 0 s}, prefill: {launches: 4 ms, mlp: 5 ms}}\n"))
          .study.written_terms;
  std::vector<std::string> got;
  for (const WrittenTerm& term : terms) {
    std::string text = fmt::format("{} {}:", name(term.workload), name(term.term));
    for (const Seconds each : term.seconds) text += fmt::format(" {:g}", each.value);
    got.push_back(text);
  }
  EXPECT_EQ(got, (std::vector<std::string>{"decode attention: 0.001 0.002", "decode collectives: 0",
                                           "prefill mlp: 0.005", "prefill launches: 0.004",
                                           "training head: 0.003"}));
}

TEST(WrittenTerms, AreNoneUnlessWritten) {
  EXPECT_TRUE(
      parsed(asked("workload: {decode: {sequences: [1, 2]}}\n")).study.written_terms.empty());
}

TEST(Ranks, ShareEachExpertUnlessTold) {
  const Scenario scenario = parsed(asked("parallelism: {tensor: 4}\n"));
  EXPECT_EQ(scenario.study.expert_parallel_size, 1);
  EXPECT_EQ(listed(scenario, "parallelism.expert"),
            "1 <- default: what engines do: tensor ranks share each expert");
}

TEST(Ranks, MayMeetAtTheExperts) {
  const Study study =
      parsed(asked("parallelism: {tensor: 2, context: 4, data: 8, expert: 64}\n")).study;
  EXPECT_EQ(study.tensor_parallel_size, 2);
  EXPECT_EQ(study.context_parallel_size, 4);
  EXPECT_EQ(study.data_parallel_size, 8);
  EXPECT_EQ(study.expert_parallel_size, 64);
}

/// Ranks share tokens in training unless told, and not at decode.
/// Kimi K3 has 7,168 columns of two bytes: 8 MiB are 585.1 tokens.
TEST(Layouts, ShareOutAChunkOfWhichEachRankHasEightMebibytes) {
  const auto chunk = [](int tokens) {
    const Scenario scenario = parsed(
        fmt::format("schema: depthcost/1\nmodel: kimi_k3\nparallelism: {{tensor: 8}}\nworkload: "
                    "{{decode: {{sequences: [1], prefill_tokens: {}}}}}\n",
                    tokens));
    return std::pair(token_layout(scenario.study, WorkloadKind::decode),
                     listed(scenario, "residual.layout"));
  };
  EXPECT_EQ(chunk(4682),
            std::pair(Layout::sequence_sharded,
                      std::string("sequence_sharded <- default: the chunk of a prompt gives each "
                                  "rank 8 MiB or more: [vllm_sp]")));
  EXPECT_EQ(chunk(4681), std::pair(Layout::replicated,
                                   std::string("replicated <- default: what serving engines ship: "
                                               "every tensor-parallel rank holds all tokens")));
}

TEST(Layouts, AreThoseOfTheField) {
  const auto layouts = [](const std::string& residual) {
    const Study study =
        parsed("schema: depthcost/1\nmodel: kimi_k3\nresidual: {scheme: standard" + residual +
               "}\nparallelism: {tensor: 8}\nworkload: {decode: {sequences: [1]}, "
               "training: {sequence_length: 8}}\n")
            .study;
    return std::pair(token_layout(study, WorkloadKind::decode),
                     token_layout(study, WorkloadKind::training));
  };
  EXPECT_EQ(layouts(""), std::pair(Layout::replicated, Layout::sequence_sharded));
  EXPECT_EQ(layouts(", layout: replicated"), std::pair(Layout::replicated, Layout::replicated));
  EXPECT_EQ(layouts(", layout: sequence_sharded"),
            std::pair(Layout::sequence_sharded, Layout::sequence_sharded));
}

/// 4 Mi tokens are 512 sequences of 8,192.
TEST(TrainingSteps, ShareOutAStepOfFourMebitokens) {
  const auto micro_batches = [](const std::string& training, Count data) {
    const std::string keys =
        fmt::format("parallelism: {{data: {}}}\nworkload: {{training: {{{}}}}}\n", data, training);
    return parsed(asked(keys)).study.training->num_micro_batches;
  };
  EXPECT_EQ(micro_batches("sequence_length: 8192", 16), 32);
  EXPECT_EQ(micro_batches("sequence_length: 8192, micro_batch: 2", 16), 16);
  EXPECT_EQ(micro_batches("sequence_length: 8192", 1024), 1);
  EXPECT_EQ(micro_batches("sequence_length: 8", 1), 512);
  EXPECT_EQ(micro_batches("sequence_length: 8192, micro_batches: 3", 16), 3);
  // One stage is no pipeline.
  EXPECT_EQ(
      read(asked("parallelism: {pipeline: 1}\nworkload: {training: {sequence_length: 8192}}\n"))
          .num_micro_batches,
      512);
}

TEST(Dispatch, IsInTheTypeOfTheExpertsUnlessTold) {
  const auto dispatch = [](const std::string& model, const std::string& key) {
    return listed(
        parsed("schema: depthcost/1\nmodel: " + model +
               "\nresidual: {scheme: standard}\nparallelism: {data: 32, expert: 32" + key + "}\n"),
        "parallelism.dispatch_dtype");
  };
  const std::string why = " <- default: fp8 where the experts are, else the model's dtype";
  EXPECT_EQ(dispatch("deepseek_v3", ""), "fp8" + why);
  EXPECT_EQ(dispatch("kimi_k3", ""), "bf16" + why);
  EXPECT_EQ(dispatch("deepseek_v3", ", dispatch_dtype: bf16").substr(0, 4), "bf16");
  const std::string training = "}\nworkload: {training: {sequence_length: 4096}";
  EXPECT_EQ(dispatch("deepseek_v3", training), "bf16" + why);
  EXPECT_EQ(dispatch("deepseek_v3", training + ", decode: {sequences: 1}"),
            "fp8, in training bf16" + why);
}

TEST(Baselines, MayBeFoldedIntoAnotherKernel) {
  const auto attachment = [](const std::string& keys) {
    return parsed(
               asked("parallelism: {tensor: 2}\nresidual: {attach: reduce_scatter" + keys + "}\n"))
        .study.baseline_attachment;
  };
  EXPECT_FALSE(attachment(""));
  EXPECT_EQ(attachment(", baseline_attach: all_reduce"), Attachment::all_reduce);
}

using test::RefusedCase;

class BadTraining : public testing::TestWithParam<RefusedCase> {};

TEST_P(BadTraining, NamesTheLineAndTheCause) { test::expect_refused(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Keys, BadTraining,
    testing::ValuesIn(std::vector<RefusedCase>{
        {"NoSequences", asked("workload: {training: {micro_batches: 8}}\n"),
         "it.yaml:3:38: error: missing key 'workload.training.sequence_length' (without it 'workload.training.micro_batches' means nothing)"},
        {"StepOfNothing", asked("baseline_step: {training: 1 s}\n"),
         "it.yaml:3:27: error: missing key 'workload.training.sequence_length' (without it 'baseline_step.training' means nothing)"},
        {"TermOfNothing", asked("step_terms: {training: {mlp: 1 s}}\n"),
         "it.yaml:3:30: error: missing key 'workload.training.sequence_length' (without it 'step_terms.training.mlp' means nothing)"},
        {"TermOfNoDecode", asked("step_terms: {decode: {mlp: 1 s}}\n"),
         "it.yaml:3:28: error: missing key 'workload.decode.sequences' (without it 'step_terms.decode.mlp' means nothing)"},
        {"TermOfNoPrefill", asked("step_terms: {prefill: {mlp: 1 s}}\n"),
         "it.yaml:3:29: error: missing key 'workload.prefill.tokens' (without it 'step_terms.prefill.mlp' means nothing)"},
        {"BudgetOfNothing", asked("budgets: {training_overhead: 4 %}\n"),
         "it.yaml:3:30: error: missing key 'workload.training.sequence_length' (without it 'budgets.training_overhead' means nothing)"},
        {"BudgetOfNoDecode", asked("budgets: {decode_overhead: 2 %}\n"),
         "it.yaml:3:28: error: missing key 'workload.decode.sequences' (without it 'budgets.decode_overhead' means nothing)"},
        {"BudgetOfNoPrefill", asked("budgets: {prefill_overhead: 2 %}\n"),
         "it.yaml:3:29: error: missing key 'workload.prefill.tokens' (without it 'budgets.prefill_overhead' means nothing)"},
        {"UnknownTerm", asked("step_terms: {decode: {atention: 1 s}}\n"),
         "it.yaml:3:23: error: unknown key 'atention'; did you mean 'attention'?"},
        {"TermsForOtherBatches",
         asked(
             "workload: {decode: {sequences: [1, 2, 3]}}\nstep_terms: {decode: {mlp: [1 s, 2 s]}}\n"),
         "it.yaml:4:28: error: invalid step_terms.decode.mlp (2 times for 3 batches)"},
        {"TermBelowNothing",
         asked("workload: {decode: {sequences: 1}}\nstep_terms: {decode: {mlp: -1 s}}\n"),
         "it.yaml:4:28: error: invalid step_terms.decode.mlp '-1 s' (must not be negative)"},
        {"ScheduleWithoutAPipeline",
         asked("workload: {training: {sequence_length: 8, schedule: 1f1b}}\n"),
         "it.yaml:3:53: error: missing key 'parallelism.pipeline' (without it 'workload.training.schedule' means nothing)"},
        {"CacheWithoutAPipeline", asked("workload: {training: {sequence_length: 8, cache: own}}\n"),
         "it.yaml:3:50: error: missing key 'parallelism.pipeline' (without it 'workload.training.cache' means nothing)"},
        {"SendsWithoutAPipeline",
         asked("workload: {training: {sequence_length: 8, sends: blocking}}\n"),
         "it.yaml:3:50: error: missing key 'parallelism.pipeline' (without it 'workload.training.sends' means nothing)"},
        {"WireWithoutAPipeline",
         asked("workload: {training: {sequence_length: 8, wire_dtype: f32}}\n"),
         "it.yaml:3:55: error: missing key 'parallelism.pipeline' (without it 'workload.training.wire_dtype' means nothing)"},
        {"UnknownSchedule", pipelined(1, ", micro_batches: 2, schedule: zb_h2"),
         "it.yaml:4:74: error: invalid workload.training.schedule 'zb_h2' (must be 1f1b | interleaved_1f1b | zb_h1 | dualpipe); did you mean 'zb_h1'?"},
        {"NoMicroBatches", pipelined(1, ""),
         "it.yaml:4:40: error: missing key 'workload.training.micro_batches' (a pipeline needs it)"},
        {"VirtualStagesOf1f1b", pipelined(2, ", micro_batches: 2, schedule: 1f1b"),
         "it.yaml:4:74: error: conflicting workload.training.schedule '1f1b' (has no virtual stages; parallelism.virtual_stages is 2)"},
        {"VirtualStagesOfZbH1", pipelined(2, ", micro_batches: 2, schedule: zb_h1"),
         "it.yaml:4:74: error: conflicting workload.training.schedule 'zb_h1' (has no virtual stages; parallelism.virtual_stages is 2)"},
        {"InterleavedWithoutVirtualStages",
         pipelined(1, ", micro_batches: 2, schedule: interleaved_1f1b"),
         "it.yaml:4:74: error: conflicting workload.training.schedule 'interleaved_1f1b' (needs parallelism.virtual_stages of at least 2; with 1 it is 1f1b)"},
        {"AnOddNumberOfStagesForDualPipe",
         asked("parallelism: {pipeline: 3}\nworkload: {training: {sequence_length: 4096, "
               "micro_batches: 6, schedule: dualpipe}}\n"),
         "it.yaml:4:74: error: conflicting workload.training.schedule 'dualpipe' (needs an even number of stages; parallelism.pipeline is 3)"},
        {"TooFewMicroBatchesForDualPipe", pipelined(1, ", micro_batches: 2, schedule: dualpipe"),
         "it.yaml:4:61: error: invalid workload.training.micro_batches '2' (must be at least 4, two a stage, for dualpipe)"},
        {"AnOddNumberForDualPipe", pipelined(1, ", micro_batches: 5, schedule: dualpipe"),
         "it.yaml:4:61: error: invalid workload.training.micro_batches '5' (must be a multiple of 2 for dualpipe)"},
        {"BlockingSendsOfDualPipe",
         pipelined(1, ", micro_batches: 4, schedule: dualpipe, sends: blocking"),
         "it.yaml:4:91: error: conflicting workload.training.sends 'blocking' (dualpipe hides its messages)"},
        {"VirtualStagesOfDualPipe", pipelined(2, ", micro_batches: 4, schedule: dualpipe"),
         "it.yaml:4:74: error: conflicting workload.training.schedule 'dualpipe' (has no virtual stages; parallelism.virtual_stages is 2)"},
        {"NoMultipleOfTheStages", pipelined(2, ", micro_batches: 3"),
         "it.yaml:4:61: error: invalid workload.training.micro_batches '3' (must be a multiple of the 2 stages for interleaved_1f1b)"},
        {"TooManyMicroBatches", pipelined(2, ", micro_batches: 1048578"),
         "it.yaml:4:61: error: invalid workload.training.micro_batches '1048578' (more than 524288 passes of 4 chunks)"},
        {"NoMicroBatch", pipelined(1, ", micro_batch: 0, micro_batches: 1"),
         "it.yaml:4:59: error: invalid workload.training.micro_batch '0' (must be a positive integer)"},
        {"ExpertsThatDoNotDivide", asked("parallelism: {tensor: 8, expert: 16}\n"),
         "it.yaml:3:34: error: invalid parallelism.expert '16' (must divide tensor x context x data = 8)"},
        {"ShardsWithoutDevices",
         asked("parallelism: {tensor: 2}\nworkload: {prefill: {tokens: 64, sequence_shards: 8}}\n"),
         "it.yaml:4:51: error: invalid workload.prefill.sequence_shards '8' (more than tensor x context = 2)"},
        {"TooManyRanks", asked("parallelism: {tensor: 1048577}\n"),
         "it.yaml:3:23: error: invalid parallelism.tensor '1048577' (more than 1048576 devices)"},
        {"TooManyDevices",
         "schema: depthcost/1\nmodel: {num_layers: 8, hidden_size: 8, dtype: bf16}\n"
         "residual: {scheme: standard}\n"
         "parallelism: {tensor: 1048576, data: 1048576, pipeline: 4}\n",
         "it.yaml:4:23: error: invalid parallelism (tensor x context x data x pipeline is 4398046511104; at most 1099511627776 devices)"},
        {"MoreTokensThanCanBeCounted",
         asked(
             "workload: {decode: {sequences: 1099511627776, speculative: {tokens: 2, accepted: 1}}}\n"),
         "it.yaml:3:69: error: invalid workload.decode.speculative.tokens '2' (a step of 1099511627776 sequences would have more than 1099511627776 tokens)"},
        {"MoreRanksThanExperts",
         "schema: depthcost/1\nmodel: mixtral_8x7b\nparallelism: {tensor: 16, expert: 16}\n",
         "it.yaml:3:35: error: invalid parallelism.expert '16' (more than the 8 experts of the model)"},
        {"RanksThatDoNotDivideTheHeads",
         "schema: depthcost/1\nmodel: llama_3_1_8b\nparallelism: {tensor: 100}\n",
         "it.yaml:3:23: error: invalid parallelism.tensor '100' (must divide the 32 attention heads: 1, 2, 4, 8, 16, 32)"},
        {"AcceptedOfNothing",
         asked("workload: {decode: {sequences: 1, speculative: {accepted: 2}}}\n"),
         "it.yaml:3:59: error: missing key 'workload.decode.speculative.tokens' (without it 'workload.decode.speculative.accepted' means nothing)"},
        {"SpeculationWithoutAccepted",
         asked("workload: {decode: {sequences: 1, speculative: {tokens: 4}}}\n"),
         "it.yaml:3:57: error: missing key 'workload.decode.speculative.accepted' (workload.decode.speculative.tokens needs it)"},
        {"LessAcceptedThanOne",
         asked("workload: {decode: {sequences: 1, speculative: {tokens: 4, accepted: 0.5}}}\n"),
         "it.yaml:3:70: error: invalid workload.decode.speculative.accepted '0.5' (must be 1 to 4, the tokens that are checked)"},
        {"MoreAcceptedThanChecked",
         asked("workload: {decode: {sequences: 1, speculative: {tokens: 4, accepted: 4.5}}}\n"),
         "it.yaml:3:70: error: invalid workload.decode.speculative.accepted '4.5' (must be 1 to 4, the tokens that are checked)"},
        {"BaselineOfOneRank", asked("residual: {baseline_attach: all_reduce}\n"),
         "it.yaml:3:29: error: conflicting residual.baseline_attach 'all_reduce' (needs parallelism.tensor of at least 2)"},
    }),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace depthcost::training_test
