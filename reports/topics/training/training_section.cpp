// Times and memory of every scheme; stages and chunks of the study's own.
#include "reports/topics/training/training_section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "model/training/replicas.hpp"
#include "reports/formats/numbers.hpp"
#include "reports/topics/pipeline/pipeline_section.hpp"
#include "reports/topics/training/pipeline_plan.hpp"

namespace depthcost {
namespace training_section {
namespace {

/// The residual path on one micro-batch and all chunks, and what the pipeline makes of it.
std::array<NamedQuantity, 8> quantities_of(const TrainingRun& run) {
  return {{{"makespan_seconds", run.makespan.value, "s"},
           {"reduction_seconds", run.reduction.value, "s"},
           {"forward_seconds", run.forward.value, "s"},
           {"backward_seconds", run.backward.value, "s"},
           {"recompute_seconds", run.recompute.value, "s"},
           {"communication_seconds", run.communication.value, "s"},
           {"bubble", run.bubble, "ratio"},
           {"accumulation_d", run.accumulation_d, "d"}}};
}

void append_setup(JsonWriter& json, const Study& study) {
  const Training& training = *study.training;
  const PipelineLayout layout = layout_of(study);
  json.member("sequence_length", training.sequence_length);
  json.member("micro_batch_size", training.micro_batch_size);
  json.member("num_micro_batches", training.num_micro_batches);
  json.member("tokens_per_device", training_tokens(study));
  json.member("num_stages", layout.num_stages);
  json.member("num_virtual_stages", layout.num_virtual_stages);
  json.member("pipeline_schedule", name(training.schedule));
  json.member("precision", name(training.precision));
  json.member("activations", name(training.activations));
  json.member("layers", name(training.layers));
  json.member("optimizer", name(training.optimizer));
  json.member("sharding", name(training.sharding));
  json.member("main_gradients", name(training.main_gradients));
  json.member("gradient_accumulation", name(training.gradient_accumulation));
  json.member("cache", name(training.cache));
  json.member("sends", name(training.sends));
  json.member("gradient_dtype", name(training.gradient_dtype));
  json.member("wire_dtype", name(training.wire_dtype));
}

void append_stage_memory(JsonWriter& json, const std::vector<StageMemory>& stages) {
  json.objects("stages", stages, [&](const StageMemory& stage) {
    json.member("activation_bytes", stage.activations.value);
    json.member("block_bytes", stage.blocks.value);
    json.member("micro_batches_in_flight", stage.micro_batches);
  });
}

/// Where the layers beside the residual path have times.
bool is_step_known(const Evaluation& evaluation) { return !evaluation.training.rest.rows.empty(); }

void append_schemes(JsonWriter& json, const Evaluation& e) {
  json.objects("by_scheme", e.training.runs, [&](const TrainingRun& run) {
    json.member("scheme", name(run.path->scheme));
    json.member("schedule", name(run.schedule));
    append(json, quantities_of(run));
    if (const auto all = throughput_of(e, run)) {
      json.member("tokens_per_second", all->tokens_per_second);
      json.member("tokens_per_second_and_device", all->tokens_per_second_and_device);
      json.member("model_flops_per_second_and_device", all->model_rate.value);
      json.member("mfu", all->utilization);
    }
    json.array("message_bytes", [&] {
      for (const Bytes bytes : run.messages) json.value(bytes.value);
    });
    append_stage_memory(json, run.stages);
  });
}

void append_chunks(JsonWriter& json, const Evaluation& e) {
  const PipelineLayout layout = layout_of(e.study);
  const std::vector<ChunkTimes>& chunks = e.training.work->chunks;
  json.array("chunks", [&] {
    for (std::size_t chunk = 0; chunk < chunks.size(); ++chunk)
      json.object([&] {
        json.member("stage", stage_of_chunk(static_cast<Count>(chunk), layout.num_stages));
        json.member("layers", layout.chunk_layers[chunk]);
        json.member("forward_seconds", chunks[chunk].forward.value);
        json.member("recompute_seconds", chunks[chunk].recompute.value);
        json.member("backward_input_seconds", chunks[chunk].backward_input.value);
        json.member("backward_weight_seconds", chunks[chunk].backward_weight.value);
      });
  });
}

void append_transitions(JsonWriter& json, const PipelineWork& work) {
  json.array("transitions", [&] {
    for (std::size_t i = 0; i < work.links.size(); ++i)
      json.object([&] {
        json.member("forward_bytes", work.forward_messages[i].value);
        json.member("backward_bytes", work.backward_messages[i].value);
        json.member("latency_seconds", work.links[i].latency.value);
        json.member("bytes_per_second", work.links[i].bandwidth.value);
      });
  });
}

void append_stages(JsonWriter& json, const SimulatedStep& step) {
  json.array("stages", [&] {
    for (std::size_t stage = 0; stage < step.stages.size(); ++stage)
      json.object([&] {
        json.member("busy_seconds", step.busy[stage].value);
        json.member("communication_seconds", step.communication[stage].value);
        json.member("peak_in_flight", step.peak_in_flight[stage]);
        json.member("peak_weights_pending", step.peak_weights_pending[stage]);
      });
  });
}

std::string bytes_or_dash(Bytes bytes) {
  return bytes.value > 0 ? format_bytes(bytes) : std::string(kNothing);
}

std::string seconds_or_dash(Seconds seconds) {
  return seconds.value > 0 ? format_seconds(seconds) : std::string(kNothing);
}

std::string link_text(const StageLink& link) {
  if (!std::isfinite(link.bandwidth.value)) return format_seconds(link.latency);
  return fmt::format("{} + bytes / {}", format_seconds(link.latency),
                     format_bandwidth(link.bandwidth));
}

/// ", chunks have 5 to 6 layers, and the longest sets the pace", where they differ.
std::string chunk_text(const PipelineLayout& layout) {
  const auto [least, most] =
      std::minmax_element(layout.chunk_layers.begin(), layout.chunk_layers.end());
  if (*least == *most) return "";
  return fmt::format(" with chunks of {} to {} layers, and the longest sets the pace", *least,
                     *most);
}

std::string setup_text(const Study& study) {
  const Training& training = *study.training;
  const PipelineLayout layout = layout_of(study);
  std::string text =
      fmt::format("One optimiser step: {} of {} x {} tokens, {} of each on a device. ",
                  format_counted(training.num_micro_batches, "micro-batch", "micro-batches"),
                  format_count(training.micro_batch_size), format_count(training.sequence_length),
                  format_count(static_cast<Count>(training_tokens(study))));
  if (layout.num_stages > 1)
    text += fmt::format(
        "{} run `{}`{}; sends are {}; blocks that a stage keeps and need not be sent again: `{}`. ",
        layout_text(layout), name(training.schedule), chunk_text(layout),
        training.sends == Sends::blocking ? "blocking" : "overlapped with computing",
        name(training.cache));
  return text + fmt::format(
                    "Activations of the residual path: `{}`; gradients of a source that many "
                    "layers read are added up as `{}`. Backward times follow from counts, at the "
                    "rates of forward kernels, and up to twice that; no backward time of a GPU is "
                    "fitted to a measurement.",
                    name(training.activations), name(training.gradient_accumulation));
}

std::string links_text(const Evaluation& e) {
  const PipelineWork& work = *e.training.work;
  if (work.links.empty()) return "Without a pipeline nothing is sent and nobody waits.";
  if (!stage_links(e.study, work.forward_messages))
    return "The hardware has no `send` times, so communication costs nothing here. Real steps are longer.";
  if (e.training.rest.rows.empty())
    return "Communication is not judged without the layers that hide it.";
  return {};
}

std::string context_text(const Study& study) {
  if (study.context_parallel_size == 1) return {};
  return fmt::format(
      "What the {} context ranks exchange of keys and values, forward and back, is not modelled: "
      "the step is too short by that, with every scheme alike.",
      study.context_parallel_size);
}

void write_details(Document& out) {
  const Evaluation& e = out.evaluation();
  const std::string own =
      fmt::format("{} as {}", name(e.study.path.scheme), name(e.study.schedule));
  out.paragraph(
      fmt::format("<details><summary>{}, stage by stage and chunk by chunk</summary>", own));
  out.table(stage_table(e));
  out.table(chunk_table(e));
  out.paragraph("</details>");
}

/// What replicas share out.
std::string_view shared_text(StateSharding sharding) {
  switch (sharding) {
    case StateSharding::none:
      return "nothing";
    case StateSharding::optimizer:
      return "the optimiser's state";
    case StateSharding::gradients:
      return "the optimiser's state and gradients";
    case StateSharding::weights:
      return "the optimiser's state, gradients and weights";
  }
  return "";
}

std::string replicas_text(Count replicas, StateSharding sharding) {
  if (replicas == 1) return "There is one replica";
  return fmt::format("{} replicas share {}", replicas, shared_text(sharding));
}

/// "What a device holds: weights in bf16, gradients in f32, state of `adamw`. ..."
std::string state_text(const Study& study) {
  const Training& training = *study.training;
  std::string text = fmt::format(
      "What a device holds: weights in bf16, gradients in {}, state of `{}`. {}; the layers' "
      "activations: `{}`.",
      name(training.main_gradients), name(training.optimizer),
      replicas_text(dense_replicas(study).replicas, training.sharding), name(training.layers));
  if (study.machine->memory_capacity)
    text += fmt::format(" The device has {}.", format_bytes(*study.machine->memory_capacity));
  return text;
}

void write_device(Document& out) {
  const Evaluation& e = out.evaluation();
  if (!e.study.model.architecture) return;
  out.paragraph(state_text(e.study));
  out.table(training_device_table(e));
  if (training_throughput_table(e).rows.empty()) return;
  out.paragraph(
      "`model`: the operations that the model needs, three times those of a forward pass, for each "
      "device and second; `MFU`: that over the dense bf16 rate of the datasheet.");
  out.table(training_throughput_table(e));
}

/// Three significant digits.
std::string rounded_count(double count) {
  const double unit = std::pow(10.0, std::floor(std::log10(std::max(1.0, count))) - 2);
  return format_count(std::llround(std::max(1.0, unit) * std::round(count / std::max(1.0, unit))));
}

/// MFU over the whole interval of the step.
Estimate<double> utilization_of(const Evaluation& e, const TrainingRun& run, const Throughput& at) {
  const auto row = std::find_if(
      e.training.steps.begin(), e.training.steps.end(),
      [&](const StepRow& step) { return step.path == run.path && step.schedule == run.schedule; });
  const double value = at.utilization;
  if (row == e.training.steps.end() || !row->baseline_step || !row->overhead)
    return {value, value, value, Evidence::assumed};
  const Estimate<Seconds> step = whole_step(*row);
  return {value * (step.value / step.high), value, value * (step.value / step.low),
          row->delta.evidence};
}

}  // namespace

std::optional<Throughput> throughput_of(const Evaluation& e, const TrainingRun& run) {
  if (!is_step_known(e) || !e.study.model.architecture || !e.study.machine->tensor_rate)
    return std::nullopt;
  return throughput(e.study, run.makespan + run.reduction);
}

std::string communication_sentence(const Evaluation& e) {
  const TrainingRun* own = training_run(e, e.study.path, e.study.schedule);
  const TrainingRun* standard = training_run(e, {Scheme{}, 0}, Schedule::fused);
  if (own == nullptr || standard == nullptr || !is_step_known(e)) return {};
  if (e.training.work->links.empty() || own->communication <= standard->communication) return {};
  return fmt::format(
      "{} of the {} that `{}` adds to the pipeline are waits for messages between stages. Stages do "
      "not compute for {} of the pipeline's time; with the standard residual {}.",
      format_seconds(own->communication - standard->communication),
      format_seconds(own->makespan - standard->makespan), name(own->path->scheme),
      format_ratio(own->bubble), format_ratio(standard->bubble));
}

std::string balance_sentence(const Evaluation& e) {
  if (!e.study.pipeline || !e.training.work || !is_step_known(e)) return {};
  const PipelineOrder& order = e.training.work->order;
  if (order.num_stages < 2) return {};
  std::vector<Seconds> stages(static_cast<std::size_t>(order.num_stages));
  Seconds all;
  for (std::size_t chunk = 0; chunk < e.training.work->chunks.size(); ++chunk) {
    const ChunkTimes& times = e.training.work->chunks[chunk];
    const Seconds work =
        times.forward + times.recompute + times.backward_input + times.backward_weight;
    const std::size_t stage = stage_of_chunk(chunk, stages.size());
    const std::size_t second = num_copies(e.study.training->schedule) > 1  // in the other direction
                                   ? stages.size() - 1 - stage
                                   : stage;
    stages[stage] += 0.5 * work;
    stages[second] += 0.5 * work;
    all += work;
  }
  const auto longest = std::max_element(stages.begin(), stages.end());
  const Seconds others = (1 / static_cast<double>(stages.size() - 1)) * (all - *longest);
  constexpr double kUneven = 1.1;
  if (others == Seconds{} || *longest < kUneven * others) return {};
  const std::vector<Count>& layers = e.study.pipeline->chunk_layers;
  const bool is_last = longest + 1 == stages.end() || num_copies(e.study.training->schedule) > 1;
  const bool has_head =
      is_last && layers.back() <= *std::max_element(layers.begin(), layers.end() - 1);
  return fmt::format(
      "Stage {} works {} longer than the mean of the others{}, and they wait for it: "
      "`parallelism.chunk_layers` can share out the layers more evenly.",
      longest - stages.begin(), format_ratio(*longest / others - 1),
      has_head ? ", since the last chunk has the head" : "");
}

void write_json(JsonWriter& json, const Answer& answer) {
  const Evaluation& evaluation = answer.evaluation;
  if (!evaluation.training.work) return;
  json.object("training", [&] {
    append_setup(json, evaluation.study);
    append_schemes(json, evaluation);
    append_chunks(json, evaluation);
    append_transitions(json, *evaluation.training.work);
    append_stages(json, *evaluation.training.simulated);
    json.object("plan", [&] { append_plan(json, evaluation); });
    append_shapes(json, evaluation.study);
  });
}

void write_csv(CsvLines& csv, const Answer& answer) {
  for (const TrainingRun& run : answer.evaluation.training.runs)
    csv.add({.section = "training",
             .workload = WorkloadId::training(),
             .scheme = name(run.path->scheme),
             .schedule = name(run.schedule)},
            quantities_of(run));
}

void write_markdown(Document& out) {
  const Evaluation& e = out.evaluation();
  if (!e.training.work) return;
  out.heading("Training step");
  out.paragraph(setup_text(e.study));
  out.paragraph(
      "`forward`, `backward`, `recompute`: the residual path of all chunks on one micro-batch. "
      "`gradient sums`: d-vectors per token and step that adding them up moves beyond a backward "
      "pass that reads every source once. A negative number means that one kernel for a block saves "
      "reads.");
  out.table(training_path_table(e));
  if (is_step_known(e)) {
    out.paragraph(
        "`step`: the simulated pipeline with the layers, then the reduction; `bubble`: share of the "
        "pipeline in which a stage does not compute; `communication`: exposed messages between stages, "
        "which free links would save; `reduction`: exposed exchange of gradients and weights between "
        "replicas.");
    out.table(training_step_table(e));
  }
  out.optional_paragraph(links_text(e));
  out.optional_paragraph(context_text(e.study));
  out.plot("schedule.svg");
  out.paragraph(
      "Memory is that of one stage: the one whose layers, `activations` (made there) and `received "
      "blocks` (that came over the pipeline, or the embedding on stage 0) are largest together, "
      "with all its micro-batches in flight. Another stage may keep more received blocks.");
  out.table(training_memory_table(e));
  write_device(out);
  write_details(out);
  write_shapes(out);
}

void write_table(std::string& text, const Answer& answer) {
  const Evaluation& evaluation = answer.evaluation;
  if (!evaluation.training.work) return;
  append_table(text, "Training: the residual path on one micro-batch",
               training_path_table(evaluation));
  if (is_step_known(evaluation))
    append_table(text, "Training: the simulated step", training_step_table(evaluation));
  append_table(text, "Training: the fullest stage, and the messages of one micro-batch",
               training_memory_table(evaluation));
  if (!evaluation.study.model.architecture) return;
  append_table(text, "Training: memory of a device", training_device_table(evaluation));
  if (const Table table = training_throughput_table(evaluation); !table.rows.empty())
    append_table(text, "Training: throughput", table);
  append_shapes(text, evaluation.study);
}

}  // namespace training_section

using namespace training_section;

const TrainingRun* training_run(const Evaluation& evaluation, const ResidualPath& path,
                                Schedule schedule) {
  for (const TrainingRun& run : evaluation.training.runs)
    if (same_scheme(run.path->scheme, path.scheme) && run.schedule == schedule) return &run;
  return nullptr;
}

Table training_path_table(const Evaluation& evaluation) {
  Table table{{"scheme", "schedule", right("forward"), right("backward"), right("recompute"),
               right("gradient sums")}};
  for (const TrainingRun& run : evaluation.training.runs)
    table.add(name(run.path->scheme), training_schedule_label(run.path->scheme, run.schedule),
              format_seconds(run.forward), format_seconds(run.backward),
              seconds_or_dash(run.recompute), format_d(run.accumulation_d));
  return table;
}

Table training_step_table(const Evaluation& evaluation) {
  Table table{{"scheme", "schedule", right("step"), right("bubble"), right("communication"),
               right("reduction")}};
  for (const TrainingRun& run : evaluation.training.runs)
    table.add(name(run.path->scheme), training_schedule_label(run.path->scheme, run.schedule),
              format_seconds(run.makespan + run.reduction), format_ratio(run.bubble),
              seconds_or_dash(run.communication), seconds_or_dash(run.reduction));
  return table;
}

Table training_device_table(const Evaluation& evaluation) {
  const Study& study = evaluation.study;
  Table table{{"scheme", right("weights"), right("gradients"), right("optimiser"), right("layers"),
               right("residual path"), right("all"), right("of capacity")}};
  for (const ResidualPath& path : evaluation.paths) {
    std::map<MemoryItem, Bytes> items;
    for (const MemoryRow& row : evaluation.memory)
      if (row.workload == WorkloadId::training() && row.path == &path) items[row.item] += row.bytes;
    const Bytes all = memory_of(evaluation.memory, WorkloadId::training(), path.scheme);
    using enum MemoryItem;
    table.add(name(path.scheme), bytes_or_dash(items[weights]), bytes_or_dash(items[gradients]),
              bytes_or_dash(items[optimizer_states]), bytes_or_dash(items[layer_activations]),
              bytes_or_dash(items[activations] + items[pipeline_blocks]), format_bytes(all),
              study.machine->memory_capacity ? format_ratio(all / *study.machine->memory_capacity)
                                             : std::string(kNothing));
  }
  return table;
}

Table training_throughput_table(const Evaluation& evaluation) {
  Table table{{"scheme", "schedule", right("tokens/s"), right("tokens/s a device"), right("model"),
               right("MFU")}};
  for (const TrainingRun& run : evaluation.training.runs) {
    if (run.schedule != quoted_schedule(evaluation.study, *run.path)) continue;
    const auto all = throughput_of(evaluation, run);
    if (!all) continue;
    table.add(name(run.path->scheme), training_schedule_label(run.path->scheme, run.schedule),
              rounded_count(all->tokens_per_second),
              rounded_count(all->tokens_per_second_and_device), format_flop_rate(all->model_rate),
              format_ratio(utilization_of(evaluation, run, *all)));
  }
  return table;
}

Table training_memory_table(const Evaluation& evaluation) {
  Table table{{"scheme", right("activations"), right("received blocks"), right("in flight"),
               right("largest message"), right("all messages")}};
  const Study& study = evaluation.study;
  const BesideThePath beside = beside_the_path(study);
  for (const TrainingRun& run : evaluation.training.runs) {
    if (run.schedule != quoted_schedule(evaluation.study, *run.path)) continue;
    const StageMemory& peak =
        run.stages[fullest_stage(run.stages, beside_by_stage(study, *run.path, beside))];
    Bytes largest;
    Bytes all;
    for (const Bytes message : run.messages) {
      largest = std::max(largest, message);
      all = all + message;
    }
    table.add(name(run.path->scheme), bytes_or_dash(peak.activations), bytes_or_dash(peak.blocks),
              format_count(peak.micro_batches), bytes_or_dash(largest), bytes_or_dash(all));
  }
  return table;
}

Table stage_table(const Evaluation& evaluation) {
  Table table{{right("stage"), right("computes"), right("waits for messages"), right("idle"),
               right("in flight"), right("activations"), right("received blocks")}};
  const SimulatedStep& step = *evaluation.training.simulated;
  const TrainingRun& run =
      *training_run(evaluation, evaluation.study.path, evaluation.study.schedule);
  for (std::size_t stage = 0; stage < step.stages.size(); ++stage) {
    const Seconds waits = step.communication[stage];
    const Seconds idle = step.makespan - step.busy[stage] - waits;
    const StageMemory& memory = run.stages[stage];
    table.add(std::to_string(stage), format_seconds(step.busy[stage]), seconds_or_dash(waits),
              format_ratio(std::max(0.0, idle / step.makespan)), format_count(memory.micro_batches),
              bytes_or_dash(memory.activations), bytes_or_dash(memory.blocks));
  }
  return table;
}

Table chunk_table(const Evaluation& evaluation) {
  Table table{{right("chunk"), right("stage"), right("layers"), right("forward"),
               right("recompute"), right("backward, inputs"), right("backward, weights"),
               right("sends on"), right("sends back"), "link"}};
  const PipelineLayout layout = layout_of(evaluation.study);
  const PipelineWork& work = *evaluation.training.work;
  for (std::size_t chunk = 0; chunk < work.chunks.size(); ++chunk) {
    const ChunkTimes& times = work.chunks[chunk];
    const bool has_next = chunk < work.links.size();
    table.add(std::to_string(chunk),
              std::to_string(stage_of_chunk(static_cast<Count>(chunk), layout.num_stages)),
              format_count(layout.chunk_layers[chunk]), format_seconds(times.forward),
              seconds_or_dash(times.recompute), format_seconds(times.backward_input),
              format_seconds(times.backward_weight),
              has_next ? bytes_or_dash(work.forward_messages[chunk]) : std::string(kNothing),
              chunk > 0 ? bytes_or_dash(work.backward_messages[chunk - 1]) : std::string(kNothing),
              has_next ? link_text(work.links[chunk]) : std::string(kNothing));
  }
  return table;
}

}  // namespace depthcost
