// `sweep`: reads the scenario and its axes, sweeps, and writes what was asked for.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "cli/commands/commands.hpp"
#include "cli/output/files.hpp"
#include "cli/output/plot_files.hpp"
#include "cli/output/version.hpp"
#include "model/base/parallel.hpp"
#include "reports/sweep/sweep_report.hpp"
#include "scenarios/read/sweep_plan.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost {
namespace {

/// A config.json of a released model rarely has blocks; the question is what they would cost.
std::string_view hint(const Study& study) {
  return std::holds_alternative<Standard>(study.path.scheme)
             ? "; residual.scheme of a scenario, or --residual beside --model, asks about another"
             : "";
}

[[noreturn]] void refuse_all(const SweepPlan& plan, const SweepReport& report) {
  for (const ReportedScene& scene : report.scenes)
    if (scene.sweep)
      throw InputError(axis_position(), fmt::format("no point of the sweep can exist: {}{}",
                                                    scene.sweep->choices().front().refused,
                                                    hint(scene.sweep->study())));
  throw InputError(axis_position(), plan.scenes.front().refused);
}

bool has_point(const Sweep& sweep) {
  for (const SweepChoice& choice : sweep.choices())
    if (choice.refused.empty()) return true;
  return false;
}

SweepPlan plan_of(const SweepOptions& options) {
  if (options.question.model.empty())
    return plan_sweep(options.scenario, options.axes, options.max_points);
  return plan_sweep({document_from_options(options.question), "", Provenance::options},
                    options.axes, options.max_points);
}

SweepReport swept(const SweepOptions& options, Progress& progress) {
  SweepPlan plan = plan_of(options);
  SweepReport report{.title = {},
                     .scene_axes = plan.scene_axes,
                     .scenes = {},
                     .own = plan.own,
                     .compute = options.compute,
                     .writing = nullptr};
  // Of several scenes each is a turn: what the next ones hold is not known yet.
  const bool is_one = plan.scenes.size() == 1;
  if (!is_one) progress.expected = plan.scenes.size();
  bool is_any = false;
  for (SweepScene& scene : plan.scenes) {
    if (!is_one) ++progress.done;
    ReportedScene& reported = report.scenes.emplace_back(
        ReportedScene{std::move(scene.values), std::nullopt, scene.refused});
    if (!scene.study) continue;
    if (report.title.empty()) report.title = scene.study->name;
    reported.sweep.emplace(*std::move(scene.study), std::move(scene.axes), num_hardware_threads(),
                           is_one ? &progress : nullptr);
    is_any = is_any || has_point(*reported.sweep);
  }
  if (!is_any) refuse_all(plan, report);
  return report;
}

constexpr const char* kNoPlots = "Plots: -o DIR writes them beside the document.";

/// One document, and its plots beside it.
std::vector<NewFile> files_of(const SweepReport& report, const SweepOptions& options,
                              Progress& progress) {
  const std::string stem = options.question.model.empty()
                               ? std::filesystem::path(options.scenario).stem().string()
                               : stem_of(options.question);
  if (options.format == "json") return {{stem + "-sweep.json", sweep_json(report, kVersion)}};
  if (options.format == "csv") return {{stem + "-sweep.csv", sweep_csv(report)}};
  if (options.format == "table") return {{stem + "-sweep.txt", sweep_text(report)}};
  DrawnPlots drawn = draw(sweep_plots(report), stem, progress);
  std::vector<NewFile> files = std::move(drawn.files);
  files.push_back(
      {stem + "-sweep.md", sweep_markdown(report, drawn.shown, drawn.missing, kVersion)});
  return files;
}

}  // namespace

ExitCode run_sweep(const SweepOptions& options, Console& console) {
  if (!std::isfinite(options.compute) || options.compute <= 0)
    throw InputError(
        {"--compute", 1, 1},
        fmt::format("invalid compute '{}' (must be PFLOP/s-days above zero)", options.compute));
  SweepReport report = swept(options, console.watch("sweep"));
  Progress& writing = console.watch("sweep: writing");
  writing.expected = groups_of(report).size();
  report.writing = &writing;
  // Plots need a folder; without one the document has none.
  const bool is_alone = options.directory.empty() && options.format == "markdown";
  const std::vector<NewFile> files =
      is_alone ? std::vector<NewFile>{{"", sweep_markdown(report, {}, kNoPlots, kVersion)}}
               : files_of(report, options, writing);
  console.stop_watching();
  if (options.directory.empty()) {
    options.format == "table" ? show(files.back().content) : write_stdout(files.back().content);
    return ExitCode::good;
  }
  write_files(options.directory, files);
  show(fmt::format("{}-> {}/{}\n", sweep_text(report), options.directory, files.back().name));
  return ExitCode::good;
}

}  // namespace depthcost
