// What a program adds to Google Benchmark: context, a reporter and exit codes.
#include "microbench/harness/program.hpp"

#include <benchmark/benchmark.h>
#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <ostream>
#include <string>
#include <vector>

#include "microbench/harness/sampling.hpp"

namespace depthcost::bench {

std::size_t rotation_bytes() {
  const benchmark::CPUInfo& cpu = benchmark::CPUInfo::Get();
  std::size_t largest_level = 0;
  for (const auto& cache : cpu.caches) {
    const int num_sharing = std::max(1, cache.num_sharing);
    const int num_caches = (cpu.num_cpus + num_sharing - 1) / num_sharing;
    largest_level = std::max(largest_level, static_cast<std::size_t>(cache.size) *
                                                static_cast<std::size_t>(std::max(1, num_caches)));
  }
  return std::max(std::size_t{512} << 20, 2 * largest_level);
}

std::string_view kernels_hash() { return DEPTHCOST_KERNELS_HASH; }

void show_progress(const std::string& name) {
  constexpr Seconds kBetweenLines{5};
  static int runs = 0;
  static Clock::time_point last = Clock::now();
  ++runs;
  if (Clock::now() - last < kBetweenLines) return;
  last = Clock::now();
  std::fprintf(stderr, "run %d: %s\n", runs, name.c_str());
}

namespace {

/// A function, because Registrations of other files may be made before this file's variables.
std::vector<void (*)()>& registered() {
  static std::vector<void (*)()> functions;
  return functions;
}

/// Prints each median when it is known, and counts runs.
class Progress : public benchmark::ConsoleReporter {
 public:
  Progress() : ConsoleReporter(OO_None) {}

  bool ReportContext(const Context& context) override {
    has_begun_ = true;
    // The file has the context. On a terminal it would hide the results.
    std::ostream nowhere(nullptr);
    std::ostream& usual = GetErrorStream();
    SetErrorStream(&nowhere);
    const bool goes_on = ConsoleReporter::ReportContext(context);
    SetErrorStream(&usual);
    return goes_on;
  }

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.error_occurred)
        ++(run.error_message == kNoCudaDevice ? skipped_ : failed_);
      else
        ++measured_;
    }
    std::vector<Run> shown;
    std::copy_if(runs.begin(), runs.end(), std::back_inserter(shown), [](const Run& run) {
      return run.error_occurred ? run.error_message != kNoCudaDevice
                                : run.aggregate_name == "median";
    });
    if (!shown.empty()) ConsoleReporter::ReportRuns(shown);
    std::fflush(stdout);
  }

  /// False where benchmarks were only listed.
  bool has_begun() const { return has_begun_; }

  int exit_code() const {
    if (skipped_ > 0) std::fprintf(stderr, "skipped: %d runs (%s)\n", skipped_, kNoCudaDevice);
    if (failed_ > 0) std::fprintf(stderr, "error: %d runs failed (see above)\n", failed_);
    if (measured_ + skipped_ == 0) std::fputs("error: nothing was measured\n", stderr);
    return failed_ > 0 || measured_ + skipped_ == 0 ? 1 : 0;
  }

 private:
  bool has_begun_ = false;
  int measured_ = 0;
  int skipped_ = 0;
  int failed_ = 0;
};

/// "model name" of /proc/cpuinfo; Google Benchmark knows only frequency and caches.
std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

/// "always [madvise] never". host_arena.cpp advises.
std::string huge_page_policy() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string line;
  return std::getline(file, line) ? line : "unknown";
}

void add_context() {
  benchmark::AddCustomContext("cpu_model", cpu_model());
  benchmark::AddCustomContext("threads", std::to_string(omp_get_max_threads()));
  benchmark::AddCustomContext("rotation_bytes", std::to_string(rotation_bytes()));
  benchmark::AddCustomContext("kernels_hash", std::string(kernels_hash()));
  benchmark::AddCustomContext("transparent_hugepage", huge_page_policy());
}

/// Leaves one CPU to other processes. With a thread on each CPU, a single other process would make
/// all threads wait for whole time slices at the end of every call.
void choose_threads() {
  if (std::getenv("OMP_NUM_THREADS") == nullptr)
    omp_set_num_threads(std::max(1, omp_get_num_procs() - 1));
}

}  // namespace

Registration::Registration(void (*add_benchmarks)()) { registered().push_back(add_benchmarks); }

int run_program(int argc, char** argv, void (*add_benchmarks)()) {
  choose_threads();
  // The user's options follow, and so override these.
  std::vector<std::string> arguments{argv[0], "--benchmark_enable_random_interleaving=true",
                                     "--benchmark_repetitions=9"};
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  int count = static_cast<int>(pointers.size());
  benchmark::Initialize(&count, pointers.data());
  if (benchmark::ReportUnrecognizedArguments(count, pointers.data())) return 2;
  add_context();
  add_benchmarks();
  for (const auto add_more : registered()) add_more();
  Progress progress;
  const std::size_t num_matching = benchmark::RunSpecifiedBenchmarks(&progress);
  benchmark::Shutdown();
  return num_matching > 0 && !progress.has_begun() ? 0 : progress.exit_code();
}

}  // namespace depthcost::bench
