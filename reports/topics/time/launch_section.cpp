// Launches of the study's scheme as a table, of all schemes as data.
#include "reports/topics/time/launch_section.hpp"

#include <fmt/format.h>

#include "reports/formats/numbers.hpp"
#include "reports/topics/time/step_section.hpp"

namespace depthcost::launch_section {
namespace {

using explained::microseconds;

/// Which memory serves the bytes; `memory_share` beside it says how much.
std::string_view residency(const TimeRow& row) {
  const double share = round12(row.memory_share);
  if (share == 1) return name(Level::memory);
  if (share == 0) return name(Level::cache);
  return "mixed";
}

void append_launch(JsonWriter& json, const TimeRow& row) {
  const Traffic moved = traffic(row.operation);
  json.member("workload", name(row.workload));
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
  json.member("critical_seconds", row.predicted.value.value);
  json.member("evidence", name(row.predicted.evidence));
  json.member("memory_share", row.memory_share);
  json.member("reads_d", moved.reads_d);
  json.member("writes_d", moved.writes_d);
  json.member("kind", row.kind);
  json.member("parameter_bytes", row.parameters.value);
}

Table operation_table(const Evaluation& e, WorkloadId workload) {
  Table table{{name(workload), right("sources"), right("moves"), right("tokens"), right("calls"),
               "predicted", right("bound"), right("from memory"), "evidence"}};
  for (const TimeRow& row : e.time)
    if (row.workload == workload && row.path == &e.paths.front() &&
        row.schedule == e.study.schedule)
      table.add(
          name(row.operation.id), std::to_string(row.operation.sources),
          format_d(total_d(traffic(row.operation))), format_count(static_cast<Count>(row.tokens)),
          format_count(static_cast<Count>(row.calls)), format_seconds(row.predicted),
          format_seconds(row.bound), format_ratio(row.memory_share), name(row.predicted.evidence));
  return table;
}

/// " at 3.1 TB/s"; empty where the term is nothing.
std::string rate_text(Bytes bytes, Seconds time) {
  return time.value > 0 ? " at " + format_bandwidth(bytes / time) : "";
}

/// "launch 1.27 us + max(bytes 7.9 us at 3.1 TB/s, operations 0.6 us, one token 0.1 us)".
std::string terms_text(const TimeRow& row) {
  const TimeTerms& terms = row.terms;
  if (terms.transfer.value > 0)
    return fmt::format("transfer {}{}", microseconds(terms.transfer),
                       rate_text(row.bytes, terms.transfer));
  const std::string token =
      terms.token.value > 0 ? fmt::format(", one token {}", microseconds(terms.token)) : "";
  return fmt::format("launch {} + max(bytes {}{}, operations {}{}){}", microseconds(terms.floor),
                     microseconds(terms.bytes), rate_text(row.bytes, terms.bytes),
                     microseconds(terms.operations), token,
                     terms.on_top.value > 0 ? fmt::format(" + passes that do not overlap {}",
                                                          microseconds(terms.on_top))
                                            : "");
}

/// A Phase 1 that runs beside other work ends before its last byte is needed.
std::string hoisted_text(const TimeRow& row) {
  return row.predicted.value < row.terms.total()
             ? " (phase1 is hoisted: the rest runs beside the layers)"
             : "";
}

std::string metric_of(const TimeRow& row) {
  return explained::metric({"time", name(row.workload), name(row.path->scheme), name(row.schedule),
                            name(row.operation.id), std::to_string(row.kind)});
}

Explanation explain_launch(std::string metric, const TimeRow& row, const VectorStorage& types) {
  return {
      .metric = std::move(metric),
      .formula = kLaunchTime,
      .source = "[ours] REFERENCES.md, few tokens",
      .numbers = {fmt::format("per token: {}", explained::operands(row.operation)),
                  fmt::format("T = {:g}, d = {:g}, {}: {:.12g} bytes, {:.12g} of them parameters, "
                              "{:.3g} % from memory",
                              row.tokens, types.hidden_size, name(types.dtype), row.bytes.value,
                              row.parameters.value, 100 * row.memory_share),
                  fmt::format("launched as {}: {} = {}", name(row.launch), terms_text(row),
                              microseconds(row.terms.total())),
                  fmt::format("the layer waits for {}{}; no faster than {}; {:g} calls a workload",
                              microseconds(row.predicted), hoisted_text(row),
                              microseconds(row.bound), row.calls)},
      .function =
          "model/machine/time.cpp: LaunchTime::terms, LaunchTime::bound, critical_time; "
          "model/machine/few_tokens.cpp: token_work"};
}

}  // namespace

void write_json(JsonWriter& json, const Answer& answer) {
  if (answer.launches == LaunchRows::left_out) return;
  json.objects("time", answer.evaluation.time,
               [&](const TimeRow& row) { append_launch(json, row); });
}

void explain(const Evaluation& e, Explanations& out) {
  const VectorStorage types = storage_of(e.study);
  for (const TimeRow& row : e.time)
    if (std::string metric = metric_of(row); out.wants(metric))
      out.push_back(explain_launch(std::move(metric), row, types));
}

void write_markdown(Document& out) {
  const Evaluation& e = out.evaluation();
  if (e.time.empty()) return;
  out.heading("Time by operation");
  out.paragraph(
      "One call of each operation. `predicted`: what the layer waits for. `bound`: nothing can be "
      "faster. `from memory`: share of the bytes that the cache does not serve.");
  out.paragraph(fmt::format("<details><summary>{} as {}, operation by operation</summary>",
                            name(e.study.path.scheme), name(e.study.schedule)));
  for (const WorkloadId workload : timed_workloads(e))
    if (const Table table = operation_table(e, workload); !table.rows.empty()) out.table(table);
  out.paragraph("</details>");
}

}  // namespace depthcost::launch_section
