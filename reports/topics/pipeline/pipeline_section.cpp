// Formulas of the paper, counted events, and what each scheme sends.
#include "reports/topics/pipeline/pipeline_section.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/formats/numbers.hpp"

namespace depthcost {
namespace pipeline_section {
namespace {

using explained::letters;
using explained::metric;

std::vector<Count> vectors_of(const PipelineTraffic& traffic) {
  std::vector<Count> vectors;
  for (const Transition& transition : traffic.transitions) vectors.push_back(transition.vectors);
  return vectors;
}

void append_events(JsonWriter& json, const PipelineAnswer& pipeline) {
  json.objects("events", pipeline.events, [&](const PipelineRun& run) {
    json.member("cache", name(run.payload.cache));
    json.member("embedding", name(run.payload.embedding));
    json.member("partial", name(run.payload.partial));
    json.list("transitions_d", vectors_of(run.traffic));
    json.member("total_d", run.traffic.total);
    json.member("peak_d", run.traffic.peak);
  });
}

void append_schemes(JsonWriter& json, const PipelineAnswer& pipeline) {
  json.objects("by_scheme", pipeline.by_scheme, [&](const SchemePayload& row) {
    json.member("scheme", name(row.path->scheme));
    json.member("naive_total_d", row.naive.total);
    json.member("naive_peak_d", row.naive.peak);
    json.member("cached_total_d", row.cached.total);
    json.member("cached_peak_d", row.cached.peak);
  });
}

Table transition_table(const PipelineAnswer& pipeline) {
  Table table{{right("transition")}};
  for (const SchemePayload& row : pipeline.by_scheme) {
    table.columns.push_back(right(fmt::format("{}, naive", name(row.path->scheme))));
    if (row.cached.total != row.naive.total)
      table.columns.push_back(right(fmt::format("{}, cached", name(row.path->scheme))));
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
    table.add(name(run.payload.cache), name(run.payload.embedding), name(run.payload.partial),
              format_d(static_cast<double>(run.traffic.total)),
              format_d(static_cast<double>(run.traffic.peak)));
  return table;
}

/// Nothing where the only step is one of training, whose schedule says more.
std::string forward_text(const Study& study) {
  if (!study.decode && !study.prefill) return {};
  return "Decode and prefill send forward over the same boundaries, one message after the other. The "
         "time is part of the residual path's, where the hardware knows sends.";
}

std::string shape_text(const PipelineLayout& layout) {
  return fmt::format("P = {}, V = {}, C = {}", layout.num_stages, layout.num_virtual_stages,
                     layout.num_stages * layout.num_virtual_stages);
}

std::string by_transition(const PipelineTraffic& traffic) {
  std::vector<Count> vectors;
  for (const Transition& t : traffic.transitions) vectors.push_back(t.vectors);
  return fmt::format("by transition: {}; {} in all, {} at most", fmt::join(vectors, " "),
                     traffic.total, traffic.peak);
}

/// Eq. 7 and 8 know no partial block: N_p is a ratio.
void formulas(const Evaluation& e, Explanations& out) {
  const PipelineAnswer& p = *e.pipeline;
  const PipelineLayout& layout = *e.study.pipeline;
  const Partition& blocks = *blocks_of(e.study.path.scheme);
  const auto chunks = static_cast<double>(layout.num_stages * layout.num_virtual_stages);
  const std::string shape =
      fmt::format("{}, N = {}, N_p = N / C = {:.6g}", shape_text(layout), blocks.num_blocks,
                  static_cast<double>(blocks.num_blocks) / chunks);
  out.push_back({.metric = "pipeline.formula.naive_d",
                 .formula = "C (C - 1) / 2 N_p, N_p = N / C",
                 .source = "[attnres] Eq. 7",
                 .numbers = {shape, fmt::format("= {:.6g} d-vectors a token", p.naive_d)},
                 .function = "model/pipeline/pipeline.hpp: naive_traffic"});
  out.push_back({.metric = "pipeline.formula.cached_d",
                 .formula = "(P (P - 1) / 2 + (V - 1) P^2) N_p",
                 .source = "[attnres] Eq. 8",
                 .numbers = {shape, fmt::format("= {:.6g} d-vectors a token", p.cached_d)},
                 .function = "model/pipeline/pipeline.hpp: cached_traffic"});
}

void events(const Evaluation& e, Explanations& out) {
  for (const PipelineRun& run : e.pipeline->events)
    out.push_back(
        {.metric = metric({"pipeline.events", name(run.payload.cache), name(run.payload.embedding),
                           name(run.payload.partial)}),
         .formula = "each transition: completed blocks that the stage does not hold, b_0 if sent, "
                    "the unfinished partial sum if sent",
         .source = "[attnres] Sec. 4.1, Fig. 3, enumerated",
         .numbers = {shape_text(*e.study.pipeline), letters(e.study.path),
                     fmt::format("cache {}, b_0 {}, partial sum {}", name(run.payload.cache),
                                 name(run.payload.embedding), name(run.payload.partial)),
                     by_transition(run.traffic)},
         .function = "model/pipeline/pipeline.hpp: pipeline_traffic"});
}

void stages(const Evaluation& e, Explanations& out) {
  const auto push = [&](const std::string& name, const std::string& formula,
                        const std::vector<Count>& vectors) {
    if (vectors.empty()) return;
    out.push_back({.metric = "pipeline." + name + "_d",
                   .formula = formula,
                   .source = "[attnres] Sec. 4.1, enumerated",
                   .numbers = {shape_text(*e.study.pipeline),
                               fmt::format("by stage: {}", fmt::join(vectors, " "))},
                   .function = "model/pipeline/pipeline.hpp: " + name});
  };
  push("cached_blocks_per_stage", "each block once: the history on entry of the last chunk, b_0 in",
       e.pipeline->cached_blocks_per_stage);
  push("uncached_copies_per_stage", "sum over the stage's chunks of the history on entry, b_0 in",
       e.pipeline->uncached_copies_per_stage);
}

}  // namespace

void write_json(JsonWriter& json, const Answer& answer) {
  if (!answer.evaluation.pipeline) return;
  const PipelineAnswer& pipeline = *answer.evaluation.pipeline;
  json.object("pipeline", [&] {
    json.object("formula", [&] {
      json.member("naive_d", pipeline.naive_d);
      json.member("cached_d", pipeline.cached_d);
    });
    append_events(json, pipeline);
    append_schemes(json, pipeline);
    json.list("cached_blocks_per_stage_d", pipeline.cached_blocks_per_stage);
    json.list("uncached_copies_per_stage_d", pipeline.uncached_copies_per_stage);
  });
}

void write_csv(CsvLines& csv, const Answer& answer) {
  const Evaluation& e = answer.evaluation;
  if (!e.pipeline) return;
  const CsvPlace formula{.section = "pipeline", .scheme = name(e.study.path.scheme)};
  csv.add(formula, {"formula.naive_d", e.pipeline->naive_d, "d"});
  csv.add(formula, {"formula.cached_d", e.pipeline->cached_d, "d"});
  for (const SchemePayload& row : e.pipeline->by_scheme) {
    const CsvPlace place{.section = "pipeline", .scheme = name(row.path->scheme)};
    const auto number = [&](std::string_view quantity, Count vectors) {
      csv.add(place, {quantity, static_cast<double>(vectors), "d"});
    };
    number("naive_total_d", row.naive.total);
    number("naive_peak_d", row.naive.peak);
    number("cached_total_d", row.cached.total);
    number("cached_peak_d", row.cached.peak);
  }
}

void explain(const Evaluation& e, Explanations& out) {
  if (!e.pipeline) return;
  if (!e.pipeline->events.empty()) formulas(e, out);
  events(e, out);
  for (const SchemePayload& row : e.pipeline->by_scheme)
    out.push_back(
        {.metric = metric({"pipeline.by_scheme", name(row.path->scheme)}),
         .formula = "standard 1, mHC m, AttnRes: completed blocks, b_0, and the unfinished partial "
                    "sum at each transition",
         .source = "[attnres] Sec. 4.1, Fig. 3, enumerated",
         .numbers = {shape_text(*e.study.pipeline), letters(*row.path),
                     "naive, " + by_transition(row.naive),
                     "cache 'received', " + by_transition(row.cached)},
         .function = "model/pipeline/pipeline.hpp: pipeline_traffic"});
  stages(e, out);
}

void write_markdown(Document& out) {
  const Evaluation& e = out.evaluation();
  if (!e.pipeline) return;
  const PipelineAnswer& pipeline = *e.pipeline;
  out.heading("Pipeline payload per transition");
  out.paragraph(
      "d-vectors per token of one micro-batch, forward, with b_0 and unfinished partial sums: what "
      "the wire carries. `cached`: a stage keeps the blocks that it received.");
  out.table(transition_table(pipeline));
  out.optional_paragraph(forward_text(e.study));
  out.plot("payload.svg");
  if (pipeline.events.empty()) return;
  out.paragraph(fmt::format("Eq. 7 gives {}, Eq. 8 {}. Counted event by event:",
                            format_d(pipeline.naive_d), format_d(pipeline.cached_d)));
  out.table(event_table(pipeline));
  out.paragraph(
      "The formulas count other things than the events: they spread the blocks evenly over the chunks, "
      "and leave out b_0 and partial sums. The paper saves 6 in two different cases. Fig. 3 (4 blocks "
      "over 8 chunks) saves 19 - 13 = 6, since b_0 is sent and cached like a block; without b_0 the "
      "events save 12 - 10 = 2, and the formulas 14 - 11 = 3. With one block a chunk and no b_0 the "
      "formulas save 28 - 22 = 6.");
}

void write_table(std::string& text, const Answer& answer) {
  if (!answer.evaluation.pipeline) return;
  const PipelineAnswer& pipeline = *answer.evaluation.pipeline;
  append_table(text,
               "Pipeline: d-vectors per token sent across boundaries, with b_0 and partial sums",
               pipeline_table(pipeline));
  if (pipeline.events.empty()) return;  // no bank: Eq. 7 and 8 say nothing
  text += fmt::format("Eq. 7, naive: {}; Eq. 8, cached: {} (aligned blocks, without b_0)\n",
                      format_d(pipeline.naive_d), format_d(pipeline.cached_d));
}

}  // namespace pipeline_section

std::string layout_text(const PipelineLayout& layout) {
  if (layout.num_virtual_stages == 1) return fmt::format("{} stages", layout.num_stages);
  return fmt::format("{} stages of {} virtual stages", layout.num_stages,
                     layout.num_virtual_stages);
}

Table pipeline_table(const PipelineAnswer& pipeline) {
  Table table{{"scheme", right("naive, all"), right("naive, largest"), right("cached, all"),
               right("cached, largest")}};
  const auto vectors = [](Count count) { return format_d(static_cast<double>(count)); };
  for (const SchemePayload& row : pipeline.by_scheme)
    table.add(name(row.path->scheme), vectors(row.naive.total), vectors(row.naive.peak),
              vectors(row.cached.total), vectors(row.cached.peak));
  return table;
}

}  // namespace depthcost
