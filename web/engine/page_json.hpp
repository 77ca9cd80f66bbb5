// How a scheme and an uncertain number are written for the page: the number, and its text.
#pragma once

#include "model/ledger/ledger.hpp"
#include "reports/formats/json_writer.hpp"
#include "reports/formats/numbers.hpp"
#include "reports/section/scheme_style.hpp"

namespace depthcost::page {

inline void write_path(JsonWriter& json, const ResidualPath& path, Schedule schedule) {
  json.member("scheme", name(path.scheme));
  json.member("schedule", name(schedule));
  json.member("label", plotting::label_of(path.scheme));
}

inline void write_seconds(JsonWriter& json, std::string_view key,
                          const Estimate<Seconds>& estimate) {
  json.object(key, [&] {
    json.member("low", estimate.low.value);
    json.member("value", estimate.value.value);
    json.member("high", estimate.high.value);
    json.member("text", format_seconds(estimate, Sign::always));
  });
}

inline void write_ratio(JsonWriter& json, std::string_view key, const Estimate<double>& estimate) {
  json.object(key, [&] {
    json.member("low", estimate.low);
    json.member("value", estimate.value);
    json.member("high", estimate.high);
    json.member("text", format_ratio(estimate, Sign::always));
  });
}

}  // namespace depthcost::page
