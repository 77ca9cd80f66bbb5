// A table is known by its rule: runs of dashes, two blanks apart, are its columns.
#include "reports/formats/terminal_text.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "reports/formats/utf8.hpp"

namespace depthcost {
namespace {

// https://www.ecma-international.org/publications-and-standards/standards/ecma-48/ 8.3.117: SGR.
constexpr std::string_view kBold = "1";
constexpr std::string_view kDim = "2";
constexpr std::string_view kBoldRed = "1;31";
constexpr std::string_view kRed = "31";
constexpr std::string_view kGreen = "32";
constexpr std::string_view kYellow = "33";

std::string coloured(std::string_view text, std::string_view code) {
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

/// The code of a cell that is a verdict; empty for others.
std::string_view verdict_colour(std::string_view cell) {
  for (const std::string_view bad : {"too much", "does not fit"})
    if (cell == bad) return kRed;
  if (cell == "may not fit") return kYellow;
  const std::string_view word = cell.substr(0, cell.find(' '));
  for (const std::string_view good : {"pass", "OK", "holds", "recommended"})
    if (word == good) return kGreen;
  for (const std::string_view bad : {"fail", "breaks", "impossible"})
    if (word == bad) return kRed;
  for (const std::string_view unsure : {"unknown", "likely", "ambiguous"})
    if (word == unsure) return kYellow;
  return {};
}

/// The bytes of the character that begins at `byte`.
std::string_view character_at(std::string_view line, std::size_t byte) {
  std::size_t end = byte + 1;
  while (end < line.size() && !begins_character(line[end])) ++end;
  return line.substr(byte, end - byte);
}

bool is_ascii(std::string_view line) {
  return std::none_of(line.begin(), line.end(),
                      [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
}

/// Columns [first, first + count) of a line; fewer where it ends.
std::string_view slice(std::string_view line, std::size_t first, std::size_t count) {
  // Nearly all lines of long tables: the columns are the bytes.
  if (is_ascii(line)) return line.substr(std::min(first, line.size()), count);
  const auto byte_of = [&](std::size_t column) {
    std::size_t byte = 0;
    for (std::size_t seen = 0; byte < line.size();) {
      const std::string_view character = character_at(line, byte);
      seen += num_columns(character);
      if (seen > column) break;
      byte += character.size();
    }
    return byte;
  };
  const std::size_t begin = byte_of(first);
  return line.substr(begin, byte_of(first + count) - begin);
}

struct ColumnPlaces {
  std::size_t first = 0;
  std::size_t count = 0;
};

/// The columns that a rule is below; none if the line is no rule.
std::vector<ColumnPlaces> columns_of(std::string_view line) {
  std::vector<ColumnPlaces> columns;
  std::size_t at = 0;
  while (at < line.size()) {
    const std::size_t end = std::min(line.find_first_not_of('-', at), line.size());
    if (end == at) return {};
    columns.push_back({at, end - at});
    if (end == line.size()) return columns;
    if (!line.substr(end).starts_with("  -")) return {};
    at = end + 2;
  }
  return columns;
}

/// Whether the line is a row of the table: blanks between its columns, and nothing behind the last.
bool is_row(std::string_view line, std::span<const ColumnPlaces> columns) {
  if (line.empty()) return false;
  for (std::size_t i = 0; i + 1 < columns.size(); ++i)
    if (slice(line, columns[i].first + columns[i].count, 2).find_first_not_of(' ') !=
        std::string_view::npos)
      return false;
  return num_columns(line) <= columns.back().first + columns.back().count;
}

struct TextTable {
  std::vector<ColumnPlaces> columns;
  std::vector<std::string_view> lines;  // header, rule, rows
};

std::string_view cell(std::string_view line, ColumnPlaces column) {
  return slice(line, column.first, column.count);
}

/// How many of the first columns tell all rows apart.
std::size_t num_key_columns(const TextTable& table) {
  const auto rows = std::span(table.lines).subspan(2);
  for (std::size_t n = 1; n < table.columns.size(); ++n) {
    const std::size_t end = table.columns[n].first;
    std::set<std::string_view> keys;
    for (const std::string_view row : rows) keys.insert(slice(row, 0, end));
    if (keys.size() == rows.size()) return n;
  }
  return 1;
}

/// Columns that stand side by side: as many as fit behind the key, at least one.
std::vector<std::vector<ColumnPlaces>> parts_of(const TextTable& table, std::size_t width) {
  const auto& columns = table.columns;
  const auto end_of = [&](std::size_t i) { return columns[i].first + columns[i].count; };
  if (end_of(columns.size() - 1) <= width || columns.size() == 1) return {columns};
  std::size_t num_keys = num_key_columns(table);
  if (columns[num_keys].first > width / 2) num_keys = 1;
  std::vector<std::vector<ColumnPlaces>> parts;
  for (std::size_t i = num_keys; i < columns.size();) {
    auto& part = parts.emplace_back(columns.begin(), columns.begin() + static_cast<long>(num_keys));
    const std::size_t skipped = columns[i].first - columns[num_keys].first;
    do part.push_back(columns[i++]);
    while (i < columns.size() && end_of(i) - skipped <= width);
  }
  return parts;
}

enum class LineKind { header, rule, row };

std::string painted(std::string_view text, LineKind line, Colours colours) {
  if (colours == Colours::none) return std::string(text);
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return std::string(text);
  const std::size_t end = text.find_last_not_of(' ') + 1;
  const std::string_view word = text.substr(begin, end - begin);
  const std::string_view code = line == LineKind::header ? kBold
                                : line == LineKind::rule ? kDim
                                                         : verdict_colour(word);
  if (code.empty()) return std::string(text);
  return std::string(text.substr(0, begin)) + coloured(word, code) + std::string(text.substr(end));
}

std::string table_text(const TextTable& table, const TerminalStyle& style) {
  std::string text;
  for (const std::vector<ColumnPlaces>& part : parts_of(table, style.width)) {
    if (!text.empty()) text += "\n";
    for (std::size_t i = 0; i < table.lines.size(); ++i) {
      const LineKind kind = i == 0 ? LineKind::header : i == 1 ? LineKind::rule : LineKind::row;
      std::string line;
      for (const ColumnPlaces& column : part) {
        const std::string_view content = cell(table.lines[i], column);
        line += painted(content, kind, style.colours);
        line.append(column.count - num_columns(content) + 2, ' ');
      }
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + "\n";
    }
  }
  return text;
}

/// Broken before words that would reach beyond the width; what follows is indented like the line.
std::string prose(std::string_view line, const TerminalStyle& style) {
  if (num_columns(line) <= style.width) return std::string(line) + "\n";
  const std::string indent(std::min(line.find_first_not_of(' '), style.width / 2), ' ');
  std::string text;
  std::string current;
  for (std::size_t at = indent.size(); at < line.size();) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    const std::string_view word = line.substr(at, end - at);
    at = std::min(end + 1, line.size());
    if (!current.empty() && num_columns(current) + 1 + num_columns(word) > style.width) {
      text += current + "\n";
      current.clear();
    }
    current += (current.empty() ? indent : " ") + std::string(word);
  }
  return text + current + "\n";
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

std::string for_terminal(std::string_view text, const TerminalStyle& style) {
  if (style.colours == Colours::none && style.width == TerminalStyle{}.width)
    return std::string(text);
  const std::vector<std::string_view> lines = lines_of(text);
  std::string shown;
  for (std::size_t i = 0; i < lines.size();) {
    TextTable table{i + 1 < lines.size() ? columns_of(lines[i + 1]) : std::vector<ColumnPlaces>{},
                    {}};
    if (table.columns.empty() || !is_row(lines[i], table.columns)) {
      shown += prose(lines[i++], style);
      continue;
    }
    do table.lines.push_back(lines[i++]);
    while (i < lines.size() && is_row(lines[i], table.columns));
    shown += table_text(table, style);
  }
  return shown;
}

std::string as_error(std::string_view text, const TerminalStyle& style) {
  return style.colours == Colours::none ? std::string(text) : coloured(text, kBoldRed);
}

}  // namespace depthcost
