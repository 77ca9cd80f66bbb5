// One table of units, and how many digits each is worth.
#include "reports/formats/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "model/base/decimal.hpp"

namespace depthcost {
namespace {

constexpr std::array kUnits = std::to_array<UnitRow>({
    {UnitKind::bytes, "B", 1},
    {UnitKind::bytes, "kB", 1e3},
    {UnitKind::bytes, "MB", 1e6},
    {UnitKind::bytes, "GB", 1e9},
    {UnitKind::bytes, "TB", 1e12},
    {UnitKind::bytes, "PB", 1e15},
    {UnitKind::seconds, "ns", 1e-9},
    {UnitKind::seconds, "us", 1e-6},
    {UnitKind::seconds, "ms", 1e-3},
    {UnitKind::seconds, "s", 1},
    {UnitKind::bytes_per_second, "B/s", 1},
    {UnitKind::bytes_per_second, "kB/s", 1e3},
    {UnitKind::bytes_per_second, "MB/s", 1e6},
    {UnitKind::bytes_per_second, "GB/s", 1e9},
    {UnitKind::bytes_per_second, "TB/s", 1e12},
    {UnitKind::bytes_per_second, "PB/s", 1e15},
    {UnitKind::flops, "FLOP", 1},
    {UnitKind::flops, "kFLOP", 1e3},
    {UnitKind::flops, "MFLOP", 1e6},
    {UnitKind::flops, "GFLOP", 1e9},
    {UnitKind::flops, "TFLOP", 1e12},
    {UnitKind::flops, "PFLOP", 1e15},
    {UnitKind::flops_per_second, "FLOP/s", 1},
    {UnitKind::flops_per_second, "kFLOP/s", 1e3},
    {UnitKind::flops_per_second, "MFLOP/s", 1e6},
    {UnitKind::flops_per_second, "GFLOP/s", 1e9},
    {UnitKind::flops_per_second, "TFLOP/s", 1e12},
    {UnitKind::flops_per_second, "PFLOP/s", 1e15},
});

constexpr std::string_view kNotFinite = "n/a";

// Beyond these decimals a ratio or a d-vector is noise.
constexpr int kMaxDecimals = 4;

// Significant digits for machines to read.
constexpr int kExactDigits = 12;

int significant_digits(UnitKind kind) { return kind == UnitKind::bytes ? 4 : 3; }

/// A byte is not divided.
bool is_whole(const UnitRow& unit) { return unit.text == "B"; }

/// The power of ten of the first digit, once rounded to `digits`: 2 for 99.96 rounded to three.
int rounded_exponent(double magnitude, int digits) {
  const std::string text = fmt::format("{:.{}e}", magnitude, digits - 1);
  const char* first = text.data() + text.find('e') + 1;
  if (*first == '+') ++first;  // from_chars takes a minus alone
  int exponent = 0;
  std::from_chars(first, text.data() + text.size(), exponent);
  return exponent;
}

/// What a number is written in.
struct Scale {
  const UnitRow* unit;
  int decimals;
};

/// The largest unit that leaves at least 1 after rounding, so that 999.96 us becomes 1.00 ms.
Scale scale_for(UnitKind kind, double value) {
  const double magnitude = std::abs(value);
  const int digits = significant_digits(kind);
  const UnitRow* best = nullptr;
  for (const UnitRow& unit : kUnits) {
    if (unit.kind != kind) continue;
    const bool readable =
        magnitude == 0 ? unit.scale == 1 : rounded_exponent(magnitude / unit.scale, digits) >= 0;
    if (best == nullptr || readable) best = &unit;
  }
  if (is_whole(*best) || magnitude == 0) return {best, 0};
  return {best, std::max(0, digits - 1 - rounded_exponent(magnitude / best->scale, digits))};
}

/// No "-0.0": what rounds to zero has no sign.
std::string signed_text(std::string text, Sign sign) {
  const bool is_zero = text.find_first_of("123456789") == std::string::npos;
  const bool is_negative = text.front() == '-';
  if (is_zero && is_negative) return text.substr(1);
  return !is_zero && !is_negative && sign == Sign::always ? "+" + text : text;
}

std::string decimal_text(double value, int decimals, Sign sign) {
  if (!std::isfinite(value)) return std::string(kNotFinite);
  return signed_text(fmt::format("{:.{}f}", value, decimals), sign);
}

std::string quantity_text(UnitKind kind, double value, Sign sign = Sign::minus_only) {
  if (!std::isfinite(value)) return std::string(kNotFinite);
  const Scale scale = scale_for(kind, value);
  return fmt::format("{} {}", decimal_text(value / scale.unit->scale, scale.decimals, sign),
                     scale.unit->text);
}

/// The number that chooses the unit and the decimals of an interval: its value, or the larger end
/// where the value is less than a hundredth of it.
double reference_of(double low, double value, double high) {
  const double largest_end = std::max(std::abs(low), std::abs(high));
  return std::abs(value) < largest_end / 100 ? largest_end : std::abs(value);
}

/// At least two digits, and one decimal below 100 %.
int ratio_decimals(double percent) {
  if (percent == 0) return 0;
  const int exponent = rounded_exponent(std::abs(percent), std::abs(percent) < 10 ? 2 : 3);
  return exponent >= 2 ? 0 : std::clamp(1 - exponent, 1, kMaxDecimals);
}

/// "1.2 % [0.4, 2.3]".
std::string interval_text(const Estimate<double>& ratio, int decimals, Sign sign) {
  return fmt::format("{} % [{}, {}]", decimal_text(100 * ratio.value, decimals, sign),
                     decimal_text(100 * ratio.low, decimals, Sign::minus_only),
                     decimal_text(100 * ratio.high, decimals, Sign::minus_only));
}

/// Decimals of a percentage, at least `decimals`, with which a ratio and its limit differ, if four
/// are enough.
int decimals_beside(double ratio, double limit, int decimals) {
  constexpr int kMost = 4;
  const auto text = [&](double value) {
    return decimal_text(100 * value, decimals, Sign::minus_only);
  };
  while (decimals < kMost && ratio != limit && text(ratio) == text(limit)) ++decimals;
  return decimals;
}

}  // namespace

std::span<const UnitRow> unit_rows() { return kUnits; }

std::string format_bytes(Bytes bytes, Sign sign) {
  return quantity_text(UnitKind::bytes, bytes.value, sign);
}

std::string format_seconds(Seconds seconds, Sign sign) {
  return quantity_text(UnitKind::seconds, seconds.value, sign);
}

std::string format_seconds(const Estimate<Seconds>& seconds, Sign sign) {
  const double reference = reference_of(seconds.low.value, seconds.value.value, seconds.high.value);
  if (reference == 0 || !std::isfinite(reference)) return format_seconds(seconds.value, sign);
  const Scale scale = scale_for(UnitKind::seconds, reference);
  const auto text = [&](Seconds end, Sign end_sign) {
    return decimal_text(end.value / scale.unit->scale, scale.decimals, end_sign);
  };
  return fmt::format("{} {} [{}, {}]", text(seconds.value, sign), scale.unit->text,
                     text(seconds.low, Sign::minus_only), text(seconds.high, Sign::minus_only));
}

std::string format_bandwidth(BytesPerSecond bandwidth) {
  return quantity_text(UnitKind::bytes_per_second, bandwidth.value);
}

std::string format_flops(Flops flops) { return quantity_text(UnitKind::flops, flops.value); }

std::string format_flop_rate(FlopsPerSecond rate) {
  return quantity_text(UnitKind::flops_per_second, rate.value);
}

std::string format_ratio(double ratio, Sign sign) {
  if (!std::isfinite(ratio)) return std::string(kNotFinite);
  const double percent = 100 * ratio;
  return decimal_text(percent, ratio_decimals(percent), sign) + " %";
}

std::string format_ratio(const Estimate<double>& ratio, Sign sign) {
  const double reference = reference_of(ratio.low, ratio.value, ratio.high);
  if (reference == 0 || !std::isfinite(reference)) return format_ratio(ratio.value, sign);
  return interval_text(ratio, ratio_decimals(100 * reference), sign);
}

std::string format_ratio_beside(const Estimate<double>& ratio, double limit, Sign sign) {
  const double reference = reference_of(ratio.low, ratio.value, ratio.high);
  if (reference == 0 || !std::isfinite(reference)) return format_ratio(ratio, sign);
  const int decimals = decimals_beside(ratio.value, limit, ratio_decimals(100 * reference));
  return interval_text(ratio, decimals, sign);
}

std::string format_value_beside(double ratio, double limit, Sign sign) {
  if (!std::isfinite(ratio)) return format_ratio(ratio, sign);
  const int decimals = decimals_beside(ratio, limit, ratio_decimals(100 * ratio));
  return decimal_text(100 * ratio, decimals, sign) + " %";
}

std::string format_counted(Count count, std::string_view one, std::string_view several) {
  return fmt::format("{} {}", format_count(count), count == 1 ? one : several);
}

std::string format_count(Count count) {
  std::string text = fmt::format("{}", count);
  const std::size_t first_digit = count < 0 ? 1 : 0;
  for (std::size_t i = text.size(); i > first_digit + 3;) {
    i -= 3;
    text.insert(i, 1, ',');
  }
  return text;
}

std::string format_d(double d_vectors) {
  if (!std::isfinite(d_vectors)) return std::string(kNotFinite);
  // 6.03125 is a tie in binary too; fmt would round it to even, 6.0312.
  const double rounded = std::round(d_vectors * 1e4) / 1e4;
  std::string text = decimal_text(rounded, kMaxDecimals, Sign::minus_only);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + " d";
}

double round12(double value) {
  if (!std::isfinite(value)) return value;
  const std::string text = fmt::format("{:.{}e}", value, kExactDigits - 1);
  return decimal_value(text).value_or(value);
}

bool is_exact_integer(double value) {
  constexpr double kLargest = 9007199254740992;  // 2^53
  return std::abs(value) <= kLargest && std::trunc(value) == value;
}

std::string number_text(double value) {
  if (!std::isfinite(value)) return "";
  if (is_exact_integer(value)) return fmt::format("{}", static_cast<Count>(value));
  return fmt::format("{:.{}g}", value, kExactDigits);
}

}  // namespace depthcost
