// Counts of pairs, parameters and operations.
#include "model/schemes/arithmetic.hpp"

#include "model/schemes/walk.hpp"

namespace depthcost {
namespace {

struct AggregationOf {
  Aggregation operator()(const Standard&) const { return {}; }
  Aggregation operator()(const Mhc&) const { return {}; }
  Aggregation operator()(const MechanismScheme&) const { return {}; }
  Aggregation operator()(const FullAttnRes& scheme) const {
    const Count L = scheme.groups.num_layers;
    return {.sublayer_calls = L,
            .source_rows = L * (L + 1) / 2 + (L + 1),
            .max_sources = L + 1,
            .output_sources = L + 1};
  }
  Aggregation operator()(const BlockAttnRes& scheme) const {
    const Partition& p = scheme.blocks;
    const Count N = p.num_blocks;
    // Block n: S layers see n bank rows, all but the first also the partial sum.
    const Count whole_blocks = p.block_size * (N * (N - 1) / 2) + (N - 1) * (p.block_size - 1);
    const Count last_block = p.last_size * N + p.last_size - 1;
    return {.sublayer_calls = p.num_layers,
            .source_rows = whole_blocks + last_block + N + 1,
            .max_sources = N + 1,
            .output_sources = N + 1};
  }
};

struct ParametersOf {
  double d;
  double num_layers;

  Parameters operator()(const Standard&) const { return {}; }
  Parameters operator()(const Mhc& scheme) const {
    const auto m = static_cast<double>(scheme.num_streams);
    const double per_layer = m * d * (m * m + 2 * m) + m * m + 2 * m + 3;
    return {per_layer, num_layers * per_layer};
  }
  Parameters operator()(const FullAttnRes&) const { return query_and_gain(); }
  Parameters operator()(const BlockAttnRes&) const { return query_and_gain(); }
  Parameters operator()(const MechanismScheme& scheme) const {
    if (scheme.mechanism->parameters == nullptr) return {};
    const auto own = [&](Count layer) {
      return scheme.mechanism->parameters({scheme.parameters, layer, scheme.num_layers});
    };
    double total = 0;
    for (Count layer = 1; layer <= scheme.num_layers; ++layer) total += own(layer);
    const double output = scheme.mechanism->output == nullptr ? 0 : own(scheme.num_layers + 1);
    return {total / num_layers, total + output};
  }

  Parameters query_and_gain() const { return {2 * d, 2 * d * (num_layers + 1)}; }
};

}  // namespace

Aggregation aggregation(const ResidualPath& path) {
  return std::visit(AggregationOf{}, path.scheme);
}

Parameters parameters(const ResidualPath& path, double hidden_size) {
  return std::visit(ParametersOf{hidden_size, static_cast<double>(path.num_layers)}, path.scheme);
}

Flops total_flops(const ResidualPath& path, Schedule schedule, double hidden_size) {
  double flops_d = 0;
  each_launch(path, schedule,
              [&](Count, const Operation& operation) { flops_d += operation.flops_d; });
  return {hidden_size * flops_d};
}

}  // namespace depthcost
