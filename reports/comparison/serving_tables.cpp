// Served decode steps as tables.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "reports/comparison/comparison_report.hpp"
#include "reports/formats/numbers.hpp"

namespace depthcost {
namespace {

constexpr std::size_t kWorst = 10;

template <class NameOf>
void add_errors_by(Table& table, std::span<const ComparedServing> servings, const char* what,
                   const NameOf& name_of) {
  std::vector<std::string> names;
  for (const ComparedServing& serving : servings)
    if (std::find(names.begin(), names.end(), name_of(serving)) == names.end())
      names.push_back(name_of(serving));
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    std::vector<Comparison> comparisons;
    for (const ComparedServing& serving : servings)
      if (name_of(serving) == name) comparisons.push_back(serving.comparison);
    const ErrorSummary errors = summary_of(comparisons);
    table.add(what, name, fmt::format("{}", errors.cases), format_ratio(errors.median),
              format_ratio(errors.p90), format_ratio(errors.worst, Sign::always),
              format_ratio(errors.inside));
  }
}

}  // namespace

Table serving_table(std::span<const ComparedServing> servings) {
  Table table{{"by", "name", right("cases"), right("median |error|"), right("90th percentile"),
               right("worst"), right("inside")}};
  add_errors_by(table, servings, "model", [](const ComparedServing& row) { return row.model; });
  add_errors_by(table, servings, "GPU", [](const ComparedServing& row) { return row.gpu; });
  add_errors_by(table, servings, "all", [](const ComparedServing&) { return std::string("all"); });
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
