// One function for each count and format.
#include "reports/topics/ledger/counts_section.hpp"

#include <fmt/format.h>

#include <map>

#include "model/ledger/path_operations.hpp"
#include "model/schemes/scheme.hpp"
#include "reports/formats/numbers.hpp"

namespace depthcost {
namespace counts_section {
namespace {

using explained::letters;
using explained::metric;

/// A scheme beside those of Table 1 states its rule with the formula.
void attribute(const Scheme& scheme, std::string_view formula, Explanation& x) {
  const SchemeRule& rule = *scheme.rule;
  if (!rule.countings.empty()) return;
  x.formula = fmt::format("{}; {}", formula, rule.update);
  x.source = rule.source;
  x.function = fmt::format("model/schemes/{}", rule.file);
}

struct OperationSum {
  Count calls = 0;
  double flops_d = 0;
};

/// Calls and operations of each kernel, in the order of first use.
std::vector<std::string> operation_sums(const ResidualPath& path, Schedule schedule) {
  std::map<OperationId, OperationSum> sums;
  std::vector<OperationId> order;
  for (const auto& [operation, calls] : distinct_operations(path, schedule)) {
    if (!sums.contains(operation.id)) order.push_back(operation.id);
    OperationSum& sum = sums[operation.id];
    sum.calls += calls;
    sum.flops_d += static_cast<double>(calls) * operation.flops_d;
  }
  std::vector<std::string> lines;
  for (const OperationId id : order)
    lines.push_back(
        fmt::format("{} x {}: {:.12g} d operations", sums[id].calls, name(id), sums[id].flops_d));
  return lines;
}

void explain_aggregation(const Evaluation& e, Explanations& out) {
  if (e.aggregation.source_rows == 0) return;
  out.push_back(
      {.metric = "aggregation",
       .formula = "Full: L(L+1)/2 + L + 1; Block: sum over blocks of S n + S - 1, and N + 1",
       .source = "[attnres] Eq. 4, 6, counted",
       .numbers = {letters(e.study.path),
                   fmt::format("{} sublayer calls and the output, {} sources in all, at most {}, "
                               "{} of the output",
                               e.aggregation.sublayer_calls, e.aggregation.source_rows,
                               e.aggregation.max_sources, e.aggregation.output_sources)},
       .function = "model/ledger/arithmetic.cpp: aggregation"});
}

void explain_parameters(const Evaluation& e, Explanations& out) {
  for (std::size_t i = 0; i < e.paths.size(); ++i) {
    Explanation x{
        .metric = metric({"parameters", name(e.paths[i].scheme)}),
        .formula =
            "AttnRes: 2 d per layer and for the output; mHC: m d (m^2 + 2m) + m^2 + 2m + 3; "
            "standard: none",
        .source = "[attnres] Sec. 5; [mhc] Eq. 7-8",
        .numbers = {letters(e.paths[i]) + fmt::format(", d = {}", e.study.model.hidden_size),
                    fmt::format("{:g} a layer, {:.12g} in all", e.parameters[i].per_layer,
                                e.parameters[i].total)},
        .function = "model/ledger/arithmetic.cpp: parameters"};
    attribute(e.paths[i].scheme, "elements of each layer's own parameters, summed", x);
    out.push_back(std::move(x));
  }
}

void explain_flops(const Evaluation& e, Explanations& out) {
  for (const SchemeFlops& row : e.flops) {
    Explanation x{.metric = metric({"flops", name(row.path->scheme), name(row.schedule)}),
                  .formula =
                      "AttnRes: 4 d per (query, source) pair, 3 d per normalised key; mHC: "
                      "2 m d (m^2 + 2m) for phi, 2 (m^2 + 2m) d for the mixes; standard: d",
                  .source = "[ours] REFERENCES.md, operations",
                  .numbers = {letters(*row.path)},
                  .function = "model/ledger/arithmetic.cpp: total_flops"};
    attribute(row.path->scheme, "operations of each launch, summed", x);
    for (std::string& line : operation_sums(*row.path, row.schedule))
      x.numbers.push_back(std::move(line));
    x.numbers.push_back(fmt::format("d = {}: {:.12g} operations a token, {:.6g} a layer",
                                    e.study.model.hidden_size, row.total.value,
                                    row.per_layer.value));
    out.push_back(std::move(x));
  }
}

}  // namespace

void write_partitions(JsonWriter& json, const Answer& answer) {
  json.array("partitions", [&] {
    for (const ResidualPath& path : answer.evaluation.paths) {
      const Partition* blocks = blocks_of(path.scheme);
      if (blocks == nullptr) continue;
      json.object([&] {
        json.member("scheme", name(path.scheme));
        json.member("num_layers", blocks->num_layers);
        json.member("block_size", blocks->block_size);
        json.member("num_blocks", blocks->num_blocks);
        json.member("last_block_size", blocks->last_size);
      });
    }
  });
}

void write_aggregation(JsonWriter& json, const Answer& answer) {
  const Aggregation& aggregation = answer.evaluation.aggregation;
  json.object("aggregation", [&] {
    json.member("sublayer_calls", aggregation.sublayer_calls);
    json.member("source_rows", aggregation.source_rows);
    json.member("max_sources", aggregation.max_sources);
    json.member("output_sources", aggregation.output_sources);
  });
}

void write_parameters(JsonWriter& json, const Answer& answer) {
  const Evaluation& evaluation = answer.evaluation;
  json.array("parameters", [&] {
    for (std::size_t i = 0; i < evaluation.parameters.size(); ++i)
      json.object([&] {
        json.member("scheme", name(evaluation.paths[i].scheme));
        json.member("per_layer", evaluation.parameters[i].per_layer);
        json.member("total", evaluation.parameters[i].total);
      });
  });
}

void write_flops(JsonWriter& json, const Answer& answer) {
  json.objects("flops", answer.evaluation.flops, [&](const SchemeFlops& row) {
    json.member("scheme", name(row.path->scheme));
    json.member("schedule", name(row.schedule));
    json.member("per_layer", row.per_layer.value);
    json.member("total", row.total.value);
  });
}

void write_csv(CsvLines& csv, const Answer& answer) {
  const Evaluation& e = answer.evaluation;
  const auto number = [&](const CsvPlace& place, std::string_view quantity, double value,
                          std::string_view unit) {
    csv.add(place, {quantity, value, unit});
  };
  for (const ResidualPath& path : e.paths) {
    const Partition* blocks = blocks_of(path.scheme);
    if (blocks == nullptr) continue;
    const CsvPlace place{.section = "partition", .scheme = name(path.scheme)};
    number(place, "num_layers", static_cast<double>(blocks->num_layers), "layers");
    number(place, "block_size", static_cast<double>(blocks->block_size), "layers");
    number(place, "num_blocks", static_cast<double>(blocks->num_blocks), "blocks");
    number(place, "last_block_size", static_cast<double>(blocks->last_size), "layers");
  }
  const CsvPlace pairs{.section = "aggregation", .scheme = name(e.study.path.scheme)};
  number(pairs, "sublayer_calls", static_cast<double>(e.aggregation.sublayer_calls), "calls");
  number(pairs, "source_rows", static_cast<double>(e.aggregation.source_rows), "pairs");
  number(pairs, "max_sources", static_cast<double>(e.aggregation.max_sources), "sources");
  number(pairs, "output_sources", static_cast<double>(e.aggregation.output_sources), "sources");
  for (std::size_t i = 0; i < e.parameters.size(); ++i) {
    const CsvPlace place{.section = "parameters", .scheme = name(e.paths[i].scheme)};
    number(place, "per_layer", e.parameters[i].per_layer, "parameters");
    number(place, "total", e.parameters[i].total, "parameters");
  }
  for (const SchemeFlops& row : e.flops) {
    const CsvPlace place{
        .section = "flops", .scheme = name(row.path->scheme), .schedule = name(row.schedule)};
    number(place, "per_layer", row.per_layer.value, "FLOP");
    number(place, "total", row.total.value, "FLOP");
  }
}

void explain(const Evaluation& evaluation, Explanations& out) {
  explain_aggregation(evaluation, out);
  explain_parameters(evaluation, out);
  explain_flops(evaluation, out);
}

void write_markdown(Document& out) {
  const Evaluation& e = out.evaluation();
  out.heading("Parameters and operations");
  Table table{
      {"scheme", "schedule", right("parameters"), right("a layer"), right("operations a token")}};
  for (const SchemeFlops& row : e.flops) {
    const auto path = static_cast<std::size_t>(row.path - e.paths.data());
    table.add(name(row.path->scheme), schedule_label(row.path->scheme, row.schedule),
              format_count(static_cast<Count>(e.parameters[path].total)),
              format_count(static_cast<Count>(e.parameters[path].per_layer)),
              format_flops(row.total));
  }
  out.table(table);
}

void write_table(std::string& text, const Answer& answer) {
  const Aggregation& aggregation = answer.evaluation.aggregation;
  if (aggregation.sublayer_calls > 0)
    append_table(text, "Attention over depth: the pairs include the output",
                 aggregation_table(aggregation));
}

}  // namespace counts_section

Table aggregation_table(const Aggregation& aggregation) {
  return {{{"calls in layers", Align::right},
           {"(query, source) pairs", Align::right},
           {"most sources", Align::right},
           {"sources of the output", Align::right}},
          {{format_count(aggregation.sublayer_calls), format_count(aggregation.source_rows),
            format_count(aggregation.max_sources), format_count(aggregation.output_sources)}}};
}

}  // namespace depthcost
