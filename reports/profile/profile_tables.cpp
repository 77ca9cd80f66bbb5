// Rows in the order of the profile.
#include "reports/profile/profile_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "profile/kernel_sources.hpp"
#include "reports/formats/numbers.hpp"
#include "reports/formats/text_table.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost::profile {
namespace {

template <class Q>
std::string estimate_text(const Estimate<Q>& estimate, double scale, const char* unit) {
  return fmt::format("{:.3g} {} [{:.3g}, {:.3g}]{}", estimate.value.value * scale, unit,
                     estimate.low.value * scale, estimate.high.value * scale,
                     is_steady(estimate) ? "" : ", unsteady");
}

std::vector<std::string> error_cells(const ErrorSummary& errors) {
  return {std::to_string(errors.cases), format_ratio(errors.median), format_ratio(errors.p90),
          format_ratio(std::abs(errors.worst))};
}

std::vector<std::string> row(std::vector<std::string> head, const ErrorSummary& errors) {
  for (std::string& cell : error_cells(errors)) head.push_back(std::move(cell));
  return head;
}

const std::vector<Column> kErrorColumns{{"cases", Align::right},
                                        {"median |error|", Align::right},
                                        {"90th percentile", Align::right},
                                        {"worst |error|", Align::right}};

std::vector<Column> columns(std::vector<Column> head) {
  head.insert(head.end(), kErrorColumns.begin(), kErrorColumns.end());
  return head;
}

/// Empty where none were measured.
std::string links_text(const Profile& profile) {
  Table segments{{"transfer", right("ranks"), right("from"), right("latency"), right("bandwidth")}};
  for (const LinkCurve& curve : profile.machine.links)
    for (const LinkSegment& segment : curve.segments)
      segments.rows.push_back({std::string(name(curve.transfer)), std::to_string(curve.num_ranks),
                               fmt::format("{:.0f} B", segment.from.value),
                               fmt::format("{:.3g} us", segment.latency.value * 1e6),
                               std::isinf(segment.bandwidth.value)
                                   ? "bytes are free"
                                   : fmt::format("{:.3g} GB/s", segment.bandwidth.value * 1e-9)});
  if (segments.rows.empty()) return "";
  Table errors{columns({{"every other size"}, {"ranks", Align::right}}), {}};
  for (const LinkError& e : profile.link_errors)
    errors.rows.push_back(
        row({std::string(name(e.transfer)), std::to_string(e.num_ranks)}, e.errors));
  return plain_text(segments) + "\n" + plain_text(errors);
}

bool is_same_stream(const Ceiling& a, const Ceiling& b) {
  return a.level == b.level && a.threads == b.threads && a.mix == b.mix;
}

const Ceiling* find_stream(const std::vector<Ceiling>& ceilings, const Ceiling& stream) {
  const auto found = std::find_if(ceilings.begin(), ceilings.end(), [&](const Ceiling& ceiling) {
    return is_same_stream(ceiling, stream);
  });
  return found == ceilings.end() ? nullptr : &*found;
}

std::vector<std::string> stream_cells(const Ceiling& c) {
  return {std::string(name(c.level)), c.threads > 0 ? std::to_string(c.threads) : "as kernels",
          fmt::format("{}:{}", c.mix.reads, c.mix.writes), std::to_string(c.mix.in_place)};
}

std::string ceilings_text(const Profile& profile, const std::vector<Ceiling>& measured) {
  Table table{{"level", "threads", "reads:writes", "in place", "bandwidth", "best"}};
  const auto add = [&](const Ceiling& ceiling, const std::string& bandwidth,
                       std::string_view variant) {
    table.rows.push_back(stream_cells(ceiling));
    table.rows.back().push_back(bandwidth);
    table.rows.back().emplace_back(variant);
  };
  for (const Ceiling& c : profile.ceilings) {
    const Ceiling* best = find_stream(measured, c);
    const bool is_large = c.bandwidth.value.value >= 1e12;
    add(c, estimate_text(c.bandwidth, is_large ? 1e-12 : 1e-9, is_large ? "TB/s" : "GB/s"),
        best == nullptr ? kNothing : best->variant);
  }
  for (const Ceiling& c : measured)
    if (find_stream(profile.ceilings, c) == nullptr)
      add(c, fmt::format("left out: {} wide", format_ratio(relative_width(c.bandwidth))),
          c.variant);
  return plain_text(table);
}

/// A row for each way of calling, a column for each skeleton.
std::string floors_text(const Machine& machine) {
  Table table{{"a call in a", "operands in", "elementwise", "row_reduction"}};
  for (const LaunchFloor& floor : machine.floors) {
    const std::string launch(name(floor.launch));
    const std::string level(name(floor.level));
    auto row = std::find_if(table.rows.begin(), table.rows.end(), [&](const auto& cells) {
      return cells[0] == launch && cells[1] == level;
    });
    if (row == table.rows.end())
      row = table.rows.insert(row, {launch, level, std::string(kNothing), std::string(kNothing)});
    const bool is_long = floor.floor.value.value >= 1e-6;
    (*row)[floor.skeleton == Skeleton::elementwise ? 2 : 3] =
        estimate_text(floor.floor, is_long ? 1e6 : 1e9, is_long ? "us" : "ns");
  }
  return plain_text(table);
}

/// Empty where nothing is known of a cache.
std::string transition_text(const Machine& machine) {
  if (machine.transition.empty()) return "";
  Table table{{right("bytes between two uses"), right("from memory")}};
  for (const TransitionPoint& point : machine.transition)
    table.rows.push_back({format_bytes(point.footprint), format_ratio(point.memory_weight)});
  return "\n" + plain_text(table);
}

/// Empty where no core was measured.
std::string core_text(const Profile& profile) {
  const Machine& machine = profile.machine;
  if (!machine.core) return "";
  Table rates{{"pass", "dtype", "in", "per element"}};
  for (const CoreRate& r : machine.core->rates)
    rates.rows.push_back({std::string(name(r.primitive)), std::string(name(r.dtype)),
                          std::string(name(r.level)), estimate_text(r.per_element, 1e12, "ps")});
  Table forms{columns({{"core and memory"}}), {}};
  for (const FormError& f : profile.forms)
    forms.rows.push_back(row({std::string(name(f.form))}, f.errors));
  return "\n" + plain_text(rates) + "\n" + plain_text(forms) +
         fmt::format("\nThe form is {}, {} of the shorter of core and memory exposed.\n",
                     name(machine.core->form), format_ratio(machine.core->exposed));
}

/// Empty where nothing was left out.
std::string coverage_text(const std::string& interval, const Coverage& coverage) {
  if (coverage.cases == 0) return "";
  const std::string warning = coverage_warning(coverage.share);
  return fmt::format("\n{}: {} of {} cases that were left out lie inside [{}, {}].\n", interval,
                     format_ratio(coverage.share.value), coverage.cases,
                     format_ratio(coverage.share.low), format_ratio(coverage.share.high)) +
         (warning.empty() ? "" : warning + "\n");
}

std::string verdict_on(const Fleet& fleet, std::size_t node) {
  const NodeFinding& finding = fleet.findings[node];
  if (!finding.outside.empty()) return "outside: " + finding_text(finding) + "; left out";
  return node == fleet.typical ? "the most typical" : "";
}

}  // namespace

