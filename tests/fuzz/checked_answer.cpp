#include "tests/fuzz/checked_answer.hpp"

#include <fmt/format.h>

#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/fuzz/target.hpp"

namespace depthcost::fuzz {
namespace {

using Json = nlohmann::json;

/// A value with the ends of its interval, by their keys.
struct Interval {
  const char* value;
  const char* low;
  const char* high;
};

constexpr std::array kIntervals{
    Interval{"seconds", "low", "high"},
    Interval{"predicted_seconds", "low_seconds", "high_seconds"},
    Interval{"delta_seconds", "delta_low", "delta_high"},
    Interval{"overhead", "overhead_low", "overhead_high"},
    Interval{"share", "share_low", "share_high"},
    Interval{"residual_seconds", "residual_low", "residual_high"},
};

// JSON has 12 significant digits.
bool is_at_most(double left, double right) {
  return left <= right + 1e-10 * (std::abs(left) + std::abs(right));
}

void require_inside(const Json& row, const Interval& keys) {
  const auto is_number = [&](const char* key) { return row.contains(key) && row[key].is_number(); };
  if (!is_number(keys.value) || !is_number(keys.low) || !is_number(keys.high)) return;
  const double low = row[keys.low], value = row[keys.value], high = row[keys.high];
  require(is_at_most(low, value) && is_at_most(value, high),
          fmt::format("{} is outside its interval: {}", keys.value, row.dump()));
}

void require_intervals(const Json& node) {
  if (node.is_object())
    for (const Interval& keys : kIntervals) require_inside(node, keys);
  if (node.is_structured())
    for (const Json& inner : node) require_intervals(inner);
}

/// The batch of "decode/64"; 0 for other workloads.
double batch_of(const std::string& workload) {
  constexpr std::string_view kDecode = "decode/";
  return workload.starts_with(kDecode) ? std::stod(workload.substr(kDecode.size())) : 0;
}

void require_growing(const Json& steps) {
  std::map<std::string, std::map<double, double>> seconds;
  for (const Json& row : steps)
    if (const double batch = batch_of(row["workload"]); batch > 0 && row["seconds"].is_number())
      seconds[row["scheme"].get<std::string>() + " " + row["schedule"].get<std::string>()][batch] =
          row["seconds"];
  for (const auto& [scheme, by_batch] : seconds) {
    double smaller = 0;
    for (const auto& [batch, time] : by_batch) {
      require(is_at_most(smaller, time),
              fmt::format("a step of {} sequences with {} is shorter than one of fewer: {} < {}",
                          batch, scheme, time, smaller));
      smaller = time;
    }
  }
}

}  // namespace

void require_sound(const std::string& json) {
  const Json answer = Json::parse(json);  // throws for a number that is not finite
  require_intervals(answer);
  require_growing(answer["step"]);
}

}  // namespace depthcost::fuzz
