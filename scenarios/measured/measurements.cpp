// Header, then line by line.
#include "scenarios/measured/measurements.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "scenarios/measured/calls.hpp"
#include "scenarios/text/csv_rows.hpp"
#include "scenarios/text/input_text.hpp"
#include "scenarios/text/quantity.hpp"
#include "scenarios/text/suggest.hpp"

namespace depthcost {
namespace {

constexpr std::array<MeasuredColumn, 13> kColumns{{
    {"operation", "a name that `depthcost compare --operations` lists", ""},
    {"tokens", "T, rows of the call", ""},
    {"hidden_size", "d, elements of a row", ""},
    {"microseconds", "median time of one call", ""},
    {"sources", "n; the list of operations says what it counts", "needed by some operations"},
    {"queries", "S, layers that one call of Phase 1 serves", "needed by attnres_phase1"},
    {"streams", "m of mHC and hyper-connections", "4"},
    {"dtype", "storage of the rows", "bf16", kNames<Dtype>},
    {"launch", "how kernels are launched", "graph", kNames<Launch>},
    {"temperature", "cold: caches were flushed; hot: calls followed one another", "cold",
     kNames<Temperature>},
    {"samples", "how many times the median is of", "not known"},
    {"low", "low end of the 90 % interval of microseconds", "no noise"},
    {"high", "its high end", "no noise"},
}};
constexpr std::size_t kRequired = 4;  // the first of them

std::vector<std::string_view> required_columns() {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < kRequired; ++i) names.push_back(kColumns[i].name);
  return names;
}
constexpr std::size_t kAbsent = kMaxColumns;

constexpr double kMicrosecond = 1e-6;

// A nanosecond to eleven days. A time outside was written in another unit.
constexpr double kLeastMicroseconds = 1e-3;
constexpr double kMostMicroseconds = 1e12;

std::size_t column_index(std::string_view name) {
  const auto found =
      std::find_if(kColumns.begin(), kColumns.end(),
                   [&](const MeasuredColumn& column) { return column.name == name; });
  return static_cast<std::size_t>(found - kColumns.begin());
}

/// The places of known columns, and the names of the others.
class Header {
 public:
  Header(const CsvRow& row, const CsvRows& rows) : size_(row.size()) {
    at_.fill(kAbsent);
    for (std::size_t i = 0; i < row.size(); ++i) add(row[i], i, rows);
    for (const CsvCell& cell : ignored_) refuse_misspelt(cell, rows);
    for (std::size_t i = 0; i < kRequired; ++i)
      if (at_[i] == kAbsent)
        throw InputError(rows.position_of(row.front()),
                         fmt::format("missing column '{}' (every table needs {})", kColumns[i].name,
                                     fmt::join(required_columns(), ", ")));
  }

  std::size_t size() const { return size_; }
  std::vector<std::string> ignored() const {
    std::vector<std::string> names;
    for (const CsvCell& cell : ignored_) names.push_back(printable(cell.text));
    return names;
  }

  /// The cell of a column that is there; else nullptr.
  const CsvCell* find(const CsvRow& row, std::string_view column) const {
    const std::size_t at = at_[column_index(column)];
    return at == kAbsent ? nullptr : &row[at];
  }

 private:
  void add(const CsvCell& cell, std::size_t at, const CsvRows& rows) {
    const std::size_t column = column_index(cell.text);
    if (column == kColumns.size()) {
      ignored_.push_back(cell);
      return;
    }
    if (at_[column] != kAbsent)
      throw InputError(rows.position_of(cell),
                       fmt::format("duplicate column '{}' (first is column {} of the table)",
                                   cell.text, at_[column] + 1));
    at_[column] = at;
  }

  /// A column of one's own is ignored. One that looks like a column that is absent is not.
  void refuse_misspelt(const CsvCell& cell, const CsvRows& rows) const {
    std::vector<std::string> absent;
    for (std::size_t i = 0; i < kColumns.size(); ++i)
      if (at_[i] == kAbsent) absent.emplace_back(kColumns[i].name);
    const std::string like = nearest(cell.text, absent);
    if (!like.empty())
      throw InputError(
          rows.position_of(cell),
          fmt::format("unknown column '{}'; did you mean '{}'?", printable(cell.text), like));
  }

  std::array<std::size_t, kColumns.size()> at_{};
  std::vector<CsvCell> ignored_;
  std::size_t size_ = 0;
};

/// Reads the cells of one line.
class Line {
 public:
  Line(const Header& header, const CsvRow& row, const CsvRows& rows)
      : header_(header), row_(row), rows_(rows) {}

  Position start() const { return rows_.position_of(row_.front()); }

