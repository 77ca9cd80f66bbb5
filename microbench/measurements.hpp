// What the programs have measured, read back: medians, the ceiling of each mix, and fractions of
// it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "microbench/mix.hpp"

namespace depthcost::bench {

/// One benchmark of a file of Google Benchmark's.
struct Measurement {
  std::string name;             // "cpu/attnres_phase1/bf16/T:2048/d:7168/cold"
  std::vector<double> seconds;  // of one call, by repetition
  double bytes = 0;             // of one call; 0 where nothing is moved
  Mix mix;

  double median() const;
  double bandwidth() const { return bytes / median(); }
  /// "cpu" or "cuda".
  std::string_view backend() const;
};

/// All benchmarks of a file. Throws std::runtime_error, `file: problem`, where it is not one, or
/// holds an error or nothing.
std::vector<Measurement> read_measurements(const std::string& path, const nlohmann::json& json);

/// The best variant of a mix on a backend; null if it was not measured.
const Measurement* ceiling_of(const std::vector<Measurement>& ceilings, std::string_view backend,
                              const Mix& mix);

/// A bandwidth that somebody has published for a mix: a ceiling below it is no ceiling.
struct PublishedBandwidth {
  std::string_view device;  // part of its name
  unsigned reads = 0;
  unsigned writes = 0;
  double bytes_per_second = 0;
  std::string_view source;
};

/// What is wrong with `ceilings`, measured on `device`; nothing if they can serve.
std::optional<std::string> weakness(const std::vector<Measurement>& ceilings,
                                    std::string_view device);

}  // namespace depthcost::bench
