// `sweep`: which block size, why, and the runner-up.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "cli/commands/commands.hpp"
#include "cli/commands/swept_scenes.hpp"
#include "cli/output/files.hpp"
#include "cli/output/plot_files.hpp"
#include "cli/output/stdout.hpp"
#include "cli/output/version.hpp"
#include "cli/shards/sweep_shard.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost {
namespace {

constexpr const char* kNoPlots = "Plots: -o DIR writes them beside the document.";

/// Writes one document and its plots.
std::vector<NewFile> files_of(const SweepReport& report, const SweepOptions& options,
                              Progress& progress) {
  const std::string stem = stem_of(options.scenario, options.question);
  if (options.format == Format::json) return {{stem + "-sweep.json", sweep_json(report, kVersion)}};
  if (options.format == Format::csv) return {{stem + "-sweep.csv", sweep_csv(report)}};
  if (options.format == Format::table) return {{stem + "-sweep.txt", sweep_text(report)}};
  DrawnPlots drawn = draw(sweep_plots(report), stem, progress);
  std::vector<NewFile> files = std::move(drawn.files);
  files.push_back(
      {stem + "-sweep.md", sweep_markdown(report, drawn.shown, drawn.missing, kVersion)});
  return files;
}

/// `--shard`: times alone, for `--merge`.
ExitCode write_shard(const SweepOptions& options, Progress& progress) {
  const SweepShare share = share_of(options.shard);
  if (options.directory.empty())
    throw InputError({"--shard", 1, 1}, "missing -o (the folder of the shards)");
  SweepPlan plan = plan_of(options, progress);
  const std::string question = question_of(options.question, options.axes);
  const SweepReport report = swept_scenes(std::move(plan), options, progress, {.share = share});
  const std::string name =
      fmt::format("{}-sweep.{}-of-{}.shard", stem_of(options.scenario, options.question),
                  share.index + 1, share.count);
  write_files(options.directory, {{name, shard_text(report, share, question)}});
  show(fmt::format("-> {}/{}\n", options.directory, name));
  return ExitCode::good;
}

/// From the times of shards where there are some.
SweepReport answer_of(const SweepOptions& options, Progress& progress) {
  SweepPlan plan = plan_of(options, progress);
  if (options.shards.empty()) return swept_scenes(std::move(plan), options, progress);
  const MergedShards merged(options.shards, question_of(options.question, options.axes));
  const auto row = [&](std::size_t at, std::size_t size) { return merged.row(at, size); };
  SweepReport report =
      swept_scenes(std::move(plan), options, progress, {.share = {}, .known = row});
  merged.require_same_arithmetic(report);
  return report;
}

}  // namespace

ExitCode run_sweep(const SweepOptions& options, Console& console) {
  if (!std::isfinite(options.compute) || options.compute <= 0)
    throw InputError(
        {"--compute", 1, 1},
        fmt::format("invalid compute '{}' (must be PFLOP/s-days above zero)", options.compute));
  Progress& timing = console.watch("sweep");
  if (!options.shard.empty()) return write_shard(options, timing);
  SweepReport report = answer_of(options, timing);
  Progress& writing = console.watch("sweep: writing");
  writing.expected = groups_of(report).size();
  report.writing = &writing;
  // Plots need a folder; without one the document has none.
  const bool is_alone = options.directory.empty() && options.format == Format::markdown;
  const std::vector<NewFile> files =
      is_alone ? std::vector<NewFile>{{"", sweep_markdown(report, {}, kNoPlots, kVersion)}}
               : files_of(report, options, writing);
  console.stop_watching();
  if (options.directory.empty()) {
    options.format == Format::table ? show(files.back().content)
                                    : write_stdout(files.back().content);
    return ExitCode::good;
  }
  write_files(options.directory, files);
  show(fmt::format("{}-> {}/{}\n", sweep_text(report), options.directory, files.back().name));
  return ExitCode::good;
}

}  // namespace depthcost
