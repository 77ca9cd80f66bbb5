// Loads a golden file; tests fail loudly if it is missing or empty.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace depthcost::test {

inline nlohmann::json load_golden(const std::string& name) {
  const std::string path = std::string(DEPTHCOST_GOLDEN_DIR) + "/" + name;
  std::ifstream file(path);
  if (!file) throw std::runtime_error("missing golden file " + path);
  return nlohmann::json::parse(file);
}

/// "55/16" or "22", as golden files write exact fractions.
struct Fraction {
  double numerator = 0;
  double denominator = 1;
};

inline Fraction fraction(const std::string& text) {
  const auto slash = text.find('/');
  if (slash == std::string::npos) return {std::stod(text), 1};
  return {std::stod(text.substr(0, slash)), std::stod(text.substr(slash + 1))};
}

}  // namespace depthcost::test
