// The same functions as the commands `evaluate`, `report` and `explain`.
#include "python/binding/answer.hpp"

#include <fmt/format.h>

#include "cli/output/version.hpp"
#include "profile/nearest_kernels.hpp"
#include "reports/documents/answer_documents.hpp"
#include "reports/formats/json_writer.hpp"
#include "reports/topics/decision/decision_section.hpp"
#include "scenarios/measured/comparisons.hpp"
#include "scenarios/text/input_error.hpp"
#include "scenarios/text/suggest.hpp"

namespace depthcost::python {
namespace {

constexpr const char* kNoPlots = "depthcost.report() draws plots where gnuplot is installed.";

ReportParts parts_of(const Scenario& scenario, const Evaluation& evaluation) {
  return {.values = scenario.values,
          .plots = {},
          .missing_plots = kNoPlots,
          .program_version = kVersion,
          .measured = profile::measured_kernels(scenario, evaluation),
          .published = measured_by_others().kernels,
          .published_steps = measured_by_others().steps};
}

std::string json_of(const Explanation& explanation) {
  JsonWriter json;
  json.object([&] {
    json.member("metric", explanation.metric);
    json.member("formula", explanation.formula);
    json.member("source", explanation.source);
    json.array("numbers", [&] {
      for (const std::string& line : explanation.numbers) json.value(line);
    });
    json.member("function", explanation.function);
    json.member("text", to_text(explanation));
  });
  return std::move(json).text();
}

}  // namespace

Answer::Answer(const Question& question, const std::string& constants)
    : scenario_(asked_scenario(question.path, question.options, constants_of_option(constants))),
      evaluation_(evaluate(scenario_.study)),
      place_(question.place()) {}

std::string Answer::json(const std::string& rows) const {
  const std::vector<LedgerRow> layers =
      rows == "layers" ? all_layers(evaluation_) : std::vector<LedgerRow>{};
  const LaunchRows launches = rows == "sums" ? LaunchRows::left_out : LaunchRows::written;
  return to_json(evaluation_, scenario_.values, {kVersion, layers, launches});
}

std::string Answer::verdict() const {
  return decision_text(evaluation_, parts_of(scenario_, evaluation_));
}

std::string Answer::markdown() const {
  const Evaluation evaluation = evaluate_with_family(scenario_.study);
  return markdown_report(evaluation, parts_of(scenario_, evaluation));
}

std::vector<std::string> Answer::metrics() const {
  std::vector<std::string> metrics;
  for (Explanation& explanation : explanations(evaluate_with_family(scenario_.study)))
    metrics.push_back(std::move(explanation.metric));
  return metrics;
}

std::string Answer::explanation(const std::string& metric) const {
  const auto explained = metric.starts_with("family.")
                             ? explain(evaluate_with_family(scenario_.study), metric)
                             : explain(evaluation_, metric);
  if (explained) return json_of(*explained);
  throw InputError({place_, 1, 1},
                   fmt::format("unknown metric '{}'{} (explain without a metric lists all; those "
                               "of the ledger may end in .layer_N)",
                               printable(metric), did_you_mean(metric, metrics())));
}

}  // namespace depthcost::python
