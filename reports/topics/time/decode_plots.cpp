// What the schemes add to a decode step, in time and in per cent of it, against the batch.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "model/step/step.hpp"
#include "reports/section/scheme_style.hpp"
#include "reports/topics/time/batch_curves.hpp"
#include "reports/topics/time/rest_section.hpp"
#include "reports/topics/time/step_section.hpp"

namespace depthcost {
namespace {

using namespace plotting;

/// What is drawn upwards: microseconds, or per cent of the baseline step.
enum class Measure { added_time, overhead };

struct Point {
  Count sequences = 0;
  Estimate<double> added;  // as the axis counts it
  std::string text;        // as it is printed
  bool is_asked = false;
};

struct Curve {
  const ResidualPath* path = nullptr;
  Schedule schedule = Schedule::fused;
  std::vector<Point> points;
};

std::string label_of(const Curve& curve) {
  return plotting::label_of(curve.path->scheme, curve.schedule);
}

Point point_of(const BatchPoint& at, Measure measure) {
  const StepRow& row = at.row;
  const auto scaled = [](double factor, double low, double value, double high) {
    return Estimate<double>{factor * low, factor * value, factor * high};
  };
  if (measure == Measure::overhead)
    return {.sequences = row.workload.sequences,
            .added = scaled(100, row.overhead->low, row.overhead->value, row.overhead->high),
            .text = format_ratio(row.overhead->value, Sign::always),
            .is_asked = at.is_asked};
  const double unit = in_unit(1, UnitKind::seconds, "us");
  return {.sequences = row.workload.sequences,
          .added = scaled(unit, row.delta.low.value, row.delta.value.value, row.delta.high.value),
          .text = format_seconds(row.delta.value, Sign::always),
          .is_asked = at.is_asked};
}

/// The one that adds most at the largest batch first, as the lines end. Batches without per cent
/// are left out of a plot of them.
std::vector<Curve> curves_of(const Evaluation& evaluation, Measure measure) {
  const CurveBaseline baseline =
      measure == Measure::overhead ? CurveBaseline::as_written : CurveBaseline::modelled;
  std::vector<Curve> curves;
  for (const BatchCurve& batches : batch_curves(evaluation, baseline)) {
    Curve curve{batches.path, batches.schedule, {}};
    for (const BatchPoint& at : batches.points)
      if (measure == Measure::added_time || at.row.overhead)
        curve.points.push_back(point_of(at, measure));
    if (!curve.points.empty()) curves.push_back(std::move(curve));
  }
  std::stable_sort(curves.begin(), curves.end(), [](const Curve& a, const Curve& b) {
    return a.points.back().added.value > b.points.back().added.value;
  });
  return curves;
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
};

/// `values` covers the predicted values, `ends` their intervals.
struct Ranges {
  Range values;
  Range ends;
};

void include(Range& range, double value) {
  range.low = std::min(range.low, value);
  range.high = std::max(range.high, value);
}

Ranges ranges_of(const std::vector<Curve>& curves, std::optional<double> limit) {
  Ranges ranges;
  if (limit) {
    include(ranges.values, *limit);
    include(ranges.ends, *limit);
  }
  for (const Curve& curve : curves)
    for (const Point& point : curve.points) {
      include(ranges.values, point.added.value);
      for (const double end : {point.added.low, point.added.value, point.added.high})
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

/// A budget as a line across the plot.
std::string limit_mark(std::optional<double> limit) {
  if (!limit) return {};
  return horizontal_line(*limit, "budget: " + format_ratio(*limit / 100), "right");
}

/// `x`, value, low, high.
void push_point(DataBlock& block, double x, const Point& point, double lowest) {
  block.push_back({x, point.added.value, std::max(point.added.low, lowest), point.added.high});
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

std::string line_script(const std::vector<Curve>& curves, Titles titles,
                        std::optional<double> limit) {
  for (const Curve& curve : curves)
    titles.legend.push_back({Mark::line, color_of(curve.path->scheme), label_of(curve)});
  const VerticalAxis axis = vertical_axis(ranges_of(curves, limit));
  const std::vector<Point>& points = curves.front().points;
  return opening(titles, {}) + axis.script + limit_mark(limit) +
         binary_x_axis(points.front().sequences, points.back().sequences) +
         line_data(curves, axis.lowest) + line_command(curves);
}

/// With a single batch there is no line: one bar for each scheme.
std::string bar_script(const std::vector<Curve>& curves, const Titles& titles,
                       std::optional<double> limit) {
  const VerticalAxis axis = vertical_axis(ranges_of(curves, limit));
  std::string script =
      opening(titles, {}) + axis.script + limit_mark(limit) + "set grid noxtics ytics\n";
  std::string names;
  std::vector<std::string> elements;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const Point& point = curves[i].points.front();
    DataBlock bar{fmt::format("bar{}", i)};
    const auto slot = static_cast<double>(i + 1);
    push_point(bar, slot, point, axis.lowest);
    script += bar.text();
    script += text_at(slot, point.added.value, point.text, "left front offset character 1,0.6");
    names +=
        fmt::format("{}{} {}", names.empty() ? "" : ", ", gnuplot_text(label_of(curves[i])), slot);
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

/// What a plot says about itself.
struct Words {
  std::string file_name;
  std::string title;    // with the model
  std::string y;        // without the machine
  std::string caption;  // with the model
  std::optional<double> limit = {};
};

/// Per cent.
std::optional<double> written_decode_limit(const Study& study) {
  for (const Budget& budget : study.budgets)
    if (budget.kind == BudgetKind::decode_overhead) return 100 * budget.limit;
  return std::nullopt;
}

std::optional<Plot> decode_plot(const Evaluation& evaluation, Measure measure, const Words& words) {
  const std::vector<Curve> curves = curves_of(evaluation, measure);
  if (curves.empty()) return std::nullopt;
  const Study& study = evaluation.study;
  const std::string model = model_name(study);
  const std::string machine = cleaned_line(study.machine->name, 40);
  const std::size_t num_points = curves.front().points.size();
  Titles titles{.title = words.title + " " + model,
                .y = words.y + (machine.empty() ? "" : ", on " + machine) + "; 90 % intervals",
                .x = "sequences in the batch"};
  if (num_points == 1)
    titles.x = fmt::format("batch of {} sequences", format_count(study.decode->sequences.front()));
  std::string caption = fmt::format("{} {} at {} sequences:", words.caption, model,
                                    format_count(curves.front().points.back().sequences));
  for (const Curve& curve : curves)
    caption += fmt::format("{} {} {}", caption.ends_with(':') ? "" : ";", label_of(curve),
                           curve.points.back().text);
  return Plot{words.file_name, caption,
              num_points == 1 ? bar_script(curves, titles, words.limit)
                              : line_script(curves, titles, words.limit)};
}

/// "modelled" or "measured"; the plot needs no more than one word.
std::string_view baseline_word(const Evaluation& evaluation) {
  const bool is_modelled =
      std::any_of(evaluation.rest.begin(), evaluation.rest.end(),
                  [](const RestRow& row) { return row.workload.kind == WorkloadKind::decode; });
  return is_modelled ? "modelled" : "measured";
}

}  // namespace

std::optional<Plot> added_time_plot(const Evaluation& evaluation) {
  return decode_plot(evaluation, Measure::added_time,
                     {"added_time.svg", "What the residual schemes add to a decode step of",
                      "microseconds per step beyond the fused standard residual",
                      "Time added to a decode step of"});
}

std::optional<Plot> overhead_plot(const Evaluation& evaluation) {
  return decode_plot(evaluation, Measure::overhead,
                     {"overhead.svg", "Overhead of the residual schemes in a decode step of",
                      fmt::format("per cent of the {} step with the fused standard residual",
                                  baseline_word(evaluation)),
                      fmt::format("Overhead over the {} decode step of", baseline_word(evaluation)),
                      written_decode_limit(evaluation.study)});
}

}  // namespace depthcost
