// A sweep over block sizes that a chart can tell apart.
#include "web/engine/block_sizes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "model/schemes/list.hpp"
#include "scenarios/read/sweep_plan.hpp"
#include "web/engine/page_json.hpp"

namespace depthcost::page {
namespace {

/// 1, 2, 3, 4, 6, 8, 12, ... up to L, the scenario's own, and L.
std::string sizes_up_to(Count num_layers, Count own) {
  std::set<Count> sizes{own, num_layers};
  for (Count power = 1; power <= num_layers; power *= 2)
    for (const Count size : {power, power + power / 2})
      if (size <= num_layers) sizes.insert(size);
  return fmt::format("{}", fmt::join(sizes, ","));
}

void write_added(JsonWriter& json, std::string_view key, const std::optional<AddedTime>& added) {
  if (!added) return;
  json.object(key, [&] {
    write_seconds(json, "delta", added->delta);
    if (added->overhead) write_ratio(json, "overhead", *added->overhead);
  });
}

void write_point(JsonWriter& json, const Sweep& sweep, std::size_t choice) {
  const SweepPoint point = sweep.point(0, choice);
  json.member("block_size", point.choice->values.front());
  write_added(json, "decode", point.decode);
  write_added(json, "prefill", point.prefill);
  write_added(json, "training", point.training);
  json.member("state", state_per_token(*point.choice).value);
  json.member("state_text", format_bytes(state_per_token(*point.choice)));
  json.member("moved", point.choice->forward_bytes.value);
  json.member("moved_text", format_bytes(point.choice->forward_bytes));
}

}  // namespace

std::string block_sizes_json(const ScenarioText& scenario) {
  UnreadScenario source{parse_document(scenario.text, scenario.file), scenario.file};
  const Study own = scenario_of(source.document, source.file, source.provenance).study;
  const Partition* blocks = attnres_blocks(own.path.scheme);
  JsonWriter json;
  json.object([&] {
    if (blocks == nullptr) return;
    const Count num_layers = own.model.num_layers;
    json.member("own", blocks->block_size);
    SweepPlan plan =
        plan_sweep(std::move(source), {"block_size=" + sizes_up_to(num_layers, blocks->block_size)},
                   kDefaultMaxPoints);
    SweepScene& scene = plan.scenes.front();
    const Sweep sweep(*std::move(scene.study), std::move(scene.axes), 1);
    json.array("sizes", [&] {
      for (std::size_t i = 0; i < sweep.choices().size(); ++i)
        if (sweep.choices()[i].refused.empty()) json.object([&] { write_point(json, sweep, i); });
    });
  });
  return std::move(json).text();
}

}  // namespace depthcost::page
