// Numbers have six digits, far more than any interval here or `verify` needs.
#include <fmt/format.h>

#include <cmath>

#include "profile/profile.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost::profile {
namespace {

/// A ratio below a billionth is written as 0.
std::string per_cent(double ratio) {
  return fmt::format("{:.6g} %", ratio < 1e-9 ? 0 : 100 * ratio);
}

/// Quoted for YAML, with escapes for control characters.
std::string quoted(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      escaped += fmt::format("\\x{:02X}", byte);
      continue;
    }
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return '"' + escaped + '"';
}

/// "value: 23.3 GB/s, low: 23.1 GB/s, high: 23.4 GB/s", each times `scale` in `unit`.
template <class Q>
std::string estimate_text(const Estimate<Q>& e, double scale, const char* unit) {
  return fmt::format("value: {:.6g} {}, low: {:.6g} {}, high: {:.6g} {}", e.value.value * scale,
                     unit, e.low.value * scale, unit, e.high.value * scale, unit);
}

/// The comment behind a value: what it is of, and whether it is unsteady. May be empty.
template <class Q>
std::string comment(const std::string& of, const Estimate<Q>& e) {
  const std::string mark =
      is_steady(e) ? "" : fmt::format("unsteady, {:.0f} % wide", 100 * relative_width(e));
  if (of.empty() && mark.empty()) return "";
  return fmt::format("  # {}{}{}", printable(of, 120), of.empty() || mark.empty() ? "" : "; ",
                     mark);
}

std::string bandwidth_lines(const Profile& profile) {
  std::string text = "bandwidth:\n";
  for (const Ceiling& c : profile.ceilings)
    text +=
        fmt::format("  - {{level: {}, threads: {}, reads: {}, writes: {}, in_place: {}, {}}}{}\n",
                    name(c.level), c.threads, c.mix.reads, c.mix.writes, c.mix.in_place,
                    estimate_text(c.bandwidth, 1e-9, "GB/s"), comment(c.variant, c.bandwidth));
  return text;
}

std::string floor_lines(const Machine& machine) {
  std::string text = "launch_floor:\n";
  for (const LaunchFloor& f : machine.floors)
    text += fmt::format("  - {{launch: {}, level: {}, skeleton: {}, {}}}{}\n", name(f.launch),
                        name(f.level), name(f.skeleton), estimate_text(f.floor, 1e9, "ns"),
                        comment("", f.floor));
  return text;
}

std::string core_lines(const Profile& profile) {
  const Machine& machine = profile.machine;
  if (!machine.core) return "";
  std::string text = fmt::format(
      "first_level: {:.6g} B\nsecond_level: {:.9g} B\ncore_form: {}\nexposed: {:.6g} %\n"
      "form_error:\n",
      machine.core->first_level.value, machine.core->second_level.value, name(machine.core->form),
      100 * machine.core->exposed);
  for (const FormError& f : profile.forms)
    text += fmt::format("  - {{form: {}, count: {}, median: {}, p90: {}, worst: {}}}\n",
                        name(f.form), f.errors.cases, per_cent(f.errors.median),
                        per_cent(f.errors.p90), per_cent(std::fabs(f.errors.worst)));
  text += "core_rate:\n";
  for (const CoreRate& r : machine.core->rates)
    text += fmt::format("  - {{primitive: {}, dtype: {}, level: {}, {}}}{}\n", name(r.primitive),
                        name(r.dtype), name(r.level), estimate_text(r.per_element, 1e9, "ns"),
                        comment("", r.per_element));
  return text;
}

std::string transition_lines(const Machine& machine) {
  std::string text;
  if (machine.half_saturation > Seconds{})
    text += fmt::format("saturation_latency: {:.6g} ns\n", machine.half_saturation.value * 1e9);
  if (machine.transition.empty()) return text;
  text += "cache_transition:\n";
  for (const TransitionPoint& point : machine.transition)
    text += fmt::format("  - {{footprint: {:.9g} B, memory_weight: {:.6g} %}}\n",
                        point.footprint.value, 100 * point.memory_weight);
  return text;
}

