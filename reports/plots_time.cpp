// What the schemes add to a decode step, against the batch.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "model/step.hpp"
#include "reports/plots.hpp"
#include "reports/plots_style.hpp"

namespace depthcost {
namespace {

using namespace plotting;

struct Point {
  Count sequences = 0;
  Estimate<Seconds> added;
  bool is_asked = false;  // the scenario has this batch; the others make the curve smooth
};

struct Curve {
  const ResidualPath* path = nullptr;
  Schedule schedule = Schedule::fused;
  std::vector<Point> points;
};

std::string label_of(const Curve& curve) {
  return plotting::label_of(curve.path->scheme, curve.schedule);
}

/// The study's batches and all powers of two between them, rising.
std::vector<Count> dense_batches(const std::vector<Count>& asked) {
  const auto [low, high] = std::minmax_element(asked.begin(), asked.end());
  std::vector<Count> batches = powers_of_two(*low, *high);
  batches.insert(batches.end(), asked.begin(), asked.end());
  std::sort(batches.begin(), batches.end());
  batches.erase(std::unique(batches.begin(), batches.end()), batches.end());
  return batches;
}

double microseconds(Seconds seconds) { return in_unit(seconds.value, UnitFamily::seconds, "us"); }

Curve curve_of(const Study& study, const ResidualPath& path) {
  const std::vector<Count>& asked = study.decode->sequences;
  Study dense = study;
  dense.prefill.reset();
  dense.decode->baseline_steps.clear();
  dense.decode->sequences = dense_batches(asked);
  Curve curve{&path, quoted_schedule(study, path), {}};
  const std::vector<StepRow> rows = step_rows(dense, path, curve.schedule);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Count sequences = dense.decode->sequences[i];
    const bool is_asked = std::find(asked.begin(), asked.end(), sequences) != asked.end();
    curve.points.push_back({sequences, rows[i].delta, is_asked});
  }
  return curve;
}

/// Every scheme but the standard residual, which the others are held against; the one that adds
/// most at the largest batch first, as the lines end.
std::vector<Curve> curves_of(const Evaluation& evaluation) {
  const Study& study = evaluation.study;
  std::vector<Curve> curves;
  if (!study.machine || !study.decode || study.decode->sequences.empty()) return curves;
  for (const ResidualPath& path : evaluation.paths)
    if (!std::holds_alternative<Standard>(path.scheme)) curves.push_back(curve_of(study, path));
  std::stable_sort(curves.begin(), curves.end(), [](const Curve& a, const Curve& b) {
    return a.points.back().added.value > b.points.back().added.value;
  });
  return curves;
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
};

/// Microseconds, of the values; `ends` covers the intervals too.
struct Ranges {
  Range values;
  Range ends;
};

void include(Range& range, Seconds seconds) {
  range.low = std::min(range.low, microseconds(seconds));
  range.high = std::max(range.high, microseconds(seconds));
}

Ranges ranges_of(const std::vector<Curve>& curves) {
  Ranges ranges;
  for (const Curve& curve : curves)
    for (const Point& point : curve.points) {
      include(ranges.values, point.added.value);
      for (const Seconds end : {point.added.low, point.added.value, point.added.high})
        include(ranges.ends, end);
    }
  return ranges;
}

struct VerticalAxis {
  std::string script;
  double lowest = 0;  // what is lower is drawn here: an interval may reach below a logarithmic axis
};

/// From zero, unless the values are positive and too far apart for one scale.
VerticalAxis vertical_axis(const Ranges& ranges) {
  constexpr double kMostContrast = 100;
  const auto [low, high] = ranges.values;
  if (low > 0 && high > kMostContrast * low) {
    const double lowest = std::max(ranges.ends.low, low / 4);
    return {fmt::format("set logscale y 10\nset yrange [{}:{}]\n", number_text(lowest),
                        number_text(1.5 * ranges.ends.high)),
            lowest};
  }
  const double lowest = std::min(0.0, 1.1 * ranges.ends.low);
  const double highest = ranges.ends.high > 0 ? 1.1 * ranges.ends.high : 0.1 - lowest;
  return {fmt::format("set yrange [{}:{}]\n", number_text(lowest), number_text(highest)), lowest};
}

/// `x`, value, low, high.
void push_point(DataBlock& block, double x, const Point& point, double lowest) {
  block.push_back({x, microseconds(point.added.value),
                   std::max(microseconds(point.added.low), lowest),
                   microseconds(point.added.high)});
}

std::string line_data(const std::vector<Curve>& curves, double lowest) {
  std::string text;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    DataBlock line{fmt::format("line{}", i)};
    DataBlock asked{fmt::format("asked{}", i)};
    for (const Point& point : curves[i].points) {
      const auto sequences = static_cast<double>(point.sequences);
      push_point(line, sequences, point, lowest);
      if (point.is_asked) push_point(asked, sequences, point, lowest);
    }
    text += line.text() + asked.text();
  }
  return text;
}

