// The JSON of a study, and checks of its rows.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "reports/documents/answer_documents.hpp"
#include "tests/parsed_json.hpp"
#include "tests/studies.hpp"

namespace depthcost::test {

using Json = nlohmann::ordered_json;
using Keys = std::vector<std::string>;

inline const std::vector<ResolvedValue> kValues{
    {"residual.block_size", "24", "scenario.yaml:7:15"},
    {"residual.num_streams", "4", "default: [mhc] Sec. 4.1"}};

inline Json json_of(const Study& study) {
  return parsed_in_order(to_json(evaluate(study), kValues, {"0.1.0", {}}));
}

inline Keys keys_of(const Json& object) {
  Keys keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

/// Expects `object` to have exactly `keys`, in this order, and then `added`.
inline void expect_keys(const Json& object, Keys keys, const Keys& added = {}) {
  keys.insert(keys.end(), added.begin(), added.end());
  EXPECT_EQ(keys_of(object), keys);
}

inline void expect_strings(const Json& row, const Keys& keys) {
  for (const std::string& key : keys) EXPECT_TRUE(row.at(key).is_string()) << key << " in " << row;
}

inline void expect_integers(const Json& row, const Keys& keys) {
  for (const std::string& key : keys)
    EXPECT_TRUE(row.at(key).is_number_integer()) << key << " in " << row;
}

inline void expect_numbers(const Json& row, const Keys& keys) {
  for (const std::string& key : keys) EXPECT_TRUE(row.at(key).is_number()) << key << " in " << row;
}

inline void expect_numbers_or_null(const Json& row, const Keys& keys) {
  for (const std::string& key : keys)
    EXPECT_TRUE(row.at(key).is_number() || row.at(key).is_null()) << key << " in " << row;
}

/// The rows of a section that have these values.
inline std::vector<Json> rows_with(const Json& section, const Json& values) {
  std::vector<Json> rows;
  for (const Json& row : section) {
    bool matches = true;
    for (const auto& [key, value] : values.items()) matches = matches && row.at(key) == value;
    if (matches) rows.push_back(row);
  }
  return rows;
}

inline Json only_row(const Json& section, const Json& values) {
  const auto rows = rows_with(section, values);
  EXPECT_EQ(rows.size(), 1U) << values;
  return rows.empty() ? Json() : rows.front();
}

}  // namespace depthcost::test
