// A user's table of measured kernels. Any kernel that does one of our operations can be compared
// with its prediction.
#pragma once

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

/// CSV with a header in any order. Required: operation, tokens, hidden_size, microseconds, and
/// sources or queries where the operation depends on them. Optional, with what holds without them:
/// streams (4), dtype (bf16), launch (graph), temperature (cold), samples, and low and high in
/// microseconds (no noise). Other columns are ignored. Throws InputError.
MeasurementTable parse_measurements(std::string_view text, const std::string& file);

MeasurementTable load_measurements(const std::string& path);

}  // namespace depthcost
