// Good scenarios, models and hardware maps, to which tests of mistakes add one.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "tests/scenarios/text/error_of.hpp"

namespace depthcost::test {

/// "1, 2, ..., count, ".
inline std::string numbers_up_to(int count) {
  std::string text;
  for (int i = 1; i <= count; ++i) text += std::to_string(i) + ", ";
  return text;
}

inline const std::string kStart = "schema: depthcost/1\n";

/// A scenario of a model with Block AttnRes; `rest` starts at line 3.
inline std::string kimi(const std::string& rest) { return kStart + "model: kimi_k3\n" + rest; }

/// An inline model at line 2, column 8.
inline std::string model(const std::string& keys,
                         const std::string& rest = "residual: {scheme: standard}\n") {
  return kStart + "model: {" + keys + "}\n" + rest;
}

/// An otherwise good hardware map; `keys` starts at line 3, column 51.
inline std::string hardware(const std::string& keys) {
  return kimi("hardware: {kind: gpu, memory_bandwidth: 4.8 TB/s, " + keys + "}\n");
}

struct BadInputCase {
  std::string name;
  std::string text;
  std::string expected;
};

inline std::ostream& operator<<(std::ostream& out, const BadInputCase& row) {
  return out << row.name;
}

class BadInput : public testing::TestWithParam<BadInputCase> {};

}  // namespace depthcost::test
