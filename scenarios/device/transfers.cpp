// Own records first, then a part for each kind and scope that has none.
#include "scenarios/device/transfers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "model/machine/chip.hpp"
#include "model/machine/node_crossing.hpp"
#include "scenarios/device/nearest_parts.hpp"

namespace depthcost {
namespace {

const std::string kList = "transfers";

// Half-width of the interval of a transfer without a source or of another part. REFERENCES.md,
// "intervals".
constexpr double kBorrowedTransferScatter = 0.25;

// The most ranks of a transfer. No machine has more.
constexpr Count kMostRanks = Count{1} << 20;

using What = std::pair<TransferKind, TransferScope>;

constexpr std::array kWhats{
    What{TransferKind::send, TransferScope::node},
    What{TransferKind::all_reduce, TransferScope::node},
    What{TransferKind::all_gather, TransferScope::node},
    What{TransferKind::reduce_scatter, TransferScope::node},
    What{TransferKind::all_to_all, TransferScope::node},
    What{TransferKind::send, TransferScope::network},
    What{TransferKind::all_reduce, TransferScope::network},
    What{TransferKind::all_gather, TransferScope::network},
    What{TransferKind::reduce_scatter, TransferScope::network},
    What{TransferKind::all_to_all, TransferScope::network},
};

std::string text_of(const What& what) {
  return fmt::format("{} {}", name(what.first), name(what.second));
}

TransferPoint point_at(const Values& values, const std::string& record) {
  const auto kind = values.choice<TransferKind>(record + "kind");
  const Value& ranks = values.at(record + "ranks");
  const auto num_ranks = static_cast<Count>(ranks.numbers.front());
  const bool is_pair = kind != TransferKind::send || num_ranks == 2;
  if (num_ranks < 2 || num_ranks > kMostRanks || !is_pair)
    throw InputError(
        ranks.position,
        fmt::format("invalid transfers[].ranks '{}' ({})", num_ranks,
                    is_pair ? fmt::format("must be from 2 to {}", kMostRanks) : "a send has 2"));
  const Value& time = values.at(record + "time");
  const Evidence evidence = evidence_of(time);
  return {
      .kind = kind,
      .scope = values.choice<TransferScope>(record + "scope"),
      .num_ranks = num_ranks,
      .size = {values.number(record + "size")},
      .time = around(Seconds{time.numbers.front()},
                     evidence == Evidence::published ? kTransferScatter : kBorrowedTransferScatter,
                     evidence)};
}

bool is_of(const TransferPoint& point, const What& what) {
  return point.kind == what.first && point.scope == what.second;
}

std::vector<TransferPoint> of(const What& what, const std::vector<TransferPoint>& points) {
  std::vector<TransferPoint> chosen;
  std::copy_if(points.begin(), points.end(), std::back_inserter(chosen),
               [&](const TransferPoint& point) { return is_of(point, what); });
  return chosen;
}

/// The bandwidth of a part's link over that of ours, if both are known.
std::optional<double> link_ratio(const Values& part, const Values& self, TransferScope scope) {
  const std::string key = scope == TransferScope::node ? "link_bandwidth" : "network_bandwidth";
  if (!part.has(key) || !self.has(key)) return std::nullopt;
  return part.number(key) / self.number(key);
}

/// A part of the same vendor that has measured it, or nullptr: with links of the same kind, since
/// cards on PCIe have other latencies than those behind a switch of their own; of these the nearest
/// architecture, and then the nearest links. A test checks that presets write their records with
/// the words that are looked for.
const Part* nearest_with(const NearestParts& others, const Values& self, const What& what) {
  const auto distance = [&](const Part* part) {
    constexpr double kOtherKind = 3;  // NVLink is at least so much faster than PCIe
    const auto ratio = link_ratio(part->values, self, what.second);
    const double apart =
        ratio ? std::fabs(std::log(*ratio)) : std::numeric_limits<double>::infinity();
    const bool is_other_kind =
        what.second == TransferScope::node && ratio && apart > std::log(kOtherKind);
    return std::tuple(is_other_kind,
                      chip_distance(text_or_empty(part->values, "architecture"),
                                    text_or_empty(self, "architecture")),
                      apart);
  };
  const Part* best = nullptr;
  const std::string words = fmt::format("kind: {}, scope: {}", name(what.first), name(what.second));
  for (const Part* part : others.any(kList, words)) {
    const bool is_kin =
        self.has("vendor") && text_or_empty(part->values, "vendor") == self.text("vendor");
    if (is_kin && (best == nullptr || distance(part) < distance(best))) best = part;
  }
  return best;
}

/// Latency is kept, and what bytes add to it goes with the links' bandwidth. [ours] Where our links
/// are faster, the interval spans the time as it was measured too. With slower links that time is
/// out of reach.
std::vector<TransferPoint> borrowed(const Values& part, const Values& self, const What& what) {
  auto points = of(what, own_transfers(part));
  const double ratio = link_ratio(part, self, what.second).value_or(1);
  std::map<Count, Seconds> latencies;
  for (const TransferPoint& point : points) {
    const auto [known, is_new] = latencies.emplace(point.num_ranks, point.time.value);
    if (!is_new) known->second = std::min(known->second, point.time.value);
  }
  for (TransferPoint& point : points) {
    const Seconds measured = point.time.value;
    const Seconds latency = latencies.at(point.num_ranks);
    const Seconds value = latency + ratio * (measured - latency);
    point.time = {(1 - kBorrowedTransferScatter) * value, value,
                  (1 + kBorrowedTransferScatter) * std::max(measured, value), Evidence::assumed};
  }
  return points;
}

/// A machine without a network has that of the nearest part of the vendor.
void lend_network(const NearestParts& others, const Values& self, Machine& machine,
                  std::vector<ResolvedValue>& notes) {
  const std::string key = "network_bandwidth";
  for (const Part* part : others.any(key)) {
    if (!self.has("vendor") || text_or_empty(part->values, "vendor") != self.text("vendor"))
      continue;
    machine.network_bandwidth = BytesPerSecond{part->values.number(key)};
    notes.push_back({"hardware." + key, fmt::format("{}, as {}", part->values.text(key), part->id),
                     "fallback: not sourced for this part"});
    return;
  }
}

/// Whether model/machine/node_crossing.hpp has it.
bool is_derived(const What& what, const Machine& machine) {
  return what.second == TransferScope::network &&
         derived_network_time(machine, what.first, 2 * machine.devices_per_node, Bytes{1});
}

}  // namespace

std::vector<TransferPoint> own_transfers(const Values& values) {
  std::vector<TransferPoint> points;
  std::map<std::tuple<TransferKind, TransferScope, Count, double>, std::size_t> seen;
  const std::size_t num_records = values.num_records(kList);
  for (std::size_t i = 0; i < num_records; ++i) {
    const std::string record = fmt::format("{}[{}].", kList, i);
    const TransferPoint point = point_at(values, record);
    const auto [first, is_new] =
        seen.try_emplace({point.kind, point.scope, point.num_ranks, point.size.value}, i);
    if (!is_new)
      throw InputError(values.at(record + "time").position,
                       fmt::format("conflicting transfers[{}] (says something else of the same as "
                                   "transfers[{}])",
                                   i, first->second));
    points.push_back(point);
  }
  return points;
}

void borrow_transfers(const Values& self, Machine& machine, std::vector<ResolvedValue>& notes) {
  const NearestParts others(self);
  std::vector<TransferPoint>& points = machine.transfers;
  if (!machine.network_bandwidth) lend_network(others, self, machine, notes);
  std::map<std::string, std::vector<std::string>> substitutes;
  std::vector<std::string> derived;
  std::vector<std::string> unknown;
  for (const What& what : kWhats) {
    if (!of(what, points).empty()) continue;
    const Part* part = nearest_with(others, self, what);
    if (part == nullptr) {
      (is_derived(what, machine) ? derived : unknown).push_back(text_of(what));
      continue;
    }
    const auto theirs = borrowed(part->values, self, what);
    points.insert(points.end(), theirs.begin(), theirs.end());
    substitutes[part->id].push_back(text_of(what));
  }
  for (const auto& [part, whats] : substitutes)
    notes.push_back(
        {"hardware.transfers",
         fmt::format("as {}, bytes scaled by the links: {}", part, fmt::join(whats, ", ")),
         "fallback: not sourced for this part"});
  if (!derived.empty())
    notes.push_back({"hardware.transfers",
                     fmt::format("derived from network_bandwidth: {}", fmt::join(derived, ", ")),
                     "[ours] REFERENCES.md, \"links between nodes\""});
  if (!unknown.empty())
    notes.push_back({"hardware.transfers", fmt::format("unknown: {}", fmt::join(unknown, ", ")),
                     "fallback: not sourced for any part of this vendor"});
}

std::vector<ResolvedValue> listed_transfers(const Values& values) {
  std::vector<ResolvedValue> rows;
  std::map<std::pair<std::string, std::string>, std::size_t> row_of;  // of a key and an origin
  const std::size_t num_records = values.num_records(kList);
  for (std::size_t i = 0; i < num_records; ++i) {
    const std::string record = fmt::format("{}[{}].", kList, i);
    const std::string key =
        fmt::format("hardware.transfers[{}, {}, {}]", values.text(record + "kind"),
                    values.text(record + "scope"), values.text(record + "ranks"));
    const std::string point =
        fmt::format("{} {}", values.text(record + "size"), values.text(record + "time"));
    const std::string& origin = values.at(record + "time").origin;
    const auto [known, is_new] = row_of.try_emplace({key, origin}, rows.size());
    if (is_new)
      rows.push_back({key, point, origin});
    else
      rows[known->second].value += ", " + point;
  }
  return rows;
}

}  // namespace depthcost
