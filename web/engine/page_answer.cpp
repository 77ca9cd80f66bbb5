// Reads a scenario and evaluates it as the program does; leaves out what no chart shows.
#include "web/engine/page_answer.hpp"

#include <algorithm>
#include <vector>

#include "model/decision/batch_runs.hpp"
#include "model/evaluation/evaluation.hpp"
#include "model/evaluation/scheme_verdict.hpp"
#include "model/schemes/list.hpp"
#include "reports/documents/answer_documents.hpp"
#include "reports/formats/numbers.hpp"
#include "reports/section/scheme_style.hpp"
#include "reports/topics/decision/decision_section.hpp"
#include "reports/topics/decision/verdict_lines.hpp"
#include "reports/topics/ledger/byte_bars.hpp"
#include "reports/topics/time/batch_curves.hpp"
#include "reports/topics/training/timeline.hpp"
#include "scenarios/measured/comparisons.hpp"
#include "scenarios/read/scenario.hpp"
#include "web/engine/page_json.hpp"

namespace depthcost::page {
namespace {

// The batches that the curve spans, beside those that are asked.
constexpr Count kSmallestBatch = 1;

Scenario read(const ScenarioText& scenario) {
  return scenario_of(parse_document(scenario.text, scenario.file), scenario.file,
                     Provenance::scenario);
}

void write_texts(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
  json.array(key, [&] {
    for (const std::string& text : texts) json.value(text);
  });
}

void write_verdict(JsonWriter& json, const Evaluation& e, const SchemeVerdict& verdict,
                   const std::string& line) {
  json.object([&] {
    write_path(json, *verdict.path, verdict.schedule);
    json.member("is_own", verdict.path == &e.paths.front());
    json.member("fate", name(verdict.fate));
    json.member("line", line);
    if (!verdict.time) return;
    json.member("workload", name(verdict.time->at->workload));
    json.member("limit", format_ratio(verdict.time->budget.limit));
    write_ratio(json, "overhead", *verdict.time->at->overhead);
    write_seconds(json, "delta", verdict.time->at->delta);
  });
}

void write_verdicts(JsonWriter& json, const Evaluation& e) {
  const std::vector<SchemeVerdict> verdicts = scheme_verdicts(e);
  const VerdictTexts texts = verdict_texts(e);
  json.text_or_null("nothing_fits", texts.nothing_fits);
  json.array("verdicts", [&] {
    for (std::size_t i = 0; i < verdicts.size(); ++i)
      write_verdict(json, e, verdicts[i], texts.of_schemes[i]);
  });
}

void write_costs(JsonWriter& json, const Evaluation& e) {
  const Table table = cost_table(e);
  if (table.rows.empty()) return;
  json.objects("costs", table.rows, [&](const std::vector<std::string>& row) {
    json.member("workload", row[0]);
    json.member("scheme", row[1]);
    json.member("time", row[2]);
    json.member("share", row[3]);
  });
  json.member("legend", cost_legend(e));
}

void write_bytes(JsonWriter& json, const Evaluation& e) {
  json.objects("bytes", byte_bars(e), [&](const ByteBar& bar) {
    write_path(json, *bar.path, bar.schedule);
    json.member("is_own", bar.path == &e.paths.front());
    json.member("is_quoted", bar.is_quoted);
    json.member("bytes", bar.moved.value);
    json.member("text", format_bytes(bar.moved));
  });
}

/// The evaluation's question over the whole range of batches.
void widen(Study& study) {
  if (!study.decode || !study.decode->baseline_steps.empty() || !study.written_terms.empty())
    return;
  for (const Count batch : {kSmallestBatch, kMostSequences})
    if (std::find(study.decode->sequences.begin(), study.decode->sequences.end(), batch) ==
        study.decode->sequences.end())
      study.decode->sequences.push_back(batch);
}

void write_point(JsonWriter& json, const StepRow& row, bool is_asked) {
  json.member("sequences", row.workload.sequences);
  json.member("is_asked", is_asked);
  write_seconds(json, "delta", row.delta);
  if (row.overhead) write_ratio(json, "overhead", *row.overhead);
  json.member("fits", !does_not_fit(row));
}

void write_curves(JsonWriter& json, Evaluation& e) {
  if (!e.study.machine || !e.study.decode) return;
  const std::vector<Count> asked = e.study.decode->sequences;
  widen(e.study);
  json.objects("curves", batch_curves(e, CurveBaseline::as_written), [&](const BatchCurve& curve) {
    write_path(json, *curve.path, curve.schedule);
    json.member("is_own", curve.path == &e.paths.front());
    json.objects("points", curve.points, [&](const BatchPoint& at) {
      const bool is_asked =
          std::find(asked.begin(), asked.end(), at.row.workload.sequences) != asked.end();
      write_point(json, at.row, is_asked);
    });
  });
  e.study.decode->sequences = asked;
}

void write_memory_of(JsonWriter& json, const Evaluation& e, WorkloadId workload,
                     const ResidualPath& path) {
  const Bytes all = memory_of(e.memory, workload, path.scheme);
  json.object([&] {
    json.member("workload", name(workload));
    write_path(json, path, quoted_schedule(e.study, path));
    json.member("is_own", &path == &e.paths.front());
    json.member("bytes", all.value);
    json.member("text", format_bytes(all));
    json.member("fits", !is_too_large(e.study, e.memory, workload, path.scheme));
    json.array("items", [&] {
      for (const MemoryRow& row : e.memory)
        if (row.workload == workload && row.path == &path)
          json.object([&] {
            json.member("item", name(row.item));
            json.member("bytes", row.bytes.value);
            json.member("text", format_bytes(row.bytes));
          });
    });
  });
}

void write_memory(JsonWriter& json, const Evaluation& e) {
  if (e.study.machine && e.study.machine->memory_capacity) {
    json.member("capacity", e.study.machine->memory_capacity->value);
    json.member("capacity_text", format_bytes(*e.study.machine->memory_capacity));
  }
  json.array("memory", [&] {
    for (const WorkloadId workload : workloads_of_rows(e.memory))
      for (const ResidualPath& path : e.paths) write_memory_of(json, e, workload, path);
  });
}

/// Boxes as [stage, kind, virtual stage, start, end], since there may be thousands.
void write_timeline(JsonWriter& json, const Evaluation& e) {
  const std::optional<Timeline> timeline = timeline_of(e);
  if (!timeline) return;
  json.object("timeline", [&] {
    json.member("schedule", name(e.study.training->schedule));
    json.member("num_stages", timeline->order.num_stages);
    json.member("num_micro_batches", timeline->order.num_micro_batches);
    json.member("all_micro_batches", e.training.work->order.num_micro_batches);
    json.member("end", timeline->end.value);
    json.member("end_text", format_seconds(timeline->end));
    json.member("bubble", format_ratio(bubble_share(*e.training.simulated)));
    json.array("kinds", [&] {
      for (const TaskKind kind : kEnumerators<TaskKind>) json.value(name(kind));
    });
    json.array("boxes", [&] {
      for (const TaskBox& box : timeline->boxes)
        json.numbers(std::vector<double>{
            static_cast<double>(box.stage), static_cast<double>(box.kind),
            static_cast<double>(box.virtual_stage), box.start.value, box.end.value});
    });
  });
}

}  // namespace

std::string evaluation_json(const ScenarioText& scenario, const std::string& version) {
  const Scenario asked = read(scenario);
  return to_json(evaluate(asked.study), asked.values, {version, {}});
}

std::string answer_json(const ScenarioText& scenario) {
  Evaluation e = evaluate(read(scenario).study);
  JsonWriter json;
  json.object([&] {
    json.member("title", e.study.name);
    json.member("num_layers", e.study.model.num_layers);
    write_verdicts(json, e);
    write_costs(json, e);
    write_texts(json, "sentences", more_sentences(e));
    write_bytes(json, e);
    write_curves(json, e);
    write_memory(json, e);
    write_timeline(json, e);
  });
  return std::move(json).text();
}

std::string report_markdown(const ScenarioText& scenario, const std::string& version) {
  const Scenario asked = read(scenario);
  const Evaluation e = evaluate_with_family(asked.study);
  const MeasuredByOthers& published = measured_by_others();
  const ReportParts parts{.values = asked.values,
                          .plots = {},
                          .missing_plots = "No plots: the page saves each as a file of its own.",
                          .program_version = version,
                          .published = published.kernels,
                          .published_steps = published.steps};
  const std::string report = markdown_report(e, parts);
  const std::string appendix = markdown_appendix(e, parts);
  return appendix.empty() ? report : report + "\n" + appendix;
}

}  // namespace depthcost::page
