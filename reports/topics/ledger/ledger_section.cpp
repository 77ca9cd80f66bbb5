// Rows of the ledger: mean, output aggregation, single layers and operations.
#include "reports/topics/ledger/ledger_section.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "model/ledger/path_operations.hpp"
#include "model/schemes/list.hpp"
#include "reports/formats/numbers.hpp"

namespace depthcost {
namespace ledger_section {
namespace {

using explained::letters;
using explained::operands;

/// What the row is of: "total", "output_aggregation", or the name of an operation.
std::string_view operation_name(const LedgerRow& row) {
  switch (row.kind) {
    case LedgerRowKind::mean:
    case LedgerRowKind::layer:
      return "total";
    case LedgerRowKind::output_aggregation:
      return "output_aggregation";
    case LedgerRowKind::operation:
      return name(row.operation);
  }
  return "";
}

/// Nothing where the row is not about a single layer.
std::optional<Count> layer_of(const LedgerRow& row) {
  if (row.layer == 0) return std::nullopt;
  return row.layer;
}

/// Per token.
std::array<NamedQuantity, 5> quantities_of(const LedgerRow& row) {
  return {{{"reads_d", row.traffic.reads_d, "d"},
           {"writes_d", row.traffic.writes_d, "d"},
           {"reads_scalars", row.traffic.reads_scalars, "scalars"},
           {"writes_scalars", row.traffic.writes_scalars, "scalars"},
           {"bytes", row.bytes.value, "bytes"}}};
}

void append_ledger(JsonWriter& json, std::span<const LedgerRow> ledger) {
  for (const LedgerRow& row : ledger)
    json.object([&] {
      json.member("scheme", name(row.path->scheme));
      json.member("schedule", name(row.counting.schedule));
      json.member("convention", name(row.counting.convention));
      json.member("operation", operation_name(row));
      json.member("layer", layer_of(row));
      append(json, quantities_of(row));
      json.member("outside_domain", !inside_domain(*row.path, row.counting));
    });
}

void append_ledger(CsvLines& csv, std::span<const LedgerRow> rows) {
  for (const LedgerRow& row : rows) {
    const auto layer = layer_of(row);
    csv.add(CsvPlace{.section = "ledger",
                     .scheme = name(row.path->scheme),
                     .schedule = name(row.counting.schedule),
                     .convention = name(row.counting.convention),
                     .operation = operation_name(row),
                     .layer = layer ? fmt::format("{}", *layer) : ""},
            quantities_of(row));
  }
}

std::string convention_text(const LedgerRow& row) {
  return fmt::format("{}{}", name(row.counting.convention),
                     inside_domain(*row.path, row.counting) ? "" : "*");
}

/// The output aggregation that belongs to a mean, or nothing.
const LedgerRow* output_row(const Evaluation& evaluation, const LedgerRow& mean) {
  const auto found =
      std::find_if(evaluation.ledger.begin(), evaluation.ledger.end(), [&](const LedgerRow& row) {
        return row.kind == LedgerRowKind::output_aggregation && row.path == mean.path &&
               row.counting == mean.counting;
      });
  return found == evaluation.ledger.end() ? nullptr : &*found;
}

std::vector<std::string> ledger_cells(const LedgerRow& mean, const LedgerRow* output,
                                      const VectorStorage& types) {
  const Bytes forward = bytes(forward_traffic(*mean.path, mean.counting), types);
  return {std::string(name(mean.path->scheme)),
          std::string(name(mean.counting.schedule)),
          convention_text(mean),
          format_d(mean.traffic.reads_d),
          format_d(mean.traffic.writes_d),
          format_d(total_d(mean.traffic)),
          output ? format_d(total_d(output->traffic)) : std::string(kNothing),
          format_bytes(forward)};
}

/// "8 blocks of 24 layers, the last of 18"; what a remainder rule made of a number of blocks.
std::string partition_text(const Partition& p) {
  return fmt::format("{} blocks of {} layers{}", p.num_blocks, p.block_size,
                     p.is_uniform() ? "" : fmt::format(", the last of {}", p.last_size));
}

/// Scalars that Table 1 counts beside its d-vectors.
std::string scalars_text(const Evaluation& e) {
  std::string text;
  for (const LedgerRow& row : e.ledger)
    if (row.kind == LedgerRowKind::mean && row.counting.convention == Convention::paper &&
        total_scalars(row.traffic) > 0)
      text +=
          fmt::format("Table 1 charges `{}` for {} scalars beside its {}. ", name(row.path->scheme),
                      total_scalars(row.traffic), format_d(total_d(row.traffic)));
  return text;
}

std::string moved_text(const Traffic& moved) {
  return fmt::format("{:g} r + {:g} w = {:g} d-vectors, {:g} scalars", moved.reads_d,
                     moved.writes_d, total_d(moved), total_scalars(moved));
}

/// d-vectors of each block, as far as a line can hold them.
std::string block_sums(const LedgerRow& row, const Partition& partition) {
  constexpr std::size_t kMostBlocks = 16;
  std::vector<std::string> sums;
  Count layer = 1;
  for (Count block = 1; block <= partition.num_blocks && sums.size() < kMostBlocks; ++block) {
    Traffic sum;
    for (Count i = 0; i < partition.size(block); ++i)
      sum += layer_traffic(*row.path, row.counting, layer++);
    sums.push_back(fmt::format("{:g}", total_d(sum)));
  }
  const bool all = static_cast<Count>(sums.size()) == partition.num_blocks;
  return fmt::format("d-vectors by block of {} layers: {}{}", partition.block_size,
                     fmt::join(sums, " + "), all ? "" : " + ...");
}

/// What the formula does not say because it is written for the usual case.
std::vector<std::string> special_cases(const LedgerRow& row) {
  std::vector<std::string> lines;
  const bool is_kernel = row.counting.convention == Convention::kernel;
  const ResidualPath standalone{row.path->scheme, row.path->num_layers};
  const double dropped = total_d(forward_traffic(standalone, row.counting)) -
                         total_d(forward_traffic(*row.path, row.counting));
  if (dropped > 0)
    lines.push_back(fmt::format("attached to {}: f is on chip there, {:g} r drop out in all",
                                name(row.path->attachment), dropped));
  const Partition* blocks = attnres_blocks(row.path->scheme);
  const bool closes_blocks = is_kernel || row.counting.convention == Convention::physical;
  if (blocks != nullptr && closes_blocks && blocks->block_size == 1)
    lines.push_back("blocks of one layer: f is the block, so closing it is 1 r and no write");
  if (!inside_domain(*row.path, row.counting))
    lines.push_back("outside its domain: blocks differ in size, Table 1 assumes S = L/N");
  return lines;
}

std::string ledger_metric(const LedgerRow& row) {
  return explained::metric({"ledger", name(row.path->scheme), name(row.counting.schedule),
                            name(row.counting.convention)});
}

Explanation explain_mean(const LedgerRow& row, const VectorStorage& types) {
  const LedgerFormula formula = ledger_formula(row.path->scheme, row.counting);
  Explanation x{.metric = ledger_metric(row),
                .formula = formula.formula,
                .source = formula.source,
                .function = formula.function};
  x.numbers.push_back(letters(*row.path));
  const Partition* partition = blocks_of(row.path->scheme);
  if (partition != nullptr && row.counting.convention != Convention::paper)
    x.numbers.push_back(block_sums(row, *partition));
  x.numbers.push_back("all layers: " + moved_text(total_traffic(*row.path, row.counting)));
  x.numbers.push_back(fmt::format("mean over {} layers: {:.6g} d = {:.6g} bytes a token and layer",
                                  row.path->num_layers, total_d(row.traffic), row.bytes.value));
  if (row.traffic.phase1_d > 0 && types.phase1_dtype != types.dtype)
    x.numbers.push_back(fmt::format("of these, {:.6g} d are Phase 1 outputs in {}",
                                    row.traffic.phase1_d, name(types.phase1_dtype)));
  for (std::string& line : special_cases(row)) x.numbers.push_back(std::move(line));
  return x;
}

Explanation explain_output(const LedgerRow& row) {
  Explanation x{.metric = ledger_metric(row) + ".output_aggregation",
                .formula =
                    "all N + 1 sources (Full: L + 1) read once more, 1 w; what closes the last "
                    "block is counted as in a layer",
                .source = "[ours] REFERENCES.md, conventions",
                .numbers = {letters(*row.path), "behind the last layer: " + moved_text(row.traffic),
                            fmt::format("= {:.12g} bytes a token", row.bytes.value)},
                .function = "model/ledger/ledger.cpp: output_traffic"};
  for (std::string& line : special_cases(row)) x.numbers.push_back(std::move(line));
  return x;
}

/// One layer of `mean`; nothing if there is no such layer.
std::optional<Explanation> layer_explanation(const LedgerRow& mean, Count layer,
                                             const VectorStorage& types) {
  if (layer < 1 || layer > mean.path->num_layers) return std::nullopt;
  Explanation x = explain_mean(mean, types);
  x.metric += fmt::format(".layer_{}", layer);
  x.numbers = {letters(*mean.path)};
  if (const Partition* blocks = blocks_of(mean.path->scheme)) {
    const LayerPosition at = position_of_layer(*blocks, layer);
    x.numbers.push_back(fmt::format("l = {}: block n = {}, i = {}", layer, at.block, at.index));
  }
  if (mean.counting.convention == Convention::kernel)
    for (const PlacedOperation& placed : all_operations(*mean.path, mean.counting.schedule))
      if (placed.layer == layer)
        x.numbers.push_back(
            fmt::format("{}: {}", name(placed.operation.id), operands(placed.operation)));
  const Traffic moved = layer_traffic(*mean.path, mean.counting, layer);
  x.numbers.push_back("= " + moved_text(moved));
  x.numbers.push_back(fmt::format("= {:.12g} bytes a token", bytes(moved, types).value));
  for (std::string& line : special_cases(mean)) x.numbers.push_back(std::move(line));
  return x;
}

}  // namespace

void write_json(JsonWriter& json, const Answer& answer) {
  json.array("ledger", [&] {
    append_ledger(json, answer.evaluation.ledger);
    append_ledger(json, answer.layers);
  });
}

void write_csv(CsvLines& csv, const Answer& answer) {
  append_ledger(csv, answer.evaluation.ledger);
  append_ledger(csv, answer.layers);
}

void explain(const Evaluation& e, Explanations& out) {
  const VectorStorage types = storage_of(e.study);
  for (const LedgerRow& row : e.ledger)
    out.push_back(row.kind == LedgerRowKind::mean ? explain_mean(row, types) : explain_output(row));
}

/// "ledger.block_attnres.two_phase.kernel.layer_37".
std::optional<Explanation> explain_layer(const Evaluation& evaluation, std::string_view metric) {
  constexpr std::string_view kLayer = ".layer_";
  const auto at = metric.rfind(kLayer);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view digits = metric.substr(at + kLayer.size());
  Count number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  for (const LedgerRow& row : evaluation.ledger)
    if (row.kind == LedgerRowKind::mean && ledger_metric(row) == metric.substr(0, at))
      return layer_explanation(row, number, storage_of(evaluation.study));
  return std::nullopt;
}

void write_markdown(Document& out) {
  const Evaluation& e = out.evaluation();
  out.heading("Ledger: what is moved");
  out.paragraph(
      "d-vectors per token and layer (reads and writes of d elements), as the mean over layers; "
      "the output aggregation behind the last layer stands beside it. Convention `paper` is Table "
      "1 as printed, `kernel` what the operations of this project move; the others are defined in "
      "model/REFERENCES.md. A `*` marks Table 1 outside its domain: it assumes blocks of equal "
      "size.");
  out.table(ledger_table(e));
  out.optional_paragraph(scalars_text(e));
  if (const Partition* blocks = attnres_blocks(e.study.path.scheme))
    out.paragraph(fmt::format("`block_attnres` has {}.", partition_text(*blocks)));
  if (e.aggregation.source_rows > 0) {
    out.paragraph(fmt::format(
        "`{}` attends {} times over {} sources in all, at most {} at once; the output aggregation "
        "alone over {}.",
        name(e.study.path.scheme), e.aggregation.sublayer_calls + 1,
        format_count(e.aggregation.source_rows), e.aggregation.max_sources,
        e.aggregation.output_sources));
  }
  out.plot("bytes.svg");
  out.plot("sources.svg");
}

void write_table(std::string& text, const Answer& answer) {
  const Evaluation& evaluation = answer.evaluation;
  append_table(
      text, "Ledger: d-vectors per token, mean over the layers; bytes per token of a forward pass",
      ledger_table(evaluation));
  const bool outside =
      std::any_of(evaluation.ledger.begin(), evaluation.ledger.end(),
                  [](const LedgerRow& row) { return !inside_domain(*row.path, row.counting); });
  if (outside) text += "* outside its domain: the formula takes blocks of equal size\n";
  if (!answer.layers.empty()) append_table(text, "Layers: per token", layer_table(answer.layers));
}

}  // namespace ledger_section

using namespace ledger_section;

Table ledger_table(const Evaluation& evaluation) {
  Table table{{"scheme", "schedule", "convention", right("reads"), right("writes"), right("layer"),
               right("output"), right("forward")}};
  for (const LedgerRow& row : evaluation.ledger)
    if (row.kind == LedgerRowKind::mean)
      table.rows.push_back(
          ledger_cells(row, output_row(evaluation, row), storage_of(evaluation.study)));
  return table;
}

Table layer_table(std::span<const LedgerRow> layers) {
  Table table{{"scheme", "schedule", "convention", right("layer"), "operation", right("reads"),
               right("writes"), right("bytes")}};
  for (const LedgerRow& row : layers)
    table.add(name(row.path->scheme), schedule_label(row.path->scheme, row.counting.schedule),
              convention_text(row), row.layer > 0 ? format_count(row.layer) : "output",
              operation_name(row), format_d(row.traffic.reads_d), format_d(row.traffic.writes_d),
              format_bytes(row.bytes));
  return table;
}

}  // namespace depthcost
