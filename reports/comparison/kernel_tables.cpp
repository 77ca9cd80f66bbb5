// Six columns at most, within 80 places.
#include "reports/comparison/kernel_tables.hpp"

#include <fmt/format.h>

#include "reports/comparison/error_groups.hpp"
#include "reports/formats/numbers.hpp"

namespace depthcost {
namespace {

/// The name of a case without its tokens.
std::string common_name(const ComparedCase& compared) {
  std::string id = compared.id;
  const std::string tokens = fmt::format("/T:{}/", compared.call.num_tokens);
  if (const std::size_t at = id.find(tokens); at != std::string::npos)
    id.erase(at, tokens.size() - 1);
  return id;
}

/// The table of that name, made if there is none.
Table& table_of(std::vector<std::pair<std::string, Table>>& tables, const std::string& name,
                const Table& empty) {
  for (auto& [known, table] : tables)
    if (known == name) return table;
  tables.emplace_back(name, empty);
  return tables.back().second;
}

}  // namespace

std::vector<std::pair<std::string, Table>> kernel_tables(std::span<const ComparedCase> cases) {
  const Table empty{{right("tokens"), right("measured"), right("predicted [90 %]"), right("error"),
                     "verdict", "difference"}};
  std::vector<std::pair<std::string, Table>> tables;
  for (const ComparedCase& compared : cases) {
    const Comparison& comparison = compared.comparison;
    table_of(tables, common_name(compared), empty)
        .add(format_count(compared.call.num_tokens), format_seconds(comparison.measured.value),
             format_seconds(comparison.predicted), format_ratio(comparison.error, Sign::always),
             name(comparison.agreement), attribution_text(comparison.attribution));
  }
  return tables;
}

std::vector<std::pair<std::string, Table>> nearest_tables(
    std::span<const PublishedBeside> nearest) {
  const Table empty{
      {right("tokens"), "nearest published", "by", right("measured"), right("error")}};
  std::vector<std::pair<std::string, Table>> tables;
  for (const PublishedBeside& row : nearest) {
    const StackTime& fastest = row.published.stacks.front();
    table_of(tables, common_name(row.ours), empty)
        .add(format_count(row.ours.call.num_tokens), row.published.id, fastest.stack,
             format_seconds(fastest.time), format_ratio(fastest.error, Sign::always));
  }
  return tables;
}

Table error_table(std::span<const ComparedCase> cases) {
  Table table{
      {"kernels", right("cases"), right("median"), right("p90"), right("worst"), right("inside")}};
  for (const KernelGroup& group : kernel_groups(cases)) {
    std::vector<std::string> cells{
        fmt::format("{} {}, launch {}", group.hardware, group.operation, group.launch)};
    for (std::string& cell : summary_cells(group.errors)) cells.push_back(std::move(cell));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace depthcost
