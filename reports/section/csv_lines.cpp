// Cells in the order of the columns.
#include "reports/section/csv_lines.hpp"

#include "reports/formats/csv_cell.hpp"
#include "reports/formats/numbers.hpp"

namespace depthcost {

void CsvLines::add(const CsvPlace& place, std::string_view quantity, std::string_view value,
                   std::string_view unit) {
  const std::string workload = place.workload ? name(*place.workload) : "";
  for (const std::string_view cell :
       {place.section, std::string_view(workload), place.scheme, place.schedule, place.convention,
        place.operation, std::string_view(place.layer), quantity, value})
    text_ += csv_cell(cell) + ",";
  text_ += csv_cell(unit) + "\n";
}

void CsvLines::add(const CsvPlace& place, const NamedQuantity& quantity) {
  add(place, quantity.key, quantity.value ? number_text(*quantity.value) : "", quantity.unit);
}

}  // namespace depthcost
