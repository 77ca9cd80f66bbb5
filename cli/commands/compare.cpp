// `compare`: predicted against measured. Exit code 0: all cases pass. 1: a case fails, or a
// measurement is impossible. 2: bad input, or nothing to compare.
#include <algorithm>
#include <filesystem>

#include "cli/commands/commands.hpp"
#include "cli/commands/compared_measurements.hpp"
#include "cli/commands/compared_trace.hpp"
#include "cli/output/files.hpp"
#include "cli/output/plot_files.hpp"
#include "cli/output/stdout.hpp"
#include "cli/output/version.hpp"
#include "reports/comparison/comparison_gates.hpp"
#include "reports/comparison/operation_list.hpp"
#include "reports/formats/markdown_text.hpp"

namespace depthcost {
namespace {

std::string text_of(const ComparisonReport& report, Format format) {
  if (format == Format::json) return to_json(report, kVersion);
  return format == Format::markdown ? to_markdown(report) : to_table(report);
}

ExitCode print(const TraceReport& report, Format format) {
  if (format == Format::table)
    show(to_table(report));
  else
    write_stdout(format == Format::json ? to_json(report, kVersion) : to_markdown(report));
  return ExitCode::good;
}

ExitCode exit_code(const ComparisonReport& report) {
  const bool is_red =
      std::any_of(report.cases.begin(), report.cases.end(),
                  [](const ComparedCase& compared) { return compared.is_blocked(); });
  return is_red ? ExitCode::gate_said_no : ExitCode::good;
}

/// The document with its roofline.
void write_document(const ComparisonReport& report, const CompareOptions& options,
                    Progress& progress) {
  const std::string stem = std::filesystem::path(compared_file(options)).stem().string();
  std::vector<Plot> plots;
  if (auto plot = roofline_plot(*report.machine, report.cases)) plots.push_back(*std::move(plot));
  DrawnPlots drawn = draw(plots, stem, progress);
  std::string text = to_markdown(report);
  for (const PlotFile& plot : drawn.shown) text += "\n" + picture(plot.caption, plot.file_name);
  if (!drawn.missing.empty()) text += "\n*" + drawn.missing + "*\n";
  drawn.files.push_back({stem + "-kernels.md", text});
  write_files(options.directory, drawn.files);
}

ExitCode print(const ComparisonReport& report, const CompareOptions& options) {
  const std::string text = text_of(report, options.format);
  const bool is_for_people = options.format == Format::table && !options.github;
  is_for_people ? show(text) : write_stdout(text);
  if (options.github) write_our_codes(to_annotations(annotations(report)));
  if (!options.junit.empty()) write_file(options.junit, to_junit(junit_suite(report)));
  return exit_code(report);
}

}  // namespace

ExitCode run_compare(const CompareOptions& options, Console& console) {
  require_no_conflicts(options);
  if (options.writes_template) {
    write_stdout(table_template());
    return ExitCode::good;
  }
  if (options.lists_operations) {
    write_stdout(operation_list(name(options.format), kVersion));
    return ExitCode::good;
  }
  if (!options.scenario.empty()) return print(compared_trace(options), options.format);
  Progress& progress = console.watch("compare");
  ComparisonReport report = compared_measurements(options);
  if (options.strict)
    for (ComparedCase& compared : report.cases) compared.ambiguities = Ambiguities::fail;
  if (!options.directory.empty()) write_document(report, options, progress);
  console.stop_watching();
  return print(report, options);
}

}  // namespace depthcost
