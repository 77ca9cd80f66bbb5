// Groups and their summaries.
#include "reports/comparison/error_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reports/formats/numbers.hpp"

namespace depthcost {
namespace {

/// Cases by device, operation and whether launch counts, in their order.
std::vector<std::vector<ComparedCase>> grouped(std::span<const ComparedCase> cases) {
  std::vector<std::vector<ComparedCase>> groups;
  for (const ComparedCase& compared : cases) {
    const auto found = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      const ComparedCase& first = group.front();
      return first.hardware == compared.hardware &&
             first.call.operation == compared.call.operation &&
             is_large(first.comparison) == is_large(compared.comparison);
    });
    if (found == groups.end())
      groups.push_back({compared});
    else
      found->push_back(compared);
  }
  return groups;
}

/// The middle of what stacks differ by, over the cases of which there are several.
std::optional<double> median_scatter(const std::vector<ComparedCase>& cases) {
  std::vector<double> scatters;
  for (const ComparedCase& compared : cases)
    if (compared.stacks.size() > 1) scatters.push_back(compared.scatter());
  if (scatters.empty()) return std::nullopt;
  std::sort(scatters.begin(), scatters.end());
  return scatters[(scatters.size() - 1) / 2];
}

template <class NameOf>
void add_groups(std::vector<RunGroup>& groups, std::span<const ComparedRun> runs, const char* by,
                const NameOf& name_of) {
  std::map<std::string, std::vector<Comparison>> named;
  for (const ComparedRun& run : runs) named[name_of(run)].push_back(run.comparison);
  for (const auto& [name, comparisons] : named)
    groups.push_back({by, name, summary_of(comparisons)});
}

}  // namespace

std::string launch_share(const Comparison& comparison) {
  return fmt::format("{} {:.0f} %", is_large(comparison) ? "up to" : "above",
                     100 * kLargestFloorShare);
}

std::vector<std::string> summary_cells(const ErrorSummary& errors) {
  return {std::to_string(errors.cases), format_ratio(errors.median), format_ratio(errors.p90),
          format_ratio(errors.worst, Sign::always), format_ratio(errors.inside)};
}

std::vector<Comparison> comparisons_of(std::span<const ComparedCase> cases) {
  std::vector<Comparison> comparisons;
  for (const ComparedCase& compared : cases) comparisons.push_back(compared.comparison);
  return comparisons;
}

std::vector<KernelGroup> kernel_groups(std::span<const ComparedCase> cases) {
  std::vector<KernelGroup> groups;
  for (const std::vector<ComparedCase>& group : grouped(cases)) {
    const ComparedCase& first = group.front();
    groups.push_back({first.hardware, first.call.operation, launch_share(first.comparison),
                      summary_of(comparisons_of(group)), median_scatter(group)});
  }
  return groups;
}

std::vector<RunGroup> run_groups(std::span<const ComparedRun> runs) {
  std::vector<RunGroup> groups;
  add_groups(groups, runs, "model", [](const ComparedRun& row) { return row.model; });
  add_groups(groups, runs, "GPU", [](const ComparedRun& row) { return row.gpu; });
  add_groups(groups, runs, "all", [](const ComparedRun&) { return std::string("all"); });
  return groups;
}

}  // namespace depthcost
