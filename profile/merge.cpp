// Parameters are matched by what they are of. Logarithms make rates and times the same.
#include "profile/merge.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>

#include "profile/profile_file.hpp"
#include "scenarios/text/input_error.hpp"
#include "scenarios/text/input_text.hpp"

namespace depthcost::profile {
namespace {

using Speeds = std::array<std::optional<double>, kEnumerators<Speed>.size()>;

/// visit(key, speed, 1 for a rate and -1 for a time, estimate) for each parameter that is merged.
template <class P, class Visit>
void each_parameter(P& profile, const Visit& visit) {
  for (auto& c : profile.ceilings)
    visit(fmt::format("{} {} {}:{}:{}", name(c.level), c.threads, c.mix.reads, c.mix.writes,
                      c.mix.in_place),
          c.level == MemoryLevel::memory ? Speed::memory : Speed::cache, 1, c.bandwidth);
  for (auto& f : profile.machine.floors)
    visit(fmt::format("{} {} {}", name(f.launch), name(f.level), name(f.skeleton)), Speed::launch,
          -1, f.floor);
  if (!profile.machine.core) return;
  for (auto& r : profile.machine.core->rates)
    visit(fmt::format("{} {} {}", name(r.primitive), name(r.dtype), name(r.level)), Speed::core, -1,
          r.per_element);
}

/// The values of a parameter by node; nodes that lack it are left out.
struct ByNode {
  Speed speed = Speed::memory;
  int sign = 1;
  std::map<std::size_t, double> logarithms;  // by node
};

std::map<std::string, ByNode> values_of(const std::vector<NodeProfile>& nodes) {
  std::map<std::string, ByNode> all;
  for (std::size_t node = 0; node < nodes.size(); ++node)
    each_parameter(nodes[node].profile,
                   [&](const std::string& key, Speed speed, int sign, const auto& estimate) {
                     ByNode& values = all[key];
                     values.speed = speed;
                     values.sign = sign;
                     values.logarithms[node] = std::log(estimate.value.value);
                   });
  return all;
}

double median(const std::vector<double>& values) { return quantile(values, 0.5); }

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Half of the 90 % interval of the next value of a normal sample.
double spread_of(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  const double mean = mean_of(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return student_quantile(values.size() - 1) * std::sqrt(squares / (n - 1) * (1 + 1 / n));
}

double median_of(const std::map<std::size_t, double>& by_node) {
  std::vector<double> values;
  for (const auto& [node, value] : by_node) values.push_back(value);
  return median(values);
}

/// The logarithm of how much faster each node is than the median one: the median over the
/// parameters of a speed. All of a part's ceilings move with its clocks; one may be noisy.
std::vector<Speeds> speeds_of(const std::vector<NodeProfile>& nodes) {
  std::vector<std::array<std::vector<double>, kEnumerators<Speed>.size()>> parts(nodes.size());
  for (const auto& [key, values] : values_of(nodes)) {
    const double middle = median_of(values.logarithms);
    for (const auto& [node, value] : values.logarithms)
      parts[node][static_cast<std::size_t>(values.speed)].push_back(values.sign * (value - middle));
  }
  std::vector<Speeds> speeds(nodes.size());
  for (std::size_t node = 0; node < nodes.size(); ++node)
    for (std::size_t i = 0; i < speeds[node].size(); ++i)
      if (!parts[node][i].empty()) speeds[node][i] = median(parts[node][i]);
  return speeds;
}

/// The median of the noise that each node has by itself.
double typical_noise(const std::vector<NodeProfile>& nodes) {
  std::vector<double> noise;
  for (const NodeProfile& node : nodes) noise.push_back(node.profile.noise);
  return median(noise);
}

/// Adds `speed` to each node that stands outside in it: further from the median than cutoff(n)
/// robust standard deviations, and than a machine differs from itself.
void check_speed(const std::vector<Speeds>& speeds, Speed speed, double noise,
                 std::vector<NodeFinding>& findings) {
  const auto i = static_cast<std::size_t>(speed);
  std::vector<double> values;
  for (const Speeds& node : speeds)
    if (node[i]) values.push_back(*node[i]);
  if (values.size() < kFewestJudged) return;
  const double middle = median(values);
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::abs(value - middle));
  // The standard deviation of a normal distribution over its median absolute deviation.
  constexpr double kDeviationOverMad = 1.4826;
  const double farthest =
      std::max(cutoff(values.size()) * kDeviationOverMad * median(distances), std::log1p(noise));
  for (std::size_t node = 0; node < speeds.size(); ++node)
    if (speeds[node][i] && std::abs(*speeds[node][i] - middle) > farthest)
      findings[node].outside.push_back(speed);
}

std::vector<NodeFinding> findings_of(const std::vector<NodeProfile>& nodes) {
  const std::vector<Speeds> speeds = speeds_of(nodes);
  std::vector<NodeFinding> findings(nodes.size());
  for (std::size_t node = 0; node < nodes.size(); ++node)
    for (std::size_t i = 0; i < speeds[node].size(); ++i)
      if (speeds[node][i]) findings[node].faster[i] = std::expm1(*speeds[node][i]);
  for (const Speed speed : kEnumerators<Speed>)
    check_speed(speeds, speed, typical_noise(nodes), findings);
  return findings;
}

/// The node whose parameters are nearest to the medians, the first where several are.
std::size_t typical_node(const std::vector<NodeProfile>& nodes) {
  std::vector<double> distances(nodes.size(), 0);
  for (const auto& [key, values] : values_of(nodes)) {
    const double middle = median_of(values.logarithms);
    for (const auto& [node, value] : values.logarithms)
      distances[node] += std::abs(value - middle) / static_cast<double>(values.logarithms.size());
  }
  return static_cast<std::size_t>(std::min_element(distances.begin(), distances.end()) -
                                  distances.begin());
}

void require_same(const NodeProfile& first, const NodeProfile& node) {
  const auto require = [&](const char* key, const std::string& is, const std::string& other) {
    if (is != other)
      throw InputError({node.path, 1, 1},
                       fmt::format("invalid node ({} '{}', but '{}' in {})", key, printable(is),
                                   printable(other), printable(first.path)));
  };
  const Profile& a = first.profile;
  const Profile& b = node.profile;
  require("name", b.name, a.name);
  require("part", b.part, a.part);
  require("threads", fmt::format("{}", b.threads), fmt::format("{}", a.threads));
  require("samples.kernels", b.kernels_hash, a.kernels_hash);
}

/// What cores differ by. The time formula has an interval for each bandwidth and floor, but takes
/// the rates of a core as they are, so that this must stand in the interval of whole kernels.
double core_spread(const std::vector<NodeProfile>& nodes) {
  std::vector<double> speeds;
  for (const Speeds& node : speeds_of(nodes))
    if (const auto& core = node[static_cast<std::size_t>(Speed::core)]) speeds.push_back(*core);
  return speeds.size() < kFewestNodes ? 0 : spread_of(speeds);
}

/// The median of both ends over the nodes, and what their cores differ by.
Estimate<double> merged_residual(const std::vector<Estimate<double>>& nodes, double spread) {
  std::vector<double> low;
  std::vector<double> high;
  for (const Estimate<double>& node : nodes) {
    low.push_back(node.low);
    high.push_back(node.high);
  }
  return {std::exp(-std::hypot(std::log(median(low)), spread)), 1,
          std::exp(std::hypot(std::log(median(high)), spread)), Evidence::calibrated};
}

void merge_residuals(const std::vector<NodeProfile>& nodes, Profile& profile) {
  const double spread = core_spread(nodes);
  std::vector<Estimate<double>> of_all;
  std::map<std::string, std::vector<Estimate<double>>> own;
  for (const NodeProfile& node : nodes) {
    of_all.push_back(node.profile.machine.residual);
    for (const OperationResidual& residual : node.profile.machine.operation_residuals)
      own[residual.operation].push_back(residual.ratio);
  }
  profile.machine.residual = merged_residual(of_all, spread);
  profile.machine.operation_residuals.clear();
  for (const auto& [operation, ratios] : own)
    profile.machine.operation_residuals.push_back({operation, merged_residual(ratios, spread)});
}

/// The parameters of `profile`, each from all nodes that have it.
void merge_parameters(const std::vector<NodeProfile>& nodes, Profile& profile) {
  each_parameter(profile, [&](const std::string& key, Speed, int, auto& merged) {
    std::vector<std::remove_reference_t<decltype(merged)>> all;
    for (const NodeProfile& node : nodes)
      each_parameter(node.profile, [&](const std::string& other, Speed, int, const auto& estimate) {
        if constexpr (std::is_same_v<decltype(estimate),
                                     const std::remove_reference_t<decltype(merged)>&>)
          if (other == key) all.push_back(estimate);
      });
    if (all.size() >= kFewestNodes) merged = fleet_estimate(all);
  });
  for (const NodeProfile& node : nodes) profile.date = std::max(profile.date, node.profile.date);
  merge_residuals(nodes, profile);
  profile.noise = typical_noise(nodes);
}

}  // namespace

double cutoff(std::size_t num_nodes) {
  struct Row {
    std::size_t from;
    double deviations;
  };
  // 99 % quantiles of the furthest node's distance, of 200,000 fleets of normal speeds each; the
  // larger one of an odd and an even number. tests/profile/merge_test.cpp draws them again.
  constexpr std::array<Row, 9> kRows{{{4, 18.5},
                                      {6, 10.8},
                                      {8, 8.2},
                                      {10, 7.1},
                                      {12, 6.4},
                                      {16, 5.7},
                                      {24, 5.1},
                                      {32, 4.8},
                                      {64, 4.5}}};
  double deviations = kRows.front().deviations;
  for (const Row& row : kRows)
    if (num_nodes >= row.from) deviations = row.deviations;
  return deviations;
}

double student_quantile(std::size_t degrees) {
  constexpr double kShare = 0.95;
  constexpr double z = 1.644853626951473;  // of the normal distribution
  if (degrees == 1) return std::tan(M_PI * (kShare - 0.5));
  if (degrees == 2) {
    constexpr double c = 2 * kShare - 1;
    return c * std::sqrt(2 / (1 - c * c));
  }
  // Abramowitz and Stegun 26.7.5.
  const auto n = static_cast<double>(degrees);
  const double z3 = z * z * z;
  const double z5 = z3 * z * z;
  const double z7 = z5 * z * z;
  return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n);
}

