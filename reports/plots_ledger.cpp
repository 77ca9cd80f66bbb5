// What the ledger says: bytes by scheme and schedule, sources by layer.
#include <fmt/format.h>

#include <algorithm>

#include "model/ledger/path_operations.hpp"
#include "model/schemes/list.hpp"
#include "reports/plots.hpp"
#include "reports/plots_style.hpp"

namespace depthcost {
namespace {

using namespace plotting;

struct Bar {
  const ResidualPath* path = nullptr;
  Schedule schedule = Schedule::fused;
  Bytes moved;                 // per token and forward pass
  std::optional<Bytes> paper;  // Table 1
  bool is_quoted = false;
  bool is_inside_domain = true;  // of Table 1
};

double megabytes(Bytes bytes) { return in_unit(bytes.value, UnitFamily::decimal_bytes, "MB"); }

/// One bar for each path and schedule, the shortest first.
std::vector<Bar> bars_of(const Evaluation& evaluation) {
  std::vector<Bar> bars;
  const auto forward_bytes = [&](const ResidualPath& path, Counting counting) {
    return bytes(forward_traffic(path, counting), storage_of(evaluation.study));
  };
  for (const ResidualPath& path : evaluation.paths)
    for (const Schedule schedule : path.scheme.rule->schedules) {
      Bar bar{.path = &path, .schedule = schedule};
      bar.moved = forward_bytes(path, {schedule, Convention::kernel});
      bar.is_quoted = schedule == quoted_schedule(evaluation.study, path);
      const Counting table1{schedule, Convention::paper};
      const auto countings = countings_of(path.scheme);
      if (std::find(countings.begin(), countings.end(), table1) != countings.end()) {
        bar.paper = forward_bytes(path, table1);
        bar.is_inside_domain = inside_domain(path, table1);
      }
      bars.push_back(bar);
    }
  std::stable_sort(bars.begin(), bars.end(),
                   [](const Bar& a, const Bar& b) { return a.moved < b.moved; });
  return bars;
}

/// The study's own quoted bar keeps a tenth of the width; longer bars are cut.
double axis_end(const std::vector<Bar>& bars, const Evaluation& evaluation) {
  constexpr double kMostContrast = 10;
  Bytes own;
  for (const Bar& bar : bars)
    if (bar.path == &evaluation.paths.front() && bar.is_quoted) own = bar.moved;
  Bytes longest;
  for (const Bar& bar : bars)
    if (bar.moved <= kMostContrast * own) longest = std::max(longest, bar.moved);
  return 1.08 * megabytes(longest);
}

/// What is not quoted stands back.
Color bar_color(const Bar& bar) {
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
std::string bar_texts(const std::vector<Bar>& bars, double end) {
  constexpr double kTextWidth = 0.18;  // of the axis
  DataBlock drawn{"bars"};
  std::string names;
  std::string labels;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const Bar& bar = bars[i];
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
    labels += text_at(std::min(behind, end), slot,
                      format_bytes(bar.moved, Prefix::decimal) + (is_cut ? " \u2192" : ""),
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

std::vector<Markers> markers_of(const std::vector<Bar>& bars, double end) {
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

std::string bytes_script(const Study& study, const std::vector<Bar>& bars, double end) {
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

/// A stair as its steps: each layer from l - 1/2 to l + 1/2, equal neighbours merged.
DataBlock stair(std::string_view name, const ResidualPath& path) {
  DataBlock block{name};
  Count previous = -1;
  Count last_layer = 0;
  for (const PlacedOperation& placed : all_operations(path, Schedule::single_pass)) {
    if (placed.layer == 0) continue;
    last_layer = placed.layer;
    if (placed.operation.sources == previous) continue;
    previous = placed.operation.sources;
    block.push_back({static_cast<double>(placed.layer), static_cast<double>(previous)});
  }
  block.push_back({static_cast<double>(last_layer + 1), static_cast<double>(previous)});
  return block;
}

/// Where blocks start and what they are called; nothing for Full, or where they would crowd.
std::string block_marks(const Scheme& scheme) {
  constexpr Count kMostMarks = 24;
  const Partition* const cut = attnres_blocks(scheme);
  if (cut == nullptr || cut->num_blocks > kMostMarks) return {};
  const Partition& blocks = *cut;
  std::string marks;
  for (Count n = 1; n <= blocks.num_blocks; ++n) {
    const auto first = static_cast<double>(position(blocks, n, 1).layer);
    const auto size = static_cast<double>(blocks.size(n));
    if (n > 1) marks += vertical_line(first - 0.5);
    marks += fmt::format(
        "set label '{}{}' at {}, graph 0.035 center front textcolor {} font 'sans-serif,12'\n",
        n == 1 && blocks.num_blocks <= 9 ? "block " : "", n, number_text(first + (size - 1) / 2),
        rgb(Color::dark_grey));
  }
  return marks;
}

/// Full AttnRes of the same study, where it would not dwarf the scheme.
const ResidualPath* full_beside(const Evaluation& evaluation) {
  constexpr Count kMostContrast = 4;
  for (const ResidualPath& path : evaluation.paths)
    if (&path != &evaluation.paths.front() && path.scheme.rule == &schemes::kFullAttnRes &&
        path.num_layers <= kMostContrast * evaluation.aggregation.max_sources)
      return &path;
  return nullptr;
}

std::string_view sources_text(const Scheme& scheme) {
  return scheme.rule == &schemes::kFullAttnRes
             ? "sources: the embedding and the outputs of all layers before"
             : "sources: the embedding, completed blocks, the partial sum";
}

Titles sources_titles(const Evaluation& evaluation, const ResidualPath* full) {
  const Scheme& scheme = evaluation.paths.front().scheme;
  const Color color = color_of(scheme);
  Titles titles{
      .title = "How many sources each layer of " + model_name(evaluation.study) + " attends to",
      .y = std::string{sources_text(scheme)},
      .x = "layer (attention and MLP counted apart)",
      .legend = {{Mark::line, color, label_of(scheme)},
                 {Mark::dot, color, "output aggregation behind the last layer"}}};
  if (full != nullptr)
    titles.legend.push_back({Mark::line, color_of(full->scheme), label_of(full->scheme)});
  return titles;
}

std::string sources_script(const Evaluation& evaluation) {
  const ResidualPath& path = evaluation.paths.front();
  const auto num_layers = static_cast<double>(path.num_layers);
  const auto output = static_cast<double>(evaluation.aggregation.output_sources);
  const ResidualPath* full = full_beside(evaluation);
  const Count highest = full != nullptr ? full->num_layers : evaluation.aggregation.max_sources;
  const std::string color = rgb(color_of(path.scheme));
  DataBlock behind_last{"output"};
  behind_last.push_back({num_layers + 1, output});
  std::string script = opening(sources_titles(evaluation, full), {.left = 0.06, .right = 0.93}) +
                       stair("sources", path).text() + behind_last.text();
  std::vector<std::string> elements{
      "$sources using ($1 - 0.5):2 with fillsteps fillstyle solid 0.18 noborder linecolor " + color,
      "$sources using ($1 - 0.5):2 with steps linewidth 2 linecolor " + color,
      "$output using 1:2 with points pointtype 7 pointsize 0.7 linecolor " + color};
  if (full != nullptr) {
    script += stair("full", *full).text();
    elements.push_back("$full using ($1 - 0.5):2 with steps linewidth 1 linecolor " +
                       rgb(color_of(full->scheme)));
  }
  script += fmt::format("set xrange [0.5:{}]\n", number_text(num_layers + 1.5));
  script += count_y_axis(highest);
  script += block_marks(path.scheme);
  script += text_at(num_layers + 1, output, number_text(output), "left offset character 0.8,0");
  return script + plot_command(elements);
}

}  // namespace

std::optional<Plot> bytes_plot(const Evaluation& evaluation) {
  const std::vector<Bar> bars = bars_of(evaluation);
  const double end = axis_end(bars, evaluation);
  if (end == 0) return std::nullopt;
  const std::string model = model_name(evaluation.study);
  std::string caption = "Bytes per token and forward pass of " + model + ":";
  for (const Bar& bar : bars)
    if (bar.is_quoted)
      caption += fmt::format("{} {} {}", caption.ends_with(':') ? "" : ";",
                             label_of(bar.path->scheme, bar.schedule),
                             format_bytes(bar.moved, Prefix::decimal));
  return Plot{"bytes.svg", caption, bytes_script(evaluation.study, bars, end)};
}

std::optional<Plot> sources_plot(const Evaluation& evaluation) {
  if (evaluation.aggregation.max_sources == 0) return std::nullopt;
  const std::string caption =
      fmt::format("Sources per layer of {} under {}, from 1 at the first layer to {} at the output",
                  model_name(evaluation.study), label_of(evaluation.study.path.scheme),
                  evaluation.aggregation.output_sources);
  return Plot{"sources.svg", caption, sources_script(evaluation)};
}

}  // namespace depthcost
