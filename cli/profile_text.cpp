// Rows in the order of the profile.
#include "cli/profile_text.hpp"

#include <fmt/format.h>

#include <cmath>

#include "reports/format.hpp"
#include "reports/text_table.hpp"

namespace depthcost {
namespace {

using namespace profile;

std::string interval_text(const Interval& interval, double scale, const char* unit) {
  return fmt::format("{:.3g} {} [{:.3g}, {:.3g}]", interval.value * scale, unit,
                     interval.low * scale, interval.high * scale);
}

std::vector<std::string> error_cells(const ErrorSummary& errors) {
  return {std::to_string(errors.cases), format_ratio(errors.median), format_ratio(errors.p90),
          format_ratio(errors.worst, Sign::always)};
}

std::vector<std::string> row(std::vector<std::string> head, const ErrorSummary& errors) {
  for (std::string& cell : error_cells(errors)) head.push_back(std::move(cell));
  return head;
}

const std::vector<Column> kErrorColumns{{"cases", Align::right},
                                        {"median |error|", Align::right},
                                        {"90th percentile", Align::right},
                                        {"worst", Align::right}};

std::vector<Column> columns(std::vector<Column> head) {
  head.insert(head.end(), kErrorColumns.begin(), kErrorColumns.end());
  return head;
}

/// Empty where none were measured.
std::string links_text(const Profile& profile) {
  Table segments{{{"transfer"},
                  {"ranks", Align::right},
                  {"from", Align::right},
                  {"latency", Align::right},
                  {"bandwidth", Align::right}},
                 {}};
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
  return plain_text(segments) + "\n" + plain_text(errors) + "\n";
}

}  // namespace

std::string accuracy_text(const Profile& profile) {
  Table table{columns({{"ceilings"}, {"kernels"}}), {}};
  for (const Accuracy& a : profile.accuracy)
    table.rows.push_back(
        row({std::string(name(a.ceilings)), std::string(name(a.cases))}, a.errors));
  std::string text = plain_text(table);
  if (profile.coverage_cases > 0)
    text += fmt::format(
        "\n90 % interval of {} times the prediction: holds {} of {} cases that it "
        "was not made from [{}, {}].\n",
        fmt::format("{:.3g} to {:.3g}", profile.machine.residual.low,
                    profile.machine.residual.high),
        format_ratio(profile.coverage.value), profile.coverage_cases,
        format_ratio(profile.coverage.low), format_ratio(profile.coverage.high));
  const std::string warning = coverage_warning(profile.coverage);
  if (!warning.empty()) text += warning + "\n";
  return text;
}

std::string constants_text(const Profile& profile) {
  Table ceilings{{{"level"}, {"threads"}, {"reads:writes"}, {"in place"}, {"bandwidth"}, {"best"}},
                 {}};
  for (const Ceiling& c : profile.ceilings)
    ceilings.rows.push_back(
        {std::string(name(c.level)), c.threads > 0 ? std::to_string(c.threads) : "as kernels",
         fmt::format("{}:{}", c.mix.reads, c.mix.writes), std::to_string(c.mix.in_place),
         interval_text(c.bytes_per_second, 1e-9, "GB/s"), c.variant});
  std::string text = plain_text(ceilings);
  const std::string links = links_text(profile);
  if (!links.empty()) text += "\n" + links;
  if (!profile.machine.core) return text;
  Table rates{{{"pass"}, {"dtype"}, {"in"}, {"per element"}}, {}};
  for (const CoreRate& r : profile.machine.core->rates)
    rates.rows.push_back(
        {std::string(name(r.primitive)), std::string(name(r.dtype)), std::string(name(r.level)),
         interval_text(
             {r.per_element.low.value, r.per_element.value.value, r.per_element.high.value}, 1e12,
             "ps")});
  Table forms{columns({{"core and memory"}}), {}};
  for (const FormError& f : profile.forms)
    forms.rows.push_back(row({std::string(name(f.form))}, f.errors));
  return text + "\n" + plain_text(rates) + "\n" + plain_text(forms);
}

}  // namespace depthcost