template <class Q>
Estimate<Q> fleet_estimate(const std::vector<Estimate<Q>>& nodes) {
  std::vector<double> logarithms;
  std::vector<double> below;
  std::vector<double> above;
  for (const Estimate<Q>& node : nodes) {
    logarithms.push_back(std::log(node.value.value));
    below.push_back(std::log(node.value / node.low));
    above.push_back(std::log(node.high / node.value));
  }
  // What differs between nodes, and what a node's own measurement leaves open, are independent.
  const double mean = mean_of(logarithms);
  const double spread = spread_of(logarithms);
  const double low = std::exp(mean - std::hypot(median(below), spread));
  const double high = std::exp(mean + std::hypot(median(above), spread));
  return {{low}, {std::exp(mean)}, {high}, Evidence::calibrated};
}

template Estimate<Seconds> fleet_estimate(const std::vector<Estimate<Seconds>>& nodes);
template Estimate<BytesPerSecond> fleet_estimate(
    const std::vector<Estimate<BytesPerSecond>>& nodes);

NodeProfile read_node(const std::string& path) {
  const std::string text = load_text(path);
  const Values values = profile_values(text, path);
  if (values.has_records("nodes"))
    throw InputError({path, 1, 1},
                     "invalid node (it is itself merged: give the profiles of its nodes)");
  return {path, path, hash_text(text), profile_in(values)};
}

