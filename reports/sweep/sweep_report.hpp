// A sweep as text: table, sentences, JSON, CSV, Markdown and plots.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/progress.hpp"
#include "model/decision/scaling.hpp"
#include "model/sweep/recommendation.hpp"
#include "reports/formats/text_table.hpp"
#include "reports/section/plot.hpp"

namespace depthcost {

/// The sweep over one reading of the scenario.
struct ReportedScene {
  std::vector<std::string> values;  // of the report's scene axes
  std::optional<Sweep> sweep;
  std::string refused;  // why there is none
};

struct SweepReport {
  std::string title;
  std::vector<std::string> scene_axes;  // key paths
  std::vector<ReportedScene> scenes;    // at least one has a sweep
  std::optional<Study> own;             // the scenario as it is written
  std::vector<std::string> warnings;    // value_warnings()
  double compute = kMostFittedCompute;  // PFLOP/s-days, of the break-even
  Progress* writing = nullptr;          // counts groups as they are written, if it is there
};

/// Choices under one circumstance of one scene: what competes.
struct SweepGroup {
  const ReportedScene* scene = nullptr;
  std::size_t circumstance = 0;

  const Sweep& sweep() const { return *scene->sweep; }
};

/// All groups, scene by scene.
std::vector<SweepGroup> groups_of(const SweepReport& report);

/// A group has been written.
inline void count_group(const SweepReport& report) {
  if (report.writing != nullptr) report.writing->count();
}

/// "hardware h200_sxm, sequences 64"; empty without such axes.
std::string circumstance_label(const SweepReport& report, const SweepGroup& group);

/// The last part of a key: "sequences" of "workload.decode.sequences".
std::string last_part(std::string_view path);

/// "block_size 24"; "the scenario" without choice axes.
std::string choice_label(const Sweep& sweep, std::size_t choice);

/// The choice that the scenario itself has made, if it is among them.
std::optional<std::size_t> own_choice(const SweepReport& report, const SweepGroup& group);

/// The blocks that are a choice's sources; null where it has none, and for Full, which has as many
/// sources as layers and whose groups only batch queries.
const Partition* source_blocks(const SweepChoice& choice);

/// "1.746", "~1.747" where it is interpolated, "finer" and "coarser" beyond what is published.
std::string loss_text(const LossReading& reading);

/// One line for each choice of a group; where there are many, those that something is said of, and
/// the block sizes that are published.
Table sweep_table(const SweepReport& report, const SweepGroup& group);

/// The groups of which one table has room: all where they have the same columns and few rows, else
/// the first.
std::vector<SweepGroup> tabled_groups(const SweepReport& report);

/// Their choices, with what they are under where there are several.
Table sweep_table(const SweepReport& report);

/// What its columns mean, and how many choices it leaves out.
std::string sweep_legend(const SweepReport& report, const SweepGroup& group);

/// What is recommended under each circumstance; where there are many, wherever that changes.
Table recommendation_table(const SweepReport& report);

/// The recommendation for a group, how surely it keeps the limits, and a safe choice.
std::vector<std::string> sweep_answer(const SweepGroup& group);

/// Which limits decide, the runner-up, what would change the answer, what the published losses say,
/// and what pays.
std::vector<std::string> sweep_reasons(const SweepReport& report, const SweepGroup& group);

/// What cannot exist, and why; one line for each reason.
std::vector<std::string> refusals(const SweepReport& report);

std::string sweep_text(const SweepReport& report);
std::string sweep_json(const SweepReport& report, const std::string& program_version);
/// One line for each point, those that cannot exist among them.
std::string sweep_csv(const SweepReport& report);
std::string sweep_markdown(const SweepReport& report, std::span<const PlotFile> plots,
                           const std::string& missing_plots, const std::string& program_version);

/// Costs against the block size, and published loss against cost, of the first group. None without
/// a single choice axis of counts.
std::vector<Plot> sweep_plots(const SweepReport& report);

}  // namespace depthcost
