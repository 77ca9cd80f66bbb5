// The samples are fitted again, and every number of the two files compared.
#include "profile/verify.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <filesystem>

#include "profile/profile.hpp"
#include "scenarios/input_text.hpp"
#include "scenarios/profile.hpp"
#include "scenarios/reference.hpp"
#include "scenarios/values.hpp"

namespace depthcost::profile {
namespace {

// Of a refitted number: six digits are written, and compilers round exp and log as they like.
constexpr double kSameWithin = 0.005;

// Of an error, in absolute terms: a prediction that is worse by less is as good.
constexpr double kSameError = 0.005;

Values values_of(const std::string& text, const std::string& file) {
  const Node document = parse_document(text, file);
  const Map& map = as_map(document, "profile");
  require_schema(map, document.position, profile_keys());
  Values values = read_values(map, document.position, {profile_keys(), Provenance::scenario, file});
  require_keys(values, profile_keys());
  return values;
}

/// What predictions come to: it may become better with a better formula, and then only a refit
/// writes it down.
bool is_result(const std::string& path) {
  return path.starts_with("accuracy") || path.starts_with("form_error") ||
         path.starts_with("link_error") || path.starts_with("coverage") ||
         path.starts_with("residual") || path == "core_form";
}

/// Of a result, what no formula changes: which cases there are, and how many.
bool is_fixed(const std::string& path) {
  return path.ends_with(".count") || path.ends_with(".form") || path.ends_with(".transfer") ||
         path.ends_with(".ranks") || path.ends_with(".cases") || path.ends_with(".ceilings");
}

bool is_same(const Value& stored, const Value& again) {
  if (stored.numbers.empty()) return stored.texts == again.texts;
  return std::abs(again.numbers.front() - stored.numbers.front()) <=
         kSameWithin * std::abs(stored.numbers.front());
}

Samples samples_named_in(const Values& stored, const std::string& path) {
  const Value& file = stored.at("samples.file");
  const auto folder = std::filesystem::path(path).parent_path();
  return read_samples((folder / file.texts.front()).string(), backend_of(stored));
}

Profile fitted_again(const Values& stored, const std::string& path) {
  return fit(samples_named_in(stored, path), stored.has("part") ? stored.text("part") : "");
}

/// Throws where the profile was made from another file, or says that it was made on other kernels.
void require_own(const Values& stored, const Samples& samples) {
  const auto require_same = [&](const char* key, const std::string& is) {
    const Value& said = stored.at(key);
    if (said.texts.front() != is)
      throw InputError(said.position,
                       fmt::format("invalid {} '{}' ({} has '{}': fit its profile again)", key,
                                   printable(said.texts.front()), printable(samples.path), is));
  };
  require_same("samples.hash", file_hash(samples.path));
  require_same("samples.kernels", samples.kernels_hash);
}

void compare_fit(const Values& stored, const Values& again, std::vector<std::string>& findings) {
  for (const auto& [path, value] : stored.all()) {
    const Value* other = again.find(path);
    if (other != nullptr && is_result(path) && !is_fixed(path)) continue;
    if (other == nullptr)
      findings.push_back(fmt::format("{}:{}: {} is not what the samples give", value.position.file,
                                     value.position.line, path));
    else if (!is_same(value, *other))
      findings.push_back(fmt::format("{}:{}: {} is {}, the samples give {}", value.position.file,
                                     value.position.line, path, value.texts.front(),
                                     other->texts.front()));
  }
  for (const auto& [path, value] : again.all())
    if (!stored.has(path))
      findings.push_back(fmt::format("{}:1: {} is missing ({})", stored.position().file, path,
                                     value.texts.front()));
}

/// A formula that has changed shows here: errors against the same measurements have grown. Not
/// those of a few tokens, which nothing is promised of.
void compare_errors(const Values& stored, const Values& again, std::vector<std::string>& findings) {
  for (std::size_t i = 0; i < stored.num_records("accuracy"); ++i) {
    const std::string record = fmt::format("accuracy[{}].", i);
    if (stored.text(record + "cases") == name(Cases::small)) continue;
    for (const char* error : {"median", "p90"}) {
      const Value& before = stored.at(record + error);
      const Value* now = again.find(record + error);
      if (now == nullptr || now->numbers.front() <= before.numbers.front() + kSameError) continue;
      findings.push_back(fmt::format("{}:{}: {}{} was {} and is {} with today's formulas",
                                     before.position.file, before.position.line, record, error,
                                     before.texts.front(), now->texts.front()));
    }
  }
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

/// What must hold on every machine. A ceiling is noisy: 3 %.
void check_order(const Profile& profile, std::vector<std::string>& findings) {
  constexpr double kSlack = 1.03;
  const auto rate = [&](StreamLevel level) {
    double most = 0;
    for (const Ceiling& c : profile.ceilings)
      if (c.level == level && c.threads == 0) most = std::max(most, c.bytes_per_second.value);
    return most;
  };
  constexpr std::array<std::pair<StreamLevel, StreamLevel>, 3> kNearer{
      {{StreamLevel::L1, StreamLevel::memory},
       {StreamLevel::L2, StreamLevel::L3},
       {StreamLevel::L3, StreamLevel::memory}}};
  for (const auto& [near, far] : kNearer)
    if (rate(near) > 0 && rate(near) * kSlack < rate(far))
      findings.push_back(fmt::format("{} moves {:.3g} GB/s, {} {:.3g}: nearer is not faster",
                                     name(near), rate(near) / 1e9, name(far), rate(far) / 1e9));
  const auto floor = [&](Launch launch, const LaunchFloor& of) {
    for (const LaunchFloor& f : profile.machine.floors)
      if (f.launch == launch && f.level == of.level && f.skeleton == of.skeleton)
        return f.floor.value.value;
    return of.floor.value.value;
  };
  for (const LaunchFloor& f : profile.machine.floors)
    if (f.launch == Launch::stream && floor(Launch::graph, f) > kSlack * f.floor.value.value)
      findings.push_back("a launch in a graph costs more than one in a stream");
}

}  // namespace

Backend backend_of(const Values& device) {
  const Value* kind = device.find("kind");
  const bool is_cpu = kind != nullptr && kind->texts.front() == "cpu";
  return is_cpu ? Backend::cpu : Backend::device_if_any;
}

Samples samples_of(const std::string& path) {
  const Values stored = values_of(load_text(path), path);
  Samples samples = samples_named_in(stored, path);
  require_own(stored, samples);
  return samples;
}

Profile refitted(const std::string& path) {
  return fitted_again(values_of(load_text(path), path), path);
}

std::vector<std::string> broken_invariants(const Profile& profile) {
  std::vector<std::string> findings;
  check_order(profile, findings);
  check_write_allocate(profile, findings);
  return findings;
}

void require_readable(const std::string& text, const std::string& samples) {
  std::vector<ResolvedValue> notes;
  try {
    machine_from_profile(values_of(text, samples), notes);
  } catch (const InputError& error) {
    throw InputError({samples, 1, 1}, fmt::format("invalid samples (no profile can be read that is "
                                                  "made from them: {})",
                                                  error.message()));
  }
}

std::vector<std::string> verify(const std::string& path) {
  const Values stored = values_of(load_text(path), path);
  std::vector<ResolvedValue> notes;
  machine_from_profile(stored, notes);
  const Profile profile = fitted_again(stored, path);
  std::vector<std::string> findings = broken_invariants(profile);
  const Values again = values_of(to_yaml(profile), path);
  compare_fit(stored, again, findings);
  compare_errors(stored, again, findings);
  return findings;
}

}  // namespace depthcost::profile
