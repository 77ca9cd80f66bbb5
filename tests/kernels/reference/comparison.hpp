// Compares vectors relative to the largest element of the row. NaN equals nothing.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernels/reference/row.hpp"

namespace depthcost::test {

using reference::Row;
using reference::Rows;

inline constexpr double kGoldenTolerance = 1e-9;
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Largest |actual - expected| over the largest |expected|; NaN and wrong sizes are infinite.
inline double relative_error(const Row& actual, const Row& expected) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (actual.size() != expected.size()) return kInfinite;
  double error = 0;
  double scale = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (std::isnan(actual[i])) return kInfinite;
    error = std::max(error, std::abs(actual[i] - expected[i]));
    scale = std::max(scale, std::abs(expected[i]));
  }
  return error == 0 ? 0 : error / scale;
}

inline void expect_close(const Row& actual, const nlohmann::json& expected,
                         const std::string& where, double tolerance = kGoldenTolerance) {
  EXPECT_LE(relative_error(actual, expected.get<Row>()), tolerance) << where;
}

inline void expect_close(const Rows& actual, const nlohmann::json& expected,
                         const std::string& where) {
  ASSERT_EQ(actual.size(), expected.size()) << where;
  for (std::size_t i = 0; i < actual.size(); ++i)
    expect_close(actual[i], expected[i], where + " row " + std::to_string(i));
}

/// Rows of `size` elements, cut from a buffer.
inline Rows cut(const Row& buffer, std::size_t size) {
  Rows rows;
  for (auto at = buffer.begin(); at != buffer.end(); at += static_cast<std::ptrdiff_t>(size))
    rows.emplace_back(at, at + static_cast<std::ptrdiff_t>(size));
  return rows;
}

/// Nested arrays of any depth as one buffer.
inline Row flat(const nlohmann::json& values) {
  if (!values.is_array()) return {values.get<double>()};
  Row all;
  for (const auto& value : values) {
    const Row part = flat(value);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace depthcost::test
