// Training steps by hand: sums without a pipeline, closed forms with one, and the bytes across its
// boundaries. It is long because each schedule has its closed form, and all share the same studies.
#include "model/training/training_step.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "model/decision/claim.hpp"
#include "model/evaluation/evaluation.hpp"
#include "model/ledger/backward.hpp"
#include "model/schemes/list.hpp"
#include "model/step/scheme_payload.hpp"
#include "model/step/weights_and_cache.hpp"
#include "model/training/model_state.hpp"
#include "model/training/rest_of_training.hpp"
#include "tests/architectures.hpp"
#include "tests/model/pipeline/pipeline_theory.hpp"
#include "tests/studies.hpp"

namespace depthcost::training_step_test {
namespace {

/// Sends of 10 us + bytes / 100 GB/s in a node, 20 us + bytes / 50 GB/s between nodes.
std::vector<TransferPoint> round_sends() {
  std::vector<TransferPoint> points;
  const auto push = [&](TransferScope scope, double latency, double rate) {
    for (const double size : {1.0, 1e9})
      points.push_back(
          {TransferKind::send, scope, 2, Bytes{size},
           test::plus_minus<Seconds>(latency + (size - 1) / rate, 0.1, Evidence::published)});
  };
  push(TransferScope::node, 10e-6, 100e9);
  push(TransferScope::network, 20e-6, 50e9);
  return points;
}

/// Llama 3.1 8B with eight blocks of eight layers, 4,096 tokens a micro-batch.
Study llama_training() {
  Study study = test::as_llama_8b(test::kimi_k3_study());
  study.compare = {{Scheme{schemes::kStandard}, 64},
                   {Scheme{schemes::kMhc, {.num_streams = 4}}, 64}};
  study.decode.reset();
  study.budgets.clear();
  study.machine->transfers = round_sends();
  study.training = Training{.sequence_length = 4096, .num_micro_batches = 8};
  return study;
}

Study llama_pipeline(Count num_stages, Count num_virtual_stages) {
  Study study = llama_training();
  study.pipeline = even_layout(num_stages, num_virtual_stages, 32, 2);
  if (num_virtual_stages > 1) study.training->schedule = PipelineSchedule::interleaved;
  return study;
}

const TrainingRun& run_of(const TrainingAnswer& answer, Schedule schedule) {
  for (const TrainingRun& run : answer.runs)
    if (run.path == answer.runs.front().path && run.schedule == schedule) return run;
  throw std::logic_error("no such schedule");
}

const StepRow& step_of(const TrainingAnswer& answer, Schedule schedule) {
  for (const StepRow& row : answer.steps)
    if (row.path == answer.steps.front().path && row.schedule == schedule) return row;
  throw std::logic_error("no such schedule");
}

Seconds sum(const std::vector<ResidualWork>& work, Seconds ResidualWork::*part) {
  Seconds total;
  for (const ResidualWork& chunk : work) total += chunk.*part;
  return total;
}

TEST(ResidualWork, IsTheSumOfItsLaunches) {
  const Study study = llama_pipeline(4, 2);
  const Execution execution = training_workload(study).passes.front().execution;
  Seconds launches;
  for (const PlacedOperation& placed : all_operations(study.path, Schedule::single_pass))
    launches += LaunchTime(*study.machine, placed.operation, execution).terms({}).total();
  const auto work = residual_work(study, study.path, Schedule::single_pass, {});
  ASSERT_EQ(work.size(), 8u);
  EXPECT_NEAR(sum(work, &ResidualWork::forward) / launches, 1, 1e-12);
}

// mHC's parameters of 64 layers are more than L2 holds, those of the 16 of a stage are not; the
// layers between them stream next to nothing.
TEST(ResidualWork, FindsTheParametersOfAStageInTheCache) {
  const auto forward = [](const std::optional<PipelineLayout>& pipeline) {
    Study study = llama_training();
    study.training->sequence_length = 1;
    study.model.architecture->attention = {
        {GroupedAttention{.num_heads = 1, .num_kv_heads = 1, .head_dim = 1}, 32}};
    study.model.architecture->mlp = {{DenseMlp{1}, 32}};
    study.pipeline = pipeline;
    return sum(
        residual_work(study, {Scheme{schemes::kMhc, {.num_streams = 4}}, 64}, Schedule::fused, {}),
        &ResidualWork::forward);
  };
  EXPECT_LT(forward(even_layout(4, 1, 32, 2)), forward(std::nullopt));
}

// 4 d a token and a gain in f32 forward and 4 d backward, at 2/3 and 3/4 of reads: 4.33 and 4.5
// TB/s, and 2 us each.
TEST(ResidualWork, OfTheStandardResidualIsWhatItMoves) {
  Study study = llama_training();
  study.machine->cache_bandwidth.clear();
  const auto work = residual_work(study, {Scheme{schemes::kStandard}, 64}, Schedule::fused, {});
  const double d_vectors = 4096.0 * 4 * 4096 * 2;
  const auto drawn = [&](double cap) {
    const double uncapped = kUncappedOverCeiling * cap;
    const double in_flight =
        uncapped * d_vectors / (d_vectors + study.machine->half_saturation.value * uncapped);
    return std::min(cap, in_flight);
  };
  const double gain = 4096 * 4 / 5e12;
  EXPECT_NEAR(work[0].forward.value, 64 * (2e-6 + d_vectors / drawn(4e12) + gain), 1e-9);
  EXPECT_NEAR(work[0].backward.value, 64 * (2e-6 + d_vectors / drawn(4.5e12)), 1e-9);
}

TEST(LayerWork, RunsItsCollectivesBeforeTheGradientsLeave) {
  Study study = llama_training();
  RestOfStep rest;
  const auto add = [&](RestTerm term, double seconds) {
    const Seconds time{seconds};
    rest.rows.push_back({.term = term, .time = {time, time, time, Evidence::measured}});
  };
  add(RestTerm::mlp, 3);
  add(RestTerm::collectives, 2);
  const LayerWork work = layer_work(study, rest, IntervalEnd::value).at(0);
  EXPECT_EQ(work.forward.value, 5);
  EXPECT_EQ(work.backward_input.value, 5);
  EXPECT_EQ(work.backward_weight.value, 3);
}

// One of 3 s is scores and mixes, two are products. Their backward pass is five, and none for a
// weight.
TEST(LayerWork, HasNoGradientOfWeightsInAttentionsScores) {
  Study study = llama_training();
  study.machine->tensor_rate = FlopsPerSecond{1e15};
  const Seconds time{3};
  RestPart attention{
      .name = "attention", .calls = 1, .time = {time, time, time, Evidence::assumed}};
  attention.work.add(1, {}, Flops{3e12});
  attention.work.core = Flops{1e12};
  RestOfStep rest;
  rest.rows.push_back({.term = RestTerm::attention, .time = {{}, {}, {}, Evidence::assumed}});
  add_part(rest.rows.front(), attention);
  const LayerWork work = layer_work(study, rest, IntervalEnd::value).at(0);
  EXPECT_NEAR(work.forward.value, 3, 1e-12);
  EXPECT_NEAR(work.backward_input.value, 2 + 2.5 * 1, 1e-12);
  EXPECT_NEAR(work.backward_weight.value, 2, 1e-12);
  // Scaled to a measured step of a tenth.
  rest.rows.front().time = 0.1 * rest.rows.front().time;
  const LayerWork scaled = layer_work(study, rest, IntervalEnd::value).at(0);
  EXPECT_NEAR(scaled.backward_input.value, 0.45, 1e-12);
  EXPECT_NEAR(scaled.backward_weight.value, 0.2, 1e-12);
}

/// Two of attention's 3 s are products with weights, and MLA projects up with a share of these.
TEST(LayerWork, MakesAgainWhatIsNotKept) {
  Study study = llama_training();
  study.model.architecture->attention = test::deepseek_v3().attention;
  RestPart attention{.name = "attention",
                     .calls = 1,
                     .time = {Seconds{3}, Seconds{3}, Seconds{3}, Evidence::assumed}};
  attention.work.add(1, {}, Flops{3e12});
  attention.work.core = Flops{1e12};
  RestOfStep rest;
  rest.rows.push_back({.term = RestTerm::attention, .time = {{}, {}, {}, Evidence::assumed}});
  add_part(rest.rows.front(), attention);
  const auto recompute = [&](LayerActivations layers) {
    study.training->layers = layers;
    return layer_work(study, rest, IntervalEnd::value).at(0).recompute.value;
  };
  EXPECT_EQ(recompute(LayerActivations::keep), 0);
  EXPECT_NEAR(recompute(LayerActivations::recompute), 3, 1e-12);
  const double d = as_double(study.model.hidden_size);
  const double up = 128 * (1536 * 192 + 512 * 256);
  const double all = 1536 * d + (512 + 64) * d + up + 128 * 128 * d;
  EXPECT_NEAR(recompute(LayerActivations::selective), 2 * up / all, 1e-12);
}

/// Its logits are kept: running the layers again leaves it out.
TEST(LayerWork, DoesNotRunTheHeadAgain) {
  Study study = llama_training();
  study.training->layers = LayerActivations::recompute;
  RestOfStep rest;
  rest.rows.push_back(
      {.term = RestTerm::head, .time = {Seconds{1}, Seconds{1}, Seconds{1}, Evidence::assumed}});
  EXPECT_EQ(layer_work(study, rest, IntervalEnd::value).at(0).recompute, Seconds{});
}

/// Backward passes of the layers of all chunks.
Seconds backward_of_layers(const Study& study, const RestOfStep& rest) {
  Seconds all;
  for (const LayerWork& work : layer_work(study, rest, IntervalEnd::value))
    all += work.backward_input + work.backward_weight;
  return all;
}

TEST(TrainingStep, WithoutAPipelineIsTheSumOfItsPasses) {
  const Study study = llama_training();
  const TrainingAnswer answer = training_answer(study, paths_of(study));
  const TrainingRun& run = run_of(answer, Schedule::single_pass);
  const Seconds rest = answer.rest.total().value;
  const Seconds layers = rest + backward_of_layers(study, answer.rest);
  EXPECT_GT(layers, 3 * rest) << "scores are made again";
  EXPECT_NEAR(run.makespan.value, 8 * (layers + run.forward + run.backward).value, 1e-9);
  EXPECT_NEAR(run.bubble, 0, 1e-12);
  EXPECT_EQ(run.communication.value, 0);
  EXPECT_TRUE(run.messages.empty());
}

/// A node of 72 ends inside the fifth stage of 16 ranks: what it receives and sends crosses nodes.
TEST(StageLinks, CrossNodesWhereAStageLiesInTwo) {
  Study study = llama_pipeline(8, 1);
  study.tensor_parallel_size = 8;
  study.data_parallel_size = 2;
  study.machine->devices_per_node = 72;
  const auto links = stage_links(study, forward_messages(study, study.path));
  ASSERT_TRUE(links);
  ASSERT_EQ(links->size(), 7U);
  for (std::size_t i = 0; i < links->size(); ++i)
    EXPECT_NEAR(links->at(i).latency.value, i == 3 || i == 4 ? 20e-6 : 10e-6, 1e-9) << i;
}

/// Nobody has published a backward kernel alone: it may take twice its bytes on a GPU.
TEST(ResidualWork, OfABackwardPassMayTakeTwice) {
  Study study = llama_training();
  study.machine->few_tokens.reset();
  const auto backward = [&](IntervalEnd kernels) {
    return sum(residual_work(study, study.path, Schedule::single_pass, {.kernels = kernels}),
               &ResidualWork::backward);
  };
  EXPECT_NEAR(backward(IntervalEnd::high) / backward(IntervalEnd::value), 2, 1e-12);
  EXPECT_NEAR(backward(IntervalEnd::low) / backward(IntervalEnd::value), 1, 1e-12);
}

/// A step that waits for replicas: the exchange of mHC's parameters may be long while all else is
/// short. The median lies inside the interval, not on its end.
TEST(TrainingStep, TakesTheExchangeAsAnEndOfItsOwn) {
  Study study = llama_training();
  study.path = {Scheme{schemes::kMhc, {.num_streams = 4}}, 64};
  study.schedule = Schedule::fused;
  study.data_parallel_size = 64;
  study.training->num_micro_batches = 1;
  study.machine->network_bandwidth = BytesPerSecond{5e9};
  study.machine->link_bandwidth = BytesPerSecond{400e9};
  const TrainingAnswer answer = training_answer(study, paths_of(study));
  const StepRow& row = step_of(answer, Schedule::fused);
  const TrainingRun& run = run_of(answer, Schedule::fused);
  ASSERT_GT(run.reduction, run.makespan);
  EXPECT_LT(row.overhead->low, row.overhead->value);
  EXPECT_LT(row.overhead->value, row.overhead->high);
}

TEST(TrainingStep, AddsWhatTheResidualPathTakesMore) {
  const Study study = llama_training();
  const TrainingAnswer answer = training_answer(study, paths_of(study));
  const TrainingRun& run = run_of(answer, Schedule::single_pass);
  const auto standard = residual_work(study, {Scheme{schemes::kStandard}, 64}, Schedule::fused, {});
  const Seconds more = run.forward + run.backward - standard[0].forward - standard[0].backward;
  const StepRow& row = step_of(answer, Schedule::single_pass);
  EXPECT_NEAR(row.delta.value.value, 8 * more.value, 1e-9);
  EXPECT_NEAR(row.overhead->value, row.delta.value / row.baseline_step->value, 1e-12);
  EXPECT_LT(row.overhead->low, row.overhead->value);
  EXPECT_LT(row.overhead->value, row.overhead->high);
  EXPECT_EQ(row.delta.evidence, Evidence::assumed);
}

/// Eight replicas over slow links: with their weights shared out, every pass lasts as long as what
/// they exchange beside it, and what a scheme computes hides there.
TEST(TrainingStep, OfSharedWeightsWaitsForThemInEveryPass) {
  Study study = llama_training();
  study.data_parallel_size = 8;
  study.machine->link_bandwidth = BytesPerSecond{1e9};
  study.training->sharding = StateSharding::weights;
  const TrainingAnswer answer = training_answer(study, paths_of(study));
  const TrainingRun& run = run_of(answer, Schedule::single_pass);
  const double weights =
      device_parameters(as_trained(study)).dense() + path_parameters(study, study.path);
  const double byte = 0.875 / (0.8 * 1e9);
  EXPECT_NEAR(run.makespan.value / (8 * (2 + 6) * weights * byte), 1, 1e-9);
  // The last backward pass has its gradients before they are exchanged.
  const std::vector<LayerWork> layers = layer_work(study, answer.rest, IntervalEnd::value);
  EXPECT_EQ(run.reduction,
            layers[0].recompute + layers[0].backward_input + layers[0].backward_weight);
  EXPECT_LT(step_of(answer, Schedule::single_pass).overhead->value, 1e-3);
}

/// What waits in a pipeline is not hidden by what replicas exchange: messages and bubbles come on
/// top, and what more is shared out costs no less.
TEST(TrainingStep, OfAPipelineAddsTheExchangeOfEveryPass) {
  Study study = llama_pipeline(4, 1);
  study.data_parallel_size = 8;
  study.machine->network_bandwidth = BytesPerSecond{50e9};
  study.machine->link_bandwidth = BytesPerSecond{400e9};
  Seconds before;
  for (const StateSharding sharding :
       {StateSharding::optimizer, StateSharding::gradients, StateSharding::weights}) {
    study.training->sharding = sharding;
    const TrainingAnswer answer = training_answer(study, paths_of(study));
    const TrainingRun& run = run_of(answer, Schedule::single_pass);
    EXPECT_GE(run.makespan + run.reduction, before);
    before = run.makespan + run.reduction;
    EXPECT_GT(step_of(answer, Schedule::single_pass).delta.value, Seconds{});
  }
}

/// The stage before waits for the gradient of the inputs, which no exchange holds up: running the
/// layers again makes no step with exchanges shorter.
TEST(TrainingStep, OfAPipelineGainsNothingFromRunningLayersAgain) {
  Study study = llama_pipeline(4, 1);
  study.data_parallel_size = 8;
  study.machine->network_bandwidth = BytesPerSecond{50e9};
  study.machine->link_bandwidth = BytesPerSecond{100e9};
  study.training->sharding = StateSharding::gradients;
  for (const PipelineSchedule schedule :
       {PipelineSchedule::one_forward_one_backward, PipelineSchedule::zb_h1}) {
    study.training->schedule = schedule;
    study.training->layers = LayerActivations::keep;
    const Seconds kept = standard_training_step(study);
    study.training->layers = LayerActivations::recompute;
    EXPECT_GE(standard_training_step(study), (1 - 1e-9) * kept) << name(schedule);
  }
}

// Without the head, which the last chunk has to itself, equal chunks are uniform.
TEST(TrainingStep, OfUniformChunksAndFreeLinksIsTheClosedForm) {
  for (const Count V : {1, 2}) {
    Study study = llama_pipeline(4, V);
    study.path = {Scheme{schemes::kStandard}, 64};
    study.schedule = Schedule::fused;
    study.machine->transfers = {};
    study.written_terms = {{WorkloadKind::training, RestTerm::head, {Seconds{}}}};
    for (const Count M : {4, 8, 12}) {
      study.training->num_micro_batches = M;
      const std::vector<ResidualPath> standard{study.path};
      const TrainingAnswer answer = training_answer(study, standard);
      const TrainingRun& run = run_of(answer, Schedule::fused);
      const Seconds rest = answer.rest.total().value;
      const Seconds forward = 0.25 * (rest + run.forward);
      const Seconds backward = 0.25 * (backward_of_layers(study, answer.rest) + run.backward);
      const Seconds theory = test::interleaved_makespan(4, V, M, forward, backward);
      EXPECT_NEAR(run.makespan / theory, 1, 1e-9) << V << " " << M;
    }
  }
}

TEST(TrainingMessages, AreThePayloadOfAMicroBatch) {
  Study study = llama_pipeline(4, 2);
  study.training->wire_dtype = Dtype::f32;
  for (const Cache cache : {Cache::none, Cache::received, Cache::own}) {
    study.training->cache = cache;
    const auto transitions =
        pipeline_traffic(*study.pipeline, block_sizes(study.path.scheme.parameters.blocks),
                         {cache, Embedding::sent, PartialSum::sent})
            .transitions;
    const std::vector<Bytes> forward = forward_messages(study, study.path);
    const std::vector<Bytes> backward = backward_messages(study, study.path);
    ASSERT_EQ(forward.size(), 7u);
    for (std::size_t i = 0; i < forward.size(); ++i) {
      const double elements = static_cast<double>(transitions[i].vectors) * 4096 * 4096;
      EXPECT_EQ(forward[i].value, 4 * elements);
      EXPECT_EQ(backward[i].value, 2 * elements);
    }
  }
}

// Four ranks a stage, eight in a node: stages 0 and 1 share one, 1 and 2 do not.
TEST(StageLinks, LeadOutOfTheNodeWhereStagesDo) {
  Study study = llama_pipeline(4, 1);
  study.tensor_parallel_size = 4;
  const std::vector<Bytes> messages(3, Bytes{1e6});
  const auto links = stage_links(study, messages);
  ASSERT_TRUE(links);
  EXPECT_NEAR((*links)[0].latency.value, 10e-6, 1e-12);
  EXPECT_NEAR((*links)[0].bandwidth.value / 100e9, 1, 1e-5);
  EXPECT_NEAR((*links)[1].latency.value, 20e-6, 1e-12);
  EXPECT_NEAR((*links)[1].bandwidth.value / 50e9, 1, 1e-5);
  EXPECT_NEAR((*links)[2].latency.value, 10e-6, 1e-12);
  study.machine->transfers.clear();
  EXPECT_FALSE(stage_links(study, messages));
}

// Replicas of a stage are neighbours: with two of them the same stages fill a node each.
TEST(StageLinks, CrossTheReplicasOfAStage) {
  Study study = llama_pipeline(4, 1);
  study.tensor_parallel_size = 4;
  study.data_parallel_size = 2;
  const auto links = stage_links(study, std::vector<Bytes>(3, Bytes{1e6}));
  ASSERT_TRUE(links);
  for (const StageLink& link : *links) EXPECT_NEAR(link.latency.value, 20e-6, 1e-12);
}

TEST(Communication, IsWhatFreeLinksSave) {
  Study study = llama_pipeline(4, 2);
  const Seconds fast =
      run_of(training_answer(study, paths_of(study)), Schedule::single_pass).communication;
  study.training->sends = Sends::blocking;
  const Seconds exposed =
      run_of(training_answer(study, paths_of(study)), Schedule::single_pass).communication;
  EXPECT_GT(fast, Seconds{});
  EXPECT_GT(exposed, fast);
}

// One micro-batch on two stages hides nothing: the step waits for its message in both directions.
TEST(ExposedCommunication, IsBothMessagesOfOneMicroBatch) {
  Study study = llama_pipeline(2, 1);
  study.training->num_micro_batches = 1;
  const auto sent = [](Bytes bytes) { return 10e-6 + (bytes.value - 1) / 100e9; };
  const double messages =
      sent(forward_messages(study, study.path)[0]) + sent(backward_messages(study, study.path)[0]);
  const TrainingAnswer answer = training_answer(study, paths_of(study));
  const TrainingRun& run = run_of(answer, study.schedule);
  const double step = (run.makespan + run.reduction).value;
  const ExposedCommunication exposed = exposed_communication(study);
  EXPECT_EQ(exposed.missing, "");
  ASSERT_TRUE(exposed.share);
  EXPECT_NEAR(exposed.share->value, messages / (step - messages), 1e-9);
  EXPECT_LT(exposed.share->low, exposed.share->value) << "layers that take longer";
  EXPECT_LT(exposed.share->value, exposed.share->high);
}

TEST(ExposedCommunication, IsThatOfTheSchedule) {
  Study study = llama_pipeline(4, 2);
  study.data_parallel_size = 4;
  study.machine->network_bandwidth = BytesPerSecond{50e9};
  study.machine->link_bandwidth = BytesPerSecond{400e9};
  const TrainingAnswer answer = training_answer(study, paths_of(study));
  EXPECT_GT(answer.runs.front().reduction, Seconds{});
  for (const Schedule schedule : {Schedule::unfused, Schedule::two_phase}) {
    study.schedule = schedule;
    const TrainingRun& run = run_of(answer, schedule);
    EXPECT_NEAR(exposed_communication(study).share->value,
                run.communication / (run.makespan + run.reduction - run.communication), 1e-12);
  }
}

TEST(ExposedCommunication, IsUnknownWhereNothingIsBesideIt) {
  const auto missing = [](const Study& study) {
    const ExposedCommunication exposed = exposed_communication(study);
    EXPECT_FALSE(exposed.share);
    return exposed.missing;
  };
  Study study = llama_pipeline(2, 1);
  study.machine->transfers.clear();
  EXPECT_EQ(missing(study), "the hardware has no transfers between pipeline stages");
  study.model.architecture.reset();
  EXPECT_EQ(missing(study), "the model has no attention and mlp");
  study.machine.reset();
  EXPECT_EQ(missing(study), "the scenario has no hardware");
  study.pipeline.reset();
  EXPECT_EQ(missing(study), "the scenario has no pipeline");
}

TEST(ExposedCommunication, IsABudgetAndAClaim) {
  Study study = llama_pipeline(2, 1);
  const Estimate<double> share = exposed_communication(study).share.value();
  const auto row = [&](double limit) {
    return decided_row({BudgetKind::exposed_communication, limit}, {study, {}, {}});
  };
  EXPECT_EQ(row(share.high).verdict, Verdict::pass);
  EXPECT_EQ(row(share.value).reason, "the limit lies inside the interval");
  EXPECT_EQ(row(0.99 * share.low).verdict, Verdict::fail);
  study.claim = "it is hidden";
  study.budgets = {{BudgetKind::exposed_communication, 0.99 * share.low}};
  EXPECT_EQ(claim_rows(study, {}).front().points.front().verdict, Verdict::fail);
  study.budgets = {{BudgetKind::exposed_communication, share.high}};
  EXPECT_EQ(claim_rows(study, {}).front().verdict, ClaimVerdict::holds);
  study.training.reset();
  EXPECT_EQ(row(1).reason, "the scenario has no training workload");
}

// Nine blocks instead of one hidden state over slow links: most of what is added is communication.
TEST(TrainingStep, SaysWhetherBytesOrCommunicationDominate) {
  Study study = llama_pipeline(4, 2);
  study.training->sends = Sends::blocking;
  study.training->cache = Cache::none;
  for (TransferPoint& point : study.machine->transfers)
    point.time = {100 * point.time.low, 100 * point.time.value, 100 * point.time.high,
                  point.time.evidence};
  const auto dominant = [&] {
    const TrainingAnswer answer = training_answer(study, paths_of(study));
    return step_of(answer, Schedule::single_pass).dominant;
  };
  EXPECT_EQ(dominant(), Dominant::communication);
  study.machine->transfers.clear();
  EXPECT_EQ(dominant(), Dominant::bytes);
}

TimeTerms terms_of(const Study& study, const ResidualPath& path, Schedule schedule) {
  TimeTerms sum;
  for (const ResidualWork& chunk : residual_work(study, path, schedule, {})) sum += chunk.terms;
  return sum;
}

// At 208 tokens, launches are most of the path's time, and bytes most of what it takes beyond the
// standard residual's.
TEST(TrainingStep, SaysWhatDominatesTheDifferenceAndNotTheWhole) {
  Study study = llama_training();
  study.model.architecture.reset();
  int num_unlike = 0;
  for (const Count tokens : {16, 208, 4096}) {
    study.training->sequence_length = tokens;
    const TrainingAnswer answer = training_answer(study, paths_of(study));
    for (const Schedule schedule : schemes::kBlockAttnRes.schedules) {
      const TimeTerms whole = terms_of(study, study.path, schedule);
      const TimeTerms standard = terms_of(study, {Scheme{schemes::kStandard}, 64}, Schedule::fused);
      const Dominant expected = dominant_of(whole + -1 * standard);
      num_unlike += expected != dominant_of(whole);
      EXPECT_EQ(step_of(answer, schedule).dominant, expected) << tokens << name(schedule);
    }
  }
  EXPECT_GT(num_unlike, 0);
}

// Sixteen tokens of 256 elements in eager mode are launches, and less than no time is not sent.
TEST(TrainingStep, SaysWhereLaunchesDominate) {
  Study study = llama_training();
  study.model.architecture.reset();
  study.model.hidden_size = 256;
  study.training->sequence_length = 16;
  const TrainingAnswer eager = training_answer(study, paths_of(study));
  EXPECT_EQ(step_of(eager, Schedule::unfused).dominant, Dominant::launch);
  study.path = {Scheme{schemes::kStandard}, 64};
  study.schedule = Schedule::fused;
  study.compare.clear();
  study.path.attachment = Attachment::gemm_epilogue;
  study.baseline_attachment = Attachment::standalone;
  const TrainingAnswer folded = training_answer(study, paths_of(study));
  const StepRow& row = step_of(folded, Schedule::fused);
  ASSERT_LT(row.delta.value, Seconds{});
  EXPECT_EQ(row.dominant, Dominant::launch);
}

TEST(MeasuredTrainingStep, IsThatOfTheStandardResidual) {
  for (const bool knows_layers : {true, false}) {
    Study study = llama_pipeline(4, 2);
    if (!knows_layers) study.model.architecture.reset();
    study.training->baseline_step = Seconds{3};
    const std::vector<ResidualPath> standard{{Scheme{schemes::kStandard}, 64}};
    const TrainingAnswer answer = training_answer(study, standard);
    EXPECT_NEAR(run_of(answer, Schedule::fused).makespan.value, 3, 1e-6);
    EXPECT_NEAR(step_of(answer, Schedule::fused).baseline_step->value.value, 3, 1e-6);
    EXPECT_EQ(step_of(answer, Schedule::fused).missing, "");
  }
}

TEST(TrainingStep, SaysWhatItNeedsForPerCent) {
  Study study = llama_pipeline(4, 2);
  study.model.architecture.reset();
  const TrainingAnswer answer = training_answer(study, paths_of(study));
  const StepRow& row = step_of(answer, Schedule::single_pass);
  EXPECT_EQ(row.missing, "the model has no attention and mlp");
  EXPECT_FALSE(row.overhead);
  EXPECT_GT(row.delta.value, Seconds{});
}

TEST(Recomputation, TakesAnotherForwardPass) {
  Study study = llama_training();
  const Seconds kept =
      run_of(training_answer(study, paths_of(study)), Schedule::single_pass).makespan;
  study.training->activations = ActivationPolicy::recompute;
  const TrainingAnswer answer = training_answer(study, paths_of(study));
  const TrainingRun& run = run_of(answer, Schedule::single_pass);
  EXPECT_EQ(run.recompute, run.forward);
  EXPECT_NEAR(run.makespan.value, (kept + 8 * run.forward).value, 1e-9);
}

// 85 % of 1 GB/s in the middle; both ways, beside the chunk's own work.
TEST(Offload, WaitsForASlowLink) {
  Study study = llama_training();
  study.training->activations = ActivationPolicy::offload;
  const auto makespan = [&] {
    return run_of(training_answer(study, paths_of(study)), Schedule::single_pass).makespan;
  };
  const Seconds without = makespan();
  study.machine->host_bandwidth = BytesPerSecond{1e15};
  EXPECT_EQ(makespan(), without);
  study.machine->host_bandwidth = BytesPerSecond{1e9};
  const ChunkActivations all =
      chunk_activations(study.path, {1, 64, OutputAggregation::here}, {ActivationPolicy::offload});
  const double link = 4096 * bytes(all.offloaded, 4096, Dtype::bf16).value / 0.85e9;
  EXPECT_NEAR(
      offload_seconds(study, study.path, Schedule::single_pass, IntervalEnd::value)[0].value, link,
      1e-9);
  EXPECT_LT(offload_seconds(study, study.path, Schedule::single_pass, IntervalEnd::low)[0].value,
            link);
  EXPECT_GT(offload_seconds(study, study.path, Schedule::single_pass, IntervalEnd::high)[0].value,
            link);
  EXPECT_NEAR(makespan().value, 8 * 2 * link, 1e-6);
}

// 1F1B holds P - p micro-batches on stage p; b_0 and the blocks before its chunk for each.
TEST(TrainingMemory, HoldsBlocksOfEveryMicroBatchInFlight) {
  const Study study = llama_pipeline(4, 1);
  const PipelineOrder order =
      pipeline_order(PipelineSchedule::one_forward_one_backward, 4, 1, 8, Activations::kept);
  const auto stages = training_memory(study, study.path, Schedule::single_pass, order);
  const double vector = 4096.0 * 4096 * 2;
  ASSERT_EQ(stages.size(), 4u);
  for (std::size_t p = 0; p < 4; ++p) {
    const double in_flight = 4 - static_cast<double>(p);
    EXPECT_EQ(stages[p].micro_batches, 4 - static_cast<Count>(p));
    EXPECT_EQ(stages[p].blocks.value, in_flight * (1 + 2 * static_cast<double>(p)) * vector);
  }
}

// Uncached, stage 0 keeps b_0 for its first chunk and five blocks for its second.
TEST(TrainingMemory, HoldsEveryChunksBlocksWithoutACache) {
  Study study = llama_pipeline(4, 2);
  const PipelineOrder order =
      pipeline_order(PipelineSchedule::interleaved, 4, 2, 8, Activations::kept);
  const Bytes cached = training_memory(study, study.path, Schedule::single_pass, order)[0].blocks;
  study.training->cache = Cache::none;
  const Bytes uncached = training_memory(study, study.path, Schedule::single_pass, order)[0].blocks;
  const Bytes standard =
      training_memory(study, {Scheme{schemes::kStandard}, 64}, Schedule::fused, order)[0].blocks;
  EXPECT_NE(cached, uncached);
  EXPECT_EQ(standard.value, 0);
  const double vector = 4096.0 * 4096 * 2;
  Count first = 0;
  Count second = 0;
  double most = 0;
  for (const PipelineTask& task : order.stages[0]) {
    const Count step = task.kind == TaskKind::forward          ? 1
                       : task.kind == TaskKind::backward_input ? -1
                                                               : 0;
    (task.chunk == 0 ? first : second) += step;
    most = std::max(most, static_cast<double>(first) + 5 * static_cast<double>(second));
  }
  EXPECT_EQ(uncached.value, most * vector);
}

TEST(TrainingMemory, ShrinksWithRecomputation) {
  Study study = llama_training();
  const PipelineOrder order =
      pipeline_order(PipelineSchedule::one_forward_one_backward, 1, 1, 8, Activations::kept);
  const Bytes kept =
      training_memory(study, study.path, Schedule::single_pass, order)[0].activations;
  study.training->activations = ActivationPolicy::recompute;
  EXPECT_LT(training_memory(study, study.path, Schedule::single_pass, order)[0].activations, kept);
}

TEST(Evaluation, HasTheTrainingStepAmongItsSteps) {
  Study study = llama_pipeline(4, 2);
  study.budgets = {{BudgetKind::training_overhead, 10}};
  const Evaluation answer = evaluate(study);
  Count rows = 0;
  for (const StepRow& row : answer.step)
    rows += row.workload.kind == WorkloadKind::training ? 1 : 0;
  EXPECT_EQ(rows, 3 + 2 + 4);
  EXPECT_EQ(answer.rest.size(), kEnumerators<RestTerm>.size());
  EXPECT_EQ(answer.budgets.front().verdict, Verdict::pass);
  ASSERT_TRUE(answer.training.simulated);
  EXPECT_EQ(answer.training.simulated->makespan, run_of(answer.training, study.schedule).makespan);
}

/// Every scheme trains in every schedule, on four stages and with activations kept in each way.
TEST(TrainingStep, OfEverySchemeIsPredicted) {
  for (const SchemeRule* rule : scheme_rules()) {
    Study study = llama_pipeline(4, 2);
    study.compare.clear();
    SchemeParameters parameters{.hidden_size = 4096, .block_size = 8};
    parameters.blocks = partition_by_size(64, 8);
    study.path = {Scheme{*rule, parameters}, 64};
    ASSERT_FALSE(parameter_problem(study.path.scheme, 64)) << rule->id;
    for (const auto policy :
         {ActivationPolicy::keep, ActivationPolicy::recompute, ActivationPolicy::offload}) {
      study.training->activations = policy;
      const TrainingAnswer answer = training_answer(study, paths_of(study));
      EXPECT_EQ(answer.runs.size(), rule->schedules.size()) << rule->id;
      for (const TrainingRun& run : answer.runs) {
        SCOPED_TRACE(std::string(rule->id) + ' ' + std::string(name(run.schedule)));
        EXPECT_GT(run.backward.value, 0);
        EXPECT_GT(run.makespan.value, (run.forward + run.backward).value);
        for (const StageMemory& stage : run.stages) EXPECT_GT(stage.all().value, 0);
      }
    }
  }
}

}  // namespace
}  // namespace depthcost::training_step_test
