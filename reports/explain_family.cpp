// A member of the family: its rule, what it moves, and where it is computed and measured.
#include <fmt/format.h>

#include <set>

#include "model/ledger/path_operations.hpp"
#include "model/machine/catalogue.hpp"
#include "reports/explain_sections.hpp"
#include "reports/family.hpp"
#include "reports/format.hpp"
#include "reports/ledger_formula.hpp"

namespace depthcost {
namespace {

/// The catalogue has the operations that kernels of this project run, and a mechanism's own variant
/// of one.
const CatalogueEntry* entry_of(const Scheme& scheme, OperationId id) {
  const std::string_view variant = scheme.rule->variant;
  const CatalogueEntry* own =
      variant.empty() ? nullptr : find_entry(fmt::format("{}/{}", name(id), variant));
  return own != nullptr ? own : find_entry(name(id));
}

std::vector<std::string> kernel_lines(const FamilyRow& row) {
  std::vector<std::string> lines;
  std::set<OperationId> seen;
  for (const auto& [operation, calls] : distinct_operations(row.path, row.schedule)) {
    if (!seen.insert(operation.id).second) continue;
    const CatalogueEntry* entry = entry_of(row.path.scheme, operation.id);
    lines.push_back(entry != nullptr ? fmt::format("{0}: kernels/README.md; bench_kernels "
                                                   "--benchmark_filter='/{0}/'",
                                                   entry->name)
                                     : fmt::format("{}: no kernel of ours, timed by its rows",
                                                   name(operation.id)));
  }
  return lines;
}

std::string reference_of(const SchemeRule& rule) {
  if (rule.reference.empty()) return "none: counted alone";
  return fmt::format("kernels/reference/{}", rule.reference);
}

std::string moved(const Traffic& traffic) {
  return fmt::format("{:.6g} r + {:.6g} w = {:.6g} d a token and layer", traffic.reads_d,
                     traffic.writes_d, total_d(traffic));
}

}  // namespace

Explanation explain_family_row(const FamilyRow& row) {
  const SchemeRule& rule = *row.path.scheme.rule;
  const LedgerFormula formula = ledger_formula(row.path.scheme, {row.schedule, Convention::kernel});
  Explanation x{.metric = fmt::format("family.{}", name(row.path.scheme)),
                .formula = std::string(rule.update),
                .source = std::string(rule.source),
                .numbers = {},
                .function = formula.function};
  if (!row.problem.empty()) {
    x.numbers.push_back("not for this model: " + row.problem);
    return x;
  }
  x.numbers.push_back(explained::letters(row.path));
  x.numbers.push_back(formula.formula);
  if (row.unfused) x.numbers.push_back("unfused, without the next norm: " + moved(*row.unfused));
  x.numbers.push_back(fmt::format("{}: {} = {:.12g} bytes", name(row.schedule), moved(row.traffic),
                                  row.bytes.value));
  x.numbers.push_back(
      fmt::format("state {} d; {} a layer; {:.12g} operations a token and layer", row.state,
                  row.parameters ? fmt::format("{:.12g} parameters", row.parameters->per_layer)
                                 : "parameters not counted",
                  row.flops.value));
  if (row.time)
    x.numbers.push_back("residual path of the largest decode step: " + format_seconds(*row.time));
  x.numbers.push_back("reference: " + reference_of(rule));
  for (std::string& line : kernel_lines(row)) x.numbers.push_back(std::move(line));
  return x;
}

void explained::family(const Evaluation& e, Explanations& out) {
  for (const FamilyRow& row : e.family) out.push_back(explain_family_row(row));
}

}  // namespace depthcost
