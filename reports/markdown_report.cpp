// The sections of the report, in order.
#include "reports/markdown_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/format.hpp"
#include "reports/table.hpp"

namespace depthcost {
namespace {

/// Plain text that must not end or restyle the brackets that it stands in.
/// A name with a space or a bracket is a target only between < and >.
std::string link_target(const std::string& name) {
  return name.find_first_of(" ()") == std::string::npos ? name : "<" + name + ">";
}

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (std::string_view("\\[]`*_<>").find(c) != std::string_view::npos) safe += '\\';
    safe += c;
  }
  return safe;
}

/// Text being written, section by section.
class Document {
 public:
  Document(const Evaluation& evaluation, const ReportParts& parts)
      : evaluation_(evaluation), parts_(parts) {}

  void heading(const std::string& text) { text_ += fmt::format("\n## {}\n\n", text); }
  void paragraph(const std::string& text) { text_ += text + "\n\n"; }
  void table(const Table& table) { text_ += markdown(table) + "\n"; }
  void bullet(const std::string& text) { text_ += "- " + text + "\n"; }
  void end_list() { text_ += "\n"; }

  /// The plot whose file name starts with the report's stem and ends with `name`.
  void plot(std::string_view name) {
    for (const PlotFile& file : parts_.plots)
      if (file.file_name.ends_with(name))
        text_ += fmt::format("![{}]({})\n\n", escaped(file.caption), link_target(file.file_name));
  }

  const Evaluation& evaluation() const { return evaluation_; }
  const ReportParts& parts() const { return parts_; }
  std::string take() { return std::move(text_); }

 private:
  const Evaluation& evaluation_;
  const ReportParts& parts_;
  std::string text_;
};

void write_opening(Document& out) {
  const Study& study = out.evaluation().study;
  out.paragraph(fmt::format("# {}", escaped(study.name)));
  out.paragraph(fmt::format(
      "What {} ({} layers, d = {}, {}) pays for carrying its residual stream as `{}`{}. A layer is "
      "one sublayer, attention or MLP.",
      escaped(study.model.name), study.model.num_layers, format_count(study.model.hidden_size),
      name(study.model.dtype), name(study.path.scheme),
      study.machine ? fmt::format(", on {}", escaped(study.machine->name)) : ""));
  if (!out.evaluation().memory.empty()) {
    out.table(decision_table(out.evaluation()));
    out.paragraph(decision_legend(out.evaluation()));
  }
  std::string verdict = "**Verdict.**";
  for (const std::string& sentence : verdict_sentences(out.evaluation())) verdict += " " + sentence;
  out.paragraph(verdict);
  if (!out.parts().missing_plots.empty()) out.paragraph("*" + out.parts().missing_plots + "*");
  out.plot("added_time.svg");
}

/// What the user wrote, what was assumed, and what stands in for a value without a source.
void write_assumptions(Document& out) {
  out.heading("Assumptions and their origin");
  out.paragraph(fmt::format("<details><summary>{} values, each with where it comes from</summary>",
                            out.parts().values.size()));
  Table table{{{"key"}, {"value"}, {"origin"}}, {}};
  for (const ResolvedValue& value : out.parts().values)
    table.rows.push_back({fmt::format("`{}`", value.key), value.value, value.origin});
  out.table(table);
  out.paragraph("</details>");
}

/// "8 blocks of 24 layers, the last of 18"; what a remainder rule made of a number of blocks.
std::string partition_text(const Partition& p) {
  return fmt::format("{} blocks of {} layers{}", p.num_blocks, p.block_size,
                     p.is_uniform() ? "" : fmt::format(", the last of {}", p.last_size));
}

/// Scalars that Table 1 counts beside its d-vectors.
std::string scalars_text(const Evaluation& e) {
  std::string text;
  for (const LedgerRow& row : e.ledger)
    if (row.kind == LedgerRowKind::mean && row.counting.convention == Convention::paper &&
        total_scalars(row.traffic) > 0)
      text +=
          fmt::format("Table 1 charges `{}` for {} scalars beside its {}. ", name(row.path->scheme),
                      total_scalars(row.traffic), format_d(total_d(row.traffic)));
  return text;
}

void write_ledger(Document& out) {
  const Evaluation& e = out.evaluation();
  out.heading("Ledger: what is moved");
  out.paragraph(
      "d-vectors per token and layer (reads and writes of d elements), as the mean over layers; "
      "the output aggregation behind the last layer stands beside it. Convention `paper` is Table "
      "1 as printed, `kernel` what the operations of this project move; the others are defined in "
      "model/REFERENCES.md. A `*` marks Table 1 outside its domain: it assumes blocks of equal "
      "size.");
  out.table(ledger_table(e));
  if (const std::string scalars = scalars_text(e); !scalars.empty()) out.paragraph(scalars);
  if (const auto* block = std::get_if<BlockAttnRes>(&e.study.path.scheme))
    out.paragraph(fmt::format("`block_attnres` has {}.", partition_text(block->blocks)));
  if (e.aggregation.source_rows > 0) {
    out.paragraph(fmt::format(
        "`{}` attends {} times over {} sources in all, at most {} at once; the output aggregation "
        "alone over {}.",
        name(e.study.path.scheme), e.aggregation.sublayer_calls + 1,
        format_count(e.aggregation.source_rows), e.aggregation.max_sources,
        e.aggregation.output_sources));
  }
  out.plot("bytes.svg");
  out.plot("sources.svg");
}

