// `explain`: one number, taken apart.
#include "reports/documents/answer_documents.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands/commands.hpp"
#include "cli/output/console.hpp"
#include "cli/output/stdout.hpp"
#include "scenarios/read/scenario.hpp"
#include "scenarios/text/input_error.hpp"
#include "scenarios/text/suggest.hpp"

namespace depthcost {
namespace {

std::vector<std::string> metrics_of(const Study& study) {
  std::vector<std::string> metrics;
  for (Explanation& explanation : explanations(evaluate_with_family(study)))
    metrics.push_back(std::move(explanation.metric));
  return metrics;
}

/// Those that begin with whole words of `beginning`: of "ledger.mhc" all of its rows.
std::vector<std::string> metrics_below(std::vector<std::string> metrics,
                                       const std::string& beginning) {
  std::erase_if(metrics,
                [&](const std::string& metric) { return !metric.starts_with(beginning + "."); });
  return metrics;
}

}  // namespace

ExitCode run_explain(const ExplainOptions& options) {
  const Study study = asked_scenario(options.scenario, options.question).study;
  if (options.metric.empty()) {
    write_stdout(fmt::format("{}\n", fmt::join(metrics_of(study), "\n")));
    return ExitCode::good;
  }
  // A budget is asked about by the name that every report gives it.
  const std::string metric =
      named<BudgetKind>(options.metric) ? "budgets." + options.metric : options.metric;
  const bool is_of_family = metric.starts_with("family.");
  const Evaluation evaluation = is_of_family ? evaluate_with_family(study) : evaluate(study);
  const auto explanation = explain(evaluation, metric);
  if (!explanation) {
    const std::vector<std::string> metrics = metrics_of(study);
    if (const auto below = metrics_below(metrics, metric); !below.empty()) {
      write_stdout(fmt::format("{}\n", fmt::join(below, "\n")));
      return ExitCode::good;
    }
    throw InputError(
        {options.scenario.empty() ? options.question.model : options.scenario, 1, 1},
        fmt::format(
            "unknown metric '{}'{} (explain without a metric lists all; those of the ledger may end in .layer_N)",
            printable(options.metric), did_you_mean(options.metric, metrics)));
  }
  show(to_text(*explanation));
  return ExitCode::good;
}

}  // namespace depthcost
