// What a device keeps of a training step, item by item.
#include <fmt/format.h>

#include "model/step/weights_and_cache.hpp"
#include "model/training/layer_activations.hpp"
#include "model/training/model_state.hpp"
#include "model/training/replicas.hpp"
#include "model/training/rest_of_training.hpp"
#include "reports/formats/numbers.hpp"
#include "reports/topics/training/training_section.hpp"

namespace depthcost::training_section {
namespace {

using explained::letters;
using explained::metric;

std::size_t stage_of(const Study& study, const TrainingRun& run) {
  return fullest_stage(run.stages, beside_by_stage(study, *run.path, beside_the_path(study)));
}

/// The run of a path as it is quoted; null where a measured step stands for it.
const TrainingRun* quoted_run(const Evaluation& e, const ResidualPath* path) {
  for (const TrainingRun& run : e.training.runs)
    if (run.path == path && run.schedule == quoted_schedule(e.study, *path)) return &run;
  return nullptr;
}

/// "stage 0: 256 layers of all micro-batches in flight x 2e8 bytes".
std::string layers_text(const Study& study, const TrainingRun& run) {
  const std::size_t stage = stage_of(study, run);
  const KeptOfLayers kept = kept_of_layers(study);
  const LayersInFlight layers =
      layers_in_flight(study, training_order(study, study.training->num_micro_batches))[stage];
  std::string text =
      fmt::format("stage {}: {} layers of all micro-batches in flight x {:.12g} bytes", stage,
                  layers.kept, kept.of_layer.value);
  if (layers.recomputed > 0)
    text += fmt::format(" + {} made again, until their weights have gradients, x {:.12g} bytes",
                        layers.recomputed, kept.recomputed_of_layer.value);
  else if (kept.recomputed.value > 0)
    text += fmt::format(" + {:.12g} bytes of a decoder layer that is made again",
                        kept.recomputed.value);
  if (stage + 1 == run.stages.size())
    text += fmt::format(" + logits of one micro-batch, {:.12g} bytes", kept.logits.value);
  return text;
}

/// "stage 3, the fullest: activations 1.2e9 bytes + received blocks 3e8 bytes, 4 micro-batches".
std::string fullest_text(const Study& study, const TrainingRun& run) {
  const std::size_t stage = stage_of(study, run);
  const StageMemory& most = run.stages[stage];
  return fmt::format(
      "stage {}, the fullest: activations {:.12g} bytes + received blocks {:.12g} bytes, {} "
      "micro-batches in flight",
      stage, most.activations.value, most.blocks.value, most.micro_batches);
}

Bytes whole_for_a_moment(const Study& study, const ResidualPath& path, std::size_t stage,
                         MemoryItem item) {
  const ModelState state = model_state(study, path, stage);
  if (item == MemoryItem::weights) return state.whole_weights;
  return item == MemoryItem::gradients ? state.whole_gradients : Bytes{};
}

/// Explains what stands beside the residual path.
Explanation explain_beside(const Evaluation& e, const MemoryRow& row) {
  const Study& study = e.study;
  const Training& training = *study.training;
  const TrainingRun* run = quoted_run(e, row.path);
  const std::size_t stage = run == nullptr ? 0 : stage_of(study, *run);
  const DeviceParameters parameters = stage_parameters(as_trained(study), stage);
  const bool is_of_layers = row.item == MemoryItem::layer_activations;
  Explanation x{
      .metric = metric({"memory.training", name(row.path->scheme), name(row.item)}),
      .formula = is_of_layers
                     ? "elements that backward passes of the layers read, for all micro-batches in "
                       "flight on the fullest stage; logits of one in f32"
                     : "bytes of a weight x (weights of the fullest stage / replicas that share "
                       "them out) + what is whole for a moment",
      .source = is_of_layers ? "[ours] REFERENCES.md, memory of training"
                             : "[megatron_optimizer], [zero]; REFERENCES.md, memory of training",
      .numbers = {},
      .function = is_of_layers ? "model/training/layer_activations.cpp: layer_activations"
                               : "model/training/model_state.cpp: model_state"};
  if (is_of_layers)
    x.numbers = {pipeline_text(study), fmt::format("layers: {}", name(training.layers)),
                 run == nullptr ? "not in the simulated step" : layers_text(study, *run)};
  else
    x.numbers = {
        fmt::format("stage {}: {:.12g} weights of layers, vocabulary and tables + {:.12g} of "
                    "experts + {:.12g} of the scheme on one device",
                    stage, parameters.dense(), parameters.experts,
                    stage_share(study, stage) * path_parameters(study, *row.path)),
        fmt::format("replicas: {}, of experts {}; sharding {}, optimizer {}, gradients in {}",
                    dense_replicas(study).replicas, expert_replicas(study).replicas,
                    name(training.sharding), name(training.optimizer),
                    name(training.main_gradients))};
  const Bytes whole = whole_for_a_moment(study, *row.path, stage, row.item);
  if (whole.value > 0)
    x.numbers.push_back(fmt::format(
        "{:.12g} bytes in bf16 are whole for a moment: of decoder layers, or of a vocabulary matrix",
        whole.value));
  x.numbers.push_back(fmt::format("= {:.12g} bytes", row.bytes.value));
  return x;
}

bool is_of_residual_path(MemoryItem item) {
  return item == MemoryItem::activations || item == MemoryItem::pipeline_blocks;
}

}  // namespace

Explanation explain_memory(const Evaluation& e, const MemoryRow& row) {
  if (!is_of_residual_path(row.item)) return explain_beside(e, row);
  const bool is_cache = row.item == MemoryItem::pipeline_blocks;
  const TrainingRun* run = quoted_run(e, row.path);
  const std::string terms =
      run == nullptr ? "not in the simulated step" : fullest_text(e.study, *run);
  return {
      .metric = metric({"memory.training", name(row.path->scheme), name(row.item)}),
      .formula = is_cache ? "blocks that were received, for all micro-batches in flight on the "
                            "fullest stage; with a cache each block is held once, and those that "
                            "the stage made itself are not counted"
                          : "what backward passes of the residual path read, for all "
                            "micro-batches in flight on the fullest stage",
      .source = is_cache ? "[attnres] Sec. 4.1, enumerated" : "[ours] REFERENCES.md, activations",
      .numbers = {pipeline_text(e.study), letters(*row.path), terms,
                  fmt::format("activations {}, cache {}: = {:.12g} bytes",
                              name(e.study.training->activations), name(e.study.training->cache),
                              row.bytes.value)},
      .function = "model/training/training_memory.cpp: training_memory"};
}

}  // namespace depthcost::training_section
