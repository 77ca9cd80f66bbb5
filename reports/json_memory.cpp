// What is sent across boundaries and what is stored.
#include "reports/json_sections.hpp"

namespace depthcost::sections {
namespace {

std::vector<Count> vectors_of(const PipelineTraffic& traffic) {
  std::vector<Count> vectors;
  for (const Transition& transition : traffic.transitions) vectors.push_back(transition.vectors);
  return vectors;
}

void append_events(JsonWriter& json, const PipelineAnswer& pipeline) {
  json.array("events", [&] {
    append_rows(json, pipeline.events, [&](const PipelineRun& run) {
      json.member("cache", name(run.payload.cache));
      json.member("embedding", name(run.payload.embedding));
      json.member("partial", name(run.payload.partial));
      json.list("transitions_d", vectors_of(run.traffic));
      json.member("total_d", run.traffic.total);
      json.member("peak_d", run.traffic.peak);
    });
  });
}

void append_schemes(JsonWriter& json, const PipelineAnswer& pipeline) {
  json.array("by_scheme", [&] {
    append_rows(json, pipeline.by_scheme, [&](const SchemePayload& row) {
      json.member("scheme", name(row.path->scheme));
      json.member("naive_total_d", row.naive.total);
      json.member("naive_peak_d", row.naive.peak);
      json.member("cached_total_d", row.cached.total);
      json.member("cached_peak_d", row.cached.peak);
    });
  });
}

}  // namespace

void pipeline(JsonWriter& json, const PipelineAnswer& pipeline) {
  json.object("pipeline", [&] {
    json.object("formula", [&] {
      json.member("naive_d", pipeline.naive_d);
      json.member("cached_d", pipeline.cached_d);
    });
    append_events(json, pipeline);
    append_schemes(json, pipeline);
    json.list("cached_blocks_per_stage_d", pipeline.cached_blocks_per_stage);
    json.list("uncached_copies_per_stage_d", pipeline.uncached_copies_per_stage);
  });
}

void prefill(JsonWriter& json, const Evaluation& evaluation) {
  json.object("prefill", [&] {
    append(json, quantities_of(evaluation.prefill.front()));
    json.array("by_scheme", [&] {
      for (std::size_t i = 0; i < evaluation.prefill.size(); ++i)
        json.object([&] {
          json.member("scheme", name(evaluation.paths[i].scheme));
          append(json, quantities_of(evaluation.prefill[i]));
        });
    });
  });
}

void memory(JsonWriter& json, const Evaluation& evaluation) {
  json.array("memory", [&] {
    append_rows(json, evaluation.memory, [&](const MemoryRow& row) {
      json.member("workload", row.workload);
      json.member("scheme", name(row.path->scheme));
      json.member("item", name(row.item));
      json.member("bytes_per_device", row.bytes.value);
    });
  });
}

}  // namespace depthcost::sections
