// A machine's roofs with the kernels that it measured on them, and how far predictions are off.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/operations/mix.hpp"
#include "reports/comparison/comparison_report.hpp"
#include "reports/formats/gnuplot_script.hpp"

namespace depthcost {
namespace {

using namespace plotting;

double gigabytes(double bytes_per_second) {
  return in_unit(bytes_per_second, UnitKind::bytes_per_second, "GB/s");
}

/// Reads / (reads + writes) of a kernel's d-vectors.
double read_share(const ComparedCase& compared) {
  const Mix mix = mix_of(*find_operation(compared.call));
  return static_cast<double>(mix.reads) / (mix.reads + mix.writes);
}

double measured_bandwidth(const ComparedCase& compared) {
  const Bytes bytes = launch_bytes(*find_operation(compared.call), execution_of(compared.call));
  return (bytes / compared.comparison.measured.value).value;
}

/// Whether the kernel's operands come from memory and bandwidth decides its time.
bool is_cold(const ComparedCase& compared) {
  return compared.call.temperature == Temperature::cold && is_large(compared.comparison);
}

std::string kernels_label(std::string_view stale) {
  return stale.empty() ? "kernels" : "stale kernels";
}

double operations_of(const ComparedCase& compared) {
  const StandaloneCall& call = compared.call;
  return as_double(call.num_tokens) * as_double(call.hidden_size) * find_operation(call)->flops_d;
}

double bytes_of(const ComparedCase& compared) {
  return launch_bytes(*find_operation(compared.call), execution_of(compared.call)).value;
}

double tera(double operations_per_second) {
  return in_unit(operations_per_second, UnitKind::flops_per_second, "TFLOP/s");
}

/// The memory's roof, up to the rate of arithmetic where one is known.
DataBlock roof_of(double bandwidth, const std::optional<FlopsPerSecond>& rate, double first,
                  double last) {
  DataBlock roof("roof");
  const auto height = [&](double intensity) {
    const double of_memory = bandwidth * intensity;
    return tera(rate ? std::min(of_memory, rate->value) : of_memory);
  };
  roof.push_back({first, height(first)});
  if (rate && first * bandwidth < rate->value && last * bandwidth > rate->value)
    roof.push_back({rate->value / bandwidth, tera(rate->value)});
  roof.push_back({last, height(last)});
  return roof;
}

}  // namespace

std::optional<Plot> roofline_plot(const Machine& machine, std::span<const ComparedCase> cases) {
  DataBlock measured("measured");
  DataBlock predicted("predicted");
  double bandwidth = 0;  // of the datasheet: no bound is nearer to it than that of the most bytes
  double first = std::numeric_limits<double>::infinity();
  double last = 0;
  for (const ComparedCase& compared : cases) {
    const double operations = operations_of(compared);
    const double bytes = bytes_of(compared);
    if (operations <= 0 || bytes <= 0) continue;
    const double intensity = operations / bytes;
    const Comparison& comparison = compared.comparison;
    bandwidth = std::max(bandwidth, bytes / comparison.bound.value);
    first = std::min(first, intensity);
    last = std::max(last, intensity);
    measured.push_back({intensity, tera(operations / comparison.measured.value.value)});
    predicted.push_back({intensity, tera(operations / comparison.predicted.value.value)});
  }
  if (measured.is_empty()) return std::nullopt;
  const DataBlock roof = roof_of(bandwidth, machine.vector_rate, first / 2, 2 * last);
  const Titles titles{.title = fmt::format("Roofline of {}", cleaned_line(machine.name, 60)),
                      .y = "TFLOP/s",
                      .x = "operations per byte",
                      .legend = {{Mark::line, Color::dark_grey, "bandwidth and vector rate"},
                                 {Mark::dot, Color::blue, "measured"},
                                 {Mark::diamond, Color::orange, "predicted"}}};
  std::string script = opening(titles, {}) + roof.text() + measured.text() + predicted.text();
  script += "set logscale xy\n";
  script += plot_command(
      {roof.name() + " with lines linewidth 2 linecolor " + rgb(Color::dark_grey),
       predicted.name() + " with points pointtype 12 linecolor " + rgb(Color::orange),
       measured.name() + " with points pointtype 7 pointsize 0.6 linecolor " + rgb(Color::blue)});
  return Plot{"roofline.svg",
              "Arithmetic rate of every kernel by operations per byte, and the roof", script};
}

std::optional<Plot> roofs_plot(const Machine& machine, std::span<const ComparedCase> cases,
                               std::string_view stale) {
  DataBlock curve("curve");
  DataBlock exact("exact");
  DataBlock kernels("kernels");
  for (const MixBandwidth& entry : machine.memory_bandwidth)
    curve.push_back({entry.read_share, gigabytes(entry.bandwidth.value.value)});
  for (const ExactMixBandwidth& entry : machine.exact_bandwidth)
    exact.push_back({static_cast<double>(entry.mix.reads) / (entry.mix.reads + entry.mix.writes),
                     gigabytes(entry.bandwidth.value.value)});
  for (const ComparedCase& compared : cases)
    if (is_cold(compared))
      kernels.push_back({read_share(compared), gigabytes(measured_bandwidth(compared))});
  if (kernels.is_empty()) return std::nullopt;
  const Titles titles{.title = fmt::format("Memory of {}", cleaned_line(machine.name, 60)),
                      .y = "GB/s",
                      .x = "reads / (reads + writes)",
                      .legend = {{Mark::line, Color::dark_grey, "read, triad, copy, write"},
                                 {Mark::diamond, Color::orange, "streams of one mix"},
                                 {Mark::dot, Color::blue, kernels_label(stale) + ", measured"}}};
  std::string script = opening(titles, {}) + curve.text() + exact.text() + kernels.text();
  script += "set xrange [0:1]\nset yrange [0:*]\n";
  script += plot_command(
      {curve.name() + " with lines linewidth 2 linecolor " + rgb(Color::dark_grey),
       exact.name() + " with points pointtype 13 linecolor " + rgb(Color::orange),
       kernels.name() + " with points pointtype 7 pointsize 0.4 linecolor " + rgb(Color::blue)});
  return Plot{"roofs.svg", "Bandwidth of plain streams and of kernels, by share of reads", script};
}

std::optional<Plot> residuals_plot(const Machine& machine, std::span<const ComparedCase> cases,
                                   std::string_view stale) {
  DataBlock points("points");
  for (const ComparedCase& compared : cases)
    points.push_back({in_unit(compared.comparison.predicted.value.value, UnitKind::seconds, "us"),
                      100 * compared.comparison.error});
  if (points.is_empty()) return std::nullopt;
  const Titles titles{.title = fmt::format("Predictions for {}", cleaned_line(machine.name, 60)),
                      .y = "measured / predicted - 1 (%)",
                      .x = "predicted time (us)",
                      .legend = {{Mark::dot, Color::blue, kernels_label(stale)},
                                 {Mark::dashes, Color::dark_grey, "90 % interval"}}};
  std::string script = opening(titles, {}) + points.text();
  script += "set logscale x\n";
  const auto level = [](double ratio) {
    return fmt::format("{:.6g} with lines dashtype 2 linecolor {}", 100 * (ratio - 1),
                       rgb(Color::dark_grey));
  };
  script += plot_command(
      {level(machine.residual.low), level(machine.residual.high),
       points.name() + " with points pointtype 7 pointsize 0.4 linecolor " + rgb(Color::blue)});
  return Plot{"residuals.svg", "Error of every prediction against the predicted time", script};
}

std::optional<Plot> transition_plot(const Machine& machine) {
  if (machine.transition.empty()) return std::nullopt;
  DataBlock points("points");
  for (const TransitionPoint& point : machine.transition)
    points.push_back(
        {in_unit(point.footprint.value, UnitKind::bytes, "MB"), 100 * point.memory_weight});
  const Titles titles{.title = fmt::format("Cache of {}", cleaned_line(machine.name, 60)),
                      .y = "traffic that memory serves (%)",
                      .x = "bytes between two uses (MB)",
                      .legend = {}};
  const std::string script =
      opening(titles, {}) + points.text() + "set yrange [0:105]\n" +
      plot_command({points.name() + " with linespoints pointtype 7 linewidth 2 linecolor " +
                    rgb(Color::blue)});
  return Plot{"transition.svg", "Share of the traffic that memory serves, by reuse distance",
              script};
}

}  // namespace depthcost
