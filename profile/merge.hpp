// One profile of several nodes with the same part. What differs between nodes becomes a part of
// each interval, and nodes that stand outside the others are named and left out.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/base/enum_names.hpp"
#include "profile/profile.hpp"

namespace depthcost::profile {

/// What nodes are held against one another by.
enum class Speed : std::uint8_t { memory, cache, launch, core };

/// The profile of one node, as `profile fit` has written it.
struct NodeProfile {
  std::string path;
  std::string written_as;  // in the merged profile: relative to that
  std::string hash;        // of the file
  Profile profile;
};

/// Reads it. Throws InputError where it is no profile or itself a merged one.
NodeProfile read_node(const std::string& path);

/// By how much a node is faster than the median node in each speed, as a ratio less 1; nothing
/// where it was not measured. `outside` are those in which it stands outside.
struct NodeFinding {
  std::array<std::optional<double>, kEnumerators<Speed>.size()> faster{};
  std::vector<Speed> outside;
};

struct Fleet {
  Profile profile;  // its `nodes` are those of `findings`
  std::vector<NodeFinding> findings;
  std::size_t typical = 0;  // the node nearest to all medians: what is not merged is its own
};

/// The fewest nodes that have a spread, and the fewest of which one can stand outside.
inline constexpr std::size_t kFewestNodes = 2;
inline constexpr std::size_t kFewestJudged = 4;

/// How many robust standard deviations from the median the nodes of a healthy fleet may lie:
/// one fleet in a hundred has a node further out. REFERENCES.md, "fleets".
double cutoff(std::size_t num_nodes);

/// The 95 % quantile of Student's distribution.
double student_quantile(std::size_t degrees);

/// The interval of a node that nobody has measured, from the nodes of a fleet.
/// REFERENCES.md, "fleets".
template <class Q>
Estimate<Q> fleet_estimate(const std::vector<Estimate<Q>>& nodes);

/// Throws InputError where nodes are too few, or of different parts, threads or kernels.
Fleet merge(const std::vector<NodeProfile>& nodes);

/// "memory 12 % slower", in words.
std::string finding_text(const NodeFinding& finding);

}  // namespace depthcost::profile
