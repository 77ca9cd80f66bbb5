// Each section of the answer explains its own numbers.
#include "reports/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "model/schemes/scheme.hpp"
#include "reports/explain_sections.hpp"

namespace depthcost {
namespace explained {

std::string metric(std::initializer_list<std::string_view> parts) {
  return fmt::format("{}", fmt::join(parts, "."));
}

std::string letters(const ResidualPath& path) {
  if (const Partition* p = blocks_of(path.scheme))
    return fmt::format("L = {}, S = {}, N = {}, last block {}", path.num_layers, p->block_size,
                       p->num_blocks, p->last_size);
  std::string text = fmt::format("L = {}", path.num_layers);
  for (const SchemeKey& key : path.scheme.rule->keys)
    text += fmt::format(", {} = {}", key.name, path.scheme.parameters.*key.member);
  return text;
}

std::string operands(const Operation& operation) {
  std::vector<std::string> parts;
  for (const Access& access : operation.accesses) {
    if (access.reads_d > 0)
      parts.push_back(fmt::format("{} {:g} r", name(access.operand), access.reads_d));
    if (access.writes_d > 0)
      parts.push_back(fmt::format("{} {:g} w", name(access.operand), access.writes_d));
  }
  const double scalars = operation.reads_scalars + operation.writes_scalars;
  if (scalars > 0) parts.push_back(fmt::format("{:g} scalars", scalars));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace explained

namespace {

constexpr std::string_view kLayer = ".layer_";

const Explanation* find(const std::vector<Explanation>& all, std::string_view metric) {
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Explanation& entry) { return entry.metric == metric; });
  return found == all.end() ? nullptr : &*found;
}

/// "ledger.block_attnres.two_phase.kernel.layer_37".
std::optional<Explanation> explain_layer(const Evaluation& evaluation,
                                         const std::vector<Explanation>& all,
                                         std::string_view metric) {
  const auto at = metric.rfind(kLayer);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view digits = metric.substr(at + kLayer.size());
  Count number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  for (const LedgerRow& row : evaluation.ledger)
    if (row.kind == LedgerRowKind::mean && explained::ledger_metric(row) == metric.substr(0, at))
      return explained::layer(row, *find(all, metric.substr(0, at)), number,
                              storage_of(evaluation.study));
  return std::nullopt;
}

}  // namespace

std::vector<Explanation> explanations(const Evaluation& evaluation) {
  std::vector<Explanation> out;
  for (const auto section : {explained::ledger, explained::aggregation, explained::parameters,
                             explained::flops, explained::pipeline, explained::prefill,
                             explained::memory, explained::time, explained::step, explained::rest,
                             explained::training, explained::budgets, explained::family})
    section(evaluation, out);
  return out;
}

std::optional<Explanation> explain(const Evaluation& evaluation, std::string_view metric) {
  const std::vector<Explanation> all = explanations(evaluation);
  if (const Explanation* found = find(all, metric)) return *found;
  return explain_layer(evaluation, all, metric);
}

std::string to_text(const Explanation& explanation) {
  std::string text = fmt::format("{}\n  formula   {}\n  source    {}\n", explanation.metric,
                                 explanation.formula, explanation.source);
  for (const std::string& line : explanation.numbers) text += fmt::format("  numbers   {}\n", line);
  return text + fmt::format("  function  {}\n", explanation.function);
}

}  // namespace depthcost
