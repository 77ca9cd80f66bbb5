// `check`: budgets and fits, for CI. 0 all hold, 1 one does not, 2 bad input or nothing to check.
#include <fmt/format.h>

#include <cstdio>

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

/// The verdicts on one scenario: text, and what they mean for the exit code.
struct Checked {
  std::string text;
  ExitCode code = ExitCode::good;
  std::size_t budgets = 0;
};

Checked check(const std::string& path, const CheckOptions& options) {
  const Scenario scenario = read_scenario(path);
  const Evaluation evaluation = evaluate(scenario.study);
  Checked checked{.text = fmt::format("{}: {}\n\n", path, evaluation.study.name),
                  .budgets = evaluation.budgets.size()};
  if (evaluation.budgets.empty()) {
    checked.text += "no budgets: nothing to check\n\n";
    return checked;
  }
  checked.text += plain_text(budget_table(evaluation.budgets)) + "\n";
  for (const std::string& note : budget_notes(evaluation.budgets)) checked.text += note + "\n";
  checked.text += "\n";
  for (const BudgetRow& row : evaluation.budgets)
    if (is_red(row, options)) checked.code = ExitCode::gate_said_no;
  return checked;
}

}  // namespace

ExitCode run_check(const CheckOptions& options) {
  ExitCode code = ExitCode::good;
  std::string text;
  std::string errors;
  std::size_t budgets = 0;
  for (const std::string& path : options.scenarios) {
    try {
      const Checked checked = check(path, options);
      text += checked.text;
      budgets += checked.budgets;
      code = worst(code, checked.code);
    } catch (const InputError& error) {
      // One bad file does not take the others' verdicts away.
      errors += fmt::format("{}\n", error.what());
      code = ExitCode::bad_input;
    }
  }
  if (errors.empty() && budgets == 0)
    throw InputError({options.scenarios.front(), 1, 1},
                     "missing key 'budgets' (a scenario without budgets cannot be checked)");
  write_stdout(text);
  std::fputs(errors.c_str(), stderr);
  return code;
}

}  // namespace depthcost
