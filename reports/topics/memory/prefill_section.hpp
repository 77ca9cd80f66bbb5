// The residual state that a prefill keeps on one device, in every format.
#pragma once

#include "reports/section/section.hpp"

namespace depthcost {

/// Bytes on one device, scheme by scheme.
Table prefill_table(const Evaluation& evaluation);

/// Bank in one device's memory against the length of the sequence. None without prefill or a bank.
std::optional<Plot> bank_plot(const Evaluation& evaluation);

namespace prefill_section {

void write_json(JsonWriter& json, const Answer& answer);
void write_csv(CsvLines& csv, const Answer& answer);
void explain(const Evaluation& evaluation, Explanations& out);
void write_markdown(Document& out);
void write_table(std::string& text, const Answer& answer);

}  // namespace prefill_section
}  // namespace depthcost