std::string heading_text(const Profile& profile) {
  std::string text = fmt::format("{}\n{}, measured on {}; noise {}", printable(profile.name, 200),
                                 profile.is_gpu ? "gpu" : "cpu", printable(profile.date),
                                 format_ratio(profile.noise));
  if (profile.write_allocate > 0)
    text += fmt::format("; write-allocate ratio {:.3g}", profile.write_allocate);
  if (profile.machine.half_saturation > Seconds{})
    text += fmt::format("; saturation latency {}", format_seconds(profile.machine.half_saturation));
  text += "\n";
  for (const ProfiledNode& node : profile.nodes)
    text += fmt::format(
        "of {}{}\n", printable(node.file, 200),
        node.outside.empty() ? "" : fmt::format(", left out: {}", printable(node.outside, 200)));
  return text;
}

std::string accuracy_text(const Profile& profile) {
  Table table{columns({{"ceilings"}, {"kernels"}}), {}};
  for (const Accuracy& a : profile.accuracy)
    table.rows.push_back(
        row({std::string(name(a.ceilings)), std::string(name(a.cases))}, a.errors));
  const std::string stale = stale_mark(profile);
  std::string text = stale.empty() ? "" : stale + "\n\n";
  text += plain_text(table);
  return text +
         coverage_text(fmt::format("90 % interval of all kernels, {:.3g} to {:.3g} times the "
                                   "prediction",
                                   profile.machine.residual.low, profile.machine.residual.high),
                       profile.coverage) +
         coverage_text("90 % intervals of each operation's own kernels",
                       profile.operation_coverage);
}

std::string constants_text(const Profile& profile, const std::vector<Ceiling>& measured) {
  const std::string links = links_text(profile);
  return ceilings_text(profile, measured) + "\n" + floors_text(profile.machine) +
         transition_text(profile.machine) + (links.empty() ? "" : "\n" + links) +
         core_text(profile);
}

std::string fleet_text(const Fleet& fleet, const std::vector<std::string>& missing) {
  Table table{{"node"}};
  for (const Speed speed : kEnumerators<Speed>)
    table.columns.push_back({std::string(name(speed)), Align::right});
  table.columns.push_back({"finding"});
  const std::size_t num_nodes = fleet.findings.size();
  for (std::size_t node = 0; node < num_nodes; ++node) {
    std::vector<std::string> row{printable(fleet.profile.nodes[node].file, 200)};
    for (const std::optional<double>& faster : fleet.findings[node].faster)
      row.push_back(faster ? fmt::format("{:+.2f} %", 100 * *faster) : std::string(kNothing));
    row.push_back(verdict_on(fleet, node));
    table.rows.push_back(std::move(row));
  }
  for (const std::string& path : missing) {
    std::vector<std::string> row(table.columns.size(), std::string(kNothing));
    row.front() = printable(path, 200);
    row.back() = "missing: it has no profile";
    table.rows.push_back(std::move(row));
  }
  const auto num_kept = static_cast<std::size_t>(
      std::count_if(fleet.findings.begin(), fleet.findings.end(),
                    [](const NodeFinding& finding) { return finding.outside.empty(); }));
  const std::string judged =
      num_nodes < kFewestJudged
          ? fmt::format("Fewer than {} nodes: none can stand outside.", kFewestJudged)
          : fmt::format(
                "A node stands outside that is further from the median than {} robust standard "
                "deviations, as one healthy fleet of this size in a hundred has one, and than a "
                "node differs from itself ({}).",
                cutoff(num_nodes), format_ratio(fleet.profile.noise));
  return fmt::format("{}\nSpeeds beside the median node. {}\nMerged: {} of {} nodes.\n",
                     plain_text(table), judged, num_kept, num_nodes + missing.size());
}

}  // namespace depthcost::profile
