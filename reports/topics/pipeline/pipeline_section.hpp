// What crosses the boundaries of a pipeline, in every format.
#pragma once

#include "reports/section/section.hpp"

namespace depthcost {

/// d-vectors per token that cross pipeline boundaries: all transitions, and the largest one.
Table pipeline_table(const PipelineAnswer& pipeline);

/// "16 stages of 2 virtual stages".
std::string layout_text(const PipelineLayout& layout);

/// d-vectors on the wire at each pipeline transition, naive and cached. None without a wire or a
/// bank.
std::optional<Plot> payload_plot(const Evaluation& evaluation);

namespace pipeline_section {

void write_json(JsonWriter& json, const Answer& answer);
void write_csv(CsvLines& csv, const Answer& answer);
void explain(const Evaluation& evaluation, Explanations& out);
void write_markdown(Document& out);
void write_table(std::string& text, const Answer& answer);

}  // namespace pipeline_section
}  // namespace depthcost