std::string finding_text(const NodeFinding& finding) {
  std::vector<std::string> texts;
  for (const Speed speed : finding.outside) {
    const double faster = *finding.faster[static_cast<std::size_t>(speed)];
    texts.push_back(fmt::format("{} {:.2g} % {}", name(speed), 100 * std::abs(faster),
                                faster < 0 ? "slower" : "faster"));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

Fleet merge(const std::vector<NodeProfile>& nodes) {
  if (nodes.size() < kFewestNodes)
    throw InputError({"profile merge", 1, 1},
                     fmt::format("too few profiles ({} of at least {}: one node has no spread)",
                                 nodes.size(), kFewestNodes));
  for (const NodeProfile& node : nodes) require_same(nodes.front(), node);
  Fleet fleet{.profile = {}, .findings = findings_of(nodes)};
  std::vector<NodeProfile> kept;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (fleet.findings[i].outside.empty()) {
      kept.push_back(nodes[i]);
      places.push_back(i);
    }
  if (kept.size() < kFewestNodes)
    throw InputError({"profile merge", 1, 1},
                     fmt::format("too few profiles (only {} of {} nodes stand inside the fleet)",
                                 kept.size(), nodes.size()));
  fleet.typical = places[typical_node(kept)];
  fleet.profile = nodes[fleet.typical].profile;
  merge_parameters(kept, fleet.profile);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    fleet.profile.nodes.push_back(
        {nodes[i].written_as, nodes[i].hash, finding_text(fleet.findings[i])});
  return fleet;
}

}  // namespace depthcost::profile
