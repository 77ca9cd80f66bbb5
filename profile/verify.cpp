// The samples are fitted again, and all numbers of the two files are compared.
#include "profile/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <optional>

#include "profile/merge.hpp"
#include "profile/profile_file.hpp"

namespace depthcost::profile {
namespace {

// How far a refitted number may be off: six digits are written, and compilers round exp and log
// differently.
constexpr double kSameWithin = 0.005;

// How far an error, a share or a residual may be off, in absolute terms up to 100 %. The six digits
// of a rate move a prediction by a hundred thousandth. If it moves by more, a formula has changed,
// for better or for worse.
constexpr double kSameResult = 1e-4;

// Ceilings and floors are noisy.
constexpr double kNoise = 1.03;

/// Whether the number comes from predictions. The number of cases comes from the samples alone.
bool is_result(const std::string& path) {
  return path.ends_with(".median") || path.ends_with(".p90") || path.ends_with(".worst") ||
         path.starts_with("residual.") || path.starts_with("operation_residual[") ||
         ((path.starts_with("coverage.") || path.starts_with("operation_coverage.")) &&
          !path.ends_with(".count"));
}

/// How far a published number may be from the refitted one.
double slack_of(const std::string& path, const Values& published) {
  if (path.ends_with("count")) return 0;
  const double size = std::abs(published.number(path));
  return is_result(path) ? kSameResult * std::max(1.0, size) : kSameWithin * size;
}

bool is_same(const std::string& path, const Values& published, const Value& refitted) {
  const Value& value = published.at(path);
  if (value.numbers.empty()) return value.texts == refitted.texts;
  return std::abs(refitted.numbers.front() - value.numbers.front()) <= slack_of(path, published);
}

bool is_same_machine(const Values& published, const Values& refitted) {
  return std::all_of(published.all().begin(), published.all().end(), [&](const auto& entry) {
    const Value* other = refitted.find(entry.first);
    return is_result(entry.first) || (other != nullptr && is_same(entry.first, published, *other));
  });
}

std::string line_of(const Position& position) {
  return fmt::format("{}:{}", printable(position.file.text(), 4 * position.file.text().size()),
                     position.line);
}

void compare_fit(const Values& published, const Values& refitted,
                 std::vector<std::string>& findings) {
  for (const auto& [path, value] : published.all()) {
    const Value* other = refitted.find(path);
    if (other == nullptr)
      findings.push_back(
          fmt::format("{}: {} is not what the samples give", line_of(value.position), path));
    else if (!is_same(path, published, *other))
      findings.push_back(fmt::format("{}: {} is {}, the samples give {}{}", line_of(value.position),
                                     path, printable(value.texts.front()),
                                     printable(other->texts.front()),
                                     is_result(path) ? " with today's formulas" : ""));
  }
  for (const auto& [path, value] : refitted.all())
    if (!published.has(path))
      findings.push_back(fmt::format("{}: {} is missing ({})",
                                     line_of({published.position().file, 1, 1}), path,
                                     printable(value.texts.front())));
}

/// Takes the errors of the published machine in place of the refitted one's: a machine that is near
/// enough to be the same must also predict what is published.
void set_errors_of_published(const LoadedProfile& loaded, Profile& refitted) {
  Profile as_predicted;
  as_predicted.machine = loaded.profile.machine;
  as_predicted.machine.residual = Machine{}.residual;
  as_predicted.machine.operation_residuals.clear();
  set_errors(loaded.samples, as_predicted);
  refitted.machine.residual = as_predicted.machine.residual;
  refitted.machine.operation_residuals = as_predicted.machine.operation_residuals;
  refitted.coverage = as_predicted.coverage;
  refitted.operation_coverage = as_predicted.operation_coverage;
  refitted.accuracy = as_predicted.accuracy;
}

/// An update of two arrays takes as long as a copy where stores read their lines first, and 1.5
/// times as long where they do not. Anything in between is no measurement.
void check_write_allocate(const Profile& profile, std::vector<std::string>& findings) {
  constexpr double kWithin = 0.10;
  const double ratio = profile.write_allocate;
  if (ratio == 0 || std::abs(ratio - 1) <= kWithin || std::abs(ratio / 1.5 - 1) <= kWithin) return;
  findings.push_back(fmt::format(
      "an update of two streams takes {:.2f} times a copy: neither 1, as where stores read their "
      "lines first, nor 1.5",
      ratio));
}

/// A level must not be slower than the next outer level that was measured.
void check_levels(const Profile& profile, std::vector<std::string>& findings) {
  std::array<double, kNames<MemoryLevel>.size()> rates{};
  for (const Ceiling& c : profile.ceilings) {
    double& most = rates[static_cast<std::size_t>(c.level)];
    if (c.threads == 0) most = std::max(most, c.bandwidth.value.value);
  }
  std::optional<std::size_t> near;
  for (std::size_t far = 0; far < rates.size(); ++far) {
    if (rates[far] == 0) continue;
    if (near && rates[*near] * kNoise < rates[far])
      findings.push_back(fmt::format("{} moves {:.3g} GB/s, {} {:.3g}: nearer is not faster",
                                     kNames<MemoryLevel>[*near], rates[*near] / 1e9,
                                     kNames<MemoryLevel>[far], rates[far] / 1e9));
    near = far;
  }
}

/// A pass over rows in L1 must not be slower than over rows in L2. The slack is for the ends of
/// rows (a sum across lanes, a wait for a store): bench_core's rows in L1 are fourteen times
/// shorter, and that has taken up to a quarter more time.
void check_core_rates(const Profile& profile, std::vector<std::string>& findings) {
  constexpr double kSlack = 1.5;
  if (!profile.machine.core) return;
  const std::vector<CoreRate>& rates = profile.machine.core->rates;
  for (const CoreRate& near : rates)
    for (const CoreRate& far : rates)
      if (near.level == CoreLevel::L1 && far.level == CoreLevel::L2 &&
          near.primitive == far.primitive && near.dtype == far.dtype &&
          near.per_element.value > kSlack * far.per_element.value)
        findings.push_back(fmt::format(
            "{} of {} takes {:.3g} ps an element in L1, {:.3g} in L2: nearer is not faster",
            name(near.primitive), name(near.dtype), near.per_element.value.value * 1e12,
            far.per_element.value.value * 1e12));
}

void check_floors(const Profile& profile, std::vector<std::string>& findings) {
  const auto floor = [&](Launch launch, const LaunchFloor& of) {
    for (const LaunchFloor& f : profile.machine.floors)
      if (f.launch == launch && f.level == of.level && f.skeleton == of.skeleton)
        return f.floor.value.value;
    return of.floor.value.value;
  };
  for (const LaunchFloor& f : profile.machine.floors)
    if (f.launch == Launch::stream && floor(Launch::graph, f) > kNoise * f.floor.value.value)
      findings.push_back(fmt::format(
          "{} of {} takes {:.3g} us in a stream, {:.3g} in a graph: a graph is not faster",
          name(f.skeleton), name(f.level), f.floor.value.value * 1e6,
          floor(Launch::graph, f) * 1e6));
}

/// The profiles of its nodes are merged again; `profile verify` of each says whether they hold.
std::vector<std::string> verify_merged(const LoadedProfile& loaded, const std::string& path) {
  std::vector<NodeProfile> nodes;
  for (const ProfiledNode& node : loaded.profile.nodes) {
    nodes.push_back(read_node((std::filesystem::path(path).parent_path() / node.file).string()));
    nodes.back().written_as = node.file;
  }
  Profile merged = merge(nodes).profile;
  merged.samples_file = loaded.profile.samples_file;
  std::vector<std::string> findings = broken_invariants(merged);
  compare_fit(loaded.values, profile_values(to_yaml(merged), path), findings);
  return findings;
}

}  // namespace

std::vector<std::string> broken_invariants(const Profile& profile) {
  std::vector<std::string> findings;
  check_levels(profile, findings);
  check_core_rates(profile, findings);
  check_floors(profile, findings);
  check_write_allocate(profile, findings);
  return findings;
}

std::vector<std::string> verify(const std::string& path) {
  const LoadedProfile loaded = load_profile(path);
  if (!loaded.profile.nodes.empty()) return verify_merged(loaded, path);
  Profile refitted = fit(loaded.samples, loaded.profile.part);
  std::vector<std::string> findings = broken_invariants(refitted);
  refitted.samples_file = loaded.profile.samples_file;  // the samples were found by this name
  Values values = profile_values(to_yaml(refitted), path);
  // If the machine is another one, its predictions need not be compared.
  if (is_same_machine(loaded.values, values)) {
    set_errors_of_published(loaded, refitted);
    values = profile_values(to_yaml(refitted), path);
  }
  compare_fit(loaded.values, values, findings);
  return findings;
}

}  // namespace depthcost::profile
