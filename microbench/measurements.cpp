// Google Benchmark's JSON: one entry for each repetition, aggregates beside them.
#include "microbench/measurements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace depthcost::bench {
namespace {

constexpr PublishedBandwidth kPublished[] = {
    {"H200", 5, 4, 4.22e12, "mHC post of TensorRT-LLM, T=131072, d=4096"},
};

double in_seconds(double value, const std::string& unit) {
  static const std::map<std::string, double> units{
      {"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
  return value * units.at(unit);
}

/// Without what Google Benchmark appends: "/iterations:3/repeats:9/manual_time".
std::string plain_name(const std::string& run_name) {
  return run_name.substr(0, run_name.find("/iterations:"));
}

unsigned count_of(const nlohmann::json& run, const char* key) {
  return static_cast<unsigned>(run.value(key, 0.0));
}

}  // namespace

double Measurement::median() const {
  std::vector<double> sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

std::string_view Measurement::backend() const {
  return std::string_view(name).substr(0, name.find('/'));
}

std::vector<Measurement> read_measurements(const std::string& path, const nlohmann::json& json) {
  std::vector<Measurement> measurements;
  std::map<std::string, std::size_t> places;
  for (const auto& run : json.at("benchmarks")) {
    const std::string name = plain_name(run.at("run_name"));
    if (run.value("error_occurred", false))
      throw std::runtime_error(
          fmt::format("{}: {} failed ({})", path, name, run.value("error_message", "")));
    if (run.at("run_type") != "iteration") continue;
    const auto [place, is_new] = places.try_emplace(name, measurements.size());
    if (is_new)
      measurements.push_back(
          {.name = name,
           .seconds = {},
           .bytes = run.value("bytes", 0.0),
           .mix = {count_of(run, "reads"), count_of(run, "writes"), count_of(run, "in_place")}});
    measurements[place->second].seconds.push_back(
        in_seconds(run.at("real_time"), run.at("time_unit")));
  }
  if (measurements.empty()) throw std::runtime_error(path + ": nothing was measured");
  return measurements;
}

const Measurement* ceiling_of(const std::vector<Measurement>& ceilings, std::string_view backend,
                              const Mix& mix) {
  const Measurement* best = nullptr;
  for (const Measurement& ceiling : ceilings)
    if (ceiling.backend() == backend && ceiling.mix == mix &&
        (best == nullptr || ceiling.bandwidth() > best->bandwidth()))
      best = &ceiling;
  return best;
}

std::optional<std::string> weakness(const std::vector<Measurement>& ceilings,
                                    std::string_view device) {
  for (const PublishedBandwidth& published : kPublished) {
    if (device.find(published.device) == std::string_view::npos) continue;
    for (const Measurement& ceiling : ceilings) {
      if (ceiling.mix.reads != published.reads || ceiling.mix.writes != published.writes) continue;
      const Measurement& best = *ceiling_of(ceilings, ceiling.backend(), ceiling.mix);
      if (best.backend() == "cuda" && best.bandwidth() < published.bytes_per_second)
        return fmt::format("{} reaches {:.2f} TB/s, a published kernel {:.2f} ({})", best.name,
                           best.bandwidth() / 1e12, published.bytes_per_second / 1e12,
                           published.source);
    }
  }
  return std::nullopt;
}

}  // namespace depthcost::bench
