// Rows by the names of their columns.
#include "scenarios/measured/published_table.hpp"

#include <fmt/format.h>

#include "model/base/decimal.hpp"
#include "scenarios/text/csv_rows.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost {

std::vector<TableRow> table_rows(std::string_view text, const std::string& file) {
  CsvRows reader(text, file);
  const std::optional<CsvRow> columns = reader.next();
  std::vector<TableRow> rows;
  while (const auto cells = reader.next()) {
    if (cells->size() != columns->size())
      throw InputError(
          reader.position_of(cells->front()),
          fmt::format("row of {} cells (the header has {})", cells->size(), columns->size()));
    TableRow row;
    for (std::size_t i = 0; i < cells->size(); ++i)
      row.emplace((*columns)[i].text, (*cells)[i].text);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string configuration_of(const TableRow& row) {
  std::string text;
  for (const char* column : {"gpu", "operation", "tokens", "hidden_size"})
    text += row.find(column)->second + "/";
  return text;
}

std::vector<TableRow> fastest_of_each(const std::vector<TableRow>& rows) {
  std::map<std::string, std::size_t> places;
  std::vector<TableRow> fastest;
  for (const TableRow& row : rows) {
    const auto [place, is_new] = places.emplace(configuration_of(row), fastest.size());
    if (is_new)
      fastest.push_back(row);
    else if (number_in(row, "microseconds") < number_in(fastest[place->second], "microseconds"))
      fastest[place->second] = row;
  }
  return fastest;
}

double number_in(const TableRow& row, std::string_view column) {
  return decimal_value(row.find(column)->second).value_or(0);
}

Count count_in(const TableRow& row, std::string_view column) {
  return static_cast<Count>(number_in(row, column));
}

}  // namespace depthcost
