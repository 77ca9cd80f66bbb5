// The family of residual connections: as a table, as JSON, and each member explained.
#pragma once

#include <span>
#include <string>

#include "model/evaluation/family.hpp"
#include "reports/section/section.hpp"

namespace depthcost {

/// `all` is too wide for a terminal.
enum class FamilyColumns { terminal, all };

/// Cheapest first. d-vectors per token and layer.
Table family_table(std::span<const FamilyRow> rows, FamilyColumns columns);

/// What the columns of the table mean.
std::string family_legend(const Study& study, std::span<const FamilyRow> rows,
                          FamilyColumns columns);

/// "block_size 24", "heads 16", ...: parameters of schemes, in alphabetical order.
std::vector<std::string> family_parameters(std::span<const FamilyRow> rows);

/// "NAME: why this model cannot have it".
std::vector<std::string> family_problems(std::span<const FamilyRow> rows);

/// Everything, for a terminal.
std::string family_text(const Study& study, std::span<const FamilyRow> rows);

/// The rows as a JSON document of their own.
std::string family_json(const Study& study, std::span<const FamilyRow> rows,
                        std::string_view program_version);

/// "family.rezero": rule, counts, kernel and benchmark.
Explanation explain_family_row(const FamilyRow& row);

namespace family_section {

void explain(const Evaluation& evaluation, Explanations& out);
void write_markdown(Document& out);

}  // namespace family_section
}  // namespace depthcost
