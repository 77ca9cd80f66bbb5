// Straight lines between what was measured, over sizes and then over numbers of ranks.
#include "model/machine/transfer.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace depthcost {
namespace {

using Time = Estimate<Seconds>;

/// What one number of ranks was measured with, by bytes.
using Curve = std::map<double, Time>;

/// Share 0 is `a`, share 1 is `b`; both ends and the value move along straight lines.
Time between(const Time& a, const Time& b, double share) {
  const auto mixed = [share](Seconds from, Seconds to) { return (1 - share) * from + share * to; };
  return {mixed(a.low, b.low), mixed(a.value, b.value), mixed(a.high, b.high),
          weakest(a.evidence, b.evidence)};
}

/// `value` as surely known as `like` relative to its own value.
Time as_sure_as(const Time& like, Seconds value) {
  return {(value / like.value) * like.low, value, (value / like.value) * like.high, like.evidence};
}

/// Past the last of two points; time never falls with more of the same.
Time beyond(double at, const std::pair<const double, Time>& before,
            const std::pair<const double, Time>& last) {
  const double share = (at - before.first) / (last.first - before.first);
  const Seconds value = between(before.second, last.second, share).value;
  return as_sure_as(last.second, std::max(value, last.second.value));
}

/// Fewer bytes take no longer than more: they could be sent as those. A measured curve falls where
/// a library changes its algorithm.
void take_faster_larger_sizes(Curve& curve) {
  const Time* larger = nullptr;
  for (auto point = curve.rbegin(); point != curve.rend(); ++point) {
    if (larger != nullptr && larger->value < point->second.value) point->second = *larger;
    larger = &point->second;
  }
}

/// Over bytes. One size alone gives a rate.
Time time_at(const Curve& curve, double bytes) {
  const auto above = curve.lower_bound(bytes);
  if (above == curve.begin()) return above->second;
  const auto below = std::prev(above);
  if (above != curve.end())
    return between(below->second, above->second,
                   (bytes - below->first) / (above->first - below->first));
  if (below == curve.begin())
    return as_sure_as(below->second, (bytes / below->first) * below->second.value);
  return beyond(bytes, *std::prev(below), *below);
}

/// The share of the whole vector that a rank must send or receive.
///   (n - 1) / n
/// nccl-tests doc/PERFORMANCE.md, "bus bandwidth"; an all-reduce does it twice.
double moved_share(double num_ranks) { return (num_ranks - 1) / num_ranks; }

/// What one number of ranks takes. The smallest size that was measured is all latency.
struct Known {
  Time time;
  double latency_share = 1;  // of the time, 0 to 1
};

Known known_at(const Curve& curve, double bytes) {
  const Time time = time_at(curve, bytes);
  return {time, curve.begin()->second.value / std::max(time.value, curve.begin()->second.value)};
}

/// One number of ranks is known, another asked for. All of it grows as the moved share, or its
/// latency as the rounds of a tree, log2 n. From 2 to 8 ranks of an H200, where a tree has three
/// times the rounds, it grows by 13 to 21 %. [ours]
Time scaled(const Known& known, double from, double to) {
  const double bytes = moved_share(to) / moved_share(from);
  const double rounds = std::log2(to) / std::log2(from);
  const double with_rounds = known.latency_share * rounds + (1 - known.latency_share) * bytes;
  return {std::min(bytes, with_rounds) * known.time.low, bytes * known.time.value,
          std::max(bytes, with_rounds) * known.time.high, Evidence::assumed};
}

/// Over numbers of ranks, of which at least one was measured.
Time time_among(const std::map<double, Known>& by_ranks, double ranks) {
  const auto above = by_ranks.lower_bound(ranks);
  if (above != by_ranks.end() && above->first == ranks) return above->second.time;
  if (above == by_ranks.begin()) return scaled(above->second, above->first, ranks);
  const auto below = std::prev(above);
  if (above == by_ranks.end()) return scaled(below->second, below->first, ranks);
  return between(below->second.time, above->second.time,
                 (ranks - below->first) / (above->first - below->first));
}

}  // namespace

std::optional<Estimate<Seconds>> transfer_time(const std::vector<TransferPoint>& points,
                                               TransferKind kind, TransferScope scope,
                                               Count num_ranks, Bytes size) {
  if (num_ranks < 2) return Time{{0}, {0}, {0}, Evidence::measured};
  std::map<double, Curve> curves;
  for (const TransferPoint& point : points)
    if (point.kind == kind && point.scope == scope)
      curves[static_cast<double>(point.num_ranks)].emplace(point.size.value, point.time);
  if (curves.empty()) return std::nullopt;
  std::map<double, Known> by_ranks;
  for (auto& [ranks, curve] : curves) {
    take_faster_larger_sizes(curve);
    by_ranks.emplace(ranks, known_at(curve, size.value));
  }
  return time_among(by_ranks, static_cast<double>(num_ranks));
}

}  // namespace depthcost
