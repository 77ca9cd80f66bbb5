// A user's table of measured kernels. Any kernel that does one of our operations can be compared
// with its prediction.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine/comparison.hpp"

namespace depthcost {

/// One line of the table.
struct MeasuredCall {
  StandaloneCall call;
  Estimate<Seconds> time;
  Count samples = 0;  // 0: not known
  int line = 1;
};

struct MeasurementTable {
  std::string file;
  std::vector<MeasuredCall> rows;  // never empty
  std::vector<std::string> ignored_columns;
};

/// A column that a table may have.
struct MeasuredColumn {
  std::string_view name;
  std::string_view meaning;
  std::string_view otherwise;  // what holds without it; empty: every table needs it
  std::span<const std::string_view> choices{};  // the values that it takes, where they are few
};

/// In the order in which a new table has them.
std::span<const MeasuredColumn> measured_columns();

/// CSV with a header of measured_columns() in any order. Other columns are ignored. Throws
/// InputError.
MeasurementTable parse_measurements(std::string_view text, const std::string& file);

MeasurementTable load_measurements(const std::string& path);

}  // namespace depthcost
