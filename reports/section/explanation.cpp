// Letters of the papers, operands and paths as text.
#include "reports/section/explanation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/schemes/scheme.hpp"

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

std::string microseconds(Seconds seconds) { return fmt::format("{:.6g} us", seconds.value * 1e6); }

std::string microseconds(const Estimate<Seconds>& estimate) {
  return fmt::format("{} [{}, {}]", microseconds(estimate.value), microseconds(estimate.low),
                     microseconds(estimate.high));
}

std::string percent_text(std::string_view what, const Estimate<double>& ratio) {
  return fmt::format("{} = {:.4g} % [{:.4g} %, {:.4g} %]", what, 100 * ratio.value, 100 * ratio.low,
                     100 * ratio.high);
}

}  // namespace explained

std::string to_text(const Explanation& explanation) {
  std::string text = fmt::format("{}\n  formula   {}\n  source    {}\n", explanation.metric,
                                 explanation.formula, explanation.source);
  for (const std::string& line : explanation.numbers) text += fmt::format("  numbers   {}\n", line);
  return text + fmt::format("  function  {}\n", explanation.function);
}

}  // namespace depthcost
