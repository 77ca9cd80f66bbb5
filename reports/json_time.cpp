// What is predicted: each operation, and each step.
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

Json time_row(const TimeRow& row) {
  const Traffic moved = traffic(row.operation);
  return {{"workload", row.workload},
          {"scheme", name(row.path->scheme)},
          {"schedule", name(row.schedule)},
          {"operation", name(row.operation.id)},
          {"sources", row.operation.sources},
          {"tokens", number(row.tokens)},
          {"calls", number(row.calls)},
          {"launch", name(row.launch)},
          {"residency", residency(row)},
          {"predicted_seconds", number(row.predicted.value.value)},
          {"low_seconds", number(row.predicted.low.value)},
          {"high_seconds", number(row.predicted.high.value)},
          {"bound_seconds", number(row.bound.value)},
          {"critical_seconds", number(row.critical.value)},
          {"evidence", name(row.predicted.evidence)},
          {"memory_share", number(row.memory_share)},
          {"reads_d", number(moved.reads_d)},
          {"writes_d", number(moved.writes_d)}};
}

}  // namespace

Json time(const Evaluation& evaluation) {
  Json rows = Json::array();
  for (const TimeRow& row : evaluation.time) rows.push_back(time_row(row));
  return rows;
}

Json step(const Evaluation& evaluation) {
  Json rows = Json::array();
  for (const StepRow& row : evaluation.step) {
    Json json{{"workload", row.workload},
              {"scheme", name(row.path->scheme)},
              {"schedule", name(row.schedule)}};
    append(json, quantities_of(row));
    json["dominant"] = name(row.dominant);
    json["evidence"] = name(row.delta.evidence);
    append(json, residual_of(row));
    rows.push_back(std::move(json));
  }
  return rows;
}

}  // namespace depthcost::sections
