// Ranks beside claims, patterns, matrices and magnitudes as rows of text.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "reports/formats/numbers.hpp"
#include "reports/mixing/mixing_report.hpp"

namespace depthcost {
namespace {

/// The shape of Fig. 9 where the matrix is too large to be written in symbols.
MixingShape shape_of_pattern(const MixedScheme& mixed) {
  constexpr Count kMostLayers = 8;
  constexpr Count kFigureLayers = 4;
  constexpr Count kFigureBlock = 2;
  if (mixed.shape.num_layers <= kMostLayers) return mixed.shape;
  MixingShape shape = mixed.shape;
  shape.num_layers = kFigureLayers;
  shape.blocks = partition_by_size(kFigureLayers, kFigureBlock);
  shape.window = std::min(shape.window, kFigureBlock);
  shape.dilation = std::min(shape.dilation, kFigureBlock);
  shape.period = std::min(shape.period, kFigureBlock);
  return shape;
}

template <class CellOf>
Table lower_triangle(Count num_layers, Align align, const CellOf& cell_of) {
  Table table{{right("layer")}};
  for (Count i = 0; i < num_layers; ++i) table.columns.push_back({fmt::format("v{}", i), align});
  for (Count l = 1; l <= num_layers; ++l) {
    std::vector<std::string> cells{std::to_string(l)};
    for (Count i = 0; i < num_layers; ++i) cells.push_back(i < l ? cell_of(l, i) : "");
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::string generic_text(const MixedScheme& mixed) {
  const auto generic = mixed.scheme->generic_rank(mixed.shape);
  return generic ? format_count(*generic) : "-";
}

std::string claim_words(const MixedScheme& mixed) {
  const auto claim = mixed.scheme->claim(mixed.shape);
  if (!claim) return "-";
  return claim->low == claim->high
             ? fmt::format("{}: {}", claim->words, claim->low)
             : fmt::format("{}: {} to {}", claim->words, claim->low, claim->high);
}

/// "holds (G3)".
std::string with_points(const MixedScheme& mixed) {
  const std::string_view points = mixed.scheme->points;
  return points.empty() ? verdict_text(mixed) : fmt::format("{} ({})", verdict_text(mixed), points);
}

std::string weights_text(const MixedScheme& mixed, Count seed) {
  std::string tables;
  for (const WeightTable& table : mixed.scheme->tables(mixed.shape))
    tables += fmt::format("{}{} ({})", tables.empty() ? "" : "; ", table.name, table.meaning);
  if (tables.empty()) return "none";
  const WeightsOrigin& origin = mixed.origin;
  if (origin.file.empty()) return fmt::format("random, seed {}: {}", seed, tables);
  const std::string mean =
      origin.num_tokens > 0 ? fmt::format(", mean over {} tokens", format_count(origin.num_tokens))
                            : "";
  return fmt::format("{}{}: {}", origin.file, mean, tables);
}

/// Triangular with a diagonal of M_{l-1->l}: L unless one of them is zero.
std::string ordinary_rank_text(const MixedScheme& mixed) {
  for (Count l = 1; l <= mixed.shape.num_layers; ++l)
    if (mixed.matrix(l, l - 1) == 0) return "";
  return fmt::format("; ordinary rank {}, as of every scheme (G1)",
                     format_count(mixed.shape.num_layers));
}

std::string law_text(const MagnitudeSeries& series) {
  const Growth& growth = series.growth;
  switch (growth.law) {
    case GrowthLaw::bounded:
      return fmt::format("bounded by {:.3g}", growth.largest);
    case GrowthLaw::square_root:
      return fmt::format("square root: r^2 gains {:.3g} a layer", growth.per_layer);
    case GrowthLaw::linear:
      return fmt::format("linear: gains {:.3g} a layer", growth.per_layer);
    case GrowthLaw::exponential:
      return fmt::format("exponential: {:.1f} % a layer", 100 * growth.per_layer);
  }
  return {};
}

std::string period_text(const MagnitudeSeries& series) {
  // [ours]: half of the variance is the pattern that comes back.
  constexpr double kPeriodic = 0.7;
  if (!series.recurrence) return "-";
  const bool is_periodic = *series.recurrence >= kPeriodic;
  return fmt::format("{} ({:.2f})", is_periodic ? std::to_string(series.period) : "none",
                     *series.recurrence);
}

}  // namespace

const WeightRows* attention_of_file(const MixedScheme& mixed) {
  const auto tables = mixed.scheme->tables(mixed.shape);
  const bool attends = !tables.empty() && tables.front().per_token;
  return attends && !mixed.origin.file.empty() ? &mixed.weights.rows("attention") : nullptr;
}

Count attention_source(const MixedScheme& mixed, std::size_t row, std::size_t position) {
  const auto source = static_cast<Count>(position);
  if (mixed.scheme->source_of == nullptr) return source;
  return mixed.scheme->source_of(mixed.shape, static_cast<Count>(row + 1), source);
}

std::string parameters_text(const MixingScheme& scheme, const MixingShape& shape) {
  std::string text;
  for (const MixingParameter parameter : scheme.parameters)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name(parameter),
                        value_of(shape, parameter));
  return text;
}

std::string verdict_text(const MixedScheme& mixed) {
  const auto claim = mixed.scheme->claim(mixed.shape);
  if (!claim) return "no claim";
  const bool is_inside = claim->low <= mixed.rank.rank && mixed.rank.rank <= claim->high;
  return std::string(is_inside ? claim->if_inside : "does not hold");
}

Table rank_table(const MixingReport& report) {
  Table table{{"scheme", "with", right("semiseparable rank"), right("generic"), "the paper's claim",
               "verdict"}};
  for (const MixedScheme& mixed : report.schemes)
    table.add(std::string(mixed.scheme->name), parameters_text(*mixed.scheme, mixed.shape),
              format_count(mixed.rank.rank), generic_text(mixed), claim_words(mixed),
              with_points(mixed));
  return table;
}

SymbolicPattern symbolic_pattern(const MixedScheme& mixed) {
  const MixingShape shape = shape_of_pattern(mixed);
  return {shape, lower_triangle(shape.num_layers, Align::left, [&](Count l, Count i) {
            return mixed.scheme->entry(shape, l, i);
          })};
}

Table matrix_table(const MixedScheme& mixed) {
  return lower_triangle(mixed.shape.num_layers, Align::right, [&](Count l, Count i) {
    return fmt::format("{:.3f}", mixed.matrix(l, i));
  });
}

Table magnitude_table(const MixingReport& report) {
  const Count L = report.num_layers;
  const std::array<Count, 5> depths{1, L / 4, L / 2, 3 * L / 4, L};
  Table table{{"scheme", "layers", "of"}};
  for (const Count depth : depths) table.columns.push_back(right(fmt::format("layer {}", depth)));
  table.columns.push_back("law");
  table.columns.push_back(right("period (correlation)"));
  for (const MagnitudeSeries& series : report.magnitudes) {
    std::vector<std::string> cells{series.scheme, series.layers, series.quantity};
    for (const Count depth : depths)
      cells.push_back(
          fmt::format("{:.3g}", series.magnitudes[static_cast<std::size_t>(depth - 1)]));
    cells.push_back(law_text(series));
    cells.push_back(period_text(series));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::vector<std::string> mixing_trace(const MixedScheme& mixed, Count seed) {
  const MixingScheme& scheme = *mixed.scheme;
  const Count L = mixed.shape.num_layers;
  std::vector<std::string> lines{
      fmt::format("equation  {}", scheme.equation), fmt::format("source    {}", scheme.source),
      fmt::format("function  {}", scheme.function),
      fmt::format("weights   {}", weights_text(mixed, seed)),
      fmt::format("rank      {} in rows {} to {} and columns 0 to {}{}", mixed.rank.rank,
                  mixed.rank.cut, L, mixed.rank.cut - 1, ordinary_rank_text(mixed))};
  if (scheme.claim(mixed.shape))
    lines.push_back(fmt::format("paper     {}: {}{}{}", claim_words(mixed), with_points(mixed),
                                scheme.remark.empty() ? "" : "; ", scheme.remark));
  else if (!scheme.remark.empty())
    lines.push_back(fmt::format("remark    {}", scheme.remark));
  return lines;
}

}  // namespace depthcost
