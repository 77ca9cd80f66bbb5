// Keys as microbench/mpi/plan_file.hpp reads them.
#include "reports/topics/training/pipeline_plan.hpp"

#include <cmath>

#include "model/step/scheme_payload.hpp"

namespace depthcost {
namespace {

void append_payload(JsonWriter& json, const Study& study) {
  json.object("payload", [&] {
    const std::vector<Count> blocks = bank_block_sizes(study.path);
    if (!blocks.empty()) {
      json.list("block_sizes", blocks);
      json.member("cache", name(study.training->cache));
      return;
    }
    json.member("vectors", largest_state(study.path.scheme, study.path.num_layers));
  });
}

void append_work(JsonWriter& json, const PipelineWork& work) {
  json.objects("chunk_seconds", work.chunks, [&](const ChunkTimes& chunk) {
    json.member("forward", chunk.forward.value);
    json.member("recompute", chunk.recompute.value);
    json.member("backward_input", chunk.backward_input.value);
    json.member("backward_weight", chunk.backward_weight.value);
  });
  json.objects("links", work.links, [&](const StageLink& link) {
    json.member("latency_seconds", link.latency.value);
    if (std::isfinite(link.bandwidth.value)) json.member("bytes_per_second", link.bandwidth.value);
  });
}

}  // namespace

void append_plan(JsonWriter& json, const Evaluation& evaluation) {
  const Study& study = evaluation.study;
  const Training& training = *study.training;
  const PipelineLayout layout = layout_of(study);
  json.member("schema", "depthcost-pipeline/1");
  json.member("schedule", name(training.schedule));
  json.member("activations",
              name(has_recomputation(training) ? Activations::recomputed : Activations::kept));
  json.member("num_stages", layout.num_stages);
  json.member("num_virtual_stages", layout.num_virtual_stages);
  json.member("num_micro_batches", training.num_micro_batches);
  json.list("chunk_layers", layout.chunk_layers);
  append_payload(json, study);
  json.member("tokens", std::ceil(training_tokens(study)));
  json.member("hidden_size", study.model.hidden_size);
  json.member("bytes_per_element", bytes_per_element(training.wire_dtype));
  json.member("gradient_bytes_per_element", bytes_per_element(training.gradient_dtype));
  append_work(json, *evaluation.training.work);
  json.member("sends", name(training.sends));
}

std::string pipeline_plan(const Evaluation& evaluation) {
  JsonWriter json;
  json.object([&] { append_plan(json, evaluation); });
  return std::move(json).text();
}

}  // namespace depthcost