std::string link_lines(const Profile& profile) {
  if (profile.machine.links.empty()) return "";
  std::string text = "links:\n";
  for (const LinkCurve& curve : profile.machine.links)
    for (const LinkSegment& segment : curve.segments) {
      text += fmt::format("  - {{transfer: {}, ranks: {}, from: {:.9g} B, latency: {:.6g} ns",
                          name(curve.transfer), curve.num_ranks, segment.from.value,
                          segment.latency.value * 1e9);
      if (std::isfinite(segment.bandwidth.value))
        text += fmt::format(", bandwidth: {:.6g} GB/s", segment.bandwidth.value * 1e-9);
      text += "}\n";
    }
  if (profile.link_errors.empty()) return text;
  text += "link_error:\n";
  for (const LinkError& e : profile.link_errors)
    text +=
        fmt::format("  - {{transfer: {}, ranks: {}, count: {}, median: {}, p90: {}, worst: {}}}\n",
                    name(e.transfer), e.num_ranks, e.errors.cases, per_cent(e.errors.median),
                    per_cent(e.errors.p90), per_cent(std::fabs(e.errors.worst)));
  return text;
}

std::string accuracy_lines(const Profile& profile) {
  std::string text = "accuracy:\n";
  for (const Accuracy& a : profile.accuracy)
    text +=
        fmt::format("  - {{ceilings: {}, cases: {}, count: {}, median: {}, p90: {}, worst: {}}}\n",
                    name(a.ceilings), name(a.cases), a.errors.cases, per_cent(a.errors.median),
                    per_cent(a.errors.p90), per_cent(std::fabs(a.errors.worst)));
  return text;
}

std::string node_lines(const Profile& profile) {
  if (profile.nodes.empty()) return "";
  std::string text = "nodes:\n";
  for (const ProfiledNode& node : profile.nodes)
    text += fmt::format("  - {{file: {}, hash: {}{}}}\n", quoted(node.file), quoted(node.hash),
                        node.outside.empty() ? "" : ", outside: " + quoted(node.outside));
  return text;
}

std::string maker_text(const Profile& profile) {
  if (profile.nodes.empty()) return "fit from the samples beside it";
  return fmt::format("merge from the profiles of {} nodes", profile.nodes.size());
}

std::string coverage_line(const char* key, const Coverage& coverage) {
  if (coverage.cases == 0) return "";
  return fmt::format("{}: {{count: {}, share: {:.6g} %, low: {:.6g} %, high: {:.6g} %}}\n", key,
                     coverage.cases, 100 * coverage.share.value, 100 * coverage.share.low,
                     100 * coverage.share.high);
}

std::string operation_lines(const Profile& profile) {
  if (profile.machine.operation_residuals.empty()) return "";
  std::string text = "operation_residual:\n";
  for (const OperationResidual& own : profile.machine.operation_residuals)
    text += fmt::format("  - {{operation: {}, low: {:.6g}, high: {:.6g}}}\n", own.operation,
                        own.ratio.low, own.ratio.high);
  return text + coverage_line("operation_coverage", profile.operation_coverage);
}

}  // namespace

std::string to_yaml(const Profile& profile) {
  std::string text = fmt::format(
      "# {}. Made by depthcost profile {}.\n"
      "schema: depthcost-profile/1\n"
      "name: {}\nkind: {}\ndate: {}\n"
      "samples: {{file: {}, hash: {}, kernels: {}}}\n",
      printable(profile.name), maker_text(profile), quoted(profile.name),
      profile.is_gpu ? "gpu" : "cpu", quoted(profile.date), quoted(profile.samples_file),
      quoted(profile.samples_hash), quoted(profile.kernels_hash));
  if (!profile.part.empty()) text += fmt::format("part: {}\n", quoted(profile.part));
  text += fmt::format("threads: {:g}\n", profile.threads);
  text += fmt::format("noise: {:.6g} %\nwrite_allocate_ratio: {:.6g}\n", 100 * profile.noise,
                      profile.write_allocate);
  text += fmt::format("residual: {{low: {:.6g}, high: {:.6g}}}\n", profile.machine.residual.low,
                      profile.machine.residual.high);
  text += coverage_line("coverage", profile.coverage);
  return text + node_lines(profile) + bandwidth_lines(profile) + floor_lines(profile.machine) +
         transition_lines(profile.machine) + core_lines(profile) + link_lines(profile) +
         accuracy_lines(profile) + operation_lines(profile);
}

}  // namespace depthcost::profile
