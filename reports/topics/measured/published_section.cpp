// The nearest kernels, and steps of the same model.
#include "reports/topics/measured/published_section.hpp"

#include <fmt/format.h>

#include "reports/formats/numbers.hpp"

namespace depthcost {
namespace published_section {
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
  return fmt::format("{} on {} x {} ({})", name(WorkloadId::decode(step.sequences)), step.tensor,
                     step.machine.name, step.stack);
}

/// Whether the prediction must hold the number. A sum of kernels leaves out the idle time between
/// them, so that it is only a lower end of the step.
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

}  // namespace

void write_markdown(Document& out) {
  const Table kernels = published_table(out.evaluation(), out.parts().published);
  const Table steps = published_step_table(out.evaluation(), out.parts().published_steps);
  if (!kernels.rows.empty() || !steps.rows.empty())
    out.paragraph(
        "**Beside what others measured.** All times above are modelled. Here is the nearest "
        "published kernel to each, with the prediction of that very call, and published steps of "
        "this model, each predicted on the device that was measured. The constants of few tokens were fitted on tables that hold some of these "
        "rows.");
  if (!kernels.rows.empty()) out.table(kernels);
  if (!steps.rows.empty()) out.table(steps);
}

}  // namespace published_section

using namespace published_section;

Table published_table(const Evaluation& e, std::span<const ComparedCase> published) {
  Table table{{"scheme", "at", "nearest measured kernel", right("sources"), right("T"), right("d"),
               "buffers", "on", "by", right("measured"), right("predicted [90 %]"), "inside"}};
  for (const NearestMeasurement& row : nearest_measurements(e, published)) {
    const ComparedCase& measured = *row.measured;
    table.add(row.scheme, fmt::format("{}", fmt::join(workload_names(row.workloads), ", ")),
              measured.call.operation, sources_text(measured.call),
              std::to_string(measured.call.num_tokens), std::to_string(measured.call.hidden_size),
              name(measured.call.temperature), measured.hardware, measured.stacks.front().stack,
              format_seconds(measured.comparison.measured.value),
              format_seconds(measured.comparison.predicted),
              inside_text(measured.comparison.is_inside));
  }
  return table;
}

Table published_step_table(const Evaluation& e, std::span<const MeasuredStep> published) {
  Table table{{"measured step", "what", "on", "by", right("measured time"),
               right("predicted [90 %]"), "inside"}};
  for (const MeasuredStep& step : measured_steps_of(e.study, published))
    for (const StepNumber& number : numbers_of(e.study, step))
      table.add(name(WorkloadId::decode(step.sequences)), number.what,
                fmt::format("{} x {}", step.tensor, step.machine.name), step.stack,
                format_seconds(number.measured),
                number.predicted ? format_seconds(*number.predicted) : "-",
                number.is_judged() ? inside_text(holds(*number.predicted, number.measured)) : "");
  return table;
}

std::string measurement_text(const ComparedCase& measured) {
  return fmt::format("{} took {} ({})", call_text(measured),
                     format_seconds(measured.comparison.measured.value),
                     measured.stacks.front().stack);
}

std::vector<std::string> published_warnings(const Evaluation& e, const ReportParts& parts) {
  std::vector<std::string> warnings;
  for (const NearestMeasurement& row : nearest_measurements(e, parts.published)) {
    const Comparison& comparison = row.measured->comparison;
    if (!comparison.is_inside)
      warnings.push_back(fmt::format(
          "Warning: {}, which lies outside the predicted {}. Times of {} at {} may be as far off.",
          measurement_text(*row.measured), format_seconds(comparison.predicted), row.scheme,
          fmt::join(workload_names(row.workloads), ", ")));
  }
  for (const MeasuredStep& step : measured_steps_of(e.study, parts.published_steps))
    for (const StepNumber& number : numbers_of(e.study, step))
      if (number.is_judged() && !holds(*number.predicted, number.measured))
        warnings.push_back(fmt::format(
            "Warning: the {} of {} took {}, which lies outside the predicted {}.", number.what,
            step_text(step), format_seconds(number.measured), format_seconds(*number.predicted)));
  return warnings;
}

}  // namespace depthcost
