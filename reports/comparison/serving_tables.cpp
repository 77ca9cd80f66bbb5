// Served decode steps as tables.
#include <algorithm>
#include <cmath>
#include <vector>

#include "reports/comparison/comparison_report.hpp"
#include "reports/comparison/error_groups.hpp"
#include "reports/formats/numbers.hpp"

namespace depthcost {
namespace {

constexpr std::size_t kWorst = 10;

}  // namespace

Table serving_table(std::span<const ComparedServing> servings) {
  Table table{{"by", "name", right("cases"), right("median |error|"), right("90th percentile"),
               right("worst"), right("inside"), right("score")}};
  for (const ServingGroup& group : serving_groups(servings)) {
    std::vector<std::string> cells{group.by, group.name};
    for (std::string& cell : summary_cells(group.errors)) cells.push_back(std::move(cell));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Table worst_servings_table(std::span<const ComparedServing> servings) {
  std::vector<const ComparedServing*> rows;
  for (const ComparedServing& serving : servings) rows.push_back(&serving);
  std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) {
    return std::fabs(a->comparison.error) > std::fabs(b->comparison.error);
  });
  rows.resize(std::min(rows.size(), kWorst));
  Table table{{"step", "stack", right("measured"), right("predicted [90 %]"), right("error")}};
  for (const ComparedServing* row : rows)
    table.add(row->id, row->stack, format_seconds(row->comparison.measured.value),
              format_seconds(row->comparison.predicted),
              format_ratio(row->comparison.error, Sign::always));
  return table;
}

}  // namespace depthcost