  bool has(std::string_view column) const {
    const CsvCell* cell = header_.find(row_, column);
    return cell != nullptr && !cell->text.empty();
  }

  const CsvCell& at(std::string_view column) const {
    if (has(column)) return *header_.find(row_, column);
    throw InputError(position(column), fmt::format("missing {} (an empty cell)", column));
  }

  /// The position of the column's cell, or of the row if the table has no such column.
  Position position(std::string_view column) const {
    const CsvCell* cell = header_.find(row_, column);
    return cell != nullptr ? rows_.position_of(*cell) : start();
  }

  Count count(std::string_view column) const {
    return parse_count({at(column).text}, position(column), column);
  }

  Count count(std::string_view column, Count otherwise) const {
    return has(column) ? count(column) : otherwise;
  }

  Seconds time(std::string_view column) const {
    const std::string& text = at(column).text;
    const double us = parse_number({text}, position(column), column);
    if (us < kLeastMicroseconds || us > kMostMicroseconds)
      throw InputError(position(column),
                       fmt::format("invalid {} '{}' (must be {:g} to {:g} microseconds)", column,
                                   printable(text), kLeastMicroseconds, kMostMicroseconds));
    return {us * kMicrosecond};
  }

  template <class Enum>
  Enum choice(std::string_view column, Enum otherwise) const {
    if (!has(column)) return otherwise;
    if (const auto value = named<Enum>(at(column).text)) return *value;
    throw InputError(position(column),
                     fmt::format("invalid {} '{}' (must be {})", column, printable(at(column).text),
                                 fmt::join(kNames<Enum>, " | ")));
  }

 private:
  const Header& header_;
  const CsvRow& row_;
  const CsvRows& rows_;
};

StandaloneCall call_of(const Line& line) {
  StandaloneCall call{.operation = line.at("operation").text};
  const CatalogueEntry& entry = entry_of(call.operation, line.position("operation"));
  const bool has_sources = line.has("sources");
  const bool lacks_queries_only = has_sources || entry.sources.empty();
  require_counts(entry, {has_sources, line.has("queries")},
                 line.position(lacks_queries_only ? "queries" : "sources"));
  const auto refuse_unused = [&](const char* column, bool is_taken) {
    if (line.has(column) && !is_taken)
      throw InputError(line.position(column),
                       fmt::format("unused {} ({} has none)", column, entry.name));
  };
  refuse_unused("sources", !entry.sources.empty());
  refuse_unused("queries", entry.has_queries);
  call.counts = {.num_sources = line.count("sources", 1),
                 .num_queries = line.count("queries", 1),
                 .num_streams = line.count("streams", 4)};
  call.num_tokens = line.count("tokens");
  call.hidden_size = line.count("hidden_size");
  call.dtype = line.choice("dtype", Dtype::bf16);
  call.launch = line.choice("launch", Launch::graph);
  call.temperature = line.choice("temperature", Temperature::cold);
  return call;
}

Estimate<Seconds> time_of(const Line& line) {
  const Seconds median = line.time("microseconds");
  Estimate<Seconds> time{median, median, median, Evidence::measured};
  if (line.has("low")) time.low = line.time("low");
  if (line.has("high")) time.high = line.time("high");
  if (time.low > median)
    throw InputError(line.position("low"),
                     fmt::format("invalid low '{}' (above microseconds '{}')", line.at("low").text,
                                 line.at("microseconds").text));
  if (time.high < median)
    throw InputError(line.position("high"),
                     fmt::format("invalid high '{}' (below microseconds '{}')",
                                 line.at("high").text, line.at("microseconds").text));
  return time;
}

}  // namespace

std::span<const MeasuredColumn> measured_columns() { return kColumns; }

MeasurementTable parse_measurements(std::string_view text, const std::string& file) {
  CsvRows rows(text, file, kMaxMeasuredBytes);
  const auto first = rows.next();
  if (!first) throw InputError({file, 1, 1}, "empty table (needs a header and rows)");
  const Header header(*first, rows);
  MeasurementTable table{.file = file, .rows = {}, .ignored_columns = header.ignored()};
  while (const auto row = rows.next()) {
    const Line line(header, *row, rows);
    if (row->size() != header.size())
      throw InputError(line.start(), fmt::format("row of {} cells (the header has {})", row->size(),
                                                 header.size()));
    table.rows.push_back(
        {call_of(line), time_of(line), line.count("samples", 0), row->front().line});
  }
  if (table.rows.empty()) throw InputError({file, 1, 1}, "no rows (only a header)");
  return table;
}

MeasurementTable load_measurements(const std::string& path) {
  return parse_measurements(load_text(path, kMaxMeasuredBytes), path);
}

}  // namespace depthcost
