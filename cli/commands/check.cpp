// `check`: budgets and fits, for CI. 0 all hold, 1 one does not, 2 bad input or nothing to check.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "cli/commands/commands.hpp"
#include "cli/output/files.hpp"
#include "cli/output/version.hpp"
#include "model/base/parallel.hpp"
#include "model/evaluation/evaluation.hpp"
#include "reports/check/check_report.hpp"
#include "scenarios/read/scenario.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost {
namespace {

/// One scenario, or why not, as CI and as stderr say it.
struct Checked {
  CheckedScenario scenario;
  std::string error;
};

template <class Read>
Checked checked(const std::string& file, const Read& read) {
  Checked result{.scenario = {.file = printable(file, file.size() * 4)}, .error = {}};
  try {
    const Scenario scenario = read();
    result.scenario.name = scenario.study.name;
    result.scenario.budgets = budgets_of(scenario.study);
  } catch (const InputError& error) {
    result.scenario.refused = RefusedScenario{error.position().line, error.message()};
    result.error = error.what();
  }
  return result;
}

/// In the order of the command line. One bad file does not take the others' verdicts away.
std::vector<Checked> check_all(const CheckOptions& options, Progress& progress) {
  if (!options.question.model.empty())
    return {
        checked(options.question.model, [&] { return scenario_from_options(options.question); })};
  std::vector<Checked> all(options.scenarios.size());
  each_in_parallel(all.size(), num_hardware_threads(), [&](std::size_t i) {
    const std::string& path = options.scenarios[i];
    all[i] = checked(path, [&] { return read_scenario(path); });
    ++progress.done;
  });
  return all;
}

ExitCode exit_code(const CheckReport& report) {
  ExitCode code = ExitCode::good;
  for (const CheckedScenario& scenario : report.scenarios) {
    if (scenario.refused) code = worst(code, ExitCode::bad_input);
    for (const BudgetRow& row : scenario.budgets)
      if (is_red(row, report.unknowns)) code = worst(code, ExitCode::gate_said_no);
  }
  return code;
}

[[noreturn]] void refuse_to_pass(const CheckOptions& options) {
  if (!options.question.model.empty())
    throw InputError({"--budget", 1, 1},
                     "missing budget (as --budget decode_overhead=2%: without one there is nothing "
                     "to check)");
  throw InputError(
      {options.scenarios.front(), 1, 1},
      "missing key 'budgets' (a scenario without budgets cannot be checked; for example "
      "budgets: {decode_overhead: 2 %})");
}

void require_something(const CheckReport& report, const CheckOptions& options) {
  for (const CheckedScenario& scenario : report.scenarios)
    if (scenario.refused || !scenario.budgets.empty()) return;
  refuse_to_pass(options);
}

void require_consistent(const CheckOptions& options) {
  if (options.github && options.format == "json")
    throw InputError({"check", 1, 1}, "conflicting --github (stdout holds JSON and nothing else)");
}

/// Behind what other commands of the step have written there.
void append_summary(const CheckReport& report) {
  const char* path = std::getenv("GITHUB_STEP_SUMMARY");
  if (path == nullptr || *path == '\0') return;
  std::error_code ignored;
  const auto size = std::filesystem::file_size(path, ignored);
  const std::size_t taken = ignored ? 0 : static_cast<std::size_t>(size);
  if (taken < kMostSummaryBytes)
    append_to_file(path, step_summary(report, kMostSummaryBytes - taken));
}

}  // namespace

ExitCode run_check(const CheckOptions& options, Console& console) {
  require_consistent(options);
  Progress& progress = console.watch("check");
  progress.expected = options.scenarios.size();
  CheckReport report{.scenarios = {}, .unknowns = options.strict ? Unknowns::fail : Unknowns::warn};
  std::vector<std::string> errors;
  for (Checked& it : check_all(options, progress)) {
    if (!it.error.empty()) errors.push_back(it.error);
    report.scenarios.push_back(std::move(it.scenario));
  }
  console.stop_watching();
  require_something(report, options);
  std::string text = options.format == "json" ? to_json(report, kVersion) : to_table(report);
  if (!options.junit.empty()) write_file(options.junit, to_junit(junit_suite(report)));
  if (options.github) {
    text += to_annotations(annotations(report));
    append_summary(report);
  }
  options.github || options.format == "json" ? write_stdout(text) : show(text);
  for (const std::string& error : errors) show_error(error);
  const ExitCode code = exit_code(report);
  if (code == ExitCode::gate_said_no && !options.scenarios.empty())
    console.suggest(fmt::format("depthcost sweep {} says which block sizes keep their budgets",
                                printable(options.scenarios.front())));
  return code;
}

}  // namespace depthcost
