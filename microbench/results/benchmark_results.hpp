// What the programs have measured: medians, the ceiling of each mix, and fractions of it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "microbench/harness/traffic_label.hpp"

namespace depthcost::bench {

/// One benchmark of a file that Google Benchmark wrote.
struct Measurement {
  std::string name;             // "cpu/attnres_phase1/bf16/T:2048/d:7168/cold"
  std::vector<double> seconds;  // of one call, by repetition
  double bytes = 0;             // of one call; 0 where nothing is moved
  double elements = 0;          // of one call of a core's primitive; 0 elsewhere
  Mix mix;
  std::vector<double> deviations = {};  // of the chains from a line, where this is their slope
  std::vector<double> clocks_mhz = {};  // of a GPU's multiprocessors, around each repetition
  std::vector<double> of_ceiling = {};  // measured in pairs with the ceiling, by repetition
  std::vector<double> disturbed = {};   // the share of each repetition's samples

  double median() const;
  double bandwidth() const { return bytes / median(); }
  /// The median; 0 where this is no slope.
  double deviation() const;
  /// False for the slope of chains that are not linear.
  bool is_valid() const;
  /// "cpu", "cuda" or "mpi".
  std::string_view backend() const;
};

/// What disturbed the machine meanwhile.
struct Environment {
  int rounds = 0;  // that were good enough to be used
  int rounds_wanted = 0;
  double throttled_percent = 0;  // of a GPU's runs: with a clock far below the usual
  double disturbed_percent = 0;  // of the samples of a CPU: disturbed each time they were taken
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

/// "name failed (why)" for each benchmark of the file that failed.
std::vector<std::string> failures_in(const nlohmann::json& json);

/// All benchmarks of the file, except those that failed or were skipped without a device.
std::vector<Measurement> read_measurements(const nlohmann::json& json);

/// Adds each measurement to its list, or its repetitions to the measurement of that name.
void add(Results& results, const std::vector<Measurement>& measurements);

/// The percentage of runs with a clock below nine tenths of the median.
double throttled_percent(const Results& results);

/// The percentage of samples that were disturbed each time they were taken.
double disturbed_percent(const Results& results);

/// The machine, from the `context` that Google Benchmark writes.
Results machine_of(const nlohmann::json& context);

/// The file that summarize writes: a line for each benchmark, with every repetition.
std::string to_json(const Results& results);
Results results_of(const nlohmann::json& json);

/// The best variant for the kernel's mix, or for a part of it, on the same backend, among the
/// variants whose bytes are nearest to the kernel's. Null if there is none.
const Measurement* ceiling_of(const std::vector<Measurement>& ceilings, const Measurement& kernel);

/// Bandwidth over that of the ceiling of its mix: the median of pairs where they were measured
/// together. Nothing where operands come from a cache, or there is no such ceiling.
std::optional<double> fraction_of_ceiling(const Results& results, const Measurement& kernel);

/// Says which ceiling is below the bandwidth that others have published for the mix on this device.
/// Nothing if there is none.
std::optional<std::string> weakness(const Results& results);

}  // namespace depthcost::bench
