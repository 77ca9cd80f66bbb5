// Kernels of the scenario's machine, and how well its profile predicts.
#include "reports/topics/measured/own_kernels_section.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/formats/markdown_text.hpp"
#include "reports/formats/numbers.hpp"

namespace depthcost::own_kernels_section {
namespace {

Table kernel_table(const std::vector<MeasuredKernel>& kernels) {
  Table table{{"measured call", right("measured"), right("predicted [90 %]"), right("error")}};
  for (const MeasuredKernel& kernel : kernels)
    table.add(fmt::format("`{}`", case_id(kernel.call)),
              format_seconds(kernel.comparison.measured.value),
              format_seconds(kernel.comparison.predicted),
              format_ratio(kernel.comparison.error, Sign::always));
  return table;
}

std::string kernels_text(const MeasuredKernels& measured, Dtype dtype) {
  if (!measured.has_samples)
    return "No kernel is shown: the samples that the profile was made from are not there.";
  if (measured.kernels.empty())
    return fmt::format("None of its kernels does in {} what this scenario calls.", name(dtype));
  return "Kernels alone, cold: for each operation of each scheme in its quoted schedule, the "
         "measured call whose tokens, width and d-vectors read and written are nearest. Error: "
         "measured / predicted - 1. The kernels were never fitted.";
}

}  // namespace

void write_markdown(Document& out) {
  const std::optional<MeasuredKernels>& measured = out.parts().measured;
  if (!measured) return;
  out.heading("Measured beside predicted");
  out.paragraph(fmt::format("The hardware is a machine's own profile, of {} ({}, kernels {}). {}{}",
                            escaped(measured->samples_file), escaped(measured->date),
                            escaped(measured->kernels_hash),
                            measured->stale.empty() ? "" : measured->stale + " ",
                            kernels_text(*measured, out.evaluation().study.model.dtype)));
  if (!measured->kernels.empty()) out.table(kernel_table(measured->kernels));
  if (!measured->unmeasured.empty())
    out.bullet(fmt::format("not measured: `{}`", fmt::join(measured->unmeasured, "`, `")));
  for (const ProfileTrust& trust : measured->trust)
    out.bullet(fmt::format("{} `{}` kernels: median |error| {}, 90th percentile {}, worst {}",
                           trust.errors.cases, trust.kernels, format_ratio(trust.errors.median),
                           format_ratio(trust.errors.p90), format_ratio(trust.errors.worst)));
  if (measured->coverage)
    out.bullet(fmt::format("the 90 % interval holds {} of {} cases that it was not made from",
                           format_ratio(*measured->coverage), measured->coverage_cases));
  if (!measured->coverage_warning.empty()) out.bullet(measured->coverage_warning);
  out.end_list();
}

}  // namespace depthcost::own_kernels_section
