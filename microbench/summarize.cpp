// summarize OUT CEILINGS SKELETONS KERNELS: the three files of a run as one, and the table that one
// wants to see.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "microbench/measurements.hpp"

namespace depthcost::bench {
namespace {

nlohmann::json parse(const std::string& path) {
  std::ifstream file(path);
  nlohmann::json json = nlohmann::json::parse(file, nullptr, false);
  if (json.is_discarded() || !json.contains("benchmarks"))
    throw std::runtime_error(path + ": not a file of Google Benchmark's");
  return json;
}

/// A kernel that beats its ceiling says that the ceiling is none; noise may account for this much.
constexpr double kMostOfACeiling = 1.03;

std::string fraction_text(const std::optional<double>& fraction) {
  if (!fraction) return "-";
  return fmt::format("{:.1f} %{}", 100 * *fraction,
                     *fraction > kMostOfACeiling ? " (ceiling too weak)" : "");
}

void print_table(const Results& results) {
  fmt::print("{:<56} {:>14} {:>10} {:>11}\n", "kernel", "median", "GB/s", "of ceiling");
  for (const Measurement& kernel : results.kernels) {
    const auto fraction = fraction_of_ceiling(results, kernel);
    const std::string share = fraction_text(fraction);
    fmt::print("{:<56} {:>11.2f} us {:>10.2f} {:>11}\n", kernel.name, kernel.median() * 1e6,
               kernel.bandwidth() / 1e9, kernel.is_valid() ? share : "not linear");
  }
}

void run(char** paths) {
  const nlohmann::json file = parse(paths[3]);
  Results results = machine_of(file.at("context"));
  results.ceilings = read_measurements(paths[1], parse(paths[1]));
  results.skeletons = read_measurements(paths[2], parse(paths[2]));
  results.kernels = read_measurements(paths[3], file);
  if (const auto problem = weakness(results))
    throw std::runtime_error(fmt::format("{}: too weak for a ceiling ({})", paths[1], *problem));
  std::ofstream out(paths[0]);
  out << to_json(results).dump(1) << "\n";
  out.close();
  if (!out) throw std::runtime_error(fmt::format("{}: cannot be written", paths[0]));
  print_table(results);
}

}  // namespace
}  // namespace depthcost::bench

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fputs("usage: summarize OUT CEILINGS SKELETONS KERNELS\n", stderr);
    return 2;
  }
  try {
    depthcost::bench::run(argv + 1);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 2;
  }
}
