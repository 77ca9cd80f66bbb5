// Which format a file has, and what is left of its rows.
#include "profile/traces/kernel_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "model/base/decimal.hpp"
#include "profile/traces/trace_builder.hpp"
#include "profile/traces/unpacked_file.hpp"
#include "scenarios/text/input_text.hpp"

namespace depthcost {
namespace {

constexpr std::string_view kSqlite = "SQLite format 3";
constexpr std::int64_t kMostNanoseconds = std::int64_t{1} << 62;

bool is_digits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

[[noreturn]] void fail_trace(const std::string& file, std::string_view problem) {
  throw InputError({file, 1, 1}, problem);
}

std::int64_t in_range(const TracedLaunch& launch, const std::optional<std::int64_t>& time,
                      std::string_view what, const std::string& file) {
  if (!time || *time < 0 || *time >= kMostNanoseconds)
    fail_trace(file, fmt::format("invalid {} of kernel '{}' (must be a time below 146 years, not "
                                 "negative)",
                                 what, printable(launch.name)));
  return *time;
}

/// Launches on one device.
std::size_t launches_of(const std::map<std::string, std::vector<Interval>>& kernels) {
  std::size_t count = 0;
  for (const auto& [name, runs] : kernels) count += runs.size();
  return count;
}

/// All of it, or a part that is larger than a table may be. Grows with the content, since a small
/// table should not take the memory of the largest.
std::string table_in(std::streambuf& content) {
  std::string text;
  std::array<char, 1 << 16> part;
  while (text.size() <= kMaxTraceTableBytes) {
    const std::streamsize count = content.sgetn(part.data(), part.size());
    if (count <= 0) break;
    text.append(part.data(), static_cast<std::size_t>(count));
  }
  return text;
}

}  // namespace

std::optional<std::int64_t> nanoseconds(std::string_view text, int digits) {
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string_view whole = text.substr(0, point);
  const std::string_view part = text.substr(std::min(point + 1, text.size()));
  if (whole.empty() || !is_digits(whole) || !is_digits(part)) {
    const std::optional<double> value = decimal_value(text);
    if (!value) return std::nullopt;
    const double scaled = *value * std::pow(10, digits);
    if (std::abs(scaled) > static_cast<double>(kMostNanoseconds)) return std::nullopt;
    return std::llround(scaled);
  }
  const auto kept = static_cast<std::size_t>(digits);
  std::string all(whole);
  for (std::size_t i = 0; i < kept; ++i) all += i < part.size() ? part[i] : '0';
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), value);
  if (error != std::errc() || end != all.data() + all.size() || value > kMostNanoseconds)
    return std::nullopt;
  return value + (part.size() > kept && part[kept] >= '5' ? 1 : 0);
}

void TraceBuilder::add(const TracedLaunch& launch) {
  if (!launch.duration) {
    ++without_duration_;
    return;
  }
  const std::int64_t start = in_range(launch, launch.start, "start", file_);
  const std::int64_t duration = in_range(launch, launch.duration, "duration", file_);
  by_device_[launch.device][launch.name].push_back({start, start + duration});
}

KernelTrace TraceBuilder::take() {
  if (by_device_.empty() && without_duration_ > 0)
    fail_trace(file_, fmt::format("no durations (none of {} kernels has one)", without_duration_));
  if (by_device_.empty()) fail_trace(file_, "no kernels (was the GPU profiled?)");
  const auto most = std::max_element(
      by_device_.begin(), by_device_.end(),
      [](const auto& a, const auto& b) { return launches_of(a.second) < launches_of(b.second); });
  return {.kernels = std::move(most->second),
          .steps = std::move(steps_),
          .device = most->first,
          .other_devices = static_cast<Count>(by_device_.size()) - 1,
          .without_duration = without_duration_};
}

KernelTrace load_trace(const std::string& path, std::uintmax_t max_bytes) {
  if (load_text(path, kSqlite.size()).starts_with(kSqlite)) return read_trace_database(path);
  UnpackedFile content(path, max_bytes);
  const std::optional<char> first = content.first_character();
  if (!first) fail_trace(path, "empty trace (holds no kernels)");
  if (*first == '{' || *first == '[') return read_json_trace(content, path);
  return read_trace_table(table_in(content), path);
}

}  // namespace depthcost
