// Bandwidth curves, cache transition and rates: the device's own values first, then those of the
// nearest parts.
#include "scenarios/device/hardware.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/machine/chip.hpp"
#include "scenarios/device/hardware_checks.hpp"
#include "scenarios/device/launch_floors.hpp"
#include "scenarios/device/nearest_parts.hpp"
#include "scenarios/device/transfers.hpp"

namespace depthcost {
namespace {

// Half-width of the interval of one cited rate on the same part: published rates of one part differ
// by this much between kernels (REFERENCES.md, "intervals").
constexpr double kPublishedScatter = 0.05;
constexpr double kBorrowedScatter = 0.10;

/// One row of sustained_bandwidth or cache_bandwidth.
struct MixRow {
  double read_share = 0;
  double bytes_per_second = 0;
  Evidence evidence = Evidence::assumed;
};

std::vector<MixRow> mix_rows(const Values& values, const std::string& key) {
  std::vector<MixRow> rows;
  for (std::size_t i = 0; i < values.num_records(key); ++i) {
    const std::string record = fmt::format("{}[{}].", key, i);
    const double reads = values.number(record + "reads");
    const double writes = values.number(record + "writes");
    if (reads + writes == 0)
      throw InputError(values.at(record + "reads").position,
                       fmt::format("invalid {} (reads and writes are both 0)", key));
    rows.push_back({reads / (reads + writes), values.number(record + "value"),
                    evidence_of(values.at(record + "value"))});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const MixRow& a, const MixRow& b) { return a.read_share < b.read_share; });
  return rows;
}

/// The part's own rows. Their interval depends on whether they have a source.
std::vector<MixBandwidth> own_curve(const std::vector<MixRow>& rows) {
  std::vector<MixBandwidth> curve;
  for (const MixRow& row : rows) {
    const double scatter =
        row.evidence == Evidence::published ? kPublishedScatter : kBorrowedScatter;
    curve.push_back(
        {row.read_share, around(BytesPerSecond{row.bytes_per_second}, scatter, row.evidence)});
  }
  return curve;
}

double mean_fraction(const Values& values, const std::string& key) {
  const auto rows = mix_rows(values, key);
  double sum = 0;
  for (const MixRow& row : rows) sum += row.bytes_per_second / nominal_bandwidth(values);
  return sum / static_cast<double>(rows.size());
}

/// The fractions of the datasheet bandwidth that the nearest part reaches, times our own datasheet
/// bandwidth. The shape over mixes is kept. The interval of its height spans what the parts reach.
std::vector<MixBandwidth> borrowed(const Values& self, const std::vector<const Part*>& parts,
                                   const std::string& key) {
  const Values& nearest = parts.front()->values;
  double least = 1 - kBorrowedScatter;
  double most = 1 + kBorrowedScatter;
  for (const Part* part : parts) {
    const double relative = mean_fraction(part->values, key) / mean_fraction(nearest, key);
    least = std::min(least, relative);
    most = std::max(most, relative);
  }
  const double scale = nominal_bandwidth(self) / nominal_bandwidth(nearest);
  std::vector<MixBandwidth> curve;
  for (const MixRow& row : mix_rows(nearest, key)) {
    const double value = row.bytes_per_second * scale;
    curve.push_back(
        {row.read_share, {{least * value}, {value}, {most * value}, Evidence::assumed}});
  }
  return curve;
}

/// `like`: the key in which a part should agree.
std::vector<MixBandwidth> bandwidth_curve(const Values& self, const NearestParts& others,
                                          const std::string& key, const std::string& like,
                                          std::vector<ResolvedValue>& notes) {
  const auto own = mix_rows(self, key);
  if (!own.empty()) return own_curve(own);
  const auto parts = others.like(like, key);
  if (parts.empty()) return {};
  notes.push_back(
      {"hardware." + key, fmt::format("memory_bandwidth x the fractions of {}", parts.front()->id),
       fmt::format("fallback: not sourced for this part; interval over {}", ids_of(parts))});
  return borrowed(self, parts, key);
}

/// If no part has a fraction: the datasheet's bandwidth, with an interval down to half of it.
std::vector<MixBandwidth> datasheet(const Values& self, std::vector<ResolvedValue>& notes) {
  const double nominal = nominal_bandwidth(self);
  notes.push_back({"hardware.sustained_bandwidth", self.text("memory_bandwidth"),
                   "fallback: no part of this kind has a sourced fraction"});
  return {{1, {{0.5 * nominal}, {nominal}, {nominal}, Evidence::assumed}}};
}

double highest(const std::vector<MixBandwidth>& curve) {
  double most = 0;
  for (const MixBandwidth& entry : curve) most = std::max(most, entry.bandwidth.high.value);
  return most;
}

std::vector<TransitionPoint> transition_rows(const Values& values) {
  std::vector<TransitionPoint> points;
  for (std::size_t i = 0; i < values.num_records("cache_transition"); ++i) {
    const std::string record = fmt::format("cache_transition[{}].", i);
    const double weight = values.number(record + "memory_weight");
    if (weight > 1)
      throw InputError(
          values.at(record + "memory_weight").position,
          fmt::format("invalid cache_transition[].memory_weight '{}' (more than 100 %)",
                      values.text(record + "memory_weight")));
    points.push_back({{values.number(record + "footprint")}, weight});
  }
  std::stable_sort(
      points.begin(), points.end(),
      [](const TransitionPoint& a, const TransitionPoint& b) { return a.footprint < b.footprint; });
  return points;
}

/// The nearest measured curve, stretched to this part's cache.
std::vector<TransitionPoint> transition(const Values& self, const NearestParts& others,
                                        std::vector<ResolvedValue>& notes) {
  auto points = transition_rows(self);
  if (!points.empty() || !self.has("cache_capacity")) return points;
  const Part* const nearest = others.nearest("cache_transition");
  if (nearest == nullptr) return {};
  points = transition_rows(nearest->values);
  const double stretch = self.number("cache_capacity") / nearest->values.number("cache_capacity");
  for (TransitionPoint& point : points) point.footprint = stretch * point.footprint;
  notes.push_back({"hardware.cache_transition",
                   fmt::format("as {}, stretched by cache_capacity", nearest->id),
                   "fallback: not sourced for this part"});
  return points;
}

Seconds saturation_latency(const Values& self, const NearestParts& others,
                           std::vector<ResolvedValue>& notes) {
  const std::string key = "saturation_latency";
  if (self.has(key)) return {self.number(key)};
  const Part* const nearest = others.nearest(key);
  if (nearest == nullptr) return {0};
  notes.push_back(
      {"hardware." + key, nearest->values.text(key), fmt::format("fallback: as {}", nearest->id)});
  return {nearest->values.number(key)};
}

/// A part without a count has as many multiprocessors as its kin.
Count num_multiprocessors(const Values& self, const NearestParts& others,
                          std::vector<ResolvedValue>& notes) {
  const std::string key = "num_multiprocessors";
  if (self.has(key)) return self.count(key);
  const Part* const nearest = others.nearest(key);
  if (nearest == nullptr) return 1;
  const Count count = nearest->values.count(key);
  notes.push_back(
      {"hardware." + key, fmt::format("{}", count), fmt::format("fallback: as {}", nearest->id)});
  return count;
}

/// Parts that run kernels of an architecture that was fitted, else those with the same kind of
/// memory, else all others.
Kinship kinship_of(const Values& self, const Constants& constants) {
  const std::string architecture = text_or_empty(self, "architecture");
  for (const FittedArchitecture& fitted : constants.architectures)
    if (fitted.name == architecture) return Kinship::same_architecture;
  const bool is_alike = text_or_empty(self, "vendor") == "nvidia" &&
                        text_or_empty(self, "memory_technology").starts_with(constants.memory);
  return is_alike ? Kinship::other_architecture : Kinship::other_memory;
}

/// A part of an unknown architecture has the constants of kernels that loop.
std::optional<FewTokens> few_tokens_of(const Values& self, const NearestParts& others,
                                       const Constants& constants,
                                       std::vector<ResolvedValue>& notes) {
  if (self.text("kind") != "gpu") return std::nullopt;
  const std::string architecture = text_or_empty(self, "architecture");
  const Chip* const chip = find_chip(architecture);
  if (chip == nullptr)
    notes.push_back({"hardware.architecture", "unknown",
                     "fallback: kernels of few tokens may be those of any architecture"});
  return few_tokens(num_multiprocessors(self, others, notes),
                    chip == nullptr ? KernelStyle{} : chip->style, constants, architecture,
                    kinship_of(self, constants));
}

std::optional<FlopsPerSecond> rate(const Values& values, const std::string& key,
                                   std::vector<ResolvedValue>& notes) {
  if (values.has(key)) return FlopsPerSecond{values.number(key)};
  notes.push_back({"hardware." + key, "unlimited", "fallback: not sourced for this part"});
  return std::nullopt;
}

/// Reads the links between devices and the transfers over them.
void read_links(const Values& values, Machine& machine, std::vector<ResolvedValue>& notes) {
  machine.transfers = own_transfers(values);
  const auto bandwidth = [&](const std::string& key) {
    return values.has(key) ? std::optional(BytesPerSecond{values.number(key)}) : std::nullopt;
  };
  machine.link_bandwidth = bandwidth("link_bandwidth");
  machine.network_bandwidth = bandwidth("network_bandwidth");
  machine.host_bandwidth = bandwidth("host_bandwidth");
  if (values.has("node_devices")) {
    machine.devices_per_node = values.count("node_devices");
    return;
  }
  const Key& key = *find_key(hardware_keys(), "node_devices");
  notes.push_back({"hardware.node_devices", std::string(key.fallback),
                   fmt::format("default: {}", key.fallback_source)});
}

}  // namespace

