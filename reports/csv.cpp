// Ledger, memory and step, number by number.
#include "reports/csv.hpp"

#include <fmt/format.h>

#include "reports/format.hpp"
#include "reports/quantities.hpp"

namespace depthcost {
namespace {

constexpr std::string_view kHeader =
    "section,workload,scheme,schedule,convention,operation,layer,quantity,value,unit\n";

/// One line; what does not apply stays empty.
struct Line {
  std::string_view section;
  std::string_view workload;
  std::string_view scheme;
  std::string_view schedule;
  std::string_view convention;
  std::string_view operation;
  std::string layer;
};

void append(std::string& text, const Line& line, std::string_view quantity, std::string_view value,
            std::string_view unit) {
  for (const std::string_view cell :
       {line.section, line.workload, line.scheme, line.schedule, line.convention, line.operation,
        std::string_view(line.layer), quantity, value})
    text += csv_cell(cell) + ",";
  text += csv_cell(unit) + "\n";
}

template <std::size_t N>
void append(std::string& text, const Line& line, const std::array<NamedQuantity, N>& quantities) {
  for (const NamedQuantity& quantity : quantities)
    append(text, line, quantity.key, quantity.value ? number_text(*quantity.value) : "",
           quantity.unit);
}

void append_ledger(std::string& text, std::span<const LedgerRow> rows) {
  for (const LedgerRow& row : rows) {
    const auto layer = layer_of(row);
    append(text,
           Line{.section = "ledger",
                .scheme = name(row.path->scheme),
                .schedule = name(row.counting.schedule),
                .convention = name(row.counting.convention),
                .operation = operation_name(row),
                .layer = layer ? fmt::format("{}", *layer) : ""},
           quantities_of(row));
  }
}

}  // namespace

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string cell = "\"";
  for (const char c : text) cell += c == '"' ? "\"\"" : std::string(1, c);
  return cell + "\"";
}

std::string to_csv(const Evaluation& evaluation, std::span<const LedgerRow> layers) {
  std::string text(kHeader);
  append_ledger(text, evaluation.ledger);
  append_ledger(text, layers);
  for (const MemoryRow& row : evaluation.memory)
    append(text,
           Line{.section = "memory", .workload = row.workload, .scheme = name(row.path->scheme)},
           name(row.item), number_text(row.bytes.value), "bytes");
  for (const StepRow& row : evaluation.step) {
    const Line line{.section = "step",
                    .workload = row.workload,
                    .scheme = name(row.path->scheme),
                    .schedule = name(row.schedule)};
    append(text, line, quantities_of(row));
    append(text, line, residual_of(row));
    append(text, line, "dominant", name(row.dominant), "");
    append(text, line, "evidence", name(row.delta.evidence), "");
  }
  return text;
}

}  // namespace depthcost
