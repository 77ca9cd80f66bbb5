// Curves over the share of reads.
#include "model/machine.hpp"

#include <algorithm>

namespace depthcost {
namespace {

/// Read, triad, copy, write. An update in place has the copy's share of reads and its own rate.
constexpr bool is_generic(const Mix& mix) {
  return mix.in_place == 0 && mix.reads <= 2 && mix.writes <= 1;
}

}  // namespace

std::vector<MixBandwidth> curve_over(const std::vector<ExactMixBandwidth>& exact) {
  const bool has_generic = std::any_of(exact.begin(), exact.end(),
                                       [](const auto& entry) { return is_generic(entry.mix); });
  std::vector<MixBandwidth> curve;
  for (const ExactMixBandwidth& entry : exact)
    if (is_generic(entry.mix) || !has_generic)
      curve.push_back({static_cast<double>(entry.mix.reads) / (entry.mix.reads + entry.mix.writes),
                       entry.bandwidth});
  std::stable_sort(curve.begin(), curve.end(), [](const MixBandwidth& a, const MixBandwidth& b) {
    return a.read_share < b.read_share;
  });
  return curve;
}

}  // namespace depthcost
