// The rows of whole steps that are about the scheme and schedule of the scenario.
#include <fmt/format.h>

#include <algorithm>

#include "reports/difference/difference_report.hpp"
#include "reports/formats/numbers.hpp"

namespace depthcost {
namespace {

const PredictedQuantity* quantity(const PredictedRow& row, std::string_view name) {
  const auto it = std::find_if(row.quantities.begin(), row.quantities.end(),
                               [&](const PredictedQuantity& one) { return one.name == name; });
  return it == row.quantities.end() || !it->low ? nullptr : &*it;
}

Estimate<Seconds> seconds(const PredictedQuantity& it) {
  return {{*it.low}, {it.value}, {*it.high}};
}

void add_numbers(std::vector<NamedWord>& words, const PredictedRow& row,
                 const std::string& workload, const std::string& path) {
  if (const PredictedQuantity* step = quantity(row, "baseline_seconds"))
    words.push_back({workload + ", the whole step", format_seconds(seconds(*step))});
  const PredictedQuantity* added = quantity(row, "delta_seconds");
  if (added == nullptr) return;
  std::string text = fmt::format("{}: {}", path, format_seconds(seconds(*added), Sign::always));
  if (const PredictedQuantity* share = quantity(row, "overhead"))
    text += ", " + format_ratio(Estimate<double>{*share->low, share->value, *share->high});
  words.push_back({workload + ", added", text});
}

}  // namespace

ComparedResult compared(const std::string& file, const Result& result) {
  ComparedResult it{
      .file = file, .scenario = result.scenario, .program_version = result.program_version};
  if (result.path.empty()) return it;
  it.path = result.path;
  for (const PredictedRow& row : result.rows) {
    if (row.section != "step" || !row.name.ends_with(" " + it.path)) continue;
    const std::string workload = row.name.substr(0, row.name.size() - it.path.size() - 1);
    add_numbers(it.numbers, row, workload, it.path);
  }
  return it;
}

}  // namespace depthcost
