// What is counted exactly: the ledger, attention over depth, parameters and operations.
#include <fmt/format.h>

#include <map>

#include "model/ledger/path_operations.hpp"
#include "model/schemes/list.hpp"
#include "reports/explain_sections.hpp"
#include "reports/ledger_formula.hpp"

namespace depthcost::explained {
namespace {

std::string moved_text(const Traffic& moved) {
  return fmt::format("{:g} r + {:g} w = {:g} d-vectors, {:g} scalars", moved.reads_d,
                     moved.writes_d, total_d(moved), total_scalars(moved));
}

/// d-vectors of each block, as far as a line can hold them.
std::string block_sums(const LedgerRow& row, const Partition& partition) {
  constexpr std::size_t kMostBlocks = 16;
  std::vector<std::string> sums;
  Count layer = 1;
  for (Count block = 1; block <= partition.num_blocks && sums.size() < kMostBlocks; ++block) {
    Traffic sum;
    for (Count i = 0; i < partition.size(block); ++i)
      sum = sum + layer_traffic(*row.path, row.counting, layer++);
    sums.push_back(fmt::format("{:g}", total_d(sum)));
  }
  const bool all = static_cast<Count>(sums.size()) == partition.num_blocks;
  return fmt::format("d-vectors by block of {} layers: {}{}", partition.block_size,
                     fmt::join(sums, " + "), all ? "" : " + ...");
}

/// What the formula does not say because it is written for the usual case.
std::vector<std::string> special_cases(const LedgerRow& row) {
  std::vector<std::string> lines;
  const bool is_kernel = row.counting.convention == Convention::kernel;
  const ResidualPath standalone{row.path->scheme, row.path->num_layers};
  const double dropped = total_d(forward_traffic(standalone, row.counting)) -
                         total_d(forward_traffic(*row.path, row.counting));
  if (dropped > 0)
    lines.push_back(fmt::format("attached to {}: f is on chip there, {:g} r drop out in all",
                                name(row.path->attachment), dropped));
  const bool is_block = row.path->scheme.rule == &schemes::kBlockAttnRes;
  const bool closes_blocks = is_kernel || row.counting.convention == Convention::physical;
  if (is_block && closes_blocks && row.path->scheme.parameters.blocks.block_size == 1)
    lines.push_back("blocks of one layer: f is the block, so closing it is 1 r and no write");
  if (!inside_domain(*row.path, row.counting))
    lines.push_back("outside its domain: blocks differ in size, Table 1 assumes S = L/N");
  return lines;
}

Explanation explain_mean(const LedgerRow& row, const VectorStorage& types) {
  const LedgerFormula formula = ledger_formula(row.path->scheme, row.counting);
  Explanation x{.metric = ledger_metric(row),
                .formula = formula.formula,
                .source = formula.source,
                .function = formula.function};
  x.numbers.push_back(letters(*row.path));
  const Partition* partition = blocks_of(row.path->scheme);
  if (partition != nullptr && row.counting.convention != Convention::paper)
    x.numbers.push_back(block_sums(row, *partition));
  x.numbers.push_back("all layers: " + moved_text(total_traffic(*row.path, row.counting)));
  x.numbers.push_back(fmt::format("mean over {} layers: {:.6g} d = {:.6g} bytes a token and layer",
                                  row.path->num_layers, total_d(row.traffic), row.bytes.value));
  if (row.traffic.phase1_d > 0 && types.phase1_dtype != types.dtype)
    x.numbers.push_back(fmt::format("of these, {:.6g} d are Phase 1 outputs in {}",
                                    row.traffic.phase1_d, name(types.phase1_dtype)));
  for (std::string& line : special_cases(row)) x.numbers.push_back(std::move(line));
  return x;
}

Explanation explain_output(const LedgerRow& row) {
  Explanation x{.metric = ledger_metric(row) + ".output_aggregation",
                .formula =
                    "all N + 1 sources (Full: L + 1) read once more, 1 w; what closes the last "
                    "block is counted as in a layer",
                .source = "[ours] REFERENCES.md, conventions",
                .numbers = {letters(*row.path), "behind the last layer: " + moved_text(row.traffic),
                            fmt::format("= {:.12g} bytes a token", row.bytes.value)},
                .function = "model/ledger/ledger.cpp: output_traffic"};
  for (std::string& line : special_cases(row)) x.numbers.push_back(std::move(line));
  return x;
}

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

}  // namespace

std::string ledger_metric(const LedgerRow& row) {
  return metric({"ledger", name(row.path->scheme), name(row.counting.schedule),
                 name(row.counting.convention)});
}

void ledger(const Evaluation& e, Explanations& out) {
  const VectorStorage types = storage_of(e.study);
  for (const LedgerRow& row : e.ledger)
    out.push_back(row.kind == LedgerRowKind::mean ? explain_mean(row, types) : explain_output(row));
}

std::optional<Explanation> layer(const LedgerRow& mean, const Explanation& base, Count layer,
                                 const VectorStorage& types) {
  if (layer < 1 || layer > mean.path->num_layers) return std::nullopt;
  Explanation x = base;
  x.metric = fmt::format("{}.layer_{}", base.metric, layer);
  x.numbers = {letters(*mean.path)};
  if (const Partition* blocks = blocks_of(mean.path->scheme)) {
    const LayerPosition at = position_of_layer(*blocks, layer);
    x.numbers.push_back(fmt::format("l = {}: block n = {}, i = {}", layer, at.block, at.index));
  }
  if (mean.counting.convention == Convention::kernel)
    for (const PlacedOperation& placed : all_operations(*mean.path, mean.counting.schedule))
      if (placed.layer == layer)
        x.numbers.push_back(
            fmt::format("{}: {}", name(placed.operation.id), operands(placed.operation)));
  const Traffic moved = layer_traffic(*mean.path, mean.counting, layer);
  x.numbers.push_back("= " + moved_text(moved));
  x.numbers.push_back(fmt::format("= {:.12g} bytes a token", bytes(moved, types).value));
  for (std::string& line : special_cases(mean)) x.numbers.push_back(std::move(line));
  return x;
}

void aggregation(const Evaluation& e, Explanations& out) {
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

void parameters(const Evaluation& e, Explanations& out) {
  for (std::size_t i = 0; i < e.paths.size(); ++i) {
    out.push_back(
        {.metric = metric({"parameters", name(e.paths[i].scheme)}),
         .formula = "AttnRes: 2 d per layer and for the output; mHC: m d (m^2 + 2m) + m^2 + 2m + 3",
         .source = "[attnres] Sec. 5; [mhc] Eq. 7-8",
         .numbers = {letters(e.paths[i]) + fmt::format(", d = {}", e.study.model.hidden_size),
                     fmt::format("{:g} a layer, {:.12g} in all", e.parameters[i].per_layer,
                                 e.parameters[i].total)},
         .function = "model/ledger/arithmetic.cpp: parameters"});
    attribute(e.paths[i].scheme, "elements of each layer's own parameters, summed", out.back());
  }
}

void flops(const Evaluation& e, Explanations& out) {
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

}  // namespace depthcost::explained
