// summarize OUT CEILINGS SKELETONS KERNELS: the three files of a run as one, and the table that one
// wants to see.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "microbench/measurements.hpp"

namespace depthcost::bench {
namespace {

using Json = nlohmann::ordered_json;

nlohmann::json parse(const std::string& path) {
  std::ifstream file(path);
  nlohmann::json json = nlohmann::json::parse(file, nullptr, false);
  if (json.is_discarded() || !json.contains("benchmarks"))
    throw std::runtime_error(path + ": not a file of Google Benchmark's");
  return json;
}

Json rows_of(const std::vector<Measurement>& measurements) {
  Json rows = Json::array();
  for (const Measurement& m : measurements)
    rows.push_back({{"name", m.name},
                    {"bytes", m.bytes},
                    {"reads", m.mix.reads},
                    {"writes", m.mix.writes},
                    {"in_place", m.mix.in_place},
                    {"seconds", m.seconds}});
  return rows;
}

void print_table(const std::vector<Measurement>& kernels,
                 const std::vector<Measurement>& ceilings) {
  fmt::print("{:<56} {:>11} {:>9} {:>9} {:>8}\n", "kernel", "median", "GB/s", "ceiling", "of it");
  for (const Measurement& kernel : kernels) {
    const Measurement* ceiling = ceiling_of(ceilings, kernel.backend(), kernel.mix);
    const bool is_comparable =
        ceiling != nullptr && kernel.name.ends_with("/cold") && kernel.bytes > ceiling->bytes / 2;
    fmt::print("{:<56} {:>8.1f} us {:>9.2f}", kernel.name, kernel.median() * 1e6,
               kernel.bandwidth() / 1e9);
    if (is_comparable)
      fmt::print(" {:>9.2f} {:>6.1f} %\n", ceiling->bandwidth() / 1e9,
                 100 * kernel.bandwidth() / ceiling->bandwidth());
    else
      fmt::print(" {:>9} {:>8}\n", "-", "-");
  }
}

int run(const std::string& out, const std::string& ceilings_path, const std::string& skeletons_path,
        const std::string& kernels_path) {
  const nlohmann::json file = parse(kernels_path);
  const auto ceilings = read_measurements(ceilings_path, parse(ceilings_path));
  const auto skeletons = read_measurements(skeletons_path, parse(skeletons_path));
  const auto kernels = read_measurements(kernels_path, file);
  const std::string device = file.at("context").value("cuda_device", "");
  if (const auto problem = weakness(ceilings, device))
    throw std::runtime_error(ceilings_path + ": too weak for a ceiling (" + *problem + ")");
  const Json all{{"schema", "depthcost-measurements/1"},
                 {"context", file.at("context")},
                 {"ceilings", rows_of(ceilings)},
                 {"skeletons", rows_of(skeletons)},
                 {"kernels", rows_of(kernels)}};
  std::ofstream(out) << all.dump(1) << "\n";
  print_table(kernels, ceilings);
  return 0;
}

}  // namespace
}  // namespace depthcost::bench

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fputs("usage: summarize OUT CEILINGS SKELETONS KERNELS\n", stderr);
    return 2;
  }
  try {
    return depthcost::bench::run(argv[1], argv[2], argv[3], argv[4]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 2;
  }
}
