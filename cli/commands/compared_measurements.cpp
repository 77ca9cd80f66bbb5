// Makes one report from every kind of input.
#include "cli/commands/compared_measurements.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "cli/commands/github.hpp"
#include "model/evaluation/nearest_measurement.hpp"
#include "profile/compare.hpp"
#include "profile/kernel_sources.hpp"
#include "profile/measured_steps.hpp"
#include "profile/profile_file.hpp"
#include "scenarios/measured/comparisons.hpp"
#include "scenarios/measured/served_steps.hpp"
#include "scenarios/measured/tolerances.hpp"
#include "scenarios/measured/trained_steps.hpp"
#include "scenarios/presets/reference.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost {
namespace {

std::vector<ToleranceRule> rules_for(const CompareOptions& options, std::string_view shipped) {
  return options.tolerances.empty() ? shipped_rules(shipped) : load_rules(options.tolerances);
}

ComparisonReport published_report(const CompareOptions& options) {
  return {
      .title = "Published measurements against presets alone",
      .cases = published_cases(published_measurements(), rules_for(options, "published")),
      .notes = {"Each prediction comes from constants that were fitted without its GPU; those of "
                "served steps and training steps, from constants fitted without their model.",
                unseen_gpu_sentence("Served steps", compared_servings(served_steps(Unseen::gpu))),
                unseen_gpu_sentence("Training steps",
                                    compared_training(trained_steps(Unseen::gpu)))},
      .servings = compared_servings(served_steps()),
      .trainings = compared_training(trained_steps())};
}

std::vector<PublishedBeside> nearest_to(const std::vector<ComparedCase>& cases) {
  const std::vector<ComparedCase>& published = measured_by_others().kernels;
  std::vector<PublishedBeside> rows;
  for (const ComparedCase& ours : cases)
    if (const ComparedCase* found = nearest_published(ours, published))
      rows.push_back({ours, *found});
  return rows;
}

ComparisonReport table_report(const CompareOptions& options) {
  if (options.hardware.empty())
    refuse_call("missing --hardware (a preset or a path: what the table was measured on)");
  const MeasurementTable table = load_measurements(options.measurements);
  const Device device = device_of(options.hardware, constants_of_option(options.constants));
  ComparisonReport report{
      .title = fmt::format("{} against {}", printable(options.measurements), device.machine.name),
      .cases = measured_cases(table, device, rules_for(options, "measurements")),
      .notes = {}};
  report.nearest = nearest_to(report.cases);
  report.machine = device.machine;
  for (const std::string& column : table.ignored_columns)
    report.notes.push_back(fmt::format("Column '{}' was ignored.", column));
  for (const ResolvedValue& value : device.fallbacks)
    report.notes.push_back(fmt::format("{}: {} ({}).", value.key, value.value, value.origin));
  return report;
}

/// Samples and the profile of their machine.
struct MeasuredMachine {
  std::string label;  // name of the profile
  DeviceValues device;
  profile::Samples samples;
};

ComparisonReport samples_report(const MeasuredMachine& measured,
                                const std::vector<ToleranceRule>& rules,
                                const Constants& constants) {
  const profile::Samples& samples = measured.samples;
  const Device device = device_of(measured.device, measured.label, constants);
  profile::require_good_and_own(samples, device.machine.name);
  return {.title = fmt::format("{} against {}", file_label(samples.path), measured.label),
          .cases = profile::kernel_cases(samples, device, rules),
          .notes = profile::comparison_notes(samples, measured.device),
          .stale = profile::stale_mark(samples),
          .steps = profile::compared_steps(device.machine, samples),
          .machine = device.machine};
}

/// The profile that scripts/measure writes.
constexpr const char* kLocalProfile = "depthcost-measurements/profile.yaml";

std::string local_profile() {
  std::error_code ignored;
  if (!std::filesystem::exists(kLocalProfile, ignored))
    refuse_call(
        fmt::format("missing profile ('{}' is not there: run scripts/measure, or name a "
                    "profile, samples, a table or --published)",
                    kLocalProfile));
  return kLocalProfile;
}

/// "# tokens: T, rows of the call (needed)".
std::string comment_on(const MeasuredColumn& column) {
  const std::string choices =
      column.choices.empty() ? "" : fmt::format("; {}", fmt::join(column.choices, " | "));
  return fmt::format("# {}: {}{} ({})\n", column.name, column.meaning, choices,
                     column.otherwise.empty() ? "needed" : column.otherwise);
}

MeasuredMachine machine_of(const CompareOptions& options, const std::string& input) {
  if (profile::is_profile_path(input)) {
    profile::Samples samples = profile::samples_of(input);
    return {file_label(input), resolve_device(input, "PROFILE"), std::move(samples)};
  }
  DeviceValues device = resolve_device(options.hardware, "--hardware");
  const profile::Backend backend = profile::backend_of(device.values);
  return {file_label(options.hardware), std::move(device), profile::read_samples(input, backend)};
}

/// Rules of a file are read first, so that a bad one is reported even if the machine is another
/// one.
ComparisonReport measured_report(const CompareOptions& options, const std::string& input) {
  std::vector<ToleranceRule> rules;
  if (!options.tolerances.empty()) rules = load_rules(options.tolerances);
  const MeasuredMachine measured = machine_of(options, input);
  if (rules.empty()) rules = profile::rules_of(measured.samples);
  return samples_report(measured, rules, constants_of_option(options.constants));
}

}  // namespace

