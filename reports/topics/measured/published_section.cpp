// The nearest kernels, and steps of the same model.
#include "reports/topics/measured/published_section.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

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
  return fmt::format("{}, {} x {}", name(WorkloadId::decode(step.sequences)), step.tensor,
                     step.machine.name);
}

/// Whether the prediction must hold the number. A sum of kernels leaves out the idle time between
/// them, so that it is only a lower end of the step.
enum class Judged : std::uint8_t { no, yes };

/// "with block_attnres at context 100,000", or where its source does not say the context "... at an
/// assumed context of 100,000".
std::string condition_text(const Study& study, const MeasuredStep& step) {
  return fmt::format("with {} at {} {}", step.scheme,
                     step.context ? "context" : "an assumed context of",
                     format_count(step.context.value_or(study.decode->context)));
}

/// One number of a measured step beside its prediction.
struct StepNumber {
  std::string what;
  Seconds measured;
  std::optional<Estimate<Seconds>> predicted;
  Judged judged;
  bool is_step;

  bool is_judged() const { return predicted && judged == Judged::yes; }
};

std::string factor_text(double factor) {
  constexpr double kTwoDigits = 10;
  return factor < kTwoDigits ? fmt::format("{:.2g}", factor) : fmt::format("{:.0f}", factor);
}

/// By how much the prediction may be wrong, the measurement that says so, and what per cents are
/// then.
std::string warning_text(const Study& study, const MeasuredStep& step, const StepNumber& number) {
  const std::string start =
      step.machine.name == study.machine->name ? "Warning:" : "Warning from other hardware:";
  const std::string measured =
      fmt::format("{} measured {} at {} ({}); the prediction is {}.", step.stack,
                  format_seconds(number.measured), step_text(step),
                  number.is_step ? condition_text(study, step) : number.what,
                  format_seconds(*number.predicted));
  if (!number.is_step) return fmt::format("{} {}", start, measured);
  const double factor = number.predicted->value / number.measured;
  return fmt::format(
      "{} decode steps may be {} times {} than predicted. {} Then each per cent of decode is {} times "
      "as large.",
      start, factor_text(std::max(factor, 1 / factor)), factor > 1 ? "shorter" : "longer", measured,
      factor_text(factor));
}

std::vector<StepNumber> numbers_of(const Study& study, const MeasuredStep& measured) {
  const std::optional<PredictedStep> predicted = predicted_step(study, measured);
  std::vector<StepNumber> numbers;
  if (!predicted) return numbers;
  const auto step = predicted->step;
  const std::optional<Estimate<Seconds>> residual = predicted->residual;
  if (measured.span == StepSpan::kernels)
    numbers.push_back(
        {"kernels without the time between them", measured.time, step, Judged::no, true});
  else
    numbers.push_back({"step", measured.time, step, Judged::yes, true});
  if (measured.residual)
    numbers.push_back(
        {"residual path, standalone", *measured.residual, residual, Judged::yes, false});
  return numbers;
}

/// What the measured steps carry, and by which context they are predicted.
std::string steps_sentence(const Evaluation& e, std::span<const MeasuredStep> published) {
  const std::vector<MeasuredStep> steps = measured_steps_of(e.study, published);
  const bool is_assumed = std::any_of(steps.begin(), steps.end(),
                                      [](const MeasuredStep& step) { return !step.context; });
  return fmt::format("Measured steps carry `{}`.{}", name(e.study.path.scheme),
                     is_assumed ? " Where a source does not say the context, that of this scenario "
                                  "is assumed."
                                : "");
}

}  // namespace

void write_summary(Document& out) {
  const Evaluation& e = out.evaluation();
  const std::string kernels = nearest_sentence(e, out.parts().published);
  const Table steps = published_step_table(e, out.parts().published_steps);
  if (kernels.empty() && steps.rows.empty()) return;
  out.paragraph("**Beside what others measured.** All times above are modelled. " + kernels);
  if (steps.rows.empty()) return;
  out.paragraph(steps_sentence(e, out.parts().published_steps));
  out.table(steps);
}

void write_markdown(Document& out) {
  const Table kernels = published_table(out.evaluation(), out.parts().published);
  if (kernels.rows.empty()) return;
  out.heading("Nearest measured kernels of others");
  out.paragraph(
      "The nearest published kernel to each operation of a quoted schedule, with the prediction of "
      "that very call, by constants that were fitted without its GPU.");
  out.table(kernels);
}

}  // namespace published_section

using namespace published_section;

std::string nearest_sentence(const Evaluation& e, std::span<const ComparedCase> published) {
  const std::vector<NearestMeasurement> rows = nearest_measurements(e, published);
  if (rows.empty()) return "";
  const auto held = std::count_if(rows.begin(), rows.end(), [](const NearestMeasurement& row) {
    return row.measured->comparison.is_inside;
  });
  return fmt::format(
      "{} of the {} nearest published kernels lie inside the interval predicted for that very "
      "call.",
      held, rows.size());
}

Table published_table(const Evaluation& e, std::span<const ComparedCase> published) {
  Table table{{"scheme", "at", "nearest measured kernel", right("measured"),
               right("predicted [90 %]"), "inside"}};
  for (const NearestMeasurement& row : nearest_measurements(e, published)) {
    const ComparedCase& measured = *row.measured;
    table.add(row.scheme, fmt::format("{}", fmt::join(workload_names(row.workloads), ", ")),
              fmt::format("{} ({})", call_text(measured), measured.stacks.front().stack),
              format_seconds(measured.comparison.measured.value),
              format_seconds(measured.comparison.predicted),
              inside_text(measured.comparison.is_inside));
  }
  return table;
}

Table published_step_table(const Evaluation& e, std::span<const MeasuredStep> published) {
  Table table{
      {"measured step", "what", right("measured"), right("predicted [90 %]"), "inside", "by"}};
  for (const MeasuredStep& step : measured_steps_of(e.study, published))
    for (const StepNumber& number : numbers_of(e.study, step))
      if (number.predicted)
        table.add(step_text(step), number.what, format_seconds(number.measured),
                  format_seconds(*number.predicted),
                  number.is_judged() ? inside_text(holds(*number.predicted, number.measured))
                                     : "not compared",
                  step.stack);
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
        warnings.push_back(warning_text(e.study, step, number));
  return warnings;
}

}  // namespace depthcost
