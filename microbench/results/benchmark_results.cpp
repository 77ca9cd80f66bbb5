// Google Benchmark's JSON has an entry for each repetition, and more for aggregates.
#include "microbench/results/benchmark_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>

#include "microbench/harness/program.hpp"
#include "microbench/harness/slope.hpp"
#include "microbench/results/case_name.hpp"

namespace depthcost::bench {
namespace {

struct PublishedBandwidth {
  std::string_view device;  // part of its name
  unsigned reads = 0;
  unsigned writes = 0;
  double bytes_per_second = 0;
  std::string_view source;
};

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

/// False for a forward pass, and for a kernel that runs between layers' weights.
bool is_one_kernel(const CaseName& name) {
  return !name.temperature.empty() && name.operation.find("_forward/") == std::string_view::npos;
}

std::vector<Measurement>& kind_of(Results& results, std::string_view name) {
  const std::string_view operation = parse_case_name(name).operation;
  if (parse_case_name(name).backend == "mpi") return results.links;
  if (operation.starts_with("ceiling/") || operation == "memcpy") return results.ceilings;
  if (operation.starts_with("core/")) return results.cores;
  if (operation == "curve") return results.curves;
  // An empty kernel has no operands.
  if (operation.starts_with("skeleton/empty")) return results.others;
  if (operation.starts_with("skeleton/")) return results.skeletons;
  if (operation.starts_with("step/")) return results.steps;
  return is_one_kernel(parse_case_name(name)) ? results.kernels : results.others;
}

}  // namespace

double Measurement::median() const { return median_of(seconds); }

double Measurement::deviation() const { return deviations.empty() ? 0 : median_of(deviations); }

bool Measurement::is_valid() const { return deviation() <= kLinearWithin; }

std::string_view Measurement::backend() const {
  return std::string_view(name).substr(0, name.find('/'));
}

std::vector<std::string> failures_in(const nlohmann::json& json) {
  std::vector<std::string> failures;
  for (const auto& run : json.at("benchmarks")) {
    const std::string message = run.value("error_message", "");
    if (run.value("error_occurred", false) && message != kNoCudaDevice)
      failures.push_back(fmt::format("{} failed ({})", plain_name(run.at("run_name")), message));
  }
  return failures;
}

std::vector<Measurement> read_measurements(const nlohmann::json& json) {
  std::vector<Measurement> measurements;
  std::map<std::string, std::size_t> places;
  for (const auto& run : json.at("benchmarks")) {
    const std::string name = plain_name(run.at("run_name"));
    if (run.value("error_occurred", false)) continue;
    if (run.at("run_type") != "iteration") continue;
    const auto [place, is_new] = places.try_emplace(name, measurements.size());
    if (is_new)
      measurements.push_back({.name = name,
                              .seconds = {},
                              .bytes = run.value("bytes", 0.0),
                              .elements = run.value("elements", 0.0),
                              .mix = mix_from(run.value("label", ""))});
    Measurement& measurement = measurements[place->second];
    measurement.seconds.push_back(in_seconds(run.at("real_time"), run.at("time_unit")));
    measurement.deviations.push_back(run.value("deviation", 0.0));
    if (run.contains("of_ceiling")) measurement.of_ceiling.push_back(run.at("of_ceiling"));
    if (run.contains("disturbed")) measurement.disturbed.push_back(run.at("disturbed"));
    for (const char* clock : {"sm_mhz_before", "sm_mhz_after"})
      if (run.contains(clock)) measurement.clocks_mhz.push_back(run.at(clock));
  }
  return measurements;
}

Results machine_of(const nlohmann::json& context) {
  const std::string threads = context.value("threads", "?");
  Results results{
      .machine = fmt::format("{}, {} thread{}", context.value("cpu_model", "unknown CPU"), threads,
                             threads == "1" ? "" : "s"),
      .device = context.value("cuda_device", ""),
      .kernels_hash = context.value("kernels_hash", ""),
      .cuda_kernels_hash = context.value("cuda_kernels_hash", ""),
      .threads = std::atoi(threads.c_str()),
      .rotation_bytes = std::atof(context.value("rotation_bytes", "0").c_str()),
      .huge_pages = context.value("transparent_hugepage", ""),
      .date = context.value("date", "").substr(0, 10)};
  for (const auto& cache : context.value("caches", nlohmann::json::array()))
    if (cache.value("level", 0) == 1 && cache.value("type", "") == "Data")
      results.first_level_bytes = cache.value("size", 0.0);
  return results;
}

void add(Results& results, const std::vector<Measurement>& measurements) {
  for (const Measurement& measurement : measurements) {
    std::vector<Measurement>& kind = kind_of(results, measurement.name);
    const auto found = std::find_if(kind.begin(), kind.end(), [&](const Measurement& other) {
      return other.name == measurement.name;
    });
    if (found == kind.end()) {
      kind.push_back(measurement);
      continue;
    }
    for (const auto list :
         {&Measurement::seconds, &Measurement::deviations, &Measurement::clocks_mhz,
          &Measurement::of_ceiling, &Measurement::disturbed})
      ((*found).*list)
          .insert(((*found).*list).end(), (measurement.*list).begin(), (measurement.*list).end());
  }
}

double throttled_percent(const Results& results) {
  constexpr double kSlow = 0.9;
  std::vector<double> clocks;
  for (const auto* kind : {&results.ceilings, &results.kernels, &results.steps})
    for (const Measurement& m : *kind)
      clocks.insert(clocks.end(), m.clocks_mhz.begin(), m.clocks_mhz.end());
  if (clocks.empty()) return 0;
  const double usual = median_of(clocks);
  const auto slow = std::count_if(clocks.begin(), clocks.end(),
                                  [&](double clock) { return clock < kSlow * usual; });
  return 100 * static_cast<double>(slow) / static_cast<double>(clocks.size());
}

double disturbed_percent(const Results& results) {
  double disturbed = 0;
  std::size_t runs = 0;
  for (const auto* kind :
       {&results.ceilings, &results.cores, &results.skeletons, &results.kernels, &results.steps})
    for (const Measurement& m : *kind) {
      disturbed = std::accumulate(m.disturbed.begin(), m.disturbed.end(), disturbed);
      runs += m.disturbed.size();
    }
  return runs == 0 ? 0 : 100 * disturbed / static_cast<double>(runs);
}

const Measurement* ceiling_of(const std::vector<Measurement>& ceilings, const Measurement& kernel) {
  const auto distance = [&](const Measurement& ceiling) {
    return std::abs(std::log(ceiling.bytes / kernel.bytes));
  };
  std::map<Mix, const Measurement*> best_of;
  for (const Measurement& ceiling : ceilings) {
    if (ceiling.backend() != kernel.backend() || !is_part_of(ceiling.mix, kernel.mix)) continue;
    if (ceiling.name.find("/threads:") != std::string::npos) continue;
    const Measurement*& best = best_of[ceiling.mix];
    const bool is_better =
        best == nullptr || distance(ceiling) < distance(*best) ||
        (ceiling.bytes == best->bytes && ceiling.bandwidth() > best->bandwidth());
    if (is_better) best = &ceiling;
  }
  const auto fastest = std::max_element(
      best_of.begin(), best_of.end(),
      [](const auto& a, const auto& b) { return a.second->bandwidth() < b.second->bandwidth(); });
  return fastest == best_of.end() ? nullptr : fastest->second;
}

std::optional<double> fraction_of_ceiling(const Results& results, const Measurement& kernel) {
  if (!kernel.of_ceiling.empty()) return median_of(kernel.of_ceiling);
  const Measurement* ceiling = ceiling_of(results.ceilings, kernel);
  // With fewer than half of the ceiling's bytes most of the time would be the launch.
  const bool is_comparable =
      ceiling != nullptr && kernel.name.ends_with("/cold") && kernel.bytes > ceiling->bytes / 2;
  if (!is_comparable) return std::nullopt;
  return kernel.bandwidth() / ceiling->bandwidth();
}

std::optional<std::string> weakness(const Results& results) {
  for (const PublishedBandwidth& published : kPublished) {
    if (results.device.find(published.device) == std::string::npos) continue;
    const Measurement* best = nullptr;
    for (const Measurement& ceiling : results.ceilings)
      if (ceiling.backend() == "cuda" && ceiling.mix.reads == published.reads &&
          ceiling.mix.writes == published.writes &&
          (best == nullptr || ceiling.bandwidth() > best->bandwidth()))
        best = &ceiling;
    if (best != nullptr && best->bandwidth() < published.bytes_per_second)
      return fmt::format("{} reaches {:.2f} TB/s, a published kernel {:.2f} ({})", best->name,
                         best->bandwidth() / 1e12, published.bytes_per_second / 1e12,
                         published.source);
  }
  return std::nullopt;
}

}  // namespace depthcost::bench
