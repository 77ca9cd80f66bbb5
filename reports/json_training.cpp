// The training step: every scheme, and the simulated pipeline of the study's own.
#include "reports/json_sections.hpp"
#include "reports/pipeline_plan.hpp"

namespace depthcost::sections {
namespace {

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
  json.member("activations", name(training.activations));
  json.member("gradient_accumulation", name(training.gradient_accumulation));
  json.member("cache", name(training.cache));
  json.member("sends", name(training.sends));
  json.member("gradient_dtype", name(training.gradient_dtype));
  json.member("wire_dtype", name(training.wire_dtype));
}

void append_stage_memory(JsonWriter& json, const std::vector<StageMemory>& stages) {
  json.array("stages", [&] {
    append_rows(json, stages, [&](const StageMemory& stage) {
      json.member("activation_bytes", stage.activations.value);
      json.member("block_bytes", stage.blocks.value);
      json.member("micro_batches_in_flight", stage.micro_batches);
    });
  });
}

void append_schemes(JsonWriter& json, const Evaluation& e) {
  json.array("by_scheme", [&] {
    append_rows(json, e.training.runs, [&](const TrainingRun& run) {
      json.member("scheme", name(run.path->scheme));
      json.member("schedule", name(run.schedule));
      append(json, quantities_of(run));
      json.array("message_bytes", [&] {
        for (const Bytes bytes : run.messages) json.value(bytes.value);
      });
      append_stage_memory(json, run.stages);
    });
  });
}

void append_chunks(JsonWriter& json, const Evaluation& e) {
  const PipelineLayout layout = layout_of(e.study);
  const std::vector<ChunkTimes>& chunks = e.training.work->chunks;
  json.array("chunks", [&] {
    for (std::size_t chunk = 0; chunk < chunks.size(); ++chunk)
      json.object([&] {
        json.member("stage", static_cast<Count>(chunk) % layout.num_stages);
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

}  // namespace

void training(JsonWriter& json, const Evaluation& evaluation) {
  if (!evaluation.training.work) return;
  json.object("training", [&] {
    append_setup(json, evaluation.study);
    append_schemes(json, evaluation);
    append_chunks(json, evaluation);
    append_transitions(json, *evaluation.training.work);
    append_stages(json, *evaluation.training.simulated);
    json.object("plan", [&] { append_plan(json, evaluation); });
  });
}

}  // namespace depthcost::sections
