// The same answer for programs.
#include "reports/comparison/comparison_report.hpp"
#include "reports/comparison/error_groups.hpp"
#include "reports/formats/json_writer.hpp"

namespace depthcost {
namespace {

void write_call(JsonWriter& json, const StandaloneCall& call) {
  json.member("operation", call.operation);
  const CatalogueEntry* entry = find_entry(call.operation);
  const auto count = [&](bool applies, Count value) {
    return applies ? std::optional(static_cast<double>(value)) : std::nullopt;
  };
  json.member("sources", count(!entry->sources.empty(), call.counts.num_sources));
  json.member("queries", count(entry->has_queries, call.counts.num_queries));
  json.member("streams", count(entry->has_streams, call.counts.num_streams));
  json.member("tokens", call.num_tokens);
  json.member("hidden_size", call.hidden_size);
  json.member("dtype", name(call.dtype));
  json.member("launch", name(call.launch));
  json.member("temperature", name(call.temperature));
}

/// predicted = floor + max(bytes, operations, token) + on_top. Of samples `measured` is the lower
/// quartile of the repetitions, as in profile/statistics.hpp; of a table what the user wrote.
void write_times(JsonWriter& json, const ComparedCase& compared) {
  const Comparison& comparison = compared.comparison;
  const auto seconds = [&](std::string_view key, Seconds time) { json.member(key, time.value); };
  const Estimate<Seconds>& measured = comparison.measured;
  seconds("measured_seconds", measured.value);
  seconds("measured_low_seconds", measured.low);
  seconds("measured_high_seconds", measured.high);
  json.member("samples",
              compared.samples > 0 ? std::optional(as_double(compared.samples)) : std::nullopt);
  seconds("predicted_seconds", comparison.predicted.value);
  seconds("low_seconds", comparison.predicted.low);
  seconds("high_seconds", comparison.predicted.high);
  json.member("evidence", name(comparison.predicted.evidence));
  seconds("floor_seconds", comparison.terms.floor);
  seconds("bytes_seconds", comparison.terms.bytes);
  seconds("operations_seconds", comparison.terms.operations);
  seconds("on_top_seconds", comparison.terms.on_top);
  seconds("token_seconds", comparison.terms.token);
  seconds("bound_seconds", comparison.bound);
}

/// The unit of an amount is in its key.
std::string_view amount_key(Term term) {
  if (term == Term::bytes) return "difference_d";
  return term == Term::launch || term == Term::latency ? "difference_seconds" : "difference_ratio";
}

void write_verdict(JsonWriter& json, const ComparedCase& compared) {
  const Comparison& comparison = compared.comparison;
  json.member("error", comparison.error);
  json.member("inside", comparison.is_inside);
  json.member("tolerance", comparison.tolerance);
  json.member("noise", comparison.noise);
  json.member("verdict", name(comparison.agreement));
  json.member("blocks", compared.is_blocked());
  json.member("term", name(comparison.attribution.term));
  json.member(amount_key(comparison.attribution.term), comparison.attribution.amount);
  json.object("rule", [&] {
    json.member("match", compared.rule.match);
    json.member("effect", compared.rule.blocks ? "block" : "report");
    json.member("reason", compared.rule.reason);
    json.member("file", compared.rule.file);
    json.member("line", compared.rule.line);
  });
}

void write_case(JsonWriter& json, const ComparedCase& compared) {
  json.object([&] {
    json.member("case", compared.id);
    json.member("hardware", compared.hardware);
    write_call(json, compared.call);
    write_times(json, compared);
    write_verdict(json, compared);
    json.member("scatter", compared.scatter());
    json.objects("stacks", compared.stacks, [&](const StackTime& row) {
      json.text_or_null("stack", row.stack);
      json.member("measured_seconds", row.time.value);
      json.member("error", row.error);
    });
  });
}

void write_summary(JsonWriter& json, const ErrorSummary& errors) {
  json.member("cases", errors.cases);
  json.member("median_error", errors.median);
  json.member("p90_error", errors.p90);
  json.member("worst_error", errors.worst);
  json.member("inside", errors.inside);
  json.member("score", errors.score);
}

void write_groups(JsonWriter& json, const ComparisonReport& report) {
  json.objects("groups", kernel_groups(report.cases), [&](const KernelGroup& group) {
    json.member("hardware", group.hardware);
    json.member("operation", group.operation);
    json.member("launch", group.launch);
    write_summary(json, group.errors);
    json.member("scatter", group.scatter);
  });
  const auto write_runs = [&](const char* key, const std::vector<ComparedRun>& runs) {
    if (runs.empty()) return;
    json.objects(key, run_groups(runs), [&](const RunGroup& group) {
      json.member("by", group.by);
      json.member("name", group.name);
      write_summary(json, group.errors);
    });
  };
  write_runs("serving_groups", report.servings);
  write_runs("training_groups", report.trainings);
}

void write_step(JsonWriter& json, const StepComparison& step) {
  json.object([&] {
    json.member("scheme", step.scheme);
    json.member("schedule", name(step.schedule, step.phase1));
    json.member("tokens", step.tokens);
    json.member("baseline_seconds", step.baseline.value.value);
    json.member("added_seconds", step.added().value.value);
    json.member("added_low", step.added().low.value);
    json.member("added_high", step.added().high.value);
    json.member("overhead", step.overhead());
    json.member("predicted_seconds", step.predicted.value.value);
    json.member("low_seconds", step.predicted.low.value);
    json.member("high_seconds", step.predicted.high.value);
    json.member("evidence", name(step.predicted.evidence));
    json.member("error", step.error());
  });
}

void write_run(JsonWriter& json, const ComparedRun& run) {
  const Comparison& comparison = run.comparison;
  json.object([&] {
    json.member("case", run.id);
    json.member("stack", run.stack);
    json.member("measured_seconds", comparison.measured.value.value);
    json.member("predicted_seconds", comparison.predicted.value.value);
    json.member("low_seconds", comparison.predicted.low.value);
    json.member("high_seconds", comparison.predicted.high.value);
    json.member("error", comparison.error);
    json.member("inside", comparison.is_inside);
  });
}

}  // namespace

std::string to_json(const ComparisonReport& report, std::string_view program_version) {
  return json_document(program_version, [&](JsonWriter& json) {
    json.member("title", report.title);
    json.text_or_null("stale", report.stale);
    json.object("summary", [&] { write_summary(json, summary_of(comparisons_of(report.cases))); });
    write_groups(json, report);
    json.array("cases", [&] {
      for (const ComparedCase& compared : report.cases) write_case(json, compared);
    });
    if (!report.nearest.empty())
      json.objects("nearest", report.nearest, [&](const PublishedBeside& row) {
        json.member("case", row.ours.id);
        json.member("error", row.ours.comparison.error);
        json.member("published", row.published.id);
        json.member("stack", row.published.stacks.front().stack);
        json.member("published_seconds", row.published.stacks.front().time.value);
        json.member("published_error", row.published.stacks.front().error);
      });
    json.array("steps", [&] {
      for (const StepComparison& step : report.steps) write_step(json, step);
    });
    const auto write_runs = [&](const char* key, const std::vector<ComparedRun>& runs) {
      if (runs.empty()) return;
      json.array(key, [&] {
        for (const ComparedRun& run : runs) write_run(json, run);
      });
    };
    write_runs("servings", report.servings);
    write_runs("trainings", report.trainings);
    json.texts("notes", report.notes);
  });
}

}  // namespace depthcost
