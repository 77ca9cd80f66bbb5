// `check`: budgets and fits, for CI. 0 all hold, 1 one does not, 2 there is nothing to check.
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/files.hpp"
#include "model/evaluation.hpp"
#include "reports/format.hpp"
#include "reports/table.hpp"
#include "scenarios/input_error.hpp"
#include "scenarios/scenario.hpp"

namespace depthcost {
namespace {

bool is_red(const BudgetRow& row, const CheckOptions& options) {
  return row.verdict == Verdict::fail || (options.strict && row.verdict == Verdict::unknown);
}

}  // namespace

ExitCode run_check(const CheckOptions& options) {
  ExitCode code = ExitCode::good;
  std::string text;
  for (const std::string& path : options.scenarios) {
    const Scenario scenario = read_scenario(path);
    if (scenario.study.budgets.empty())
      throw InputError({path, 1, 1},
                       "missing key 'budgets' (a scenario without budgets cannot be checked)");
    const Evaluation evaluation = evaluate(scenario.study);
    text += fmt::format("{}: {}\n\n{}\n", path, evaluation.study.name,
                        plain_text(budget_table(evaluation.budgets)));
    for (const std::string& note : budget_notes(evaluation.budgets)) text += note + "\n";
    text += "\n";
    for (const BudgetRow& row : evaluation.budgets)
      if (is_red(row, options)) code = worst(code, ExitCode::gate_said_no);
  }
  write_stdout(text);
  return code;
}

}  // namespace depthcost
