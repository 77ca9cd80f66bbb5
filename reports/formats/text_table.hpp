// Rows of text as an aligned table for a terminal, or as a Markdown table.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace depthcost {

/// Whether a text is for a terminal or a plain file, or for a reader of Markdown.
enum class TextStyle { plain, markdown };

/// The text of an empty cell.
inline constexpr std::string_view kNothing = "-";

enum class Align { left, right };

/// A text alone is a column that is aligned to the left.
struct Column {
  // NOLINTBEGIN(google-explicit-constructor)
  Column(std::string text, Align side = Align::left) : header(std::move(text)), align(side) {}
  Column(const char* text, Align side = Align::left) : header(text), align(side) {}
  // NOLINTEND(google-explicit-constructor)

  std::string header;
  Align align;
};

/// A column of numbers.
inline Column right(std::string text) { return {std::move(text), Align::right}; }

/// Every row has one cell for each column.
struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;

  /// Appends a row; each cell is a text of any type.
  template <class... Cells>
  void add(const Cells&... cells) {
    rows.push_back({std::string(cells)...});
  }
};

/// `table` without the column under `header`, which is one of its columns.
Table without_column(Table table, std::string_view header);

/// Columns padded to their widest cell and two spaces apart, a rule below the header, no blanks at
/// the end of a line. Cells are UTF-8; a wide character takes two places.
std::string plain_text(const Table& table);

/// A GitHub pipe table. A `|` in a cell is escaped, a line break becomes a space.
std::string markdown(const Table& table);

}  // namespace depthcost
