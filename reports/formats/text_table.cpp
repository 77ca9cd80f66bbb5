// Two renderings of one table.
#include "reports/formats/text_table.hpp"

#include <algorithm>
#include <cassert>

#include "reports/formats/utf8.hpp"

namespace depthcost {
namespace {

std::vector<std::size_t> column_widths(const Table& table) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    widths.push_back(num_columns(table.columns[i].header));
    for (const auto& row : table.rows) {
      assert(row.size() == table.columns.size());
      widths.back() = std::max(widths.back(), num_columns(row[i]));
    }
  }
  return widths;
}

std::vector<std::string> headers(const Table& table) {
  std::vector<std::string> cells;
  for (const Column& column : table.columns) cells.push_back(column.header);
  return cells;
}

std::string padded_line(const Table& table, const std::vector<std::string>& cells,
                        const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string padding(widths[i] - num_columns(cells[i]), ' ');
    if (i > 0) line += "  ";
    line += table.columns[i].align == Align::left ? cells[i] + padding : padding + cells[i];
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

/// Without HTML and links, which no cell of ours has but from somebody's file. Code between
/// backticks is shown as it is.
std::string markdown_cell(const std::string& text) {
  std::string cell;
  bool is_escaped = false;  // by a backslash before it
  bool is_code = false;
  for (const char c : text) {
    const bool opens = !is_code && (c == '<' || (c == '(' && cell.ends_with(']')));
    if (c == '|' || (opens && !is_escaped)) cell += '\\';
    cell += c == '\n' || c == '\r' ? ' ' : c;
    if (c == '`' && !is_escaped) is_code = !is_code;
    is_escaped = c == '\\' && !is_escaped;
  }
  return cell;
}

std::string markdown_line(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += " " + markdown_cell(cell) + " |";
  return line + "\n";
}

}  // namespace

Table without_column(Table table, std::string_view header) {
  const auto column =
      std::find_if(table.columns.begin(), table.columns.end(),
                   [&](const Column& candidate) { return candidate.header == header; });
  assert(column != table.columns.end());
  for (auto& row : table.rows) row.erase(row.begin() + (column - table.columns.begin()));
  table.columns.erase(column);
  return table;
}

std::string plain_text(const Table& table) {
  const auto widths = column_widths(table);
  std::vector<std::string> rule;
  for (const std::size_t columns : widths) rule.emplace_back(columns, '-');
  std::string text = padded_line(table, headers(table), widths) + padded_line(table, rule, widths);
  for (const auto& row : table.rows) text += padded_line(table, row, widths);
  return text;
}

std::string markdown(const Table& table) {
  std::string text = markdown_line(headers(table)) + "|";
  for (const Column& column : table.columns)
    text += column.align == Align::left ? " --- |" : " ---: |";
  text += "\n";
  for (const auto& row : table.rows) text += markdown_line(row);
  return text;
}

}  // namespace depthcost
