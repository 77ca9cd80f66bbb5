// Reads decode, prefill and training, one function each, then the terms of their steps.
#include "scenarios/read/workloads.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/base/counted.hpp"
#include "model/evaluation/predicted_work.hpp"
#include "model/step/step.hpp"
#include "model/step/weights_and_cache.hpp"
#include "model/training/throughput.hpp"
#include "model/training/training_step.hpp"
#include "scenarios/keys/limits.hpp"

namespace depthcost {
namespace {

std::vector<Count> sequences_of(const Value& written) {
  if (written.numbers.size() > kMaxBatches)
    throw InputError(written.position,
                     fmt::format("invalid workload.decode.sequences ({} batches; at most {})",
                                 written.numbers.size(), kMaxBatches));
  std::vector<Count> sequences;
  for (const double batch : written.numbers) {
    const auto count = static_cast<Count>(batch);
    if (std::find(sequences.begin(), sequences.end(), count) != sequences.end())
      throw InputError(
          written.position_of(sequences.size()),
          fmt::format("invalid workload.decode.sequences '{}' (already there)", count));
    sequences.push_back(count);
  }
  return sequences;
}

/// Measured seconds of a decode workload: none, one for all batches, or one each.
std::vector<Seconds> seconds_of_batches(const Values& values, const std::string& path,
                                        std::size_t num_batches) {
  const Value* written = values.find(path);
  if (written == nullptr) return {};
  if (written->numbers.size() != 1 && written->numbers.size() != num_batches)
    throw InputError(
        written->position,
        fmt::format("invalid {} ({} for {})", path,
                    counted(static_cast<Count>(written->numbers.size()), "time", "times"),
                    counted(static_cast<Count>(num_batches), "batch", "batches")));
  std::vector<Seconds> seconds;
  for (const double each : written->numbers) seconds.push_back({each});
  return seconds;
}

Speculation speculation_of(const Values& values) {
  const std::string tokens = "workload.decode.speculative.tokens";
  const std::string accepted = "workload.decode.speculative.accepted";
  if (!values.has(tokens)) {
    refuse_orphans(values, accepted, tokens);
    return {};
  }
  if (!values.has(accepted))
    throw InputError(values.at(tokens).position,
                     fmt::format("missing key '{}' ({} needs it)", accepted, tokens));
  const Speculation speculation{values.count(tokens), values.number(accepted)};
  if (speculation.accepted < 1 || speculation.accepted > as_double(speculation.tokens))
    throw InputError(values.at(accepted).position,
                     fmt::format("invalid {} '{}' (must be 1 to {}, the tokens that are checked)",
                                 accepted, values.text(accepted), speculation.tokens));
  return speculation;
}

/// The tokens of a step are counted, too.
void check_tokens_of_steps(const Values& values, const Decode& decode) {
  const Count most = *std::max_element(decode.sequences.begin(), decode.sequences.end());
  if (most <= kMaxCount / decode.speculation.tokens) return;
  const std::string path = "workload.decode.speculative.tokens";
  throw InputError(
      values.at(path).position,
      fmt::format("invalid {} '{}' (a step of {} sequences would have more than {} tokens)", path,
                  decode.speculation.tokens, most, kMaxCount));
}

/// No tokens are no chunk.
std::optional<PromptChunk> prompt_of(const Values& values) {
  const std::string tokens = "workload.decode.prefill_tokens";
  const std::string before = "workload.decode.prefill_context";
  if (!values.has(tokens)) {
    refuse_orphans(values, before, tokens);
    return {};
  }
  if (values.count(tokens) == 0) return {};
  PromptChunk prompt{.tokens = values.count(tokens), .context = {}};
  if (values.has(before)) prompt.context = values.count(before);
  return prompt;
}

/// Absent: in order. Only a graph has a second branch.
Phase1Order phase1_of(const Values& values, Launch launch) {
  const Value* written = values.find("workload.decode.phase1");
  if (written == nullptr) return Phase1Order::in_order;
  const auto order = values.choice<Phase1Order>("workload.decode.phase1");
  if (order == Phase1Order::hoisted && launch == Launch::stream)
    throw InputError(
        written->position,
        "conflicting workload.decode.phase1 'hoisted' (runs beside a layer on a second "
        "branch of a graph, but workload.decode.launch is stream)");
  return order;
}

void read_decode(const Values& values, Study& study) {
  const Value* sequences = values.find("workload.decode.sequences");
  if (sequences == nullptr) {
    refuse_orphans(values, "workload.decode.", "workload.decode.sequences");
    refuse_orphans(values, "baseline_step.decode", "workload.decode.sequences");
    refuse_orphans(values, "step_terms.decode.", "workload.decode.sequences");
    refuse_orphans(values, "budgets.decode_overhead", "workload.decode.sequences");
    return;
  }
  Decode decode{.sequences = sequences_of(*sequences),
                .context = values.count("workload.decode.context")};
  decode.speculation = speculation_of(values);
  check_tokens_of_steps(values, decode);
  decode.prompt = prompt_of(values);
  decode.launch = values.choice<Launch>("workload.decode.launch");
  decode.phase1 = phase1_of(values, decode.launch);
  if (values.has("workload.decode.layer_bytes"))
    decode.layer_bytes = Bytes{values.number("workload.decode.layer_bytes")};
  decode.baseline_steps =
      seconds_of_batches(values, "baseline_step.decode", decode.sequences.size());
  study.decode = decode;
}

/// As written, else the tensor ranks. Throws if a sequence has more shards than a replica has
/// devices, where their number is written.
Count sequence_shards_of(const Values& values, const Study& study) {
  if (!values.has("workload.prefill.sequence_shards")) return study.tensor_parallel_size;
  const Count shards = values.count("workload.prefill.sequence_shards");
  const Count ranks = study.tensor_parallel_size * study.context_parallel_size;
  const auto is_written = [&](const char* key) {
    return !values.at(key).origin.starts_with("default:");
  };
  if (!is_written("parallelism.tensor") && !is_written("parallelism.context")) return shards;
  if (shards <= ranks) return shards;
  throw InputError(
      values.at("workload.prefill.sequence_shards").position,
      fmt::format("invalid workload.prefill.sequence_shards '{}' (more than tensor x context = {})",
                  shards, ranks));
}

void read_prefill(const Values& values, Study& study) {
  if (!values.has("workload.prefill.tokens")) {
    refuse_orphans(values, "workload.prefill.", "workload.prefill.tokens");
    refuse_orphans(values, "baseline_step.prefill", "workload.prefill.tokens");
    refuse_orphans(values, "budgets.prefill_overhead", "workload.prefill.tokens");
    refuse_orphans(values, "step_terms.prefill.", "workload.prefill.tokens");
    return;
  }
  Prefill prefill{.tokens = values.count("workload.prefill.tokens"),
                  .sequence_shards = sequence_shards_of(values, study),
                  .launch = values.choice<Launch>("workload.prefill.launch")};
  if (values.has("workload.prefill.chunk")) prefill.chunk = values.count("workload.prefill.chunk");
  if (values.has("baseline_step.prefill"))
    prefill.baseline_step = Seconds{values.number("baseline_step.prefill")};
  study.prefill = prefill;
}

void refuse_passes(const Values& values, Count num_chunks, Count micro_batches) {
  if (micro_batches <= kMaxChunkPasses / num_chunks) return;
  throw InputError(
      values.at("workload.training.micro_batches").position,
      fmt::format("invalid workload.training.micro_batches '{}' (more than {} passes of {})",
                  micro_batches, kMaxChunkPasses, counted(num_chunks, "chunk", "chunks")));
}

/// The rules of pipeline_order(), each at the key that breaks it.
void check_schedule(const Values& values, const PipelineLayout& layout, const Training& training) {
  const Count P = layout.num_stages;
  const Count V = layout.num_virtual_stages;
  const ScheduleLimits limits = limits_of(training.schedule, P, V);
  if (V > 1 && !limits.has_virtual_stages)
    throw InputError(values.at("workload.training.schedule").position,
                     fmt::format("conflicting workload.training.schedule '{}' (has no virtual "
                                 "stages; parallelism.virtual_stages is {})",
                                 values.text("workload.training.schedule"), V));
  if (V == 1 && P > 1 && training.schedule == PipelineSchedule::interleaved)
    throw InputError(values.at("workload.training.schedule").position,
                     "conflicting workload.training.schedule 'interleaved_1f1b' (needs "
                     "parallelism.virtual_stages of at least 2; with 1 it is 1f1b)");
  if (P % limits.stage_step != 0)
    throw InputError(
        values.at("workload.training.schedule").position,
        fmt::format("conflicting workload.training.schedule '{}' (needs an even number "
                    "of stages; parallelism.pipeline is {})",
                    values.text("workload.training.schedule"), P));
  if (P > 1 && !values.has("workload.training.micro_batches"))
    throw InputError(values.at("workload.training.sequence_length").position,
                     "missing key 'workload.training.micro_batches' (a pipeline needs it)");
  const Count M = training.num_micro_batches;
  refuse_passes(values, P * V, M);
  if (const std::string why = problem_of_micro_batches(training.schedule, P, V, M); !why.empty())
    throw InputError(values.at("workload.training.micro_batches").position,
                     fmt::format("invalid workload.training.micro_batches '{}' ({})", M, why));
}

/// Reads the keys that only a pipeline has.
void read_stages(const Values& values, const Study& study, Training& training) {
  const std::string section = "workload.training.";
  if (!study.pipeline) {
    for (const char* key : {"schedule", "cache", "sends", "wire_dtype"})
      refuse_orphans(values, section + key, "parallelism.pipeline");
    return refuse_passes(values, 1, training.num_micro_batches);
  }
  training.schedule =
      values.has(section + "schedule") ? values.choice<PipelineSchedule>(section + "schedule")
      : study.pipeline->num_virtual_stages > 1 ? PipelineSchedule::interleaved
                                               : PipelineSchedule::one_forward_one_backward;
  training.cache = values.choice<Cache>(section + "cache");
  training.sends = values.choice<Sends>(section + "sends");
  if (training.schedule == PipelineSchedule::dualpipe && training.sends == Sends::blocking)
    throw InputError(
        values.at(section + "sends").position,
        "conflicting workload.training.sends 'blocking' (dualpipe hides its messages)");
  check_schedule(values, *study.pipeline, training);
}

/// Micro-batches that make a step of 4 Mi tokens over all replicas, or as many as the pipeline
/// needs.
Count usual_micro_batches(const Study& study, const Training& training) {
  constexpr Count kTokensOfStep = Count{1} << 22;  // Llama 3 begins with 4M
  constexpr Count kMost = 512;                     // of 8,192 tokens
  const double tokens = as_double(training.sequence_length) * as_double(training.micro_batch_size) *
                        as_double(study.data_parallel_size);
  return std::clamp(static_cast<Count>(as_double(kTokensOfStep) / tokens), Count{1}, kMost);
}

void read_training(const Values& values, Study& study) {
  const std::string section = "workload.training.";
  if (!values.has(section + "sequence_length")) {
    for (const char* prefix : {"workload.training.", "baseline_step.training",
                               "step_terms.training.", "budgets.training_overhead"})
      refuse_orphans(values, prefix, "workload.training.sequence_length");
    return;
  }
  const auto dtype_of = [&](const std::string& key) {
    return values.has(section + key) ? values.choice<Dtype>(section + key) : study.model.dtype;
  };
  Training training{.sequence_length = values.count(section + "sequence_length"),
                    .micro_batch_size = values.count(section + "micro_batch"),
                    .precision = values.choice<Precision>(section + "precision"),
                    .activations = values.choice<ActivationPolicy>(section + "activations"),
                    .layers = values.choice<LayerActivations>(section + "layers"),
                    .optimizer = values.choice<Optimizer>(section + "optimizer"),
                    .sharding = values.choice<StateSharding>(section + "sharding"),
                    .main_gradients = values.choice<Dtype>(section + "main_gradients"),
                    .gradient_accumulation =
                        values.choice<GradientAccumulation>(section + "gradient_accumulation"),
                    .gradient_dtype = dtype_of("gradient_dtype"),
                    .wire_dtype = dtype_of("wire_dtype")};
  training.num_micro_batches = values.has(section + "micro_batches")
                                   ? values.count(section + "micro_batches")
                                   : usual_micro_batches(study, training);
  read_stages(values, study, training);
  if (values.has("baseline_step.training"))
    training.baseline_step = Seconds{values.number("baseline_step.training")};
  study.training = training;
}

void read_routing(const Values& values, Study& study) {
  const Value* written = values.find("workload.routing");
  if (written == nullptr) return;
  if (!study.model.architecture || !has_experts(*study.model.architecture))
    throw InputError(written->position,
                     fmt::format("conflicting workload.routing '{}' (the model has no experts)",
                                 written->texts.front()));
  study.routing = values.choice<Routing>("workload.routing");
}

void read_written_terms(const Values& values, Study& study) {
  for (const WorkloadKind workload : kEnumerators<WorkloadKind>)
    for (const RestTerm term : kEnumerators<RestTerm>) {
      const std::size_t num_batches =
          workload == WorkloadKind::decode && study.decode ? study.decode->sequences.size() : 1;
      auto seconds = seconds_of_batches(
          values, fmt::format("step_terms.{}.{}", name(workload), name(term)), num_batches);
      if (!seconds.empty()) study.written_terms.push_back({workload, term, std::move(seconds)});
    }
}

std::string time_text(Seconds time) {
  if (time < Seconds{1e-3}) return fmt::format("{:.3g} us", time.value * 1e6);
  return time < Seconds{1} ? fmt::format("{:.3g} ms", time.value * 1e3)
                           : fmt::format("{:.3g} s", time.value);
}

/// Refuses a written step that is shorter than what it contains, for all batches or for one.
[[noreturn]] void refuse_baseline(const Values& values, const std::string& path, std::size_t batch,
                                  const std::string& what, Seconds least, WorkloadId workload) {
  const Value& written = values.at(path);
  const std::size_t element = written.texts.size() == 1 ? 0 : batch;
  throw InputError(written.position_of(element),
                   fmt::format("invalid {} '{}' ({} at least {} of {})", path,
                               written.texts[element], what, time_text(least), name(workload)));
}

/// What the fullest device takes at least to read the weights that every token meets: no experts,
/// no embedding, and nothing that a cache may hold.
Seconds least_reading_time(const Study& study) {
  if (!study.machine || !study.model.architecture) return {};
  const Architecture& architecture = *study.model.architecture;
  // An import counts all that is no routed expert in the type of the widest part.
  const double bytes = std::min(bytes_per_weight(architecture.weight_dtype),
                                bytes_per_weight(architecture.expert_dtype));
  const Bytes weights{device_parameters(study).dense_layers() * bytes};
  const std::vector<TransitionPoint>& transition = study.machine->transition;
  const Bytes kept = transition.empty() ? Bytes{} : transition.back().footprint;
  return weights > kept ? (weights - kept) / study.machine->memory_ceiling : Seconds{};
}

void check_forward_baselines(const Values& values, const Study& study) {
  if (!has_forward_baseline(study)) return;
  const Study standard = baseline_study(study);
  const Seconds reading = least_reading_time(study);
  std::size_t num_decoded = 0;
  for (const StepRow& row : step_rows(standard, standard.path, standard.schedule)) {
    const std::size_t batch = row.workload.kind == WorkloadKind::decode ? num_decoded++ : 0;
    if (!row.baseline_step || row.baseline_step->evidence != Evidence::measured) continue;
    const auto refuse_below = [&](Seconds least, const std::string& what) {
      if (row.baseline_step->value <= least)
        refuse_baseline(values, fmt::format("baseline_step.{}", name(row.workload.kind)), batch,
                        what, least, row.workload);
    };
    refuse_below(row.residual.low, "the standard residual alone takes");
    refuse_below(reading, "to read the weights of its layers takes");
  }
}

/// Throws if the hardware lacks what the time of a training step needs.
void check_training_hardware(const Values& values, const Study& study) {
  if (!study.training || !study.machine) return;
  if (study.training->activations == ActivationPolicy::offload && !study.machine->host_bandwidth)
    throw InputError(values.at("workload.training.activations").position,
                     "conflicting workload.training.activations 'offload' (needs "
                     "hardware.host_bandwidth)");
  if (study.training->precision == Precision::fp8 && !study.machine->fp8_rate)
    throw InputError(
        values.at("workload.training.precision").position,
        fmt::format("conflicting workload.training.precision 'fp8' ({} has no fp8_rate)",
                    study.machine->name));
  const std::vector<Bytes> messages(layout_of(study).chunk_layers.size() - 1, Bytes{1});
  if (layout_of(study).num_stages > 1 && !stage_links(study, messages))
    throw InputError(
        values.at("parallelism.pipeline").position,
        "conflicting parallelism.pipeline (a training step needs hardware.transfers of "
        "kind send, within a node and over the network as its stages lie)");
}

void check_training_baseline(const Values& values, const Study& study) {
  if (!study.training || !study.machine || !study.training->baseline_step) return;
  const Seconds least = least_training_step(study);
  if (*study.training->baseline_step <= least)
    refuse_baseline(values, "baseline_step.training", 0,
                    "the standard residual and its messages alone take", least,
                    WorkloadId::training());
  if (!study.model.architecture || !study.machine->tensor_rate) return;
  const auto rate = study.training->precision == Precision::fp8 ? study.machine->fp8_rate
                                                                : study.machine->tensor_rate;
  const Throughput written = throughput(study, *study.training->baseline_step);
  if (written.model_rate > *rate)
    refuse_baseline(values, "baseline_step.training", 0,
                    "the model's operations at the full rate of all devices take",
                    (written.model_rate / *rate) * *study.training->baseline_step,
                    WorkloadId::training());
}

}  // namespace

bool has_forward_baseline(const Study& study) {
  return (study.decode && !study.decode->baseline_steps.empty()) ||
         (study.prefill && study.prefill->baseline_step);
}

void read_workloads(const Values& values, Study& study) {
  read_routing(values, study);
  read_decode(values, study);
  read_prefill(values, study);
  read_training(values, study);
  read_written_terms(values, study);
}

void check_work(const Values& values, const Study& study, const Position& model) {
  const double launches = timed_launches(study);
  if (launches > kMaxTimedLaunches) {
    const bool is_by_batches = study.decode && study.decode->sequences.size() > 1;
    throw InputError(
        is_by_batches ? values.at("workload.decode.sequences").position : model,
        fmt::format("invalid {} ({:.0f} kinds of launches to time, in all batches, schemes and "
                    "schedules; at most {:.0f})",
                    is_by_batches ? "workload.decode.sequences" : "model", launches,
                    kMaxTimedLaunches));
  }
  const double passes = simulated_passes(study);
  if (passes > kMaxSimulatedPasses)
    throw InputError(
        values
            .at(values.has("workload.training.micro_batches") ? "workload.training.micro_batches"
                                                              : "workload.training.sequence_length")
            .position,
        fmt::format("invalid workload.training.micro_batches '{}' ({:.0f} passes of chunks to "
                    "simulate, in all schemes and schedules; at most {:.0f})",
                    study.training->num_micro_batches, passes, kMaxSimulatedPasses));
}

void check_baselines(const Values& values, const Study& study) {
  check_forward_baselines(values, study);
  check_training_hardware(values, study);
  check_training_baseline(values, study);
}

}  // namespace depthcost
