// The samples are fitted again, and every number of the two files compared.
#include "profile/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "profile/stored.hpp"

namespace depthcost::profile {
namespace {

// Of a refitted number: six digits are written, and compilers round exp and log as they like.
constexpr double kSameWithin = 0.005;

// Of an error, a share or a residual, in absolute terms up to 100 %: the six digits of a rate move
// a prediction by a hundred thousandth. A formula that moves it by more has changed, for better or
// for worse.
constexpr double kSameResult = 1e-4;

// Ceilings and floors are noisy.
constexpr double kNoise = 1.03;

/// What predictions come to; which cases there are is the samples' alone.
bool is_result(const std::string& path) {
  return path.ends_with(".median") || path.ends_with(".p90") || path.ends_with(".worst") ||
         path.starts_with("residual.") ||
         (path.starts_with("coverage.") && path != "coverage.count");
}

/// How far a number may be from what the samples give.
double slack_of(const std::string& path, const Values& stored) {
  if (path.ends_with("count")) return 0;
  const double size = std::abs(stored.number(path));
  return is_result(path) ? kSameResult * std::max(1.0, size) : kSameWithin * size;
}

bool is_same(const std::string& path, const Values& stored, const Value& again) {
  const Value& value = stored.at(path);
  if (value.numbers.empty()) return value.texts == again.texts;
  return std::abs(again.numbers.front() - value.numbers.front()) <= slack_of(path, stored);
}

bool is_same_machine(const Values& stored, const Values& again) {
  return std::all_of(stored.all().begin(), stored.all().end(), [&](const auto& entry) {
    const Value* other = again.find(entry.first);
    return is_result(entry.first) || (other != nullptr && is_same(entry.first, stored, *other));
  });
}

std::string line_of(const Position& position) {
  return fmt::format("{}:{}", printable(position.file, 4 * position.file.size()), position.line);
}

void compare_fit(const Values& stored, const Values& again, std::vector<std::string>& findings) {
  for (const auto& [path, value] : stored.all()) {
    const Value* other = again.find(path);
    if (other == nullptr)
      findings.push_back(
          fmt::format("{}: {} is not what the samples give", line_of(value.position), path));
    else if (!is_same(path, stored, *other))
      findings.push_back(fmt::format("{}: {} is {}, the samples give {}{}", line_of(value.position),
                                     path, printable(value.texts.front()),
                                     printable(other->texts.front()),
                                     is_result(path) ? " with today's formulas" : ""));
  }
  for (const auto& [path, value] : again.all())
    if (!stored.has(path))
      findings.push_back(fmt::format("{}: {} is missing ({})",
                                     line_of({stored.position().file, 1, 1}), path,
                                     printable(value.texts.front())));
}

/// Judges the machine that is stored in place of the one of the refit: what is near enough to be
/// the same must predict as is published, too.
void predict_as_stored(const StoredProfile& stored, Profile& again) {
  Profile judged;
  judged.machine = stored.profile.machine;
  judged.machine.residual = Machine{}.residual;
  judge(stored.samples, judged);
  again.machine.residual = judged.machine.residual;
  again.coverage = judged.coverage;
  again.coverage_cases = judged.coverage_cases;
  again.accuracy = judged.accuracy;
}

/// Stores read their lines first, and an update of two streams costs what a copy does, or they do
/// not, and it costs half as much again. Anything between is no measurement.
void check_write_allocate(const Profile& profile, std::vector<std::string>& findings) {
  constexpr double kWithin = 0.10;
  const double ratio = profile.write_allocate;
  if (ratio == 0 || std::abs(ratio - 1) <= kWithin || std::abs(ratio / 1.5 - 1) <= kWithin) return;
  findings.push_back(fmt::format(
      "an update of two streams takes {:.2f} times a copy: neither 1, as where stores read their "
      "lines first, nor 1.5",
      ratio));
}

/// Each level against the next one out that was measured.
void check_levels(const Profile& profile, std::vector<std::string>& findings) {
  std::array<double, kNames<StreamLevel>.size()> rates{};
  for (const Ceiling& c : profile.ceilings) {
    double& most = rates[static_cast<std::size_t>(c.level)];
    if (c.threads == 0) most = std::max(most, c.bytes_per_second.value);
  }
  std::optional<std::size_t> near;
  for (std::size_t far = 0; far < rates.size(); ++far) {
    if (rates[far] == 0) continue;
    if (near && rates[*near] * kNoise < rates[far])
      findings.push_back(fmt::format("{} moves {:.3g} GB/s, {} {:.3g}: nearer is not faster",
                                     kNames<StreamLevel>[*near], rates[*near] / 1e9,
                                     kNames<StreamLevel>[far], rates[far] / 1e9));
    near = far;
  }
}

/// A pass over rows in L1 against the same over rows in L2. bench_core's rows in L1 are a
/// fourteenth as long: what a row costs at its ends (a sum across lanes, a store to be waited for)
/// counts that much more, and intervals say nothing of it. It has come to a quarter more time.
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
  const StoredProfile stored = load_profile(path);
  Profile again = fit(stored.samples, stored.profile.part);
  std::vector<std::string> findings = broken_invariants(again);
  again.samples_file = stored.profile.samples_file;  // it led to these samples, so it is right
  Values values = profile_values(to_yaml(again), path);
  // Of another machine's predictions there is nothing to say but that it is another one.
  if (is_same_machine(stored.values, values)) {
    predict_as_stored(stored, again);
    values = profile_values(to_yaml(again), path);
  }
  compare_fit(stored.values, values, findings);
  return findings;
}

}  // namespace depthcost::profile
