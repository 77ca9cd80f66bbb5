// One row for each limit that a small file can meet.
#include "scenarios/keys/limits.hpp"

#include <fmt/format.h>

#include "model/evaluation/predicted_work.hpp"
#include "model/pipeline/pipeline_order.hpp"
#include "model/plan/placement.hpp"
#include "scenarios/text/json_document.hpp"

namespace depthcost {

std::string limits_documentation() {
  std::string text =
      "\n## Limits\n\nA file that asks for more is refused before anything is computed.\n\n"
      "| limit | of |\n|---|---|\n";
  const auto row = [&](double limit, const char* of) {
    text += fmt::format("| {:.0f} | {} |\n", limit, of);
  };
  row(kMaxLayers, "layers (sublayers) of a model: `num_layers`, or twice `decoder_layers`");
  row(kMaxExperts, "routed experts of a layer: `mlp[].experts`");
  row(as_double(kMostDevices), "devices of a scenario: ranks and stages multiplied");
  row(kMaxBatches, "batches of `workload.decode.sequences`");
  row(kMaxTimedLaunches,
      "kinds of launches to time: batches x schemes x schedules x layers that differ");
  row(kMaxChunkPasses, "passes of chunks in one pipeline: P V x `micro_batches`");
  row(kMaxSimulatedPasses, "the same over all schemes and schedules");
  row(kMaxLayerRows, "rows of `evaluate --layers`: layers x schemes x schedules");
  row(kMaxScenes, "readings of the scenario by a sweep, or placements of a plan over all schemes");
  row(kMaxSweptLayers,
      "layers that a sweep goes through: choices x layers; those of Block AttnRes weigh a "
      "sixteenth");
  row(kMaxSweptPasses, "passes of chunks that a sweep simulates: choices x P V x `micro_batches`");
  row(as_double(kMostPlannedDevices), "devices of `plan`");
  row(kMaxPlannedLayers,
      "layers that a plan goes through: those of a sweep on all placements, at every batch");
  row(kMaxPlannedPasses,
      "passes of chunks that a plan simulates: those of a sweep on all placements");
  row(kMostPoints, "points of a sweep; 1000000 without `--max-points`");
  row(kMaxJsonValues, "values of a JSON file, lists and maps too");
  return text;
}

}  // namespace depthcost
