// The training step: times and memory of every scheme, stages and chunks of the study's own.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/format.hpp"
#include "reports/table.hpp"

namespace depthcost {
namespace {

std::string bytes_or_dash(Bytes bytes) {
  return bytes.value > 0 ? format_bytes(bytes, Prefix::binary) : std::string(kNothing);
}

std::string seconds_or_dash(Seconds seconds) {
  return seconds.value > 0 ? format_seconds(seconds) : std::string(kNothing);
}

std::string link_text(const StageLink& link) {
  if (!std::isfinite(link.bandwidth.value)) return format_seconds(link.latency);
  return fmt::format("{} + bytes / {}", format_seconds(link.latency),
                     format_bandwidth(link.bandwidth));
}

}  // namespace

const TrainingRun* training_run(const Evaluation& evaluation, const ResidualPath& path,
                                Schedule schedule) {
  for (const TrainingRun& run : evaluation.training.runs)
    if (same_scheme(run.path->scheme, path.scheme) && run.schedule == schedule) return &run;
  return nullptr;
}

Table training_time_table(const Evaluation& evaluation) {
  Table table{{{"scheme"},
               {"schedule"},
               {"forward", Align::right},
               {"backward", Align::right},
               {"recompute", Align::right},
               {"step", Align::right},
               {"bubble", Align::right},
               {"communication", Align::right}},
              {}};
  const bool is_step = !evaluation.training.rest.rows.empty();
  for (const TrainingRun& run : evaluation.training.runs)
    table.rows.push_back({std::string(name(run.path->scheme)), std::string(name(run.schedule)),
                          format_seconds(run.forward), format_seconds(run.backward),
                          seconds_or_dash(run.recompute),
                          is_step ? format_seconds(run.makespan) : std::string(kNothing),
                          is_step ? format_ratio(run.bubble) : std::string(kNothing),
                          seconds_or_dash(run.communication)});
  return table;
}

Table training_memory_table(const Evaluation& evaluation) {
  Table table{{{"scheme"},
               {"gradient sums", Align::right},
               {"activations", Align::right},
               {"received blocks", Align::right},
               {"in flight", Align::right},
               {"largest message", Align::right},
               {"all messages", Align::right}},
              {}};
  for (const TrainingRun& run : evaluation.training.runs) {
    if (run.schedule != quoted_schedule(evaluation.study, *run.path)) continue;
    const StageMemory peak = fullest(run.stages);
    Bytes largest;
    Bytes all;
    for (const Bytes message : run.messages) {
      largest = std::max(largest, message);
      all = all + message;
    }
    table.rows.push_back({std::string(name(run.path->scheme)), format_d(run.accumulation_d),
                          bytes_or_dash(peak.activations), bytes_or_dash(peak.blocks),
                          format_count(peak.micro_batches), bytes_or_dash(largest),
                          bytes_or_dash(all)});
  }
  return table;
}

Table stage_table(const Evaluation& evaluation) {
  Table table{{{"stage", Align::right},
               {"computes", Align::right},
               {"waits for messages", Align::right},
               {"idle", Align::right},
               {"in flight", Align::right},
               {"activations", Align::right},
               {"received blocks", Align::right}},
              {}};
  const SimulatedStep& step = *evaluation.training.simulated;
  const TrainingRun& run =
      *training_run(evaluation, evaluation.study.path, evaluation.study.schedule);
  for (std::size_t stage = 0; stage < step.stages.size(); ++stage) {
    const Seconds waits = step.communication[stage];
    const Seconds idle = step.makespan - step.busy[stage] - waits;
    const StageMemory& memory = run.stages[stage];
    table.rows.push_back({std::to_string(stage), format_seconds(step.busy[stage]),
                          seconds_or_dash(waits), format_ratio(std::max(0.0, idle / step.makespan)),
                          format_count(memory.micro_batches), bytes_or_dash(memory.activations),
                          bytes_or_dash(memory.blocks)});
  }
  return table;
}

Table chunk_table(const Evaluation& evaluation) {
  Table table{{{"chunk", Align::right},
               {"stage", Align::right},
               {"layers", Align::right},
               {"forward", Align::right},
               {"recompute", Align::right},
               {"backward, inputs", Align::right},
               {"backward, weights", Align::right},
               {"sends on", Align::right},
               {"sends back", Align::right},
               {"link"}},
              {}};
  const PipelineLayout layout = layout_of(evaluation.study);
  const PipelineWork& work = *evaluation.training.work;
  for (std::size_t chunk = 0; chunk < work.chunks.size(); ++chunk) {
    const ChunkTimes& times = work.chunks[chunk];
    const bool has_next = chunk < work.links.size();
    table.rows.push_back(
        {std::to_string(chunk), std::to_string(static_cast<Count>(chunk) % layout.num_stages),
         format_count(layout.chunk_layers[chunk]), format_seconds(times.forward),
         seconds_or_dash(times.recompute), format_seconds(times.backward_input),
         format_seconds(times.backward_weight),
         has_next ? bytes_or_dash(work.forward_messages[chunk]) : std::string(kNothing),
         chunk > 0 ? bytes_or_dash(work.backward_messages[chunk - 1]) : std::string(kNothing),
         has_next ? link_text(work.links[chunk]) : std::string(kNothing)});
  }
  return table;
}

}  // namespace depthcost
