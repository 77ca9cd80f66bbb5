// A scenario that is refused, and the message.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "scenarios/read/scenario.hpp"
#include "scenarios/text/input_error.hpp"
#include "tests/scenarios/read/parsed.hpp"

namespace depthcost::test {

struct RefusedCase {
  std::string name;
  std::string text;
  std::string expected;  // the whole line
};

inline std::ostream& operator<<(std::ostream& out, const RefusedCase& row) {
  return out << row.name;
}

/// Reads the text as "it.yaml".
inline void expect_refused(const RefusedCase& row) {
  try {
    parse_scenario(row.text, "it.yaml");
    FAIL() << "is read";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()), row.expected);
  }
}

}  // namespace depthcost::test
