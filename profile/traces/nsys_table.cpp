// The table of `nsys stats -r cuda_gpu_trace -f csv`. Lines that nsys prints before it are skipped.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "profile/traces/trace_builder.hpp"
#include "scenarios/text/csv_rows.hpp"

namespace depthcost {
namespace {

constexpr std::size_t kNowhere = kMaxColumns;

/// A column of times, and how many digits its unit is away from nanoseconds.
struct TimeColumn {
  std::size_t at = kNowhere;
  int digits = 0;
};

std::size_t place_of(const CsvRow& header, std::string_view name) {
  for (std::size_t i = 0; i < header.size(); ++i)
    if (header[i].text == name) return i;
  return kNowhere;
}

/// "Start (ns)", or with another unit, as `nsys stats --timeunit` writes it.
TimeColumn time_column(const CsvRow& header, std::string_view name) {
  constexpr std::array<std::pair<std::string_view, int>, 4> kTimeUnits{
      {{"ns", 0}, {"us", 3}, {"ms", 6}, {"s", 9}}};
  for (const auto& [unit, digits] : kTimeUnits) {
    const std::size_t at = place_of(header, fmt::format("{} ({})", name, unit));
    if (at != kNowhere) return {at, digits};
  }
  return {};
}

struct Columns {
  TimeColumn start;
  TimeColumn duration;
  std::size_t name = kNowhere;
  std::size_t device = kNowhere;
};

Columns columns_of(const CsvRow& header) {
  return {time_column(header, "Start"), time_column(header, "Duration"), place_of(header, "Name"),
          place_of(header, "Device")};
}

bool is_header(const Columns& columns) {
  return columns.start.at != kNowhere && columns.duration.at != kNowhere &&
         columns.name != kNowhere;
}

std::int64_t time_at(const CsvRow& row, const TimeColumn& column, const CsvRows& rows) {
  const CsvCell& cell = row[column.at];
  if (const auto time = nanoseconds(cell.text, column.digits); time && *time >= 0) return *time;
  throw InputError(
      rows.position_of(cell),
      fmt::format("invalid time '{}' (must be a number, not negative)", printable(cell.text)));
}

}  // namespace

KernelTrace read_trace_table(std::string_view text, const std::string& file) {
  CsvRows rows(text, file, kMaxTraceTableBytes);
  std::optional<CsvRow> header;
  Columns columns;
  do {
    header = rows.next();
    if (header) columns = columns_of(*header);
  } while (header && !is_header(columns));
  if (!header)
    throw InputError({file, 1, 1},
                     "no columns 'Start', 'Duration' and 'Name' (nsys stats -r cuda_gpu_trace -f "
                     "csv writes them)");
  TraceBuilder builder(file);
  while (const auto row = rows.next()) {
    if (row->size() != header->size())
      throw InputError(
          rows.position_of(row->front()),
          fmt::format("row of {} cells (the header has {})", row->size(), header->size()));
    const std::string& name = (*row)[columns.name].text;
    // "[CUDA memcpy Device-to-Device]" is no kernel.
    if (name.starts_with('[')) continue;
    TracedLaunch launch{.name = name, .device = {}, .start = {}, .duration = {}};
    if (columns.device != kNowhere) launch.device = (*row)[columns.device].text;
    launch.start = time_at(*row, columns.start, rows);
    if (!(*row)[columns.duration.at].text.empty())
      launch.duration = time_at(*row, columns.duration, rows);
    builder.add(launch);
  }
  return builder.take();
}

}  // namespace depthcost