Machine machine_from(const Values& values, std::vector<ResolvedValue>& notes,
                     const Constants& constants) {
  check_hardware(values);
  const NearestParts others(values);
  Machine machine;
  machine.name = values.has("name") ? values.text("name") : "unnamed hardware";
  machine.memory_bandwidth =
      bandwidth_curve(values, others, "sustained_bandwidth", "memory_technology", notes);
  if (machine.memory_bandwidth.empty()) machine.memory_bandwidth = datasheet(values, notes);
  machine.memory_ceiling = {nominal_bandwidth(values)};
  machine.transition = transition(values, others, notes);
  if (!machine.transition.empty())
    machine.cache_bandwidth = bandwidth_curve(values, others, "cache_bandwidth", "vendor", notes);
  machine.cache_ceiling = {highest(machine.cache_bandwidth)};
  machine.floors = launch_floors(values, others, notes);
  machine.half_saturation = saturation_latency(values, others, notes);
  machine.few_tokens = few_tokens_of(values, others, constants, notes);
  machine.engine = constants.engine;
  machine.vector_rate = rate(values, "f32_rate", notes);
  machine.tensor_rate = rate(values, "bf16_rate", notes);
  // Without a rate for fp8 the part has no units for it, and fp8 weights run at the bf16 rate.
  if (values.has("fp8_rate")) machine.fp8_rate = FlopsPerSecond{values.number("fp8_rate")};
  // Weights in mxfp4 are taken to meet activations of 8 bits, those in nvfp4 activations of 4 bits.
  const Chip* const chip = find_chip(text_or_empty(values, "architecture"));
  if (chip != nullptr && chip->fp4 != Fp4::widened) machine.mxfp4_rate = machine.fp8_rate;
  if (chip != nullptr && chip->fp4 == Fp4::mxfp4_and_nvfp4 && machine.fp8_rate)
    machine.nvfp4_rate = kNvfp4OverFp8 * *machine.fp8_rate;
  read_links(values, machine, notes);
  for (const std::string key : {"memory_capacity", "visible_memory"})
    if (values.has(key)) machine.memory_capacity = Bytes{values.number(key)};
  return machine;
}

}  // namespace depthcost
