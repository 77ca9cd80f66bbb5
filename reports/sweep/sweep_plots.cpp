// Costs against the block size, and what is published against what it costs.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "reports/section/scheme_style.hpp"
#include "reports/sweep/sweep_report.hpp"

namespace depthcost {
namespace {

using namespace plotting;

/// One cost of every choice, in units of what the marked choice has.
struct CostLine {
  std::string name;
  std::string title;
  Color color;
  std::vector<std::pair<Count, double>> points;
};

/// Existing choices of a group by the value of its one axis.
struct Swept {
  const SweepReport& report;
  SweepGroup group;
  Recommendation said;
  std::optional<std::size_t> marked;  // as written, else recommended

  const Sweep& sweep() const { return group.sweep(); }
  SweepPoint point(std::size_t choice) const { return sweep().point(group.circumstance, choice); }
  Count value(std::size_t choice) const { return sweep().choices()[choice].values.front(); }
  std::string axis() const { return last_part(name(sweep().choice_axes().front().key)); }
};

std::optional<Swept> swept(const SweepReport& report) {
  const SweepGroup group = groups_of(report).front();
  const auto& axes = group.sweep().choice_axes();
  if (axes.size() != 1 || is_named(axes.front().key)) return std::nullopt;
  const Recommendation said = recommend(group.sweep(), group.circumstance);
  const auto own = own_choice(report, group);
  if (!own && !said.best) return std::nullopt;
  return Swept{report, group, said, own ? own : said.best};
}

template <class CostOf>
void add_line(std::vector<CostLine>& lines, const Swept& data, CostLine line,
              const CostOf& cost_of) {
  const std::optional<double> unit = cost_of(data.point(*data.marked));
  if (!unit || *unit <= 0) return;
  for (std::size_t i = 0; i < data.sweep().choices().size(); ++i) {
    const SweepPoint point = data.point(i);
    if (!point.exists()) continue;
    const std::optional<double> cost = cost_of(point);
    if (cost && *cost > 0) line.points.emplace_back(data.value(i), *cost / *unit);
  }
  std::sort(line.points.begin(), line.points.end());
  lines.push_back(std::move(line));
}

std::optional<double> seconds(const std::optional<AddedTime>& added) {
  if (!added) return std::nullopt;
  return added->delta.value.value;
}

std::vector<CostLine> cost_lines(const Swept& data) {
  std::vector<CostLine> lines;
  add_line(lines, data, {"decode", "time added to decode", Color::blue, {}},
           [](const SweepPoint& p) { return seconds(p.decode); });
  add_line(lines, data, {"prefill", "to prefill", Color::vermilion, {}},
           [](const SweepPoint& p) { return seconds(p.prefill); });
  add_line(lines, data, {"training", "to a training step", Color::green, {}},
           [](const SweepPoint& p) { return seconds(p.training); });
  add_line(lines, data, {"bytes", "bytes moved", Color::dark_grey, {}},
           [](const SweepPoint& p) { return std::optional(p.choice->forward_bytes.value); });
  add_line(lines, data, {"state", "state in memory", Color::orange, {}},
           [](const SweepPoint& p) { return std::optional(state_per_token(*p.choice).value); });
  add_line(lines, data, {"payload", "pipeline payload", Color::black, {}}, [](const SweepPoint& p) {
    return p.choice->payload_peak ? std::optional(p.choice->payload_peak->value) : std::nullopt;
  });
  return lines;
}

std::optional<Plot> cost_plot(const Swept& data) {
  const std::vector<CostLine> lines = cost_lines(data);
  const std::string marked = choice_label(data.sweep(), *data.marked);
  const std::string model = model_name(data.sweep().study());
  Titles titles{.title = "What a block size costs " + model,
                .y = "times the cost of " + marked,
                .x = data.axis(),
                .legend = {}};
  for (const CostLine& line : lines) titles.legend.push_back({Mark::line, line.color, line.title});
  Count low = std::numeric_limits<Count>::max();
  Count high = 0;
  std::string blocks;
  std::vector<std::string> elements;
  for (const CostLine& line : lines) {
    DataBlock block{line.name};
    for (const auto& [value, cost] : line.points) {
      low = std::min(low, value);
      high = std::max(high, value);
      block.push_back({static_cast<double>(value), cost});
    }
    blocks += block.text();
    elements.push_back(fmt::format("{} using 1:2 with lines linewidth 2 linecolor {}", block.name(),
                                   rgb(line.color)));
  }
  if (elements.empty() || low >= high) return std::nullopt;
  std::string script = opening(titles, {}) + binary_x_axis(low, high) + "set logscale y 10\n";
  script += vertical_line(static_cast<double>(data.value(*data.marked)));
  return Plot{"sweep-cost.svg",
              fmt::format("Costs of {} against {}, as multiples of those of {}", model, data.axis(),
                          marked),
              script + blocks + plot_command(elements)};
}

/// Microseconds, or MB a token where no time is known.
double cost_of_point(const SweepPoint& point, Cost cost) {
  if (cost == Cost::bytes) return in_unit(point.choice->forward_bytes.value, UnitKind::bytes, "MB");
  const AddedTime& added = cost == Cost::decode    ? *point.decode
                           : cost == Cost::prefill ? *point.prefill
                                                   : *point.training;
  return in_unit(added.delta.value.value, UnitKind::seconds, "us");
}

std::string cost_title(Cost cost) {
  if (cost == Cost::bytes) return "MB a token and forward pass";
  if (cost == Cost::training) return "microseconds added to a training step";
  return fmt::format("microseconds added to {}", name(cost));
}

std::optional<Plot> front_plot(const Swept& data) {
  const Cost cost = cost_of(data.sweep());
  const auto front = front_of(data.sweep(), data.group.circumstance);
  DataBlock standing{"standing"};
  DataBlock beaten{"beaten"};
  std::string labels;
  for (std::size_t i = 0; i < data.sweep().choices().size(); ++i) {
    const SweepPoint point = data.point(i);
    if (!point.exists() || !point.choice->quality.at_most()) continue;
    const double x = cost_of_point(point, cost);
    const double loss = *point.choice->quality.at_most();
    if (x <= 0) continue;
    const bool stands = std::binary_search(front.begin(), front.end(), i);
    (stands ? standing : beaten).push_back({x, loss});
    if (i == data.said.best || i == data.marked)
      labels += text_at(
          x, loss,
          choice_label(data.sweep(), i) + (i == data.said.best ? ", recommended" : ", as written"),
          "left front offset character 0.8,0.7");
  }
  if (standing.is_empty()) return std::nullopt;
  const std::string model = model_name(data.sweep().study());
  std::string script = opening(
      {.title = "Published loss and cost for " + model,
       .y = "validation loss of 32 layers, the higher of two readings",
       .x = cost_title(cost),
       .legend = {{Mark::dot, Color::blue, "on the front"}, {Mark::dot, Color::grey, "dominated"}}},
      {});
  script += "set logscale x 10\n" + labels + standing.text();
  std::vector<std::string> elements;
  if (!beaten.is_empty()) {
    script += beaten.text();
    elements.push_back(beaten.name() +
                       " using 1:2 with points pointtype 7 pointsize 0.5 linecolor " +
                       rgb(Color::grey));
  }
  elements.push_back(standing.name() +
                     " using 1:2 with points pointtype 7 pointsize 0.7 linecolor " +
                     rgb(Color::blue));
  return Plot{"sweep-front.svg",
              fmt::format("Published loss against cost for {}; the front is of time, memory, "
                          "payload and both readings of the loss",
                          model),
              script + plot_command(elements)};
}

}  // namespace

std::vector<Plot> sweep_plots(const SweepReport& report) {
  std::vector<Plot> plots;
  const auto data = swept(report);
  if (!data) return plots;
  if (auto plot = front_plot(*data)) plots.push_back(*std::move(plot));
  if (auto plot = cost_plot(*data)) plots.push_back(*std::move(plot));
  return plots;
}

}  // namespace depthcost