void refuse_call(std::string_view problem) { throw InputError({"compare", 1, 1}, problem); }

void require_no_conflicts(const CompareOptions& options) {
  const bool answers_alone = options.writes_template || options.lists_operations;
  const std::string_view flag = options.writes_template ? "--template" : "--operations";
  if (answers_alone && (options.published || !options.measurements.empty()))
    refuse_call(fmt::format("conflicting {} (it compares nothing)", flag));
  if (options.writes_template && options.lists_operations)
    refuse_call("conflicting --template (--operations is given)");
  if (options.published && !options.measurements.empty())
    refuse_call("conflicting --published (a table is given)");
  const bool has_trace_options = !options.kernel_names.empty() || options.steps > 0 ||
                                 !options.workload.empty() || !options.settings.empty();
  if (options.scenario.empty() && has_trace_options)
    refuse_call("missing --scenario (what the trace is a step of)");
  if (options.published && !options.scenario.empty())
    refuse_call("conflicting --published (--scenario is given)");
  if (options.published && !options.hardware.empty())
    refuse_call("conflicting --hardware (published measurements name their own)");
  if (options.published && !options.constants.empty())
    refuse_call(
        "conflicting --constants (published measurements are held against constants that "
        "have not seen them)");
  if (!options.directory.empty() && (options.published || !options.scenario.empty()))
    refuse_call("conflicting --output (a document is of kernels of one machine)");
  if (options.github) require_text_for_github("compare", options.format);
}

std::string compared_file(const CompareOptions& options) {
  return options.measurements.empty() ? local_profile() : options.measurements;
}

std::string table_template() {
  std::string text =
      "# Times of kernels for: depthcost compare TABLE.csv --hardware H\n"
      "# A row is one kernel at one shape. The columns may stand in any order, and those that are\n"
      "# not needed may be left out. In brackets: what holds without the column or in an empty cell.\n";
  std::string header;
  for (const MeasuredColumn& column : measured_columns()) {
    text += comment_on(column);
    header += fmt::format("{}{}", header.empty() ? "" : ",", column.name);
  }
  return text + header + "\n";
}

ComparisonReport compared_measurements(const CompareOptions& options) {
  if (options.published) return published_report(options);
  const std::string input = compared_file(options);
  const bool is_samples = input.ends_with(".json");
  if (is_samples && options.hardware.empty())
    refuse_call("missing --hardware (the profile of the machine; of a trace: --scenario)");
  if (!is_samples && !profile::is_profile_path(input)) return table_report(options);
  if (!is_samples && !options.hardware.empty())
    refuse_call("conflicting --hardware (a profile has its own machine)");
  return measured_report(options, input);
}

}  // namespace depthcost
