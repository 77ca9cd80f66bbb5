// `compare`: predicted against measured. 0 as promised, 1 a promise is broken or a measurement
// cannot be, 2 bad input or nothing to compare.
#include <fmt/format.h>

#include <algorithm>

#include "cli/commands.hpp"
#include "cli/files.hpp"
#include "cli/version.hpp"
#include "reports/comparison.hpp"
#include "reports/comparison_gates.hpp"
#include "scenarios/comparisons.hpp"
#include "scenarios/input_error.hpp"
#include "scenarios/tolerances.hpp"

namespace depthcost {
namespace {

[[noreturn]] void fail_usage(std::string_view problem) {
  throw InputError({"compare", 1, 1}, problem);
}

std::vector<ToleranceRule> rules_for(const CompareOptions& options, std::string_view shipped) {
  return options.tolerances.empty() ? shipped_rules(shipped) : load_rules(options.tolerances);
}

ComparisonReport published_report(const CompareOptions& options) {
  return {.title = "Published measurements against presets alone",
          .cases = published_cases(published_measurements(), rules_for(options, "published")),
          .notes = {}};
}

ComparisonReport table_report(const CompareOptions& options) {
  if (options.hardware.empty())
    fail_usage("missing --hardware (a preset or a path: what the table was measured on)");
  const MeasurementTable table = load_measurements(options.measurements);
  const Device device = device_of(options.hardware);
  ComparisonReport report{
      .title = fmt::format("{} against {}", printable(options.measurements), device.machine.name),
      .cases = measured_cases(table, device, rules_for(options, "measurements")),
      .notes = {}};
  for (const std::string& column : table.ignored_columns)
    report.notes.push_back(fmt::format("Column '{}' was ignored.", column));
  for (const ResolvedValue& value : device.fallbacks)
    report.notes.push_back(fmt::format("{}: {} ({}).", value.key, value.value, value.origin));
  return report;
}

/// Every kind of input ends here as one report.
ComparisonReport report_for(const CompareOptions& options) {
  if (options.published == !options.measurements.empty())
    fail_usage("need a table of measurements or --published (one of the two)");
  if (options.published && !options.hardware.empty())
    fail_usage("conflicting --hardware (published measurements name their own)");
  if (options.github && options.format == "json")
    fail_usage("conflicting --github (stdout holds JSON and nothing else)");
  return options.published ? published_report(options) : table_report(options);
}

std::string text_of(const ComparisonReport& report, const std::string& format) {
  if (format == "json") return to_json(report, kVersion);
  return format == "markdown" ? to_markdown(report) : to_table(report);
}

ExitCode exit_code(const ComparisonReport& report, bool strict) {
  const auto is_red = [&](const ComparedCase& compared) {
    const bool is_unsure =
        compared.rule.blocks && compared.comparison.agreement == Agreement::ambiguous;
    return compared.is_blocked() || (strict && is_unsure);
  };
  return std::any_of(report.cases.begin(), report.cases.end(), is_red) ? ExitCode::gate_said_no
                                                                       : ExitCode::good;
}

}  // namespace

ExitCode run_compare(const CompareOptions& options) {
  const ComparisonReport report = report_for(options);
  std::string text = text_of(report, options.format);
  if (options.github) text += to_annotations(annotations(report));
  if (!options.junit.empty()) write_file(options.junit, to_junit(junit_suite(report)));
  write_stdout(text);
  return exit_code(report, options.strict);
}

}  // namespace depthcost
