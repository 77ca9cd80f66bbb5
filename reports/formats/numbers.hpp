// Numbers as reports print them. Units are written here alone; scenarios/text/quantity.cpp reads
// them. The locale does not matter, and every IEEE machine writes the same bytes.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/base/evidence.hpp"
#include "model/base/units.hpp"

namespace depthcost {

enum class UnitKind {
  bytes,
  seconds,
  bytes_per_second,
  flops,
  flops_per_second,
};

/// A value of v base units is written as v / scale.
struct UnitRow {
  UnitKind kind;
  std::string_view text;
  double scale;
};

/// Every unit that is written, by kind, scales rising.
std::span<const UnitRow> unit_rows();

/// Whether a positive number carries its sign, as differences do.
enum class Sign { minus_only, always };

/// "15.03 GB", four significant digits. Powers of ten alone: memory, traffic and files compare.
std::string format_bytes(Bytes bytes, Sign sign = Sign::minus_only);

/// "12.3 us", three significant digits.
std::string format_seconds(Seconds seconds, Sign sign = Sign::minus_only);

/// "48.1 us [1.9, 52.9]": the ends have the value's unit and decimals.
std::string format_seconds(const Estimate<Seconds>& seconds, Sign sign = Sign::minus_only);

/// "4.80 TB/s".
std::string format_bandwidth(BytesPerSecond bandwidth);

/// "1.50 GFLOP".
std::string format_flops(Flops flops);

/// "989 TFLOP/s".
std::string format_flop_rate(FlopsPerSecond rate);

/// 0.023 is "2.3 %": one decimal below 100 %, and more where that would leave less than two digits.
std::string format_ratio(double ratio, Sign sign = Sign::minus_only);

/// "2.3 % [0.1, 2.5]".
std::string format_ratio(const Estimate<double>& ratio, Sign sign = Sign::minus_only);

/// The same with as many decimals as tell the value from a limit: "1.97 % [1.34, 2.81]".
std::string format_ratio_beside(const Estimate<double>& ratio, double limit,
                                Sign sign = Sign::minus_only);
/// The value alone: "+1.97 %".
std::string format_value_beside(double ratio, double limit, Sign sign);

/// "15,032,385,536".
std::string format_count(Count count);

/// "1 sequence", "4,096 sequences".
std::string format_counted(Count count, std::string_view one, std::string_view several);

/// d-vectors, "8.25 d": at most four decimals, a half rounded up.
std::string format_d(double d_vectors);

/// Nearest number of 12 significant digits: what exp, log and pow return differs between libraries
/// only beyond them.
double round12(double value);

/// Is `value` an integer that a double holds exactly, beside its neighbours?
bool is_exact_integer(double value);

/// For machines to read: an exact integer in full, else the shortest text of round12(value); empty
/// if not finite.
std::string number_text(double value);

}  // namespace depthcost
