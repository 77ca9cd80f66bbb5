// What lies in the memory of a device at each workload point, in every format.
#pragma once

#include "reports/section/section.hpp"

namespace depthcost {

/// What the fullest device holds at each workload point under the study's scheme; a prefill with
/// and without sequence shards.
Table memory_table(const Evaluation& evaluation);

namespace memory_section {

void write_json(JsonWriter& json, const Answer& answer);
void write_csv(CsvLines& csv, const Answer& answer);
void explain(const Evaluation& evaluation, Explanations& out);
void write_markdown(Document& out);
void write_table(std::string& text, const Answer& answer);

}  // namespace memory_section
}  // namespace depthcost
