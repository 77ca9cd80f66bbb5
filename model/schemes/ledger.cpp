// Dispatch over scheme, schedule and convention, and the closed form of the sum over layers.
#include "model/schemes/ledger.hpp"

#include "model/schemes/attnres_counting.hpp"
#include "model/schemes/table1.hpp"
#include "model/schemes/walk.hpp"

namespace depthcost {
namespace {

const CountingRules& rules_of(Convention convention) {
  switch (convention) {
    case Convention::appendixB:
      return kAppendixB;
    case Convention::appendixB_emb:
      return kAppendixBWithEmbedding;
    case Convention::tied:
      return kTied;
    case Convention::physical_unfused:
      return kPhysicalUnfused;
    default:
      return kPhysical;
  }
}

/// A counting together with what the path adds to it.
struct How {
  Schedule schedule;
  Convention convention;
  Attachment attachment;
};

How how_of(const ResidualPath& path, Counting counting) {
  return {counting.schedule, counting.convention, path.attachment};
}

/// Convention `kernel`: the sum of what the operations at a place move.
template <class... Place>
Traffic kernel_traffic(How how, const Place&... place) {
  Traffic sum;
  Folding folding(how.attachment);
  each_operation(place...,
                 [&](const Operation& operation) { sum = sum + folding.traffic_of(operation); });
  return sum;
}

Traffic layer_at(const FullAttnRes& scheme, How how, const LayerPosition& at) {
  if (how.convention == Convention::paper) return table1_traffic(scheme);
  if (how.convention == Convention::kernel) return kernel_traffic(how, scheme, how.schedule, at);
  const CountingRules& rules = rules_of(how.convention);
  return how.schedule == Schedule::two_phase ? full_two_phase(rules, at)
                                             : full_single_pass(rules, at);
}

Traffic layer_at(const BlockAttnRes& scheme, How how, const LayerPosition& at) {
  if (how.convention == Convention::paper) return table1_traffic(scheme);
  if (how.convention == Convention::kernel) return kernel_traffic(how, scheme, how.schedule, at);
  const CountingRules& rules = rules_of(how.convention);
  return how.schedule == Schedule::two_phase ? block_two_phase(rules, at)
                                             : block_single_pass(rules, at);
}

template <class UniformScheme>
Traffic any_layer(const UniformScheme& scheme, How how) {
  constexpr Count kFirst = 1;
  return how.convention == Convention::paper ? table1_traffic(scheme)
                                             : kernel_traffic(how, scheme, how.schedule, kFirst);
}

/// Mechanisms are counted by their launches alone.
Traffic layer_at(const MechanismScheme& scheme, How how, Count layer) {
  return kernel_traffic(how, scheme, how.schedule, layer);
}

/// Sum over one block. What layer i moves is affine in i for 3 <= i < S; the first two layers and
/// the last are special.
template <class AttnRes>
Traffic block_total(const AttnRes& scheme, How how, const Partition& p, Count block) {
  const Count size = p.size(block);
  const auto layer = [&](Count index) { return layer_at(scheme, how, position(p, block, index)); };
  Traffic sum = layer(1);
  if (size >= 2) sum = sum + layer(2);
  if (size >= 4) sum = sum + arithmetic_series(layer(3), layer(size - 1), size - 3);
  if (size >= 3) sum = sum + layer(size);
  return sum;
}

/// Sum over all blocks. What block n moves is affine in n for 2 <= n < N; the first block has
/// nothing to close, and the last may differ in size.
template <class AttnRes>
Traffic attnres_total(const AttnRes& scheme, How how, const Partition& p) {
  const auto block = [&](Count n) { return block_total(scheme, how, p, n); };
  const Count N = p.num_blocks;
  Traffic sum = block(1);
  if (N >= 3) sum = sum + arithmetic_series(block(2), block(N - 1), N - 2);
  if (N >= 2) sum = sum + block(N);
  return sum;
}

struct LayerTraffic {
  How how;
  Count layer;

  Traffic operator()(const Standard& s) const { return any_layer(s, how); }
  Traffic operator()(const Mhc& s) const { return any_layer(s, how); }
  Traffic operator()(const FullAttnRes& s) const {
    return layer_at(s, how, position_of_layer(s.groups, layer));
  }
  Traffic operator()(const BlockAttnRes& s) const {
    return layer_at(s, how, position_of_layer(s.blocks, layer));
  }
  Traffic operator()(const MechanismScheme& s) const { return layer_at(s, how, layer); }
};

struct TotalTraffic {
  How how;
  double num_layers;

