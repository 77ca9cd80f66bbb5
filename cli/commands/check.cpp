// `check`: budgets and fits, for CI. Exit code 0: all hold. 1: one does not. 2: bad input, or
// nothing to check.
#include <fmt/format.h>

#include "cli/commands/checked_scenarios.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/github.hpp"
#include "cli/output/files.hpp"
#include "cli/output/stdout.hpp"
#include "cli/output/version.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost {
namespace {

ExitCode exit_code(const CheckReport& report) {
  ExitCode code = ExitCode::good;
  for (const CheckedScenario& scenario : report.scenarios) {
    if (scenario.refused) code = worst(code, ExitCode::bad_input);
    for (const BudgetRow& row : scenario.budgets)
      if (is_red(row, report.unknowns)) code = worst(code, ExitCode::gate_said_no);
  }
  return code;
}

}  // namespace

ExitCode run_check(const CheckOptions& options, Console& console) {
  if (options.github) require_text_for_github("check", options.format);
  Progress& progress = console.watch("check");
  progress.expected = options.scenarios.size();
  const CheckedScenarios checked = checked_scenarios(options, progress);
  console.stop_watching();
  const CheckReport report{.scenarios = checked.scenarios,
                           .unknowns = options.strict ? Unknowns::fail : Unknowns::warn};
  const std::string text =
      options.format == Format::json ? to_json(report, kVersion) : to_table(report);
  // The verdict comes first: a file that cannot be written does not hide it.
  options.github || options.format == Format::json ? write_stdout(text) : show(text);
  if (options.github) write_our_codes(to_annotations(annotations(report)));
  for (const InputError& error : checked.errors) show_error(error.what());
  for (const std::string& warning : checked.warnings) console.warn(warning);
  if (!options.junit.empty()) write_file(options.junit, to_junit(junit_suite(report)));
  if (options.github) append_step_summary(report);
  const ExitCode code = exit_code(report);
  if (const CheckedScenario* red = first_red(report);
      code == ExitCode::gate_said_no && red != nullptr && !options.scenarios.empty())
    console.suggest(
        fmt::format("depthcost sweep {} says which block sizes keep their budgets", red->file));
  return code;
}

}  // namespace depthcost
