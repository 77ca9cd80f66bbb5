// Names, and which schedules and conventions are defined for which scheme.
#include "model/schemes/scheme.hpp"

#include "model/schemes/mechanism.hpp"

namespace depthcost {
namespace {

using enum Schedule;
using enum Convention;

constexpr std::array kStandardSchedules{unfused, fused};
constexpr std::array kMhcSchedules{unfused, fused, two_pass, one_pass};
constexpr std::array kAttnResSchedules{unfused, single_pass, two_phase};

constexpr std::array kStandardCountings{Counting{unfused, paper}, Counting{unfused, kernel},
                                        Counting{fused, kernel}};
constexpr std::array kMhcCountings{Counting{unfused, paper}, Counting{unfused, kernel},
                                   Counting{fused, kernel}, Counting{two_pass, kernel},
                                   Counting{one_pass, kernel}};
constexpr std::array kAttnResCountings{
    Counting{two_phase, paper},           Counting{two_phase, appendixB},
    Counting{two_phase, appendixB_emb},   Counting{two_phase, tied},
    Counting{two_phase, physical},        Counting{two_phase, physical_unfused},
    Counting{two_phase, kernel},          Counting{single_pass, appendixB},
    Counting{single_pass, appendixB_emb}, Counting{single_pass, tied},
    Counting{single_pass, physical},      Counting{single_pass, physical_unfused},
    Counting{single_pass, kernel},        Counting{unfused, kernel},
};

struct NameOf {
  std::string_view operator()(const Standard&) const { return "standard"; }
  std::string_view operator()(const Mhc&) const { return "mhc"; }
  std::string_view operator()(const FullAttnRes&) const { return "full_attnres"; }
  std::string_view operator()(const BlockAttnRes&) const { return "block_attnres"; }
  std::string_view operator()(const MechanismScheme& s) const { return s.mechanism->id; }
};

struct SchedulesOf {
  std::span<const Schedule> operator()(const Standard&) const { return kStandardSchedules; }
  std::span<const Schedule> operator()(const Mhc&) const { return kMhcSchedules; }
  std::span<const Schedule> operator()(const FullAttnRes&) const { return kAttnResSchedules; }
  std::span<const Schedule> operator()(const BlockAttnRes&) const { return kAttnResSchedules; }
  std::span<const Schedule> operator()(const MechanismScheme& s) const {
    return s.mechanism->schedules;
  }
};

template <std::size_t N>
std::vector<Counting> listed(const std::array<Counting, N>& countings) {
  return {countings.begin(), countings.end()};
}

struct CountingsOf {
  std::vector<Counting> operator()(const Standard&) const { return listed(kStandardCountings); }
  std::vector<Counting> operator()(const Mhc&) const { return listed(kMhcCountings); }
  std::vector<Counting> operator()(const FullAttnRes&) const { return listed(kAttnResCountings); }
  std::vector<Counting> operator()(const BlockAttnRes&) const { return listed(kAttnResCountings); }
  std::vector<Counting> operator()(const MechanismScheme& s) const {
    std::vector<Counting> countings;
    for (const Schedule schedule : s.mechanism->schedules) countings.push_back({schedule, kernel});
    return countings;
  }
};

}  // namespace

const Partition* blocks_of(const Scheme& scheme) {
  if (const auto* full = std::get_if<FullAttnRes>(&scheme)) return &full->groups;
  const auto* block = std::get_if<BlockAttnRes>(&scheme);
  return block == nullptr ? nullptr : &block->blocks;
}

bool same_scheme(const Scheme& a, const Scheme& b) { return name(a) == name(b); }

std::string_view name(const Scheme& scheme) { return std::visit(NameOf{}, scheme); }

std::string name(Schedule schedule, Phase1Order phase1) {
  return std::string(name(schedule)) + (phase1 == Phase1Order::hoisted ? "_hoisted" : "");
}

std::span<const Schedule> schedules_of(const Scheme& scheme) {
  return std::visit(SchedulesOf{}, scheme);
}

Schedule shipped_schedule(const Scheme& scheme) {
  if (const auto* other = std::get_if<MechanismScheme>(&scheme))
    return other->mechanism->schedules.back();
  const bool attends =
      std::holds_alternative<FullAttnRes>(scheme) || std::holds_alternative<BlockAttnRes>(scheme);
  return attends ? Schedule::single_pass : Schedule::fused;
}

std::vector<Counting> countings_of(const Scheme& scheme) {
  return std::visit(CountingsOf{}, scheme);
}

}  // namespace depthcost
