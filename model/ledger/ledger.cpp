// Sums what a scheme's rows say of one layer, in closed form where the rule allows it.
#include "model/ledger/ledger.hpp"

#include "model/ledger/launches.hpp"

namespace depthcost {
namespace {

/// Convention `kernel`: the sum of what the launches move.
Traffic traffic_of(const Launches& launches, Attachment attachment) {
  Traffic sum;
  Folding folding(attachment);
  for (const Operation& operation : launches) sum += folding.traffic_of(operation);
  return sum;
}

Traffic traffic_at(const ResidualPath& path, Counting counting, const SchemeLayer& at) {
  const SchemeRule& rule = *path.scheme.rule;
  if (counting.convention != Convention::kernel) return rule.counted(at, counting);
  return traffic_of(rule.operations(at, counting.schedule), path.attachment);
}

/// Table 1 gives every layer of a scheme the same.
bool are_alike(const ResidualPath& path, Counting counting) {
  return path.scheme.rule->pattern == DepthPattern::alike ||
         counting.convention == Convention::paper;
}

/// Sum over one block. What layer i moves is affine in i for 3 <= i < S; the first two layers and
/// the last are special.
Traffic block_total(const ResidualPath& path, Counting counting, const Partition& p, Count block) {
  const Count size = p.size(block);
  const auto layer = [&](Count index) {
    const LayerPosition at = position(p, block, index);
    return traffic_at(path, counting, {path.scheme.parameters, at.layer, path.num_layers, at});
  };
  Traffic sum = layer(1);
  if (size >= 2) sum += layer(2);
  if (size >= 4) sum += arithmetic_series(layer(3), layer(size - 1), size - 3);
  if (size >= 3) sum += layer(size);
  return sum;
}

/// Sum over all blocks. What block n moves is affine in n for 2 <= n < N; the first block has
/// nothing to close, and the last may differ in size.
Traffic blocks_total(const ResidualPath& path, Counting counting, const Partition& p) {
  const auto block = [&](Count n) { return block_total(path, counting, p, n); };
  const Count N = p.num_blocks;
  Traffic sum = block(1);
  if (N >= 3) sum += arithmetic_series(block(2), block(N - 1), N - 2);
  if (N >= 2) sum += block(N);
  return sum;
}

}  // namespace

Traffic layer_traffic(const ResidualPath& path, Counting counting, Count layer) {
  return traffic_at(path, counting, layer_at(path, layer));
}

std::vector<Traffic> layer_traffics(const ResidualPath& path, Counting counting) {
  if (are_alike(path, counting))
    return {static_cast<std::size_t>(path.num_layers), layer_traffic(path, counting, 1)};
  std::vector<Traffic> layers;
  layers.reserve(static_cast<std::size_t>(path.num_layers));
  each_layer(path,
             [&](const SchemeLayer& at) { layers.push_back(traffic_at(path, counting, at)); });
  return layers;
}

Traffic total_traffic(const ResidualPath& path, Counting counting) {
  if (are_alike(path, counting))
    return static_cast<double>(path.num_layers) * layer_traffic(path, counting, 1);
  if (const Partition* blocks = blocks_of(path.scheme))
    return blocks_total(path, counting, *blocks);
  Traffic sum;
  each_layer(path, [&](const SchemeLayer& at) { sum += traffic_at(path, counting, at); });
  return sum;
}

Traffic mean_traffic(const ResidualPath& path, Counting counting) {
  const Traffic total = total_traffic(path, counting);
  const auto L = static_cast<double>(path.num_layers);
  return {total.reads_d / L, total.writes_d / L, total.reads_scalars / L, total.writes_scalars / L,
          total.phase1_d / L};
}

Traffic output_traffic(const ResidualPath& path, Counting counting) {
  if (counting.convention == Convention::paper) return {};
  if (counting.convention == Convention::kernel)
    return traffic_of(output_launches(path, counting.schedule), path.attachment);
  const SchemeRule& rule = *path.scheme.rule;
  if (rule.counted_output == nullptr) return {};
  return rule.counted_output({path.scheme.parameters, path.num_layers, path.num_layers}, counting);
}

Traffic forward_traffic(const ResidualPath& path, Counting counting) {
  return total_traffic(path, counting) + output_traffic(path, counting);
}

bool inside_domain(const ResidualPath& path, Counting counting) {
  const Partition* blocks = blocks_of(path.scheme);
  return counting.convention != Convention::paper || blocks == nullptr || blocks->is_uniform();
}

}  // namespace depthcost
