// Reads the CSV tables of scenarios/published, whose columns are known.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/units.hpp"

namespace depthcost {

/// One row by the names of its columns.
using TableRow = std::map<std::string, std::string, std::less<>>;

/// The first line names the columns. Throws InputError for a row with more or fewer cells.
std::vector<TableRow> table_rows(std::string_view text, const std::string& file);

/// What a row of mhc.csv measures, whoever's kernel it is.
std::string configuration_of(const TableRow& row);

/// The fastest row of each configuration, in the order in which these first stand.
std::vector<TableRow> fastest_of_each(const std::vector<TableRow>& rows);

double number_in(const TableRow& row, std::string_view column);
Count count_in(const TableRow& row, std::string_view column);

}  // namespace depthcost
