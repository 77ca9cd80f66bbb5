// Runs of whole models as tables.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "reports/comparison/comparison_report.hpp"
#include "reports/comparison/error_groups.hpp"
#include "reports/formats/numbers.hpp"

namespace depthcost {
namespace {

constexpr std::size_t kWorst = 10;

}  // namespace

Table run_table(std::span<const ComparedRun> runs) {
  Table table{{"steps", right("cases"), right("median |error|"), right("90th percentile"),
               right("worst"), right("inside")}};
  for (const RunGroup& group : run_groups(runs)) {
    std::vector<std::string> cells{
        group.by == group.name ? group.name : fmt::format("{} {}", group.by, group.name)};
    for (std::string& cell : summary_cells(group.errors)) cells.push_back(std::move(cell));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::string unseen_gpu_sentence(std::string_view what, std::span<const ComparedRun> runs) {
  std::vector<Comparison> all;
  for (const ComparedRun& run : runs) all.push_back(run.comparison);
  const ErrorSummary errors = summary_of(all);
  return fmt::format(
      "{} predicted by constants fitted without the GPU, in place of the model: median |error| "
      "{}, 90th percentile {}, worst {}, {} inside.",
      what, format_ratio(errors.median), format_ratio(errors.p90),
      format_ratio(errors.worst, Sign::always), format_ratio(errors.inside));
}

std::string peer_sentence(std::span<const ComparedRun> servings) {
  std::vector<Comparison> ours;
  std::vector<Comparison> theirs;
  for (const ComparedRun& serving : servings) {
    if (!serving.peer) continue;
    ours.push_back(serving.comparison);
    const Estimate<Seconds> measured = serving.comparison.measured;
    theirs.push_back({.measured = measured,
                      .predicted = {*serving.peer, *serving.peer, *serving.peer},
                      .error = measured.value / *serving.peer - 1});
  }
  if (ours.empty()) return "";
  const ErrorSummary us = summary_of(ours);
  const ErrorSummary them = summary_of(theirs);
  return fmt::format(
      "aiconfigurator 0.12.0 sums kernels that were measured on the GPU, for the decode step "
      "alone. It predicts {} of the "
      "served steps with a median |error| of {} and a 90th percentile of {}; depthcost predicts "
      "the same steps with {} and {}.",
      them.cases, format_ratio(them.median), format_ratio(them.p90), format_ratio(us.median),
      format_ratio(us.p90));
}

Table worst_runs_table(std::span<const ComparedRun> runs) {
  std::vector<const ComparedRun*> rows;
  for (const ComparedRun& run : runs) rows.push_back(&run);
  std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) {
    return std::fabs(a->comparison.error) > std::fabs(b->comparison.error);
  });
  rows.resize(std::min(rows.size(), kWorst));
  Table table{{"step", "stack", right("measured"), right("predicted [90 %]"), right("error")}};
  for (const ComparedRun* row : rows)
    table.add(row->id, row->stack, format_seconds(row->comparison.measured.value),
              format_seconds(row->comparison.predicted),
              format_ratio(row->comparison.error, Sign::always));
  return table;
}

}  // namespace depthcost
