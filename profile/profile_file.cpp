// Reads the records that profile/profile_yaml.cpp writes. scenarios/device/profile.cpp reads the
// machine.
#include "profile/profile_file.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "scenarios/device/profile.hpp"
#include "scenarios/text/input_text.hpp"

namespace depthcost::profile {
namespace {

/// visit(a record's path with its dot) for each record of a list.
template <class Visit>
void each_record(const Values& values, const std::string& key, const Visit& visit) {
  for (std::size_t i = 0; i < values.num_records(key); ++i) visit(fmt::format("{}[{}].", key, i));
}

double number_or_zero(const Values& values, const std::string& key) {
  return values.has(key) ? values.number(key) : 0;
}

Estimate<BytesPerSecond> bandwidth_at(const Values& values, const std::string& record) {
  return {{values.number(record + "low")},
          {values.number(record + "value")},
          {values.number(record + "high")},
          Evidence::calibrated};
}

ErrorSummary errors_at(const Values& values, const std::string& record) {
  return {.cases = static_cast<std::size_t>(values.count(record + "count")),
          .median = values.number(record + "median"),
          .p90 = values.number(record + "p90"),
          .worst = values.number(record + "worst")};
}

std::vector<Ceiling> ceilings_in(const Values& values) {
  std::vector<Ceiling> ceilings;
  each_record(values, "bandwidth", [&](const std::string& record) {
    const auto count = [&](const char* key) {
      return static_cast<unsigned>(values.count(record + key));
    };
    ceilings.push_back({values.choice<MemoryLevel>(record + "level"),
                        static_cast<int>(count("threads")),
                        {count("reads"), count("writes"), count("in_place")},
                        "",
                        bandwidth_at(values, record)});
  });
  return ceilings;
}

std::vector<ProfiledNode> nodes_in(const Values& values) {
  std::vector<ProfiledNode> nodes;
  each_record(values, "nodes", [&](const std::string& record) {
    nodes.push_back({values.text(record + "file"), values.text(record + "hash"),
                     values.has(record + "outside") ? values.text(record + "outside") : ""});
  });
  return nodes;
}

Coverage coverage_at(const Values& values, const std::string& key) {
  if (!values.has(key + ".count")) return {};
  return {static_cast<std::size_t>(values.count(key + ".count")),
          {number_or_zero(values, key + ".low"), number_or_zero(values, key + ".share"),
           number_or_zero(values, key + ".high"), Evidence::calibrated}};
}

void set_errors(const Values& values, Profile& profile) {
  each_record(values, "link_error", [&](const std::string& record) {
    profile.link_errors.push_back({values.choice<Transfer>(record + "transfer"),
                                   values.count(record + "ranks"), errors_at(values, record)});
  });
  each_record(values, "form_error", [&](const std::string& record) {
    profile.forms.push_back({values.choice<CoreForm>(record + "form"), errors_at(values, record)});
  });
  each_record(values, "accuracy", [&](const std::string& record) {
    profile.accuracy.push_back({values.choice<Ceilings>(record + "ceilings"),
                                values.choice<Cases>(record + "cases"), errors_at(values, record)});
  });
  profile.coverage = coverage_at(values, "coverage");
  profile.operation_coverage = coverage_at(values, "operation_coverage");
}

Samples samples_named_in(const Values& values, const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  return read_samples((folder / values.text("samples.file")).string(), backend_of(values));
}

}  // namespace

bool is_profile_path(const std::string& path) {
  return path.ends_with(".yaml") || path.ends_with(".yml");
}

Backend backend_of(const Values& device) {
  const Value* kind = device.find("kind");
  const bool is_cpu = kind != nullptr && kind->texts.front() == "cpu";
  return is_cpu ? Backend::cpu : Backend::device_if_any;
}

Profile profile_in(const Values& values) {
  std::vector<ResolvedValue> notes;
  Profile profile{.name = values.text("name"),
                  .part = values.has("part") ? values.text("part") : "",
                  .samples_file = values.text("samples.file"),
                  .samples_hash = values.text("samples.hash"),
                  .kernels_hash = values.text("samples.kernels"),
                  .date = values.text("date"),
                  .is_gpu = values.text("kind") == "gpu",
                  .threads = values.number("threads"),
                  .ceilings = ceilings_in(values),
                  .machine = machine_from_profile(values, notes),
                  .noise = values.number("noise"),
                  .write_allocate = number_or_zero(values, "write_allocate_ratio"),
                  .nodes = nodes_in(values)};
  set_errors(values, profile);
  return profile;
}

namespace {

/// A driver says "NVIDIA H200" of the module that datasheets and presets call "NVIDIA H200 SXM".
bool is_same_device(const std::string& measured, const std::string& machine) {
  return measured == machine || machine == measured + " SXM";
}

}  // namespace

void require_good_and_own(const Samples& samples, const std::string& machine) {
  require_good(samples);
  if (!is_same_device(samples.subject(), machine))
    throw ForeignSamples(fmt::format("{}: skipped: measured on {}, the profile on {}",
                                     printable(samples.path), printable(samples.subject()),
                                     printable(machine)));
}

LoadedProfile load_profile(const std::string& path) {
  Values values = profile_values(load_text(path), path);
  Profile profile = profile_in(values);
  Samples samples = samples_named_in(values, path);
  require_good_and_own(samples, profile.name);
  return {std::move(values), std::move(profile), std::move(samples)};
}

void require_made_from(const Values& profile, const Samples& samples) {
  const auto require_same = [&](const char* key, const std::string& is) {
    const Value& said = profile.at(key);
    if (said.texts.front() != is)
      throw InputError(said.position,
                       fmt::format("invalid {} '{}' ({} has '{}': fit its profile again)", key,
                                   printable(said.texts.front()), printable(samples.path), is));
  };
  require_same("samples.hash", samples.hash);
  require_same("samples.kernels", samples.kernels_hash);
}

Samples samples_of(const std::string& path) {
  LoadedProfile loaded = load_profile(path);
  require_made_from(loaded.values, loaded.samples);
  return std::move(loaded.samples);
}

Values profile_values(const std::string& text, const std::string& file) {
  const Node document = parse_document(text, file);
  const Map& map = root_map(document, "profile");
  require_schema(map, document.position, profile_keys());
  Values values = read_values(map, document.position, {profile_keys(), Provenance::scenario, file});
  require_keys(values, profile_keys());
  return values;
}

void require_readable(const std::string& text, const std::string& samples) {
  std::vector<ResolvedValue> notes;
  try {
    machine_from_profile(profile_values(text, samples), notes);
  } catch (const InputError& error) {
    throw InputError({samples, 1, 1}, fmt::format("invalid samples (no profile can be read that is "
                                                  "made from them: {})",
                                                  error.message()));
  }
}

}  // namespace depthcost::profile
