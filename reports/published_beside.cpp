// What others have measured beside what is predicted, and the two ways to attach the residual path.
#include <fmt/format.h>

#include <algorithm>

#include "model/schemes/list.hpp"
#include "reports/format.hpp"
#include "reports/markdown_report.hpp"
#include "reports/table.hpp"

namespace depthcost {
namespace {

/// Vectors over depth that a token attends to; empty where the operation has none.
std::string sources_text(const StandaloneCall& call) {
  const Count sources = find_operation(call)->sources;
  return sources == 0 ? "" : std::to_string(sources);
}

/// "mhc_pre, T = 64, d = 7168, hot, on b300_sxm".
std::string call_text(const ComparedCase& measured) {
  const StandaloneCall& call = measured.call;
  const std::string sources = sources_text(call);
  return fmt::format("{}{}, T = {}, d = {}, {}, on {}", call.operation,
                     sources.empty() ? "" : ", " + sources + " sources", call.num_tokens,
                     call.hidden_size, name(call.temperature), measured.hardware);
}

std::string inside_text(bool is_inside) { return is_inside ? "yes" : "NO"; }

bool holds(const Estimate<Seconds>& interval, Seconds time) {
  return interval.low <= time && time <= interval.high;
}

std::string step_text(const MeasuredStep& step) {
  return fmt::format("decode/{} on {} x {} ({})", step.sequences, step.tensor, step.machine.name,
                     step.stack);
}

/// The sum of a step's kernels is no step: idle time between them is not in it.
enum class Judged : std::uint8_t { no, yes };

/// One number of a measured step beside its prediction.
struct StepNumber {
  std::string what;
  Seconds measured;
  std::optional<Estimate<Seconds>> predicted;
  Judged judged;

  bool is_judged() const { return predicted && judged == Judged::yes; }
};

std::vector<StepNumber> numbers_of(const Study& study, const MeasuredStep& measured) {
  const std::optional<PredictedStep> predicted = predicted_step(study, measured);
  const auto step = predicted ? predicted->step : std::nullopt;
  const auto residual = predicted ? std::optional(predicted->residual) : std::nullopt;
  std::vector<StepNumber> numbers;
  if (measured.span == StepSpan::kernels)
    numbers.push_back({"kernels of the step, a lower end", measured.time, step, Judged::no});
  else
    numbers.push_back({"step", measured.time, step, Judged::yes});
  if (measured.residual)
    numbers.push_back({"residual path", *measured.residual, residual, Judged::yes});
  return numbers;
}

bool cannot_run(const Evaluation& e, std::string_view workload) {
  return std::any_of(e.step.begin(), e.step.end(), [&](const StepRow& row) {
    return row.workload == workload && row.path == &e.paths.front() && does_not_fit(row);
  });
}

}  // namespace

Table attachment_table(const Evaluation& e) {
  Table table{{{"workload"}, {"the residual path is"}}, {}};
  for (const AttachmentRow& row : e.attachments) {
    const std::string column = fmt::format("{}, {}{}", name(row.scheme), name(row.schedule),
                                           is_standard(row.scheme) ? "" : ", adds");
    const auto known = std::find_if(table.columns.begin(), table.columns.end(),
                                    [&](const auto& other) { return other.header == column; });
    if (known == table.columns.end()) table.columns.push_back({column});
  }
  for (const AttachmentRow& first : e.attachments) {
    if (!is_standard(first.scheme)) continue;
    std::vector<std::string> cells{first.workload, first.attachment == Attachment::standalone
                                                       ? "kernels of its own"
                                                       : "inside the all-reduce"};
    for (const AttachmentRow& row : e.attachments)
      if (row.workload == first.workload && row.attachment == first.attachment)
        cells.push_back(&row == &first ? format_seconds(row.residual)
                                       : format_seconds(row.delta, Sign::always));
    table.rows.push_back(std::move(cells));
  }
  std::stable_sort(table.rows.begin(), table.rows.end(), [&](const auto& a, const auto& b) {
    const std::vector<std::string> order = timed_workloads(e);
    return std::find(order.begin(), order.end(), a[0]) <
           std::find(order.begin(), order.end(), b[0]);
  });
  for (auto& row : table.rows)
    if (cannot_run(e, row[0])) row[0] += " (does not fit)";
  return table;
}

Table published_table(const Evaluation& e, std::span<const ComparedCase> published) {
  Table table{{{"scheme"},
               {"at"},
               {"nearest measured kernel"},
               {"sources", Align::right},
               {"T", Align::right},
               {"d", Align::right},
               {"buffers"},
               {"on"},
               {"by"},
               {"measured", Align::right},
               {"predicted [90 %]", Align::right},
               {"inside"}},
              {}};
  for (const NearestMeasurement& row : nearest_measurements(e, published)) {
    const ComparedCase& measured = *row.measured;
    table.rows.push_back(
        {row.scheme, fmt::format("{}", fmt::join(row.workloads, ", ")), measured.call.operation,
         sources_text(measured.call), std::to_string(measured.call.num_tokens),
         std::to_string(measured.call.hidden_size), std::string(name(measured.call.temperature)),
         measured.hardware, measured.stacks.front().stack,
         format_seconds(measured.comparison.measured.value),
         format_seconds(measured.comparison.predicted),
         inside_text(measured.comparison.is_inside)});
  }
  return table;
}

Table published_step_table(const Evaluation& e, std::span<const MeasuredStep> published) {
  Table table{{{"measured step"},
               {"what"},
               {"on"},
               {"by"},
               {"measured time", Align::right},
               {"predicted [90 %]", Align::right},
               {"inside"}},
              {}};
  for (const MeasuredStep& step : measured_steps_of(e.study, published))
    for (const StepNumber& number : numbers_of(e.study, step))
      table.rows.push_back(
          {fmt::format("decode/{}", step.sequences), number.what,
           fmt::format("{} x {}", step.tensor, step.machine.name), step.stack,
           format_seconds(number.measured),
           number.predicted ? format_seconds(*number.predicted) : "-",
           number.is_judged() ? inside_text(holds(*number.predicted, number.measured)) : ""});
  return table;
}

std::vector<std::string> published_warnings(const Evaluation& e,
                                            std::span<const ComparedCase> published,
                                            std::span<const MeasuredStep> published_steps) {
  std::vector<std::string> warnings;
  for (const NearestMeasurement& row : nearest_measurements(e, published)) {
    const Comparison& comparison = row.measured->comparison;
    if (!comparison.is_inside)
      warnings.push_back(fmt::format(
          "Warning: {} took {} ({}), which lies outside the predicted {}. Times of {} at {} may be "
          "as far off.",
          call_text(*row.measured), format_seconds(comparison.measured.value),
          row.measured->stacks.front().stack, format_seconds(comparison.predicted), row.scheme,
          fmt::join(row.workloads, ", ")));
  }
  for (const MeasuredStep& step : measured_steps_of(e.study, published_steps))
    for (const StepNumber& number : numbers_of(e.study, step))
      if (number.is_judged() && !holds(*number.predicted, number.measured))
        warnings.push_back(fmt::format(
            "Warning: the {} of {} took {}, which lies outside the predicted {}.", number.what,
            step_text(step), format_seconds(number.measured), format_seconds(*number.predicted)));
  return warnings;
}

}  // namespace depthcost
