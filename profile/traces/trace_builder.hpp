// Puts the rows of each format together.
#pragma once

#include <map>
#include <optional>
#include <streambuf>
#include <string>
#include <string_view>

#include "profile/traces/kernel_trace.hpp"

namespace depthcost {

/// One kernel as a trace has it.
struct TracedLaunch {
  std::string name;
  std::string device;
  std::optional<std::int64_t> start;     // nanoseconds
  std::optional<std::int64_t> duration;  // nanoseconds
};

/// Nanoseconds of a decimal text in units of 10^digits nanoseconds. Exact, as a double of
/// microseconds since 1970 is not. Nothing where the text is no number or lies beyond 146 years.
std::optional<std::int64_t> nanoseconds(std::string_view text, int digits);

class TraceBuilder {
 public:
  explicit TraceBuilder(std::string file) : file_(std::move(file)) {}

  void add(const TracedLaunch& launch);
  void add_step(const std::string& name) { steps_.insert(name); }

  /// The device that launches most. Throws InputError where nothing is left to sum.
  KernelTrace take();

 private:
  std::string file_;
  std::map<std::string, std::map<std::string, std::vector<Interval>>> by_device_;
  std::set<std::string> steps_;
  Count without_duration_ = 0;
};

/// Reads JSON of either kind. Throws InputError.
KernelTrace read_json_trace(std::streambuf& content, const std::string& file);

/// Reads a database of nsys. Throws InputError.
KernelTrace read_trace_database(const std::string& path);

/// Reads a table of nsys. Throws InputError.
KernelTrace read_trace_table(std::string_view text, const std::string& file);

}  // namespace depthcost
