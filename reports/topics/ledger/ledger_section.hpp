// The ledger: what each scheme moves, in every format.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "reports/section/section.hpp"

namespace depthcost {

/// d-vectors per token as the mean over layers, the output aggregation, and bytes per token of a
/// forward pass with both. A convention outside its domain bears a `*`.
Table ledger_table(const Evaluation& evaluation);

/// One line per layer or operation: the rows of `--layers`.
Table layer_table(std::span<const LedgerRow> layers);

/// MB per token and forward pass of every scheme and schedule under `kernel`, as bars; Table 1
/// beside them.
std::optional<Plot> bytes_plot(const Evaluation& evaluation);

/// Sources of each layer. None for schemes that do not attend over depth.
std::optional<Plot> sources_plot(const Evaluation& evaluation);

namespace ledger_section {

void write_json(JsonWriter& json, const Answer& answer);
void write_csv(CsvLines& csv, const Answer& answer);
void explain(const Evaluation& evaluation, Explanations& out);
void write_markdown(Document& out);
void write_table(std::string& text, const Answer& answer);

/// The explanation of one layer's row, "ledger.block_attnres.two_phase.kernel.layer_37"; nothing
/// where the metric names none.
std::optional<Explanation> explain_layer(const Evaluation& evaluation, std::string_view metric);

}  // namespace ledger_section
}  // namespace depthcost
