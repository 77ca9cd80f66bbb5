// Each section of the answer explains its own numbers.
#include "reports/explain.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/explain_ledger.hpp"

namespace depthcost {
namespace {

using Explanations = std::vector<Explanation>;

std::string joined(std::initializer_list<std::string_view> parts) {
  return fmt::format("{}", fmt::join(parts, "."));
}

/// d-vectors of each block, as far as a line can hold them.
std::string block_sums(const ResidualPath& path, Counting counting, const Partition& partition) {
  std::vector<std::string> sums;
  Count layer = 1;
  for (Count block = 1; block <= partition.num_blocks && sums.size() < 16; ++block) {
    Traffic sum;
    for (Count i = 0; i < partition.size(block); ++i)
      sum = sum + layer_traffic(path, counting, layer++);
    sums.push_back(fmt::format("{:g}", total_d(sum)));
  }
  const bool all = static_cast<Count>(sums.size()) == partition.num_blocks;
  return fmt::format("d-vectors by block of {} layers: {}{}", partition.block_size,
                     fmt::join(sums, " + "), all ? "" : " + ...");
}

/// "N = 8, S = 24, L = 186" or "m = 4, L = 186".
std::string letters(const ResidualPath& path) {
  if (const Partition* p = blocks_of(path.scheme))
    return fmt::format("L = {}, S = {}, N = {}, last block {}", path.num_layers, p->block_size,
                       p->num_blocks, p->last_size);
  if (const auto* mhc = std::get_if<Mhc>(&path.scheme))
    return fmt::format("L = {}, m = {}", path.num_layers, mhc->num_streams);
  return fmt::format("L = {}", path.num_layers);
}

void explain_ledger(const Evaluation& e, Explanations& out) {
  for (const LedgerRow& row : e.ledger) {
    if (row.kind != LedgerRowKind::mean) continue;
    const LedgerFormula formula = ledger_formula(row.path->scheme, row.counting);
    const Traffic total = total_traffic(*row.path, row.counting);
    Explanation x{.metric = joined({"ledger", name(row.path->scheme), name(row.counting.schedule),
                                    name(row.counting.convention)}),
                  .formula = formula.formula,
                  .source = formula.source,
                  .function = formula.function};
    x.numbers.push_back(letters(*row.path));
    const Partition* partition = blocks_of(row.path->scheme);
    if (partition != nullptr && row.counting.convention != Convention::paper)
      x.numbers.push_back(block_sums(*row.path, row.counting, *partition));
    x.numbers.push_back(fmt::format("all layers: {:g} r + {:g} w = {:g} d-vectors, {:g} scalars",
                                    total.reads_d, total.writes_d, total_d(total),
                                    total_scalars(total)));
    x.numbers.push_back(fmt::format("mean over {} layers: {:.6g} d = {:.6g} bytes a token",
                                    row.path->num_layers, total_d(row.traffic), row.bytes.value));
    if (!inside_domain(*row.path, row.counting))
      x.numbers.push_back("outside its domain: blocks differ in size, Table 1 assumes S = L/N");
    out.push_back(std::move(x));
  }
}

void explain_aggregation(const Evaluation& e, Explanations& out) {
  if (e.aggregation.source_rows == 0) return;
  out.push_back(
      {.metric = "aggregation.source_rows",
       .formula = "Full: L(L+1)/2 + L + 1; Block: sum over blocks of S n + S - 1, and N + 1",
       .source = "[attnres] Eq. 4, 6, counted",
       .numbers = {letters(e.study.path),
                   fmt::format("{} sublayer calls and the output, {} sources in all, at most {}",
                               e.aggregation.sublayer_calls, e.aggregation.source_rows,
                               e.aggregation.max_sources)},
       .function = "model/arithmetic.cpp: aggregation"});
}

void explain_arithmetic(const Evaluation& e, Explanations& out) {
  for (std::size_t i = 0; i < e.paths.size(); ++i)
    out.push_back(
        {.metric = joined({"parameters", name(e.paths[i].scheme)}),
         .formula = "AttnRes: 2 d per layer and for the output; mHC: m d (m^2 + 2m) + m^2 + 2m + 3",
         .source = "[attnres] Sec. 5; [mhc] Eq. 7-8",
         .numbers = {letters(e.paths[i]) + fmt::format(", d = {}", e.study.model.hidden_size),
                     fmt::format("{:g} a layer, {:.12g} in all", e.parameters[i].per_layer,
                                 e.parameters[i].total)},
         .function = "model/arithmetic.cpp: parameters"});
  for (const SchemeFlops& row : e.flops)
    out.push_back(
        {.metric = joined({"flops", name(row.path->scheme), name(row.schedule)}),
         .formula = "AttnRes: 4 d per (query, source) pair, 3 d per normalised key; mHC: 2 m d "
                    "(m^2 + 2m) for phi, 2 (m^2 + 2m) d for the mixes; standard: d",
         .source = "[ours] REFERENCES.md, operations",
         .numbers = {letters(*row.path), fmt::format("{:.12g} per token", row.total.value)},
         .function = "model/arithmetic.cpp: total_flops"});
}

void explain_pipeline(const Evaluation& e, Explanations& out) {
  if (!e.pipeline) return;
  const PipelineAnswer& p = *e.pipeline;
  const PipelineLayout& layout = *e.study.pipeline;
  const std::string shape =
      fmt::format("P = {}, V = {}, C = {}", layout.num_stages, layout.num_virtual_stages,
                  layout.num_stages * layout.num_virtual_stages);
  if (!p.events.empty()) {
    out.push_back({.metric = "pipeline.formula.naive_d",
                   .formula = "C (C - 1) / 2 N_p, N_p = N / C",
                   .source = "[attnres] Eq. 7",
                   .numbers = {shape, fmt::format("= {:.6g} d-vectors a token", p.naive_d)},
                   .function = "model/pipeline.hpp: naive_traffic"});
    out.push_back({.metric = "pipeline.formula.cached_d",
                   .formula = "(P (P - 1) / 2 + (V - 1) P^2) N_p",
                   .source = "[attnres] Eq. 8",
                   .numbers = {shape, fmt::format("= {:.6g} d-vectors a token", p.cached_d)},
                   .function = "model/pipeline.hpp: cached_traffic"});
  }
  for (const SchemePayload& row : p.by_scheme) {
    std::vector<std::string> vectors;
    for (const Transition& t : row.naive.transitions) vectors.push_back(std::to_string(t.vectors));
    out.push_back(
        {.metric = joined({"pipeline.by_scheme", name(row.path->scheme)}),
         .formula = "standard 1, mHC m, AttnRes: completed blocks, b_0, and the unfinished partial "
                    "sum at each transition",
         .source = "[attnres] Sec. 4.1, Fig. 3, enumerated",
         .numbers = {shape, fmt::format("naive, by transition: {}", fmt::join(vectors, " ")),
                     fmt::format(
                         "naive {} in all, {} at most; cache 'received' {} in all, {} at most",
                         row.naive.total, row.naive.peak, row.cached.total, row.cached.peak)},
         .function = "model/pipeline.hpp: pipeline_traffic"});
  }
}

void explain_prefill(const Evaluation& e, Explanations& out) {
  if (e.prefill.empty()) return;
  const PrefillShape shape = prefill_shape(e.study);
  const std::string tokens =
      fmt::format("ceil(min({}, {}) / {}) = {} tokens a device", shape.num_tokens,
                  shape.chunk ? std::to_string(*shape.chunk) : "no chunk", shape.sequence_shards,
                  tokens_per_device(shape));
  const std::string element =
      fmt::format("d = {}, {}", e.study.model.hidden_size, name(e.study.model.dtype));
  const auto add = [&](const std::string& name, const std::string& formula,
                       const std::string& source, Bytes bytes, const std::string& function) {
    out.push_back({.metric = "prefill." + name,
                   .formula = formula,
                   .source = source,
                   .numbers = {letters(e.study.path), tokens, element,
                               fmt::format("= {:.12g} bytes", bytes.value)},
                   .function = "model/prefill.hpp: " + function});
  };
  const PrefillMemory& memory = e.prefill.front();
  add("bank_bytes_per_device", "N ceil(min(T, chunk) / P) d elements", "[attnres] Sec. 4.2",
      memory.bank, "bank_bytes");
  add("bank_with_embedding_bytes_per_device", "(N + 1) ceil(min(T, chunk) / P) d elements",
      "[attnres] Sec. 4.2, and b_0, which it leaves out", memory.bank_with_embedding, "bank_bytes");
  add("phase1_bytes_per_device", "S ceil(min(T, chunk) / P) (d elements + 2 scalars)",
      "[ours] from [attnres] Algorithm 1, line 3", memory.phase1, "phase1_bytes");
}

std::string microseconds(Seconds seconds) { return fmt::format("{:.6g} us", seconds.value * 1e6); }

void explain_time(const Evaluation& e, Explanations& out) {
  for (const StepRow& row : e.step) {
    Explanation x{
        .metric = joined({"step", row.workload, name(row.path->scheme), name(row.schedule)}),
        .formula =
            "sum over launches of a(launch, level, skeleton) + max(bytes / bandwidth, operations / "
            "rate), less the same sum of the fused standard residual",
        .source = "[ours] REFERENCES.md, time",
        .function = "model/step.cpp: step_times; model/time.cpp: time_terms"};
    for (const TimeRow& time : e.time)
      if (time.workload == row.workload && time.path == row.path && time.schedule == row.schedule)
        x.numbers.push_back(fmt::format("{:g} x {} ({} sources, {:g} d) at {:g} tokens: {}",
                                        time.calls, name(time.operation.id), time.operation.sources,
                                        total_d(traffic(time.operation)), time.tokens,
                                        microseconds(time.predicted.value)));
    x.numbers.push_back(fmt::format("residual path {}, added {} [{}, {}]",
                                    microseconds(row.residual.value), microseconds(row.delta.value),
                                    microseconds(row.delta.low), microseconds(row.delta.high)));
    out.push_back(std::move(x));
  }
}

void explain_budgets(const Evaluation& e, Explanations& out) {
  const auto text = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.6g}", *value) : "unknown";
  };
  for (const BudgetRow& row : e.budgets)
    out.push_back(
        {.metric = joined({"budgets", name(row.budget.kind)}),
         .formula =
             "pass if the high end keeps the limit, fail if the low end breaks it, else unknown",
         .source = "[ours] REFERENCES.md, budgets",
         .numbers = {fmt::format("limit {:.6g}, at least {}, at most {}: {}", row.budget.limit,
                                 text(row.low), text(row.high), name(row.verdict)),
                     row.reason.empty() ? "nothing is missing" : row.reason},
         .function = "model/budget.cpp: budget_rows"});
}

Explanations all_explanations(const Evaluation& e) {
  Explanations out;
  explain_ledger(e, out);
  explain_aggregation(e, out);
  explain_arithmetic(e, out);
  explain_pipeline(e, out);
  explain_prefill(e, out);
  explain_time(e, out);
  explain_budgets(e, out);
  return out;
}

}  // namespace

std::optional<Explanation> explain(const Evaluation& evaluation, const std::string& metric) {
  for (Explanation& explanation : all_explanations(evaluation))
    if (explanation.metric == metric) return std::move(explanation);
  return std::nullopt;
}

std::vector<std::string> explainable_metrics(const Evaluation& evaluation) {
  std::vector<std::string> metrics;
  for (const Explanation& explanation : all_explanations(evaluation))
    metrics.push_back(explanation.metric);
  return metrics;
}

std::string to_text(const Explanation& explanation) {
  std::string text = fmt::format("{}\n  formula   {}\n  source    {}\n", explanation.metric,
                                 explanation.formula, explanation.source);
  for (const std::string& line : explanation.numbers) text += fmt::format("  numbers   {}\n", line);
  return text + fmt::format("  function  {}\n", explanation.function);
}

}  // namespace depthcost
