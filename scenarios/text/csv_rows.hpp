// Comma-separated values as spreadsheets write them: RFC 4180 with either line end, blanks around
// cells dropped, blank lines skipped, and lines that begin with #.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/text/input_text.hpp"

namespace depthcost {

/// Most cells of one line.
inline constexpr std::size_t kMaxColumns = 256;

struct CsvCell {
  std::string text;
  int line = 1;
  int column = 1;  // counts bytes
};

using CsvRow = std::vector<CsvCell>;

/// Reads row by row. The file's name only labels positions; the text must outlive the reader.
class CsvRows {
 public:
  CsvRows(std::string_view text, std::string file, std::size_t max_bytes = kMaxFileBytes);

  /// The next row that is not blank; nothing at the end. Throws InputError.
  std::optional<CsvRow> next();

  Position position_of(const CsvCell& cell) const { return {file_, cell.line, cell.column}; }

 private:
  bool at_end() const { return at_ >= text_.size(); }
  char here() const { return text_[at_]; }
  CsvRow read_row();
  CsvCell read_cell();
  std::string quoted_text(const CsvCell& cell);
  std::string plain_text();
  void skip_blanks();
  void skip_comments();
  void end_line();
  CsvCell empty_cell() const;

  std::string_view text_;
  std::string file_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::size_t line_start_ = 0;
};

}  // namespace depthcost
