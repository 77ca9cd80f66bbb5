// `diff`: what changed between two results. Exit code 0: nothing for the worse. 1: a prediction by
// more than the tolerance, or a verdict. 2: bad input.
#include "cli/commands/commands.hpp"
#include "cli/output/stdout.hpp"
#include "cli/output/version.hpp"
#include "reports/difference/difference_report.hpp"
#include "reports/formats/json_writer.hpp"
#include "scenarios/measured/result_file.hpp"
#include "scenarios/text/quantity.hpp"

namespace depthcost {
namespace {

double tolerance_of(const DiffOptions& options) {
  if (options.tolerance.empty()) return 0;
  return parse_quantity({options.tolerance, false}, {"--tolerance", 1, 1}, Dimension::ratio,
                        "tolerance", Range::non_negative);
}

std::string text_of(const DifferenceReport& report, Format format) {
  if (format == Format::json) return to_json(report, kVersion);
  return format == Format::markdown ? to_markdown(report) : to_table(report);
}

}  // namespace

ExitCode run_diff(const DiffOptions& options) {
  const double tolerance = tolerance_of(options);
  const Result before = load_result(options.before, kJsonSchemaVersion);
  const Result after = load_result(options.after, kJsonSchemaVersion);
  const DifferenceReport report{
      .before = compared(printable(options.before), before),
      .after = compared(printable(options.after), after),
      .tolerance = tolerance,
      .difference = difference(before, after, tolerance),
      .improvements = options.strict ? Improvements::refused : Improvements::allowed,
      .shown = options.details ? ShownMoves::all : ShownMoves::steps};
  write_stdout(text_of(report, options.format));
  return report.difference.holds(report.improvements) ? ExitCode::good : ExitCode::gate_said_no;
}

}  // namespace depthcost
