// Three tables: what was found, what is predicted, and what could not be mapped.
#include "reports/comparison/trace_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "reports/formats/json_writer.hpp"
#include "reports/formats/numbers.hpp"
#include "reports/formats/text_table.hpp"

namespace depthcost {
namespace {

constexpr std::size_t kMostUnmapped = 10;

/// Characters of a kernel's name in a table.
constexpr std::size_t kMostOfName = 60;

std::string share_of(Seconds part, const TracedStep& traced) {
  return format_ratio(part / traced.kernel_time);
}

std::string operation_cell(const TracedKernels& kernels) {
  if (kernels.beside.empty()) return kernels.name;
  return fmt::format("{} with {}", kernels.name, kernels.beside);
}

std::string name_cell(const std::string& name) {
  if (name.size() <= kMostOfName) return name;
  return name.substr(0, kMostOfName - 3) + "...";
}

Table operation_table(const TracedStep& traced) {
  Table table{{"operation", right("launches"), right("time"), right("of kernel time")}};
  Count launches = 0;
  for (const TracedKernels& kernels : traced.operations) {
    table.add(operation_cell(kernels), format_count(kernels.launches), format_seconds(kernels.time),
              share_of(kernels.time, traced));
    if (kernels.beside.empty()) launches += kernels.launches;
  }
  table.add("residual path", format_count(launches), format_seconds(traced.residual),
            share_of(traced.residual, traced));
  return table;
}

/// The overhead in the trace, where its steps and its workload are known.
std::optional<double> overhead_of_trace(const TracedStep& traced) {
  const PredictedTrace* row = predicted_step(traced);
  return row == nullptr ? std::nullopt : traced_overhead(traced, *row);
}

Table prediction_table(const TracedStep& traced) {
  Table table{{"step", right("residual path"), right("of the step"), right("overhead")}};
  const bool has_steps = traced.steps > 0;
  const double steps = has_steps ? static_cast<double>(traced.steps) : 1;
  const std::optional<double> found = overhead_of_trace(traced);
  table.add("the trace", has_steps ? format_seconds((1 / steps) * traced.residual) : kNothing,
            format_ratio(traced.share_of_span()),
            found ? format_ratio(*found, Sign::always) : std::string(kNothing));
  for (const PredictedTrace& row : traced.predicted) {
    const std::string_view unknown = row.fits ? "not known" : "does not fit";
    table.add(fmt::format("predicted {}", name(row.workload)), format_seconds(row.residual),
              row.share ? format_ratio(*row.share) : std::string(unknown),
              row.overhead ? format_ratio(*row.overhead, Sign::always) : std::string(kNothing));
  }
  return table;
}

std::string names_of(const std::vector<PredictedTrace>& rows) {
  std::string text;
  for (const PredictedTrace& row : rows)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", name(row.workload));
  return text;
}

/// Where the trace lies beside the prediction.
std::string place_of(double found, const Estimate<double>& predicted) {
  if (found < predicted.low) return "The trace lies below it";
  return found > predicted.high ? "The trace lies above it" : "The trace lies inside it";
}

/// Whether no traced kernel is one that the predicted scheme launches.
bool is_foreign(const TracedStep& traced) {
  for (const TracedKernels& kernels : traced.operations)
    if (std::find(traced.foreign.begin(), traced.foreign.end(), kernels.name) ==
        traced.foreign.end())
      return false;
  return true;
}

/// Why a trace with so many launches says nothing of the prediction.
std::string launches_differ(const TracedStep& traced, const PredictedTrace& row) {
  std::string text = fmt::format(
      "The overhead is not known: a step of the trace has {:.4g} kernels of the residual path, and "
      "the prediction of {} has {}.",
      launches_per_step(traced), name(row.workload), format_count(row.launches));
  if (traced.pipeline_stages > 1)
    return text + fmt::format(
                      " The scenario has {} pipeline stages: one rank runs a part of the layers, "
                      "which is not compared.",
                      traced.pipeline_stages);
  return text + " Are the model, the workload, --steps and --kernel-names right?";
}

/// Where a comparison is possible.
std::string compared_text(const TracedStep& traced, const PredictedTrace& row) {
  const std::optional<double> found = traced_overhead(traced, row);
  if (!found)
    return fmt::format(
        "The overhead is not known: the residual path takes {} of a step, and the standard residual "
        "alone is predicted to take {}. Is the trace a step of {}?",
        format_seconds((1 / as_double(traced.steps)) * traced.residual),
        format_seconds(row.standard), name(row.workload));
  std::string text = fmt::format("In the trace the residual path adds {} to the step.",
                                 format_ratio(*found, Sign::always));
  if (!row.overhead) return text + " The prediction is not known.";
  return text + fmt::format(" Predicted for {}: {}. {}.", name(row.workload),
                            format_ratio(*row.overhead, Sign::always),
                            place_of(*found, *row.overhead));
}

/// The answer in a line or two.
std::string verdict(const TracedStep& traced) {
  if (is_foreign(traced))
    return "None of these kernels is of the predicted scheme. Is the trace of another model?";
  if (traced.steps == 0)
    return "The overhead is not known. --steps N says how many steps the trace holds.";
  if (has_folded(traced))
    return fmt::format(
        "The overhead is not known: some kernels hold an all-reduce too. Without them the residual "
        "path takes {} of the step. Trace with the fusion off to see all of it.",
        format_ratio(traced.share_of_span()));
  const PredictedTrace* row = predicted_step(traced);
  if (row == nullptr)
    return fmt::format(
        "The overhead is not known. --workload NAME says which of these the trace is a step of: {}.",
        names_of(traced.predicted));
  return is_comparable(traced, *row) ? compared_text(traced, *row) : launches_differ(traced, *row);
}

/// Whether the trace runs what was predicted.
std::string launches_text(const TracedStep& traced) {
  std::string text;
  if (const PredictedTrace* row = predicted_step(traced))
    text = fmt::format("The prediction launches {} kernels of the residual path in a step",
                       format_count(row->launches));
  if (!text.empty() && traced.steps > 0)
    text += fmt::format("; the trace has {:.4g}", launches_per_step(traced));
  if (!text.empty()) text += ".";
  for (const std::string& name : traced.foreign)
    text += fmt::format("{}The predicted scheme has no {}.", text.empty() ? "" : " ", name);
  return text;
}

Table unmapped_table(const TracedStep& traced) {
  Table table{{"kernel", right("launches"), right("time"), right("of kernel time")}};
  for (std::size_t i = 0; i < traced.unmapped.size() && i < kMostUnmapped; ++i) {
    const TracedKernels& kernels = traced.unmapped[i];
    table.add(name_cell(kernels.name), format_count(kernels.launches), format_seconds(kernels.time),
              share_of(kernels.time, traced));
  }
  return table;
}

std::string steps_text(const TracedStep& traced) {
  if (traced.steps == 0) return "The number of steps is not known.";
  return fmt::format("That is {}.", format_counted(traced.steps, "step", "steps"));
}

/// How the kernels beyond the table are counted.
std::string rest_of_unmapped(const TracedStep& traced) {
  Seconds rest;
  for (std::size_t i = kMostUnmapped; i < traced.unmapped.size(); ++i)
    rest = rest + traced.unmapped[i].time;
  return fmt::format("{} more kernels have no operation, {} of the kernel time if summed.",
                     traced.unmapped.size() - kMostUnmapped, share_of(rest, traced));
}

std::vector<std::string> notes_of(const TraceReport& report) {
  const TracedStep& traced = report.traced;
  std::vector<std::string> notes{fmt::format(
      "{} kernels run in {} of {} from the first to the last. {} The trace's share of the step is "
      "of that span, with the waiting between kernels.",
      format_count(traced.launches), format_seconds(traced.kernel_time),
      format_seconds(traced.span), steps_text(traced))};
  notes.emplace_back(
      "A time is that in which at least one of the kernels runs: a kernel that is launched ahead "
      "waits inside its duration, and streams run beside one another. So rows may add up to more "
      "than the whole.");
  notes.push_back(fmt::format(
      "Predicted: {}, each with its 90 % interval. The overhead is against the standard residual, "
      "whose time is predicted for the trace too.",
      report.scheme));
  if (std::string launches = launches_text(traced); !launches.empty())
    notes.push_back(std::move(launches));
  if (has_folded(traced))
    notes.emplace_back(
        "A kernel that also does something else is listed, but not counted: how much of it is the "
        "residual path's is not known. So the share of the residual path is a lower bound.");
  if (traced.unmapped.size() > kMostUnmapped) notes.push_back(rest_of_unmapped(traced));
  notes.insert(notes.end(), report.notes.begin(), report.notes.end());
  return notes;
}

std::vector<std::pair<std::string, Table>> tables_of(const TracedStep& traced) {
  std::vector<std::pair<std::string, Table>> tables{
      {"The residual path in the trace", operation_table(traced)},
      {"Beside the prediction", prediction_table(traced)}};
  if (!traced.unmapped.empty())
    tables.push_back({"Kernels without an operation", unmapped_table(traced)});
  return tables;
}

void write_kernels(JsonWriter& json, const TracedKernels& kernels, std::string_view key,
                   const TracedStep& traced) {
  json.member(key, kernels.name);
  if (key == "operation") json.text_or_null("beside", kernels.beside);
  json.member("launches", kernels.launches);
  json.member("seconds", kernels.time.value);
  json.member("share_of_kernel_time", kernels.time / traced.kernel_time);
}

void write_ratio(JsonWriter& json, const std::string& key,
                 const std::optional<Estimate<double>>& ratio) {
  const auto end = [&](double Estimate<double>::*member) {
    return ratio ? std::optional((*ratio).*member) : std::nullopt;
  };
  json.member(key, end(&Estimate<double>::value));
  json.member(key + "_low", end(&Estimate<double>::low));
  json.member(key + "_high", end(&Estimate<double>::high));
}

void write_predicted(JsonWriter& json, const PredictedTrace& row, const TracedStep& traced) {
  json.member("workload", name(row.workload));
  json.member("launches", row.launches);
  json.member("residual_seconds", row.residual.value.value);
  json.member("residual_low_seconds", row.residual.low.value);
  json.member("residual_high_seconds", row.residual.high.value);
  json.member("standard_seconds", row.standard.value);
  write_ratio(json, "share", row.share);
  write_ratio(json, "overhead", row.overhead);
  json.member("traced_overhead", traced_overhead(traced, row));
}

}  // namespace

std::string to_table(const TraceReport& report) {
  std::string text = fmt::format("{}\n\n{}\n", report.title, verdict(report.traced));
  for (const auto& [title, table] : tables_of(report.traced))
    text += fmt::format("\n{}\n\n{}", title, plain_text(table));
  text += "\n";
  for (const std::string& line : notes_of(report)) text += line + "\n";
  return text;
}

std::string to_markdown(const TraceReport& report) {
  std::string text = fmt::format("# {}\n\n{}\n", report.title, verdict(report.traced));
  for (const auto& [title, table] : tables_of(report.traced))
    text += fmt::format("\n## {}\n\n{}", title, markdown(table));
  for (const std::string& line : notes_of(report)) text += "\n" + line + "\n";
  return text;
}

std::string to_json(const TraceReport& report, std::string_view program_version) {
  const TracedStep& traced = report.traced;
  return json_document(program_version, [&](JsonWriter& json) {
    json.member("title", report.title);
    json.member("scheme", report.scheme);
    json.text_or_null("workload", traced.workload ? name(*traced.workload) : "");
    json.member("launches", traced.launches);
    json.member("steps", traced.steps > 0 ? std::optional(as_double(traced.steps)) : std::nullopt);
    json.member("kernel_seconds", traced.kernel_time.value);
    json.member("span_seconds", traced.span.value);
    json.member("residual_seconds", traced.residual.value);
    json.member("share_of_kernel_time", traced.share_of_kernel_time());
    json.member("share_of_span", traced.share_of_span());
    json.objects("operations", traced.operations, [&](const TracedKernels& kernels) {
      write_kernels(json, kernels, "operation", traced);
    });
    json.texts("foreign", traced.foreign);
    json.objects("unmapped", traced.unmapped, [&](const TracedKernels& kernels) {
      write_kernels(json, kernels, "kernel", traced);
    });
    json.objects("predicted", traced.predicted,
                 [&](const PredictedTrace& row) { write_predicted(json, row, traced); });
    json.texts("notes", report.notes);
  });
}

}  // namespace depthcost