  Traffic operator()(const Standard& s) const { return num_layers * any_layer(s, how); }
  Traffic operator()(const Mhc& s) const { return num_layers * any_layer(s, how); }
  Traffic operator()(const FullAttnRes& s) const {
    if (how.convention == Convention::paper) return num_layers * table1_traffic(s);
    return attnres_total(s, how, s.groups);
  }
  Traffic operator()(const BlockAttnRes& s) const {
    if (how.convention == Convention::paper) return num_layers * table1_traffic(s);
    return attnres_total(s, how, s.blocks);
  }
  Traffic operator()(const MechanismScheme& s) const {
    Traffic sum;
    for (Count layer = 1; layer <= s.num_layers; ++layer) sum = sum + layer_at(s, how, layer);
    return sum;
  }
};

struct AllLayers {
  How how;
  Count num_layers;

  template <class UniformScheme>
  std::vector<Traffic> operator()(const UniformScheme& scheme) const {
    return {static_cast<std::size_t>(num_layers), any_layer(scheme, how)};
  }
  std::vector<Traffic> operator()(const FullAttnRes& scheme) const { return walked(scheme); }
  std::vector<Traffic> operator()(const BlockAttnRes& scheme) const { return walked(scheme); }
  std::vector<Traffic> operator()(const MechanismScheme& scheme) const {
    std::vector<Traffic> layers;
    for (Count layer = 1; layer <= num_layers; ++layer)
      layers.push_back(layer_at(scheme, how, layer));
    return layers;
  }

  template <class AttnRes>
  std::vector<Traffic> walked(const AttnRes& scheme) const {
    std::vector<Traffic> layers;
    layers.reserve(static_cast<std::size_t>(num_layers));
    each_layer(partition_of(scheme),
               [&](const LayerPosition& at) { layers.push_back(layer_at(scheme, how, at)); });
    return layers;
  }
};

struct KernelOutput {
  How how;

  template <class AnyScheme>
  Traffic operator()(const AnyScheme& scheme) const {
    Traffic sum;
    Folding folding(how.attachment);
    each_output_operation(scheme, how.schedule, [&](const Operation& operation) {
      sum = sum + folding.traffic_of(operation);
    });
    return sum;
  }
};

struct CountedOutput {
  const CountingRules& rules;

  Traffic operator()(const Standard&) const { return {}; }
  Traffic operator()(const Mhc&) const { return {}; }
  Traffic operator()(const FullAttnRes& s) const { return output_traffic(rules, s); }
  Traffic operator()(const BlockAttnRes& s) const { return output_traffic(rules, s); }
  Traffic operator()(const MechanismScheme&) const { return {}; }
};

struct IsUniform {
  bool operator()(const Standard&) const { return true; }
  bool operator()(const Mhc&) const { return true; }
  bool operator()(const FullAttnRes& s) const { return s.groups.is_uniform(); }
  bool operator()(const BlockAttnRes& s) const { return s.blocks.is_uniform(); }
  bool operator()(const MechanismScheme&) const { return true; }
};

}  // namespace

Traffic layer_traffic(const ResidualPath& path, Counting counting, Count layer) {
  return std::visit(LayerTraffic{how_of(path, counting), layer}, path.scheme);
}

std::vector<Traffic> layer_traffics(const ResidualPath& path, Counting counting) {
  return std::visit(AllLayers{how_of(path, counting), path.num_layers}, path.scheme);
}

Traffic total_traffic(const ResidualPath& path, Counting counting) {
  return std::visit(TotalTraffic{how_of(path, counting), static_cast<double>(path.num_layers)},
                    path.scheme);
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
    return std::visit(KernelOutput{how_of(path, counting)}, path.scheme);
  return std::visit(CountedOutput{rules_of(counting.convention)}, path.scheme);
}

Traffic forward_traffic(const ResidualPath& path, Counting counting) {
  return total_traffic(path, counting) + output_traffic(path, counting);
}

bool inside_domain(const ResidualPath& path, Counting counting) {
  return counting.convention != Convention::paper || std::visit(IsUniform{}, path.scheme);
}

}  // namespace depthcost
