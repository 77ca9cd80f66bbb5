// Bytes by scheme and schedule, as bars.
#include <fmt/format.h>

#include <algorithm>

#include "reports/section/scheme_style.hpp"
#include "reports/topics/ledger/byte_bars.hpp"
#include "reports/topics/ledger/ledger_section.hpp"

namespace depthcost {
namespace {

using namespace plotting;

double megabytes(Bytes bytes) { return in_unit(bytes.value, UnitKind::bytes, "MB"); }

/// The study's own quoted bar keeps a tenth of the width; longer bars are cut.
double axis_end(const std::vector<ByteBar>& bars, const Evaluation& evaluation) {
  constexpr double kMostContrast = 10;
  Bytes own;
  for (const ByteBar& bar : bars)
    if (bar.path == &evaluation.paths.front() && bar.is_quoted) own = bar.moved;
  Bytes longest;
  for (const ByteBar& bar : bars)
    if (bar.moved <= kMostContrast * own) longest = std::max(longest, bar.moved);
  return 1.08 * megabytes(longest);
}

/// Bars of schedules that are not quoted are pale.
Color bar_color(const ByteBar& bar) {
  const Color color = color_of(bar.path->scheme);
  return bar.is_quoted ? color : pale(color);
}

/// White slash through a bar that goes on beyond the axis.
std::string cut_mark(double end, double slot) {
  return fmt::format("set arrow from {}, {} to {}, {} nohead front linewidth 5 linecolor {}\n",
                     number_text(0.965 * end), number_text(slot + 0.45), number_text(0.975 * end),
                     number_text(slot - 0.45), rgb(Color::white));
}

/// Data of all bars, their names on the axis, and their values behind them.
std::string bar_texts(const std::vector<ByteBar>& bars, double end) {
  constexpr double kTextWidth = 0.18;  // of the axis
  DataBlock drawn{"bars"};
  std::string names;
  std::string labels;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const ByteBar& bar = bars[i];
    const auto slot = static_cast<double>(i + 1);
    const double length = megabytes(bar.moved);
    const bool is_cut = length > end;
    drawn.push_back({slot, length, static_cast<double>(bar_color(bar))});
    names += fmt::format("{}{} {}", names.empty() ? "" : ", ",
                         gnuplot_text(label_of(bar.path->scheme, bar.schedule)), slot);
    if (is_cut) labels += cut_mark(end, slot);
    const double paper = megabytes(bar.paper.value_or(Bytes{}));
    // Behind the marker where that would stand in the text.
    const double behind = paper < length + kTextWidth * end ? std::max(length, paper) : length;
    labels +=
        text_at(std::min(behind, end), slot, format_bytes(bar.moved) + (is_cut ? " \u2192" : ""),
                "left front offset character 0.9,0");
  }
  return drawn.text() + "set ytics (" + names + ") scale 0\n" + labels;
}

/// What Table 1 says about some of the bars: filled where blocks are even, as it assumes.
struct Markers {
  DataBlock data;
  int point_type;
  LegendEntry entry;
};

std::vector<Markers> markers_of(const std::vector<ByteBar>& bars, double end) {
  std::vector<Markers> all{
      {DataBlock{"inside"}, 13, {Mark::diamond, Color::black, "Table 1"}},
      {DataBlock{"outside"}, 12, {Mark::open_diamond, Color::black, "Table 1, uneven blocks"}}};
  for (std::size_t i = 0; i < bars.size(); ++i)
    if (bars[i].paper && megabytes(*bars[i].paper) <= end)
      all[bars[i].is_inside_domain ? 0 : 1].data.push_back(
          {static_cast<double>(i + 1), megabytes(*bars[i].paper)});
  std::erase_if(all, [](const Markers& markers) { return markers.data.is_empty(); });
  return all;
}

std::string bars_command(const std::vector<Markers>& all) {
  std::vector<std::string> elements{
      "$bars using (0):1:(0):2:($1 - 0.36):($1 + 0.36):3 with boxxyerror fillstyle solid noborder "
      "linecolor rgb variable"};
  for (const Markers& markers : all)
    elements.push_back(fmt::format(
        "{} using 2:1 with points pointtype {} pointsize 0.9 linewidth 1.5 linecolor {}",
        markers.data.name(), markers.point_type, rgb(markers.entry.color)));
  return plot_command(elements);
}

Titles bytes_titles(const Study& study, const std::vector<Markers>& all) {
  const Color own = color_of(study.path.scheme);
  Titles titles{
      .title = "What the residual path of " + model_name(study) + " moves per token",
      .y = "MB per token and forward pass as kernels move them, output aggregation "
           "included",
      .x = "MB",
      .legend = {{Mark::box, own, "quoted schedules"}, {Mark::box, pale(own), "other schedules"}}};
  for (const Markers& markers : all) titles.legend.push_back(markers.entry);
  return titles;
}

std::string bytes_script(const Study& study, const std::vector<ByteBar>& bars, double end) {
  const std::vector<Markers> all = markers_of(bars, end);
  std::string script = opening(bytes_titles(study, all), {.left = 0.27, .right = 0.86});
  // Few bars do not grow fat: there is always room for eight.
  const auto num_bars = static_cast<double>(bars.size());
  const double spare = (std::max(8.0, num_bars) - num_bars) / 2;
  script += fmt::format(
      "set grid noytics xtics\nset border 2\nset xtics scale 0\nset xrange [0:{}]\n"
      "set yrange [{}:{}]\n",
      number_text(end), number_text(num_bars + spare + 0.5), number_text(0.5 - spare));
  script += bar_texts(bars, end);
  for (const Markers& markers : all) script += markers.data.text();
  return script + bars_command(all);
}

}  // namespace

std::optional<Plot> bytes_plot(const Evaluation& evaluation) {
  const std::vector<ByteBar> bars = byte_bars(evaluation);
  const double end = axis_end(bars, evaluation);
  if (end == 0) return std::nullopt;
  const std::string model = model_name(evaluation.study);
  std::string caption = "Bytes per token and forward pass of " + model + ":";
  for (const ByteBar& bar : bars)
    if (bar.is_quoted)
      caption += fmt::format("{} {} {}", caption.ends_with(':') ? "" : ";",
                             label_of(bar.path->scheme, bar.schedule), format_bytes(bar.moved));
  return Plot{"bytes.svg", caption, bytes_script(evaluation.study, bars, end)};
}

}  // namespace depthcost
