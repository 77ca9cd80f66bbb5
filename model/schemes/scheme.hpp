// The residual schemes, how each can be executed, and how its bytes can be counted. A "layer" is
// one sublayer (attention or MLP), l = 1..L, as in the paper; a decoder layer has two.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/base/partition.hpp"
#include "model/base/units.hpp"
#include "model/schemes/mechanism_parameters.hpp"

namespace depthcost {

/// h_l = h_{l-1} + f_{l-1}(h_{l-1}).
struct Standard {
  friend constexpr bool operator==(const Standard&, const Standard&) = default;
};

/// Manifold-constrained hyper-connections, m residual streams. [mhc] arXiv:2512.24880v2.
struct Mhc {
  Count num_streams = 4;  // m
  friend constexpr bool operator==(const Mhc&, const Mhc&) = default;
};

/// Every earlier layer output is a source: [attnres] Eq. 4. `groups` only batches the queries of
/// the two-phase schedule; it changes no result.
struct FullAttnRes {
  Partition groups;
  friend constexpr bool operator==(const FullAttnRes&, const FullAttnRes&) = default;
};

/// The sources are the embedding, the completed blocks and the running partial sum: [attnres]
/// Eq. 6.
struct BlockAttnRes {
  Partition blocks;
  friend constexpr bool operator==(const BlockAttnRes&, const BlockAttnRes&) = default;
};

/// Full AttnRes as Block AttnRes: every layer output is a block of its own.
constexpr BlockAttnRes blocks_of_one_layer(const FullAttnRes& scheme) {
  const Count L = scheme.groups.num_layers;
  return {{.num_layers = L, .block_size = 1, .num_blocks = L, .last_size = 1}};
}

/// Any other row of [attnres] Table 5, its ablations and their kin: model/schemes/mechanism.hpp.
/// `mechanism` is one of its list, never null.
struct Mechanism;
struct MechanismScheme {
  const Mechanism* mechanism = nullptr;
  MechanismParameters parameters;
  Count num_layers = 0;
  friend constexpr bool operator==(const MechanismScheme&, const MechanismScheme&) = default;
};

using Scheme = std::variant<Standard, Mhc, FullAttnRes, BlockAttnRes, MechanismScheme>;

/// Streams of mHC and its kin.
inline constexpr Count kMaxStreams = 1024;

/// How the mathematics is executed. REFERENCES.md, "schedules".
enum class Schedule { unfused, fused, two_pass, one_pass, single_pass, two_phase };

/// When Phase 1 computes what a block's later layers merge: with the mix of its first layer, or on
/// a second branch of a graph, beside that layer.
enum class Phase1Order { in_order, hoisted };

/// How bytes are counted: model/REFERENCES.md, "conventions".
enum class Convention {
  paper,
  appendixB,
  appendixB_emb,
  tied,
  physical,
  physical_unfused,
  kernel,
};

/// The blocks of the scheme's sources or, for Full, the groups of its queries; null without either.
const Partition* blocks_of(const Scheme& scheme);

/// The same rule, whatever its parameters.
bool same_scheme(const Scheme& a, const Scheme& b);

std::string_view name(const Scheme& scheme);
/// "two_phase", "two_phase_hoisted".
std::string name(Schedule schedule, Phase1Order phase1);

/// A way to run a scheme together with a way to count it.
struct Counting {
  Schedule schedule;
  Convention convention;
  friend constexpr bool operator==(const Counting&, const Counting&) = default;
};

/// Every schedule of `scheme`, cheapest to build first.
std::span<const Schedule> schedules_of(const Scheme& scheme);

/// What engines ship: fused, or single_pass for attention over depth.
Schedule shipped_schedule(const Scheme& scheme);

/// Every defined pair of schedule and convention of `scheme`, in report order.
std::vector<Counting> countings_of(const Scheme& scheme);

}  // namespace depthcost
