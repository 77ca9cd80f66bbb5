// Reads in one pass, one row at a time.
#include "scenarios/text/csv_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace depthcost {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

bool is_blank(const CsvRow& row) { return row.size() == 1 && row.front().text.empty(); }

}  // namespace

CsvRows::CsvRows(std::string_view text, std::string file, std::size_t max_bytes)
    : text_(checked_text(text, file, max_bytes)), file_(std::move(file)) {}

std::optional<CsvRow> CsvRows::next() {
  for (skip_comments(); !at_end(); skip_comments()) {
    CsvRow row = read_row();
    if (!is_blank(row)) return row;
  }
  return std::nullopt;
}

/// A comment may hold anything, quotes too.
void CsvRows::skip_comments() {
  while (!at_end() && here() == '#') {
    at_ = std::min(text_.find('\n', at_), text_.size());
    if (!at_end()) end_line();
  }
}

CsvRow CsvRows::read_row() {
  CsvRow row;
  for (;;) {
    row.push_back(read_cell());
    if (row.size() > kMaxColumns)
      throw InputError(position_of(row.back()),
                       fmt::format("too many cells (more than {} in a line)", kMaxColumns));
    if (at_end() || here() == '\n') break;
    ++at_;
  }
  end_line();
  return row;
}

CsvCell CsvRows::read_cell() {
  skip_blanks();
  CsvCell cell = empty_cell();
  if (at_end() || here() != '"') {
    cell.text = plain_text();
    return cell;
  }
  cell.text = quoted_text(cell);
  skip_blanks();
  if (!at_end() && here() != ',' && here() != '\n')
    throw InputError(position_of(empty_cell()), "text after a quoted cell (need a comma)");
  return cell;
}

/// Doubled quotes are one; line breaks belong to the cell.
std::string CsvRows::quoted_text(const CsvCell& cell) {
  std::string text;
  for (++at_; !at_end(); ++at_) {
    if (here() == '"' && text_.substr(at_ + 1, 1) != "\"") {
      ++at_;
      return text;
    }
    if (here() == '"') ++at_;
    text += here();
    if (here() == '\n') {
      ++line_;
      line_start_ = at_ + 1;
    }
  }
  throw InputError(position_of(cell), "malformed cell (no closing quote)");
}

std::string CsvRows::plain_text() {
  const std::size_t start = at_;
  while (!at_end() && here() != ',' && here() != '\n') ++at_;
  std::size_t end = at_;
  while (end > start && is_blank(text_[end - 1])) --end;
  return std::string(text_.substr(start, end - start));
}

void CsvRows::skip_blanks() {
  while (!at_end() && is_blank(here())) ++at_;
}

void CsvRows::end_line() {
  ++at_;
  ++line_;
  line_start_ = at_;
}

CsvCell CsvRows::empty_cell() const {
  return {.text = {}, .line = line_, .column = static_cast<int>(at_ - line_start_) + 1};
}

}  // namespace depthcost
