// `mixing`: depth mixing matrices of the scenario's schemes and of named ones, with the weights of
// a file or random ones.
#include <fmt/format.h>

#include <filesystem>

#include "cli/commands/commands.hpp"
#include "cli/commands/random_magnitudes.hpp"
#include "cli/output/plot_files.hpp"
#include "cli/output/stdout.hpp"
#include "cli/output/version.hpp"
#include "reports/mixing/mixing_report.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost {
namespace {

MixingReport report_of(const Study& study, const MixingOptions& options, const Console& console) {
  MixedSchemes mixed = mixed_schemes(study, options.question);
  for (const std::string& reason : mixed.warnings) console.warn(reason);
  MixingReport report{.title = study.name,
                      .num_layers = study.model.num_layers,
                      .seed = options.question.seed,
                      .schemes = std::move(mixed.schemes),
                      .magnitudes = {}};
  if (!options.magnitude) return report;
  if (report.num_layers < kMinGrowthLayers)
    throw InputError({"--magnitude", 1, 1},
                     fmt::format("too few layers for a law of growth ({}, needs {})",
                                 report.num_layers, kMinGrowthLayers));
  report.magnitudes = random_magnitudes(report.num_layers, mixed.blocks,
                                        static_cast<std::uint64_t>(options.question.seed));
  return report;
}

/// Writes one document, and plots beside a Markdown one.
std::vector<NewFile> files_of(const MixingReport& report, const MixingOptions& options,
                              Progress& progress) {
  const std::string stem = std::filesystem::path(options.question.scenario).stem().string();
  if (options.format == Format::json)
    return {{stem + "-mixing.json", mixing_json(report, kVersion)}};
  if (options.format == Format::csv) return {{stem + "-mixing.csv", mixing_csv(report)}};
  DrawnPlots drawn = draw(mixing_plots(report), stem, progress);
  std::vector<NewFile> files = std::move(drawn.files);
  files.push_back(
      {stem + "-mixing.md", mixing_markdown(report, drawn.shown, drawn.missing, kVersion)});
  return files;
}

}  // namespace

ExitCode run_mixing(const MixingOptions& options, Console& console) {
  const Scenario scenario = read_scenario(options.question.scenario);
  const MixingReport report = report_of(scenario.study, options, console);
  if (!options.directory.empty()) {
    const std::vector<NewFile> files = files_of(report, options, console.watch("mixing"));
    console.stop_watching();
    write_files(options.directory, files);
    show(fmt::format("-> {}/{}\n", options.directory, files.back().name));
    return ExitCode::good;
  }
  if (options.format == Format::json) write_stdout(mixing_json(report, kVersion));
  if (options.format == Format::csv) write_stdout(mixing_csv(report));
  if (options.format == Format::table) show(mixing_text(report));
  return ExitCode::good;
}

}  // namespace depthcost