/// All bands lie behind all lines.
std::string line_command(const std::vector<Curve>& curves) {
  std::vector<std::string> elements;
  for (std::size_t i = 0; i < curves.size(); ++i)
    elements.push_back(fmt::format(
        "$line{} using 1:3:4 with filledcurves fillstyle solid 0.18 noborder linecolor {}", i,
        rgb(color_of(curves[i].path->scheme))));
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const std::string color = rgb(color_of(curves[i].path->scheme));
    elements.push_back(
        fmt::format("$line{} using 1:2 with lines linewidth 2 linecolor {}", i, color));
    elements.push_back(fmt::format(
        "$asked{} using 1:2 with points pointtype 7 pointsize 0.6 linecolor {}", i, color));
  }
  return plot_command(elements);
}

std::string line_script(const std::vector<Curve>& curves, Titles titles) {
  for (const Curve& curve : curves)
    titles.legend.push_back({Mark::line, color_of(curve.path->scheme), label_of(curve)});
  const VerticalAxis axis = vertical_axis(ranges_of(curves));
  const std::vector<Point>& points = curves.front().points;
  return opening(titles, {}) + axis.script +
         binary_x_axis(points.front().sequences, points.back().sequences) +
         line_data(curves, axis.lowest) + line_command(curves);
}

/// With a single batch there is no line: one bar for each scheme.
std::string bar_script(const std::vector<Curve>& curves, const Titles& titles) {
  const VerticalAxis axis = vertical_axis(ranges_of(curves));
  std::string script = opening(titles, {}) + axis.script + "set grid noxtics ytics\n";
  std::string names;
  std::vector<std::string> elements;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const Point& point = curves[i].points.front();
    DataBlock bar{fmt::format("bar{}", i)};
    const auto slot = static_cast<double>(i + 1);
    push_point(bar, slot, point, axis.lowest);
    script += bar.text();
    script += text_at(slot, microseconds(point.added.value),
                      format_seconds(point.added.value, Sign::always),
                      "left front offset character 1,0.6");
    names += fmt::format("{}{} {}", names.empty() ? "" : ", ", quoted(label_of(curves[i])), slot);
    elements.push_back(
        fmt::format("$bar{} using 1:2 with boxes fillstyle solid noborder linecolor {}", i,
                    rgb(color_of(curves[i].path->scheme))));
    elements.push_back(fmt::format(
        "$bar{} using 1:3:(0):($4 - $3) with vectors heads size graph 0.012,90 linewidth 1.5 "
        "linecolor {}",
        i, rgb(Color::black)));
  }
  // Few bars do not grow fat: there is always room for three.
  const auto num_bars = static_cast<double>(curves.size());
  const double spare = (std::max(3.0, num_bars) - num_bars) / 2;
  script += fmt::format("set boxwidth 0.45\nset xtics ({}) scale 0\nset xrange [{}:{}]\n", names,
                        number_text(0.5 - spare), number_text(num_bars + spare + 0.5));
  return script + plot_command(elements);
}

}  // namespace

std::optional<Plot> added_time_plot(const Evaluation& evaluation) {
  const std::vector<Curve> curves = curves_of(evaluation);
  if (curves.empty()) return std::nullopt;
  const Study& study = evaluation.study;
  const std::string model = model_name(study);
  const std::string machine = plain_text(study.machine->name, 40);
  const std::size_t num_points = curves.front().points.size();
  Titles titles{.title = "What the residual schemes add to a decode step of " + model,
                .y = "microseconds per step beyond the fused standard residual" +
                     (machine.empty() ? "" : ", on " + machine) + "; 90 % intervals",
                .x = "sequences in the batch"};
  if (num_points == 1)
    titles.x = fmt::format("batch of {} sequences", format_count(study.decode->sequences.front()));
  std::string caption = fmt::format("Time added to a decode step of {} at {} sequences:", model,
                                    format_count(curves.front().points.back().sequences));
  for (const Curve& curve : curves)
    caption += fmt::format("{} {} {}", caption.ends_with(':') ? "" : ";", label_of(curve),
                           format_seconds(curve.points.back().added.value, Sign::always));
  return Plot{"added_time.svg", caption,
              num_points == 1 ? bar_script(curves, titles) : line_script(curves, titles)};
}

}  // namespace depthcost
