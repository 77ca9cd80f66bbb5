// What the programs have measured, read back: medians, the ceiling of each mix, and fractions of
// it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "microbench/harness/traffic_label.hpp"

namespace depthcost::bench {

/// One benchmark of a file of Google Benchmark's.
struct Measurement {
  std::string name;             // "cpu/attnres_phase1/bf16/T:2048/d:7168/cold"
  std::vector<double> seconds;  // of one call, by repetition
  double bytes = 0;             // of one call; 0 where nothing is moved
  double elements = 0;          // of one call of a core's primitive; 0 elsewhere
  Mix mix;
  std::vector<double> deviations = {};  // from a line, of the chains whose slope this is: slope.hpp
  std::vector<double> clocks_mhz = {};  // of a GPU's multiprocessors, around each repetition

  double median() const;
  double bandwidth() const { return bytes / median(); }
  /// The median; 0 of what is no slope.
  double deviation() const;
  /// False for the slope of chains that are not linear.
  bool is_valid() const;
  /// "cpu", "cuda" or "mpi".
  std::string_view backend() const;
};

/// What the machine was doing meanwhile.
struct Environment {
  int rounds = 0;  // that were good enough to be used
  int rounds_wanted = 0;
  double steal_percent = 0;      // of all CPUs' time in the worst of those rounds
  double throttled_percent = 0;  // of a GPU's runs: with a clock far below the usual
};

/// A run of all programs on one machine.
struct Results {
  std::string machine;       // "Intel(R) Xeon(R) Processor, 2 threads"
  std::string device;        // of CUDA; empty without one
  std::string kernels_hash;  // of the sources that were measured
  std::string cuda_kernels_hash = {};
  int threads = 0;
  double first_level_bytes = 0;  // L1 data cache, as the machine reports it
  double rotation_bytes = 0;     // between two uses of a cold operand
  std::string huge_pages = {};
  std::string date = {};
  Environment environment = {};
  std::vector<Measurement> ceilings;
  std::vector<Measurement> cores;
  std::vector<Measurement> curves;
  std::vector<Measurement> skeletons;
  std::vector<Measurement> kernels;
  std::vector<Measurement> steps;
  std::vector<Measurement> links = {};  // of MPI
  std::vector<Measurement> others;      // of several kernels, or of one that has no operands
};

/// "name failed (why)" of each benchmark of a file of Google Benchmark's that did.
std::vector<std::string> failures_in(const nlohmann::json& json);

/// All benchmarks of a file but those that failed or were skipped without a device.
std::vector<Measurement> read_measurements(const nlohmann::json& json);

/// Adds them to `results`, each by its kind; further repetitions to what is there already.
void add(Results& results, const std::vector<Measurement>& measurements);

/// Per cent of all runs that had a clock below nine tenths of the median.
double throttled_percent(const Results& results);

/// What `context` of Google Benchmark's says of the machine.
Results machine_of(const nlohmann::json& context);

/// The file that summarize writes, every repetition in it, a line for each benchmark.
std::string to_json(const Results& results);
Results results_of(const nlohmann::json& json);

/// The best variant of the kernel's mix, or of a part of it, on its backend, among those that move
/// most nearly as many bytes; null if neither was measured.
const Measurement* ceiling_of(const std::vector<Measurement>& ceilings, const Measurement& kernel);

/// Of the ceiling of its mix; nothing where operands come from a cache, or there is no such
/// ceiling.
std::optional<double> fraction_of_ceiling(const Results& results, const Measurement& kernel);

/// What is wrong with the ceilings: a bandwidth that somebody has published for a mix on the same
/// device is higher. Nothing if they can serve.
std::optional<std::string> weakness(const Results& results);

}  // namespace depthcost::bench
