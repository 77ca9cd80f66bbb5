// Takes the exact row if there is one, else that of another skeleton, level or launch mode of the
// part.
#include "scenarios/device/launch_floors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace depthcost {
namespace {

// Half-width of the interval of one cited floor: REFERENCES.md, "intervals".
constexpr double kFloorScatter = 0.10;
constexpr double kBorrowedFloorScatter = 0.25;

struct FloorRow {
  Launch launch = Launch::stream;
  Level level = Level::memory;
  Skeleton skeleton = Skeleton::elementwise;
  double seconds = 0;
  Evidence evidence = Evidence::assumed;  // published if it is this part's own and cited
};

/// The rows to choose from, and those of all next of kin for the interval of a substitute.
struct FloorSources {
  std::vector<FloorRow> rows;
  std::vector<FloorRow> kin;
};

std::vector<FloorRow> floor_rows(const Values& values) {
  std::vector<FloorRow> rows;
  for (std::size_t i = 0; i < values.num_records("launch_floor"); ++i) {
    const std::string record = fmt::format("launch_floor[{}].", i);
    rows.push_back({values.choice<Launch>(record + "launch"),
                    values.choice<Level>(record + "level"),
                    values.choice<Skeleton>(record + "skeleton"), values.number(record + "value"),
                    evidence_of(values.at(record + "value"))});
  }
  return rows;
}

const FloorRow* find_row(const std::vector<FloorRow>& rows, Launch launch, Level level,
                         Skeleton skeleton) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const FloorRow& row) {
    return row.launch == launch && row.level == level && row.skeleton == skeleton;
  });
  return found == rows.end() ? nullptr : &*found;
}

/// Both values of an enum that has two, `value` first.
template <class Enum>
constexpr std::array<Enum, 2> first_of_both(Enum value) {
  const auto [one, other] = kEnumerators<Enum>;
  return {value, value == one ? other : one};
}

/// The nearest circumstance that has a row; a launch mode is the last thing to give up.
const FloorRow* nearest_row(const std::vector<FloorRow>& rows, Launch launch, Level level,
                            Skeleton skeleton) {
  const bool is_stream = launch == Launch::stream;
  const Launch second = is_stream ? Launch::stream : Launch::graph;
  const Launch third = is_stream ? Launch::graph : Launch::stream;
  for (const Launch mode : {launch, second, third})
    for (const Level at : first_of_both(level))
      for (const Skeleton like : first_of_both(skeleton))
        if (const FloorRow* row = find_row(rows, mode, at, like)) return row;
  return nullptr;
}

/// The interval spans what the next of kin show in that launch mode. Programmatic dependent launch
/// can hide all of a floor.
Estimate<Seconds> substitute(const FloorSources& sources, const FloorRow& row, Launch launch) {
  Estimate<Seconds> estimate =
      around(Seconds{row.seconds}, kBorrowedFloorScatter, Evidence::assumed);
  for (const FloorRow& other : sources.kin) {
    if (other.launch != row.launch) continue;
    estimate.low = std::min(estimate.low, Seconds{other.seconds});
    estimate.high = std::max(estimate.high, Seconds{other.seconds});
  }
  if (launch == Launch::graph_pdl) estimate.low = {0};
  return estimate;
}

Estimate<Seconds> floor_of(const FloorSources& sources, Launch launch, Level level,
                           Skeleton skeleton) {
  const FloorRow* exact = find_row(sources.rows, launch, level, skeleton);
  if (exact != nullptr && exact->evidence == Evidence::published)
    return around(Seconds{exact->seconds}, kFloorScatter, Evidence::published);
  const FloorRow* row = nearest_row(sources.rows, launch, level, skeleton);
  return row == nullptr ? Estimate<Seconds>{} : substitute(sources, *row, launch);
}

/// A CPU has no launch. Only a profile knows what a parallel region costs there.
FloorSources sources_of(const Values& self, const NearestParts& others,
                        std::vector<ResolvedValue>& notes) {
  FloorSources sources{.rows = floor_rows(self), .kin = {}};
  const auto parts = others.of_nearest_architecture("launch_floor");
  for (const Part* part : parts)
    for (FloorRow& row : floor_rows(part->values)) sources.kin.push_back(std::move(row));
  if (!sources.rows.empty()) return sources;
  if (parts.empty()) {
    notes.push_back({"hardware.launch_floor", "0 us", "fallback: no part of this kind has one"});
    return sources;
  }
  sources.rows = floor_rows(parts.front()->values);
  for (FloorRow& row : sources.rows) row.evidence = Evidence::assumed;
  notes.push_back(
      {"hardware.launch_floor", fmt::format("as {}", parts.front()->id),
       fmt::format("fallback: not sourced for this part; interval over {}", ids_of(parts))});
  return sources;
}

}  // namespace

std::vector<LaunchFloor> launch_floors(const Values& self, const NearestParts& others,
                                       std::vector<ResolvedValue>& notes) {
  const FloorSources sources = sources_of(self, others, notes);
  std::vector<LaunchFloor> rows;
  for (const Launch launch : kEnumerators<Launch>)
    for (const Level level : kEnumerators<Level>)
      for (const Skeleton skeleton : kEnumerators<Skeleton>)
        rows.push_back({launch, level, skeleton, floor_of(sources, launch, level, skeleton)});
  return rows;
}

}  // namespace depthcost
