// What is counted exactly: ledger, parameters, operations.
#include <fmt/format.h>

#include "model/schemes/list.hpp"
#include "reports/document.hpp"
#include "reports/family.hpp"
#include "reports/format.hpp"
#include "reports/markdown_sections.hpp"
#include "reports/table.hpp"

namespace depthcost::markdown_sections {
namespace {

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

}  // namespace

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
  if (const Partition* blocks = attnres_blocks(e.study.path.scheme))
    out.paragraph(fmt::format("`block_attnres` has {}.", partition_text(*blocks)));
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

void write_family(Document& out) {
  const Evaluation& e = out.evaluation();
  if (e.family.empty()) return;
  out.heading("The family: every residual connection of Table 5 and its kin");
  out.paragraph(family_legend(e.study, e.family, FamilyColumns::all));
  out.table(family_table(e.family, FamilyColumns::all));
  for (const std::string& problem : family_problems(e.family)) out.bullet(problem);
  out.end_list();
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

}  // namespace depthcost::markdown_sections
