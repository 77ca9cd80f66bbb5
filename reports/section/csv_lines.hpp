// The answer as one flat table, one number a line.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/step/workload_id.hpp"
#include "reports/section/quantity.hpp"

namespace depthcost {

/// What a number is of; what does not apply stays empty.
struct CsvPlace {
  std::string_view section;
  std::optional<WorkloadId> workload;
  std::string_view scheme;
  std::string_view schedule;
  std::string_view convention;
  std::string_view operation;
  std::string layer;
};

/// Columns: section,workload,scheme,schedule,convention,operation,layer,quantity,value,unit. Quoted
/// as in RFC 4180; lines end with a line feed.
class CsvLines {
 public:
  void add(const CsvPlace& place, std::string_view quantity, std::string_view value,
           std::string_view unit = "");
  /// An empty value where it is not known.
  void add(const CsvPlace& place, const NamedQuantity& quantity);
  template <std::size_t N>
  void add(const CsvPlace& place, const std::array<NamedQuantity, N>& quantities) {
    for (const NamedQuantity& quantity : quantities) add(place, quantity);
  }

  std::string text() && { return std::move(text_); }

 private:
  std::string text_ =
      "section,workload,scheme,schedule,convention,operation,layer,quantity,value,unit\n";
};

}  // namespace depthcost
