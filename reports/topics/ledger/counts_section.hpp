// What is counted of each scheme beside the ledger: blocks, attention over depth, parameters,
// operations.
#pragma once

#include "reports/section/section.hpp"

namespace depthcost {

/// Attention over depth, of the study's scheme.
Table aggregation_table(const Aggregation& aggregation);

namespace counts_section {

void write_partitions(JsonWriter& json, const Answer& answer);
void write_aggregation(JsonWriter& json, const Answer& answer);
void write_parameters(JsonWriter& json, const Answer& answer);
void write_flops(JsonWriter& json, const Answer& answer);
/// All of them.
void write_csv(CsvLines& csv, const Answer& answer);
/// All but the blocks.
void explain(const Evaluation& evaluation, Explanations& out);
/// Parameters and operations.
void write_markdown(Document& out);
/// Attention over depth.
void write_table(std::string& text, const Answer& answer);

}  // namespace counts_section
}  // namespace depthcost
