// What is sent across boundaries and what is stored.
#include "reports/json_sections.hpp"

namespace depthcost::sections {
namespace {

std::string_view name(Cache cache) {
  constexpr std::array<std::string_view, 3> names{"none", "received", "own"};
  return names[static_cast<std::size_t>(cache)];
}

std::string_view name(Embedding embedding) {
  return embedding == Embedding::sent ? "sent" : "omitted";
}

std::string_view name(PartialSum partial) {
  return partial == PartialSum::sent ? "sent" : "omitted";
}

Json event(const PipelineRun& run) {
  Json transitions = Json::array();
  for (const Transition& transition : run.traffic.transitions)
    transitions.push_back(transition.vectors);
  return {{"cache", name(run.payload.cache)},     {"embedding", name(run.payload.embedding)},
          {"partial", name(run.payload.partial)}, {"transitions_d", std::move(transitions)},
          {"total_d", run.traffic.total},         {"peak_d", run.traffic.peak}};
}

Json payload(const SchemePayload& row) {
  return {{"scheme", depthcost::name(row.path->scheme)},
          {"naive_total_d", row.naive.total},
          {"naive_peak_d", row.naive.peak},
          {"cached_total_d", row.cached.total},
          {"cached_peak_d", row.cached.peak}};
}

void append(Json& object, const PrefillMemory& memory) {
  object["bank_bytes_per_device"] = number(memory.bank.value);
  object["bank_with_embedding_bytes_per_device"] = number(memory.bank_with_embedding.value);
  object["phase1_bytes_per_device"] = number(memory.phase1.value);
}

}  // namespace

Json pipeline(const Evaluation& evaluation) {
  const PipelineAnswer& answer = *evaluation.pipeline;
  Json events = Json::array();
  for (const PipelineRun& run : answer.events) events.push_back(event(run));
  Json by_scheme = Json::array();
  for (const SchemePayload& row : answer.by_scheme) by_scheme.push_back(payload(row));
  return {{"formula", {{"naive_d", number(answer.naive_d)}, {"cached_d", number(answer.cached_d)}}},
          {"events", std::move(events)},
          {"by_scheme", std::move(by_scheme)},
          {"cached_blocks_per_stage_d", answer.cached_blocks_per_stage},
          {"uncached_copies_per_stage_d", answer.uncached_copies_per_stage}};
}

Json prefill(const Evaluation& evaluation) {
  Json json;
  append(json, evaluation.prefill.front());
  json["by_scheme"] = Json::array();
  for (std::size_t i = 0; i < evaluation.prefill.size(); ++i) {
    Json row{{"scheme", depthcost::name(evaluation.paths[i].scheme)}};
    append(row, evaluation.prefill[i]);
    json["by_scheme"].push_back(std::move(row));
  }
  return json;
}

Json memory(const Evaluation& evaluation) {
  Json rows = Json::array();
  for (const MemoryRow& row : evaluation.memory)
    rows.push_back({{"workload", row.workload},
                    {"scheme", depthcost::name(row.path->scheme)},
                    {"item", row.item},
                    {"bytes_per_device", number(row.bytes.value)}});
  return rows;
}

}  // namespace depthcost::sections
