// A sweep for a terminal, and as a Markdown document.
#include <fmt/format.h>

#include "reports/formats/markdown_text.hpp"
#include "reports/formats/numbers.hpp"
#include "reports/sweep/sweep_evidence.hpp"
#include "reports/sweep/sweep_report.hpp"

namespace depthcost {
namespace {

std::size_t num_points(const SweepReport& report) {
  std::size_t points = 0;
  for (const ReportedScene& scene : report.scenes) points += scene.sweep ? scene.sweep->size() : 1;
  return points;
}

std::string opening(const SweepReport& report) {
  const std::size_t groups = groups_of(report).size();
  std::string text = fmt::format("{} point{}", format_count(static_cast<Count>(num_points(report))),
                                 num_points(report) == 1 ? "" : "s");
  if (groups > 1)
    text += fmt::format(" in {} circumstances, each with its own choice",
                        format_count(static_cast<Count>(groups)));
  return text;
}

bool has_several(const SweepReport& report) { return groups_of(report).size() > 1; }

}  // namespace

std::string sweep_text(const SweepReport& report) {
  const SweepGroup first = groups_of(report).front();
  std::string text = fmt::format("{}: {}\n\n", report.title, opening(report));
  if (has_several(report))
    text += fmt::format("{}\nUnder {}:\n", plain_text(recommendation_table(report)),
                        circumstance_label(report, first));
  for (const std::string& sentence : sweep_answer(first)) text += sentence + "\n";
  text += "\n" + plain_text(sweep_table(report)) + "\n" + sweep_legend(report, first) + "\n\n";
  for (const std::string& sentence : sweep_reasons(report, first)) text += sentence + "\n";
  for (const std::string& line : refusals(report)) text += line + "\n";
  for (const std::string& warning : report.warnings) text += "Warning: " + warning + "\n";
  return text;
}

std::string sweep_markdown(const SweepReport& report, std::span<const PlotFile> plots,
                           const std::string& missing_plots, const std::string& program_version) {
  const SweepGroup first = groups_of(report).front();
  std::string text =
      fmt::format("# {}: which block size?\n\n{}.\n\n", escaped(report.title), opening(report));
  if (has_several(report))
    text += fmt::format("## Recommendations\n\n{}\n## {}\n\n",
                        markdown(recommendation_table(report)), circumstance_label(report, first));
  for (const std::string& sentence : sweep_answer(first)) text += fmt::format("- {}\n", sentence);
  text += "\n";
  for (const PlotFile& plot : plots) text += picture(plot.caption, plot.file_name) + "\n\n";
  if (!missing_plots.empty()) text += fmt::format("*{}*\n\n", missing_plots);
  text += markdown(sweep_table(report)) + "\n" + sweep_legend(report, first) + "\n\n";
  for (const std::string& sentence : sweep_reasons(report, first))
    text += fmt::format("- {}\n", sentence);
  for (const std::string& warning : report.warnings)
    text += fmt::format("- Warning: {}\n", escaped(warning));
  const std::vector<std::string> refused = refusals(report);
  if (!refused.empty()) text += "\n";
  for (const std::string& line : refused) text += fmt::format("- {}\n", escaped(line));
  return text +
         fmt::format("\n{}\ndepthcost {}\n", evidence_markdown(report.compute), program_version);
}

}  // namespace depthcost
