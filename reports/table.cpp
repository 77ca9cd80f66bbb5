// One function per section.
#include "reports/table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/format.hpp"
#include "reports/quantities.hpp"

namespace depthcost {
namespace {

std::string both_prefixes(Bytes bytes) {
  return fmt::format("{} ({})", format_bytes(bytes, Prefix::decimal),
                     format_bytes(bytes, Prefix::binary));
}

std::string convention_text(const LedgerRow& row) {
  return fmt::format("{}{}", name(row.counting.convention),
                     inside_domain(*row.path, row.counting) ? "" : "*");
}

/// The output aggregation that belongs to a mean, or nothing.
const LedgerRow* output_row(const Evaluation& evaluation, const LedgerRow& mean) {
  const auto found =
      std::find_if(evaluation.ledger.begin(), evaluation.ledger.end(), [&](const LedgerRow& row) {
        return row.kind == LedgerRowKind::output_aggregation && row.path == mean.path &&
               row.counting == mean.counting;
      });
  return found == evaluation.ledger.end() ? nullptr : &*found;
}

std::vector<std::string> ledger_cells(const LedgerRow& mean, const LedgerRow* output,
                                      const VectorStorage& types) {
  const Bytes forward = bytes(forward_traffic(*mean.path, mean.counting), types);
  return {std::string(name(mean.path->scheme)),
          std::string(name(mean.counting.schedule)),
          convention_text(mean),
          format_d(mean.traffic.reads_d),
          format_d(mean.traffic.writes_d),
          format_d(total_d(mean.traffic)),
          output ? format_d(total_d(output->traffic)) : std::string(kNothing),
          format_bytes(forward, Prefix::decimal)};
}

std::string optional_text(BudgetKind kind, const std::optional<double>& value, Sign sign) {
  return value ? format_budget(kind, *value, sign) : std::string(kNothing);
}

/// "[low, high]", or "at least low" where there is no high end.
std::string have_text(BudgetKind kind, const BudgetNumbers& numbers) {
  if (!numbers.low) return std::string(kNothing);
  const std::string low = format_budget(kind, *numbers.low);
  if (!numbers.high) return "at least " + low;
  if (*numbers.low == *numbers.high) return low;
  return fmt::format("[{}, {}]", low, format_budget(kind, *numbers.high));
}

}  // namespace

Table ledger_table(const Evaluation& evaluation) {
  Table table{{{"scheme"},
               {"schedule"},
               {"convention"},
               {"reads", Align::right},
               {"writes", Align::right},
               {"layer", Align::right},
               {"output", Align::right},
               {"forward", Align::right}},
              {}};
  for (const LedgerRow& row : evaluation.ledger)
    if (row.kind == LedgerRowKind::mean)
      table.rows.push_back(
          ledger_cells(row, output_row(evaluation, row), storage_of(evaluation.study)));
  return table;
}

Table layer_table(std::span<const LedgerRow> layers) {
  Table table{{{"scheme"},
               {"schedule"},
               {"convention"},
               {"layer", Align::right},
               {"operation"},
               {"reads", Align::right},
               {"writes", Align::right},
               {"bytes", Align::right}},
              {}};
  for (const LedgerRow& row : layers)
    table.rows.push_back(
        {std::string(name(row.path->scheme)), std::string(name(row.counting.schedule)),
         convention_text(row), row.layer > 0 ? format_count(row.layer) : "output",
         std::string(operation_name(row)), format_d(row.traffic.reads_d),
         format_d(row.traffic.writes_d), format_bytes(row.bytes, Prefix::decimal)});
  return table;
}

Table aggregation_table(const Aggregation& aggregation) {
  return {{{"calls in layers", Align::right},
           {"(query, source) pairs", Align::right},
           {"most sources", Align::right},
           {"sources of the output", Align::right}},
          {{format_count(aggregation.sublayer_calls), format_count(aggregation.source_rows),
            format_count(aggregation.max_sources), format_count(aggregation.output_sources)}}};
}

Table prefill_table(const Evaluation& evaluation) {
  Table table{{{"scheme"},
               {"bank or state", Align::right},
               {"with b_0", Align::right},
               {"Phase 1 outputs", Align::right},
               {"as KV tokens", Align::right}},
              {}};
  for (std::size_t i = 0; i < evaluation.prefill.size(); ++i) {
    const PrefillMemory& memory = evaluation.prefill[i];
    table.rows.push_back({std::string(name(evaluation.paths[i].scheme)), both_prefixes(memory.bank),
                          both_prefixes(memory.bank_with_embedding), both_prefixes(memory.phase1),
                          memory.cache_tokens
                              ? format_count(static_cast<Count>(*memory.cache_tokens))
                              : std::string(kNothing)});
  }
  return table;
}

Table pipeline_table(const PipelineAnswer& pipeline) {
  Table table{{{"scheme"},
               {"naive, all", Align::right},
               {"naive, largest", Align::right},
               {"cached, all", Align::right},
               {"cached, largest", Align::right}},
              {}};
  const auto vectors = [](Count count) { return format_d(static_cast<double>(count)); };
  for (const SchemePayload& row : pipeline.by_scheme)
    table.rows.push_back({std::string(name(row.path->scheme)), vectors(row.naive.total),
                          vectors(row.naive.peak), vectors(row.cached.total),
                          vectors(row.cached.peak)});
  return table;
}

std::vector<std::string> timed_workloads(const Evaluation& evaluation) {
  std::vector<std::string> workloads;
  for (const StepRow& row : evaluation.step)
    if (std::find(workloads.begin(), workloads.end(), row.workload) == workloads.end())
      workloads.push_back(row.workload);
  return workloads;
}

std::string overhead_text(const Evaluation& evaluation, const StepRow& row) {
  if (row.overhead) return format_ratio(*row.overhead, Sign::always);
  return is_too_large(evaluation.study, evaluation.memory, row.workload, row.path->scheme)
             ? "does not fit"
             : std::string(kNothing);
}

Table step_table(const Evaluation& evaluation, std::string_view workload, StepColumns columns) {
  Table table{{{"scheme"},
               {"schedule"},
               {"delta [90 %]", Align::right},
               {"overhead [90 %]", Align::right},
               {"dominant"},
               {"evidence"}},
              {}};
  const bool with_share = columns == StepColumns::with_share;
  if (with_share) table.columns.insert(table.columns.begin() + 4, {"share [90 %]", Align::right});
  for (const StepRow& row : evaluation.step) {
    if (row.workload != workload) continue;
    table.rows.push_back({std::string(name(row.path->scheme)), std::string(name(row.schedule)),
                          format_seconds(row.delta, Sign::always), overhead_text(evaluation, row),
                          std::string(name(row.dominant)), std::string(name(row.delta.evidence))});
    if (!with_share) continue;
    std::vector<std::string>& cells = table.rows.back();
    cells.insert(cells.begin() + 4, row.share ? format_ratio(*row.share) : std::string(kNothing));
  }
  return table;
}

Table budget_table(std::span<const BudgetRow> budgets) {
  Table table{{{"budget"},
               {"need", Align::right},
               {"have", Align::right},
               {"shortfall", Align::right},
               {"margin", Align::right},
               {"verdict"}},
              {}};
  for (const BudgetRow& row : budgets) {
    const BudgetKind kind = row.budget.kind;
    const BudgetNumbers numbers = numbers_of(row);
    table.rows.push_back(
        {std::string(name(kind)), optional_text(kind, numbers.limit, Sign::minus_only),
         have_text(kind, numbers),
         row.verdict == Verdict::fail ? optional_text(kind, numbers.shortfall, Sign::minus_only)
                                      : std::string(kNothing),
         optional_text(kind, numbers.margin, Sign::always), std::string(name(row.verdict))});
  }
  return table;
}

std::vector<std::string> budget_notes(std::span<const BudgetRow> budgets) {
  std::vector<std::string> notes;
  for (const BudgetRow& row : budgets)
    for (const std::string& note : {row.reason, row.nearest})
      if (!note.empty()) notes.push_back(fmt::format("{}: {}", name(row.budget.kind), note));
  return notes;
}

}  // namespace depthcost
