// Record by record.
#include "scenarios/device/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "scenarios/device/hardware.hpp"
#include "scenarios/presets/presets.hpp"
#include "scenarios/presets/reference.hpp"
#include "scenarios/text/suggest.hpp"

namespace depthcost {
namespace {

// The number of an H100 and an H200.
constexpr Count kUsualMultiprocessors = 132;

/// visit(record's path with its dot) for each record of a list.
template <class Visit>
void each_record(const Values& values, const std::string& key, const Visit& visit) {
  for (std::size_t i = 0; i < values.num_records(key); ++i) visit(fmt::format("{}[{}].", key, i));
}

/// value, low and high of a record; in that order they must rise.
template <class Q>
Estimate<Q> estimate_at(const Values& values, const std::string& record) {
  const double low = values.number(record + "low");
  const double value = values.number(record + "value");
  const double high = values.number(record + "high");
  if (low > value || value > high)
    throw InputError(values.at(record + "value").position,
                     fmt::format("invalid value '{}' (outside its interval, {} to {})",
                                 values.text(record + "value"), values.text(record + "low"),
                                 values.text(record + "high")));
  return {{low}, {value}, {high}, Evidence::calibrated};
}

Mix mix_at(const Values& values, const std::string& record) {
  const auto count = [&](const char* key) {
    return static_cast<unsigned>(values.count(record + key));
  };
  const Mix mix{count("reads"), count("writes"), count("in_place")};
  if (mix.reads + mix.writes == 0 || mix.in_place > std::min(mix.reads, mix.writes))
    throw InputError(
        values.at(record + "reads").position,
        fmt::format("invalid mix {}:{}, {} in place", mix.reads, mix.writes, mix.in_place));
  return mix;
}

void read_bandwidths(const Values& values, Machine& machine) {
  machine.exact_bandwidth.clear();
  machine.memory_ceiling = {};
  BytesPerSecond cache_ceiling;
  std::vector<ExactMixBandwidth> cached;
  const std::string last_cache = values.text("kind") == "gpu" ? "L2" : "L3";
  each_record(values, "bandwidth", [&](const std::string& record) {
    if (values.number(record + "threads") > 0) return;
    const Mix mix = mix_at(values, record);
    const auto bandwidth = estimate_at<BytesPerSecond>(values, record);
    const std::string& level = values.text(record + "level");
    if (level == "memory") {
      machine.exact_bandwidth.push_back({mix, bandwidth});
      machine.memory_ceiling = std::max(machine.memory_ceiling, bandwidth.high);
    } else {
      cache_ceiling = std::max(cache_ceiling, bandwidth.high);
      if (level == last_cache) cached.push_back({mix, bandwidth});
    }
  });
  if (machine.exact_bandwidth.empty())
    throw InputError(values.position(), "missing key 'bandwidth' (of memory, any mix)");
  machine.memory_bandwidth = curve_over(machine.exact_bandwidth);
  if (cached.empty()) return;
  machine.cache_bandwidth = curve_over(cached);
  machine.cache_ceiling = cache_ceiling;
}

void read_floors(const Values& values, Machine& machine) {
  machine.floors.clear();
  each_record(values, "launch_floor", [&](const std::string& record) {
    machine.floors.push_back(
        {values.choice<Launch>(record + "launch"), values.choice<Level>(record + "level"),
         values.choice<Skeleton>(record + "skeleton"), estimate_at<Seconds>(values, record)});
  });
  if (machine.floors.empty())
    throw InputError(values.position(), "missing key 'launch_floor' (no launch is free)");
}

bool has_rate(const Core& core, Primitive primitive, Dtype dtype, CoreLevel level) {
  return std::any_of(core.rates.begin(), core.rates.end(), [&](const CoreRate& rate) {
    return rate.primitive == primitive && rate.dtype == dtype && rate.level == level;
  });
}

void read_core(const Values& values, Machine& machine) {
  if (!values.has_records("core_rate")) return;
  Core core{.first_level = {values.has("first_level") ? values.number("first_level") : 0},
            .second_level = {values.has("second_level") ? values.number("second_level") : 0},
            .threads = values.number("threads")};
  if (values.has("exposed")) core.exposed = values.number("exposed");
  if (values.has("core_form")) core.form = values.choice<CoreForm>("core_form");
  each_record(values, "core_rate", [&](const std::string& record) {
    core.rates.push_back(
        {values.choice<Primitive>(record + "primitive"), values.choice<Dtype>(record + "dtype"),
         values.choice<CoreLevel>(record + "level"), estimate_at<Seconds>(values, record)});
  });
  for (const Primitive primitive : kEnumerators<Primitive>)
    for (const Dtype dtype : kCoreDtypes)
      for (const CoreLevel level : kRatedLevels)
        if (!is_optional(primitive) && !has_rate(core, primitive, dtype, level))
          throw InputError(values.position(),
                           fmt::format("missing core_rate (of {}, {}, {})", name(primitive),
                                       name(dtype), name(level)));
  machine.core = core;
}

void read_transition(const Values& values, Machine& machine) {
  if (values.has_records("cache_transition")) machine.transition.clear();
  each_record(values, "cache_transition", [&](const std::string& record) {
    machine.transition.push_back(
        {{values.number(record + "footprint")}, values.number(record + "memory_weight")});
  });
  if (machine.cache_bandwidth.empty()) machine.transition.clear();
}

/// low and high of a residual. The prediction itself, 1, lies between them.
Estimate<double> residual_at(const Values& values, const std::string& record) {
  const double low = values.number(record + "low");
  const double high = values.number(record + "high");
  if (low > 1 || high < 1)
    throw InputError(values.at(record + "low").position,
                     "invalid residual (1 does not lie between low and high)");
  return {low, 1, high, Evidence::calibrated};
}

void read_residuals(const Values& values, Machine& machine) {
  if (!values.has("residual.low") || !values.has("residual.high")) return;
  machine.residual = residual_at(values, "residual.");
  each_record(values, "operation_residual", [&](const std::string& record) {
    machine.operation_residuals.push_back(
        {values.text(record + "operation"), residual_at(values, record)});
  });
  // The interval of a profile already contains the errors of the machine's own kernels.
  if (machine.few_tokens) machine.few_tokens->kernel_scatter = {1, 1, 1, Evidence::calibrated};
}

/// Segments of one curve stand together, by size.
void read_links(const Values& values, Machine& machine) {
  if (values.has_records("links")) machine.links.clear();
  each_record(values, "links", [&](const std::string& record) {
    const auto transfer = values.choice<Transfer>(record + "transfer");
    const Count num_ranks = values.count(record + "ranks");
    LinkSegment segment{{values.number(record + "from")},
                        {values.number(record + "latency")},
                        {std::numeric_limits<double>::infinity()}};
    if (values.has(record + "bandwidth")) segment.bandwidth = {values.number(record + "bandwidth")};
    const bool goes_on = !machine.links.empty() && machine.links.back().transfer == transfer &&
                         machine.links.back().num_ranks == num_ranks;
    if (goes_on ? segment.from <= machine.links.back().segments.back().from
                : find_link(machine.links, transfer, num_ranks) != nullptr)
      throw InputError(values.at(record + "from").position,
                       fmt::format("invalid from '{}' (sizes of one link must rise)",
                                   values.text(record + "from")));
    if (!goes_on) machine.links.push_back({transfer, num_ranks, {}});
    machine.links.back().segments.push_back(segment);
  });
}

/// The values of a hardware preset of `kind`.
Values part_values(const std::string& part, std::string_view kind, const Position& position) {
  const ReferenceKind hardware = hardware_reference();
  if (find_preset(hardware.folder, part) == nullptr) {
    const std::string hint = did_you_mean(part, preset_ids(hardware.folder));
    throw InputError(
        position,
        fmt::format("unknown part '{}'{}", printable(part),
                    hint.empty()
                        ? " (must be a hardware preset; 'depthcost presets list' shows them)"
                        : hint));
  }
  Values values = preset_values(part, hardware);
  if (values.text("kind") != kind)
    throw InputError(position, fmt::format("invalid part '{}' (a {}'s preset, and what was "
                                           "measured is a {})",
                                           part, values.text("kind"), kind));
  return values;
}

}  // namespace

Machine unmeasured_machine(const std::string& part, std::string_view kind, const Position& position,
                           std::vector<ResolvedValue>& notes, const Constants& constants) {
  if (!part.empty()) return machine_from(part_values(part, kind, position), notes, constants);
  Machine machine;
  machine.engine = constants.engine;
  if (kind != "gpu") return machine;
  machine.few_tokens = few_tokens(kUsualMultiprocessors, {}, constants, "", Kinship::other_memory);
  notes.push_back({"hardware.num_multiprocessors", fmt::format("{}", kUsualMultiprocessors),
                   "fallback: the profile names no part"});
  return machine;
}

Machine machine_from_profile(const Values& values, std::vector<ResolvedValue>& notes,
                             const Constants& constants) {
  const bool has_part = values.has("part");
  Machine machine = unmeasured_machine(has_part ? values.text("part") : "", values.text("kind"),
                                       has_part ? values.at("part").position : values.position(),
                                       notes, constants);
  machine.name = values.text("name");
  read_bandwidths(values, machine);
  read_floors(values, machine);
  read_core(values, machine);
  read_transition(values, machine);
  read_links(values, machine);
  if (values.has("saturation_latency"))
    machine.half_saturation = {values.number("saturation_latency")};
  read_residuals(values, machine);
  notes.push_back({"hardware", values.text("name"),
                   fmt::format("profile measured on {}, kernels {}", values.text("date"),
                               values.text("samples.kernels"))});
  return machine;
}

}  // namespace depthcost