void write_arithmetic(Document& out) {
  const Evaluation& e = out.evaluation();
  out.heading("Parameters and operations");
  Table table{{{"scheme"},
               {"schedule"},
               {"parameters", Align::right},
               {"a layer", Align::right},
               {"operations a token", Align::right}},
              {}};
  for (const SchemeFlops& row : e.flops) {
    const auto path = static_cast<std::size_t>(row.path - e.paths.data());
    table.rows.push_back({std::string(name(row.path->scheme)), std::string(name(row.schedule)),
                          format_count(static_cast<Count>(e.parameters[path].total)),
                          format_count(static_cast<Count>(e.parameters[path].per_layer)),
                          format_flops(row.total)});
  }
  out.table(table);
}

/// The quoted schedule of the study's scheme, operation by operation.
void write_time(Document& out) {
  const Evaluation& e = out.evaluation();
  if (e.time.empty()) return;
  out.heading("Time by operation");
  out.paragraph(
      "Every scheme and schedule, added to a step against the fused standard residual. Below, one "
      "call of each operation. `bound`: nothing can be faster. `critical`: what the layer waits "
      "for; the rest can be hoisted beside a neighbour that does not use the memory. `from "
      "memory`: share of the bytes that the cache does not serve.");
  for (const std::string& workload : timed_workloads(e)) {
    out.paragraph("**" + workload + "**");
    out.table(step_table(e, workload));
  }
  out.paragraph(fmt::format("<details><summary>{} as {}, operation by operation</summary>",
                            name(e.study.path.scheme), name(e.study.schedule)));
  for (const std::string& workload : timed_workloads(e)) {
    Table table{{{workload},
                 {"sources", Align::right},
                 {"moves", Align::right},
                 {"tokens", Align::right},
                 {"calls", Align::right},
                 {"predicted"},
                 {"bound", Align::right},
                 {"critical", Align::right},
                 {"from memory", Align::right},
                 {"evidence"}},
                {}};
    for (const TimeRow& row : e.time)
      if (row.workload == workload && row.path == &e.paths.front() &&
          row.schedule == e.study.schedule)
        table.rows.push_back(
            {std::string(name(row.operation.id)), std::to_string(row.operation.sources),
             format_d(total_d(traffic(row.operation))),
             format_count(static_cast<Count>(row.tokens)),
             format_count(static_cast<Count>(row.calls)), format_seconds(row.predicted),
             format_seconds(row.bound), format_seconds(row.critical),
             format_ratio(row.memory_share), std::string(name(row.predicted.evidence))});
    out.table(table);
  }
  out.paragraph("</details>");
}

/// The bank without b_0, as Sec. 4.2 counts it: whole, sharded, and sharded in chunks.
Table sharding_table(const Evaluation& e) {
  Table table{{{"bank, without b_0"}, {"bytes on one device", Align::right}, {"GB", Align::right}},
              {}};
  const auto add = [&](const std::string& what, std::optional<Count> chunk, Count shards) {
    Study study = e.study;
    study.prefill->chunk = chunk;
    study.prefill->sequence_shards = shards;
    const Bytes bank = prefill_memory(study, e.paths.front()).bank;
    table.rows.push_back(
        {what, format_count(static_cast<Count>(bank.value)), format_bytes(bank, Prefix::decimal)});
  };
  const Prefill& prefill = *e.study.prefill;
  add(fmt::format("{} tokens in one memory", format_count(prefill.tokens)), std::nullopt, 1);
  if (prefill.sequence_shards > 1)
    add(fmt::format("sharded over {} devices", prefill.sequence_shards), std::nullopt,
        prefill.sequence_shards);
  if (prefill.chunk)
    add(fmt::format("and in chunks of {}", format_count(*prefill.chunk)), prefill.chunk,
        prefill.sequence_shards);
  return table;
}

void write_memory(Document& out) {
  const Evaluation& e = out.evaluation();
  if (e.prefill.empty()) return;
  out.heading("Residual state in prefill");
  const PrefillMemory& memory = e.prefill.front();
  const std::string tokens = format_count(tokens_per_device(prefill_shape(e.study)));
  if (e.aggregation.source_rows > 0) {
    out.table(sharding_table(e));
    out.paragraph(fmt::format(
        "On one device, with {} tokens at a time: `{}` keeps {}, with b_0 {}; Phase 1 of one block "
        "would keep {} more under the two-phase schedule, which the paper leaves out.",
        tokens, name(e.study.path.scheme), format_bytes(memory.bank, Prefix::binary),
        format_bytes(memory.bank_with_embedding, Prefix::binary),
        format_bytes(memory.phase1, Prefix::binary)));
  } else {
    out.paragraph(fmt::format("On one device, with {} tokens at a time: `{}` keeps {}.", tokens,
                              name(e.study.path.scheme),
                              format_bytes(memory.bank, Prefix::binary)));
  }
  out.table(prefill_table(e));
  out.plot("bank.svg");
}

