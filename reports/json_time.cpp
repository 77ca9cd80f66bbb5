// What is predicted: each operation, each step, and what else a step consists of.
#include "reports/format.hpp"
#include "reports/json_sections.hpp"

namespace depthcost::sections {
namespace {

/// Which memory serves the bytes; `memory_share` beside it says how much.
std::string_view residency(const TimeRow& row) {
  const double share = round12(row.memory_share);
  if (share == 1) return name(Level::memory);
  if (share == 0) return name(Level::cache);
  return "mixed";
}

void append_launch(JsonWriter& json, const TimeRow& row) {
  const Traffic moved = traffic(row.operation);
  json.member("workload", row.workload);
  json.member("scheme", name(row.path->scheme));
  json.member("schedule", name(row.schedule));
  json.member("operation", name(row.operation.id));
  json.member("sources", row.operation.sources);
  json.member("tokens", row.tokens);
  json.member("calls", row.calls);
  json.member("launch", name(row.launch));
  json.member("residency", residency(row));
  json.member("predicted_seconds", row.predicted.value.value);
  json.member("low_seconds", row.predicted.low.value);
  json.member("high_seconds", row.predicted.high.value);
  json.member("bound_seconds", row.bound.value);
  json.member("critical_seconds", row.critical.value);
  json.member("evidence", name(row.predicted.evidence));
  json.member("memory_share", row.memory_share);
  json.member("reads_d", moved.reads_d);
  json.member("writes_d", moved.writes_d);
  json.member("kind", row.kind);
  json.member("parameter_bytes", row.parameters.value);
}

}  // namespace

void time(JsonWriter& json, const Evaluation& evaluation) {
  json.array("time", [&] {
    append_rows(json, evaluation.time, [&](const TimeRow& row) { append_launch(json, row); });
  });
}

void step(JsonWriter& json, const Evaluation& evaluation) {
  json.array("step", [&] {
    append_rows(json, evaluation.step, [&](const StepRow& row) {
      json.member("workload", row.workload);
      json.member("scheme", name(row.path->scheme));
      json.member("schedule", name(row.schedule));
      append(json, quantities_of(row));
      json.member("dominant", name(row.dominant));
      json.member("evidence", name(row.delta.evidence));
      append(json, residual_of(row));
      append(json, baseline_of(row));
      json.text_or_null("baseline_evidence",
                        row.baseline_step ? name(row.baseline_step->evidence) : "");
      json.text_or_null("missing", row.missing);
    });
  });
}

void attachments(JsonWriter& json, const Evaluation& evaluation) {
  json.array("attachments", [&] {
    append_rows(json, evaluation.attachments, [&](const AttachmentRow& row) {
      json.member("workload", row.workload);
      json.member("scheme", name(row.scheme));
      json.member("schedule", name(row.schedule));
      json.member("attachment", name(row.attachment));
      append(json, quantities_of(row));
      json.member("evidence", name(row.delta.evidence));
    });
  });
}

void rest(JsonWriter& json, const Evaluation& evaluation) {
  json.array("rest", [&] {
    append_rows(json, evaluation.rest, [&](const RestRow& row) {
      json.member("workload", row.workload);
      json.member("term", name(row.term));
      append(json, quantities_of(row));
      json.member("origin", name(row.origin));
      json.member("evidence", name(row.time.evidence));
    });
  });
}

}  // namespace depthcost::sections
