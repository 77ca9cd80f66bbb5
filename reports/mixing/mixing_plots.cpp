// Heat maps of depth mixing matrices and of attention over depth (Fig. 8), and magnitudes (Fig.
// 5b).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/formats/gnuplot_script.hpp"
#include "reports/mixing/mixing_report.hpp"

namespace depthcost {
namespace {

using namespace plotting;

/// A number for each (row, column); rows run downwards.
struct HeatMap {
  std::string title;
  std::string rows;     // what a row is
  std::string columns;  // what a column is
  DataBlock cells;      // column, row, value
  double largest = 0;   // of all |value|
  bool has_negative = false;
  double first_row = 1;
  double last_row = 1;
  double last_column = 0;

  void add(double row, double column, double value) {
    cells.push_back({column, row, value});
    largest = std::max(largest, std::abs(value));
    has_negative = has_negative || value < 0;
    last_row = std::max(last_row, row);
    last_column = std::max(last_column, column);
  }
};

/// White is zero. Blue and vermilion differ for every reader.
std::string palette(const HeatMap& map) {
  const auto hex = [](Color color) {
    return fmt::format("'#{:06X}'", static_cast<unsigned>(color));
  };
  if (map.has_negative)
    return fmt::format("set palette defined (-1 {}, 0 {}, 1 {})\nset cbrange [{}:{}]\n",
                       hex(Color::vermilion), hex(Color::white), hex(Color::blue),
                       number_text(-map.largest), number_text(map.largest));
  return fmt::format("set palette defined (0 {}, 1 {})\nset cbrange [0:{}]\n", hex(Color::white),
                     hex(Color::blue), number_text(map.largest));
}

/// Cells of `step` rows and columns.
std::string heat_map_script(const HeatMap& map, double step) {
  std::string script =
      opening({.title = map.title, .y = map.rows, .x = map.columns, .legend = {}}, {.right = 0.86});
  script += palette(map);
  script += fmt::format("set xrange [-0.5:{}]\nset yrange [{}:{}]\n",
                        number_text(map.last_column + step - 0.5),
                        number_text(map.last_row + step - 0.5), number_text(map.first_row - 0.5));
  script += map.cells.text();
  return script + plot_command({fmt::format(
                      "{0} using 1:2:($1-0.5):($1+{1}):($2-0.5):($2+{1}):3 with boxxyerror "
                      "fillcolor palette fillstyle solid noborder",
                      map.cells.name(), number_text(step - 0.5))});
}

/// The mean of M over `step` x `step` entries, those above the diagonal left out.
double mean_of_cell(const MixingMatrix& M, Count l, Count i, Count step) {
  double sum = 0;
  Count count = 0;
  for (Count row = l; row < l + step && row <= M.num_layers(); ++row)
    for (Count column = i; column < i + step && column < row; ++column, ++count)
      sum += M(row, column);
  return count == 0 ? 0 : sum / as_double(count);
}

Plot matrix_plot(const MixedScheme& mixed) {
  // More cells are smaller than a pixel, and the file grows by 150 bytes with each. [ours]
  constexpr Count kMostCells = 64;
  const Count L = mixed.shape.num_layers;
  const Count step = (L + kMostCells - 1) / kMostCells;
  const std::string parameters = parameters_text(*mixed.scheme, mixed.shape);
  const std::string label =
      fmt::format("{}{}{}", mixed.scheme->name, parameters.empty() ? "" : ", ", parameters);
  const std::string averaged = step == 1 ? "" : fmt::format(", means of {0} x {0} entries", step);
  HeatMap map{.title = fmt::format("Depth mixing matrix of {}, semiseparable rank {}", label,
                                   mixed.rank.rank),
              .rows = "layer l" + averaged,
              .columns = "output i",
              .cells = DataBlock("cells")};
  for (Count l = 1; l <= L; l += step)
    for (Count i = 0; i < std::min(L, l + step - 1); i += step)
      map.add(as_double(l), as_double(i), mean_of_cell(mixed.matrix, l, i, step));
  return {fmt::format("mixing-{}.svg", mixed.scheme->name),
          fmt::format("Depth mixing matrix of {}{}", label, averaged),
          heat_map_script(map, as_double(step))};
}

/// Every second layer, as decoder layers 1, 2, ...
Plot attention_plot(const MixedScheme& mixed, const WeightRows& rows, Sublayer sublayer) {
  const bool is_attention = sublayer == Sublayer::attention;
  const std::string_view where = is_attention ? "pre-attention" : "pre-MLP";
  const bool has_blocks = !mixed.scheme->parameters.empty() &&
                          mixed.scheme->parameters.front() == MixingParameter::block_size;
  HeatMap map{.title = fmt::format("Attention over depth of {}, {}", mixed.scheme->name, where),
              .rows = "decoder layer",
              .columns = has_blocks ? "block, 0 the embedding" : "source, 0 the embedding",
              .cells = DataBlock("cells")};
  for (std::size_t l = is_attention ? 0 : 1; l < rows.size(); l += 2)
    for (std::size_t i = 0; i < rows[l].size(); ++i)
      map.add(static_cast<double>(l / 2 + 1), as_double(attention_source(mixed, l, i)), rows[l][i]);
  return {fmt::format("mixing-{}-pre_{}.svg", mixed.scheme->name, name(sublayer)),
          fmt::format("Weights of {} layers over sources{}", where,
                      mixed.origin.num_tokens > 0 ? ", mean over tokens" : ""),
          heat_map_script(map, 1)};
}

/// Fig. 5b: what is drawn, the standard residual of independent layers beside it. Without a norm a
/// line leaves the plot.
std::optional<LegendEntry> drawn_as(const MagnitudeSeries& series) {
  const bool is_standard = series.scheme == "standard";
  if (series.layers == "unnormalised")
    return LegendEntry{Mark::line, Color::vermilion, "standard, layers without a norm"};
  if (series.layers == "prenorm_aligned" && is_standard)
    return LegendEntry{Mark::line, Color::dark_grey, "standard, outputs along the stream"};
  if (is_standard) return LegendEntry{Mark::dashes, Color::grey, "standard, independent outputs"};
  if (series.layers != "prenorm_aligned") return std::nullopt;
  if (series.scheme == "full_attnres") return LegendEntry{Mark::line, Color::green, "full_attnres"};
  if (series.quantity == "partial_sum")
    return LegendEntry{Mark::line, Color::orange, "block_attnres, partial sum"};
  return LegendEntry{Mark::line, Color::blue, "block_attnres"};
}

Plot magnitude_plot(const MixingReport& report) {
  std::string blocks;
  std::vector<std::string> elements;
  double highest = 0;
  Titles titles{.title = "Hidden-state magnitude through depth, random PreNorm layers",
                .y = "root mean square of what a layer reads",
                .x = "layer",
                .legend = {}};
  for (const MagnitudeSeries& series : report.magnitudes) {
    const std::optional<LegendEntry> entry = drawn_as(series);
    if (!entry) continue;
    if (series.layers != "unnormalised") highest = std::max(highest, series.growth.largest);
    DataBlock block(fmt::format("series{}", elements.size()));
    for (std::size_t l = 0; l < series.magnitudes.size(); ++l)
      block.push_back({static_cast<double>(l + 1), series.magnitudes[l]});
    blocks += block.text();
    elements.push_back(fmt::format("{} with lines linewidth 2 dashtype {} linecolor {}",
                                   block.name(), entry->mark == Mark::dashes ? 2 : 1,
                                   rgb(entry->color)));
    titles.legend.push_back(*entry);
  }
  const std::string axes = fmt::format("set xrange [1:{}]\nset yrange [0:{}]\n", report.num_layers,
                                       number_text(1.1 * highest));
  return {"mixing-magnitude.svg",
          "Hidden-state magnitude through depth of random networks, by scheme",
          opening(titles, {}) + axes + blocks + plot_command(elements)};
}

}  // namespace

std::vector<Plot> mixing_plots(const MixingReport& report) {
  std::vector<Plot> plots;
  for (const MixedScheme& mixed : report.schemes) {
    plots.push_back(matrix_plot(mixed));
    const WeightRows* attention = attention_of_file(mixed);
    if (attention == nullptr) continue;
    plots.push_back(attention_plot(mixed, *attention, Sublayer::attention));
    if (attention->size() > 1) plots.push_back(attention_plot(mixed, *attention, Sublayer::mlp));
  }
  if (!report.magnitudes.empty()) plots.push_back(magnitude_plot(report));
  return plots;
}

}  // namespace depthcost
