// `report`: Markdown and SVG for each scenario, all of them or none.
#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "cli/commands/commands.hpp"
#include "cli/output/plot_files.hpp"
#include "cli/output/version.hpp"
#include "profile/nearest_kernels.hpp"
#include "reports/documents/answer_documents.hpp"
#include "reports/topics/decision/decision_section.hpp"
#include "scenarios/measured/comparisons.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost {
namespace {

/// Files to write, and the text for the terminal: of one report or of all.
struct Report {
  std::vector<NewFile> files;
  std::string summary;
  std::string missing_plots;  // why there are none
};

// The number of plots in most reports. Progress expects as many of each report to come.
constexpr std::size_t kUsualPlots = 8;

Report make_report(const Scenario& scenario, const std::string& stem,
                   const MeasuredByOthers& published, Progress& progress) {
  const Evaluation evaluation = evaluate_with_family(scenario.study);
  const std::vector<Plot> to_draw = plots(evaluation);
  ++progress.done;
  progress.expected = progress.expected + to_draw.size() - kUsualPlots;
  DrawnPlots drawn = draw(to_draw, stem, progress);
  const ReportParts parts{.values = scenario.values,
                          .plots = drawn.shown,
                          .missing_plots = drawn.missing,
                          .program_version = kVersion,
                          .measured = profile::measured_kernels(scenario, evaluation),
                          .published = published.kernels,
                          .published_steps = published.steps,
                          .stem = std::filesystem::path(stem).filename().string()};
  Report report{.files = std::move(drawn.files),
                .summary = decision_text(evaluation, parts),
                .missing_plots = drawn.missing};
  if (const std::string appendix = markdown_appendix(evaluation, parts); !appendix.empty())
    report.files.push_back({stem + "-appendix.md", appendix});
  report.files.push_back({stem + ".md", markdown_report(evaluation, parts)});
  return report;
}

}  // namespace

ExitCode run_report(const ReportOptions& options, Console& console) {
  // A question from options is one scenario without a path.
  const bool has_files = options.question.model.empty();
  const std::vector<std::string> paths =
      has_files ? options.scenarios : std::vector<std::string>{""};
  Report all;
  std::set<std::string> names;
  Progress& progress = console.watch("report");
  progress.expected = paths.size() * (1 + kUsualPlots);
  const MeasuredByOthers published = measured_by_others();
  for (const std::string& path : paths) {
    Report report = make_report(asked_scenario(path, options.question),
                                stem_of(path, options.question), published, progress);
    all.missing_plots = report.missing_plots;
    for (NewFile& file : report.files) {
      if (!names.insert(file.name).second)
        throw InputError({path, 1, 1}, fmt::format("two reports named '{}' (rename one scenario)",
                                                   printable(file.name)));
      all.files.push_back(std::move(file));
    }
    all.summary +=
        fmt::format("{}\n-> {}/{}\n", report.summary, options.directory, all.files.back().name);
  }
  console.stop_watching();
  write_files(options.directory, all.files);
  show(all.summary);
  if (!all.missing_plots.empty()) console.warn(all.missing_plots);
  if (has_files)
    console.suggest(fmt::format("depthcost explain {} names every number of it",
                                printable(options.scenarios.front())));
  return ExitCode::good;
}

}  // namespace depthcost