Table transition_table(const PipelineAnswer& pipeline) {
  Table table{{{"transition", Align::right}}, {}};
  for (const SchemePayload& row : pipeline.by_scheme) {
    table.columns.push_back({fmt::format("{}, naive", name(row.path->scheme)), Align::right});
    if (row.cached.total != row.naive.total)
      table.columns.push_back({fmt::format("{}, cached", name(row.path->scheme)), Align::right});
  }
  const std::size_t transitions = pipeline.by_scheme.front().naive.transitions.size();
  for (std::size_t i = 0; i < transitions; ++i) {
    std::vector<std::string> cells{std::to_string(i + 1)};
    for (const SchemePayload& row : pipeline.by_scheme) {
      cells.push_back(std::to_string(row.naive.transitions[i].vectors));
      if (row.cached.total != row.naive.total)
        cells.push_back(std::to_string(row.cached.transitions[i].vectors));
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Table event_table(const PipelineAnswer& pipeline) {
  Table table{
      {{"cache"}, {"b_0"}, {"partial sums"}, {"total", Align::right}, {"peak", Align::right}}, {}};
  for (const PipelineRun& run : pipeline.events)
    table.rows.push_back(
        {std::string(name(run.payload.cache)), std::string(name(run.payload.embedding)),
         std::string(name(run.payload.partial)), format_d(static_cast<double>(run.traffic.total)),
         format_d(static_cast<double>(run.traffic.peak))});
  return table;
}

void write_pipeline(Document& out) {
  const Evaluation& e = out.evaluation();
  if (!e.pipeline) return;
  const PipelineAnswer& pipeline = *e.pipeline;
  out.heading("Pipeline payload per transition");
  out.paragraph(
      "d-vectors per token of one micro-batch, forward, with b_0 and unfinished partial sums: what "
      "the wire carries. `cached`: a stage keeps the blocks that it received.");
  out.table(transition_table(pipeline));
  out.plot("payload.svg");
  if (pipeline.events.empty()) return;
  out.paragraph(fmt::format("Eq. 7 gives {}, Eq. 8 {}. Counted event by event:",
                            format_d(pipeline.naive_d), format_d(pipeline.cached_d)));
  out.table(event_table(pipeline));
  out.paragraph(
      "Formulas and events are different counts: Eq. 7 and 8 spread the blocks evenly over the "
      "chunks and leave out b_0 and partial sums. The paper's two sixes are different ones for "
      "that reason. Fig. 3 (4 blocks over 8 chunks) saves 19 - 13 = 6 because b_0 is sent and "
      "cached like a block; without it the same events save 12 - 10 = 2, and the formulas 14 - 11 "
      "= 3. The formulas save 28 - 22 = 6 in another case, one block a chunk and no b_0.");
}

void write_budgets(Document& out) {
  const Evaluation& e = out.evaluation();
  if (e.budgets.empty()) return;
  out.heading("Budgets");
  out.table(budget_table(e.budgets));
  for (const std::string& note : budget_notes(e.budgets)) out.bullet(note);
  out.end_list();
}

void write_closing(Document& out) {
  out.heading("What is not modelled");
  for (const std::string text :
       {"the rest of the step (weights, attention, experts, KV cache, collectives): per cent needs "
        "`baseline_step`, and `device_memory` cannot pass",
        "the backward pass, activation memory and the pipeline's schedule",
        "the expansion of mHC's streams behind the embedding and their collapse before the head",
        "losses: nothing here says that two schemes are equally good"})
    out.bullet(text);
  out.end_list();
  out.heading("Sources");
  for (const std::string text :
       {"[attnres] Attention Residuals, arXiv:2603.15031v1: Table 1, Eq. 1-8, Algorithm 1, Sec. 4, "
        "Appendix B",
        "[mhc] Manifold-Constrained Hyper-Connections, arXiv:2512.24880v2: Table 2, Sec. 4.3",
        "[ours] derived in model/REFERENCES.md; values and their sources stand under Assumptions"})
    out.bullet(text);
  out.end_list();
  out.paragraph(fmt::format("depthcost {}. Any number here: `depthcost explain SCENARIO METRIC`.",
                            out.parts().program_version));
}

}  // namespace

std::string markdown_report(const Evaluation& evaluation, const ReportParts& parts) {
  Document out(evaluation, parts);
  write_opening(out);
  write_assumptions(out);
  write_ledger(out);
  write_arithmetic(out);
  write_time(out);
  write_memory(out);
  write_pipeline(out);
  write_budgets(out);
  write_closing(out);
  return out.take();
}

}  // namespace depthcost
