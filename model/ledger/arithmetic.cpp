// Counts of pairs, parameters and operations.
#include "model/ledger/arithmetic.hpp"

#include "model/ledger/launches.hpp"

namespace depthcost {

Aggregation aggregation(const ResidualPath& path) {
  const SchemeRule& rule = *path.scheme.rule;
  if (rule.aggregation == nullptr) return {};
  return rule.aggregation({path.scheme.parameters, path.num_layers, path.num_layers});
}

Parameters parameters(const ResidualPath& path, double hidden_size) {
  const SchemeRule& rule = *path.scheme.rule;
  if (rule.parameters == nullptr) return {};
  SchemeParameters sizes = path.scheme.parameters;
  sizes.hidden_size = static_cast<Count>(hidden_size);
  const auto own = [&](Count layer) { return rule.parameters({sizes, layer, path.num_layers}); };
  double total = 0;
  for (Count layer = 1; layer <= path.num_layers; ++layer) total += own(layer);
  const double output = rule.output == nullptr ? 0 : own(path.num_layers + 1);
  return {total / static_cast<double>(path.num_layers), total + output};
}

Flops total_flops(const ResidualPath& path, Schedule schedule, double hidden_size) {
  double flops_d = 0;
  each_launch(path, schedule,
              [&](Count, const Operation& operation) { flops_d += operation.flops_d; });
  return {hidden_size * flops_d};
}

}  // namespace depthcost
