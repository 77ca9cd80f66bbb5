// `report`: Markdown and SVG for each scenario, all of them or none.
#include <fmt/format.h>

#include <set>

#include "cli/commands/answers/made_report.hpp"
#include "cli/commands/commands.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost {
ExitCode run_report(const ReportOptions& options, Console& console) {
  // A question from options is one scenario without a path.
  const bool has_files = options.question.model.empty();
  const std::vector<std::string> paths =
      has_files ? options.scenarios : std::vector<std::string>{""};
  Report all;
  std::set<std::string> names;
  Progress& progress = console.watch("report");
  progress.expected = paths.size() * (1 + kUsualPlots);
  const MeasuredByOthers& published = measured_by_others();
  for (const std::string& path : paths) {
    Report report = made_report(asked_scenario(path, options.question),
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
