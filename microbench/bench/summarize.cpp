// summarize OUT ROUNDS FILE...: joins the files that Google Benchmark wrote in a run to one file of
// samples, and prints a table. ROUNDS is "good/wanted". Exit code 2: bad input; 3: measured, but a
// ceiling is too weak.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "microbench/results/benchmark_results.hpp"

namespace depthcost::bench {
namespace {

constexpr int kBadInput = 2;
constexpr int kWeakCeiling = 3;

[[noreturn]] void fail(const std::string& path, const std::string& problem) {
  throw std::runtime_error(fmt::format("{}:1:1: error: {}", path, problem));
}

nlohmann::json parse(const std::string& path) {
  std::ifstream file(path);
  if (!file) fail(path, "cannot be read");
  nlohmann::json json = nlohmann::json::parse(file, nullptr, false);
  if (json.is_discarded() || !json.contains("benchmarks") || !json.contains("context"))
    fail(path, "invalid results (need a file of Google Benchmark's)");
  return json;
}

/// Noise may make a kernel so much faster than its ceiling. Beyond that the ceiling is too low.
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

Environment environment_of(const std::string& rounds, const Results& results) {
  const auto slash = rounds.find('/');
  return {.rounds = std::atoi(rounds.c_str()),
          .rounds_wanted = slash == std::string::npos ? 0 : std::atoi(rounds.c_str() + slash + 1),
          .throttled_percent = throttled_percent(results),
          .disturbed_percent = disturbed_percent(results)};
}

/// The measurements of all files. The machine is that of the first file; the GPU that of any.
Results read_all(int count, char** paths) {
  Results all;
  for (int i = 0; i < count; ++i) {
    const nlohmann::json file = parse(paths[i]);
    const Results here = machine_of(file.at("context"));
    if (i == 0) all = here;
    const bool has_device = !here.device.empty();
    const bool had_device = !all.device.empty();
    const bool is_other_device =
        has_device && had_device &&
        (here.device != all.device || here.cuda_kernels_hash != all.cuda_kernels_hash);
    if (here.machine != all.machine || here.kernels_hash != all.kernels_hash || is_other_device)
      fail(paths[i], "from another machine or other kernels");
    if (has_device) all.device = here.device;
    if (has_device) all.cuda_kernels_hash = here.cuda_kernels_hash;
    for (const std::string& failure : failures_in(file))
      fmt::print(stderr, "{}: left out: {}\n", paths[i], failure);
    add(all, read_measurements(file));
  }
  std::size_t num_measured = 0;
  for (std::vector<Measurement>* kind : {&all.ceilings, &all.cores, &all.curves, &all.skeletons,
                                         &all.kernels, &all.steps, &all.links, &all.others}) {
    std::sort(kind->begin(), kind->end(),
              [](const Measurement& a, const Measurement& b) { return a.name < b.name; });
    num_measured += kind->size();
  }
  if (num_measured == 0) fail(paths[0], "nothing was measured (here, or in the other files)");
  return all;
}

/// Writes beside the file and renames: an interruption leaves the old file.
void write(const std::string& path, const std::string& text) {
  // mkstemp makes a new file, so that no link is written through.
  std::string unfinished = path + ".XXXXXX";
  const int descriptor = ::mkstemp(unfinished.data());
  if (descriptor < 0) fail(path, "cannot be written");
  ::fchmod(descriptor, S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH);
  std::FILE* const out = ::fdopen(descriptor, "w");
  if (out == nullptr) fail(path, "cannot be written");
  const bool is_whole = std::fwrite(text.data(), 1, text.size(), out) == text.size();
  const bool is_closed = std::fclose(out) == 0;
  if (!is_whole || !is_closed || std::rename(unfinished.c_str(), path.c_str()) != 0)
    fail(path, "cannot be written");
}

int run(int count, char** words) {
  Results results = read_all(count - 2, words + 2);
  results.environment = environment_of(words[1], results);
  write(words[0], to_json(results));
  print_table(results);
  // The samples are written first: hours of measuring are kept.
  const std::optional<std::string> problem = weakness(results);
  if (!problem) return 0;
  fmt::print(stderr, "{}:1:1: error: too weak for a ceiling ({})\n", words[0], *problem);
  return kWeakCeiling;
}

}  // namespace
}  // namespace depthcost::bench

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("usage: summarize OUT ROUNDS FILE...\n", stderr);
    return depthcost::bench::kBadInput;
  }
  try {
    return depthcost::bench::run(argc - 1, argv + 1);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return depthcost::bench::kBadInput;
  }
}
