// Published losses and scaling laws as they stand, each with what it was measured on.
#pragma once

#include <string>

#include "reports/formats/json_writer.hpp"

namespace depthcost {

/// Under the key "evidence"; the advantages at `compute` PFLOP/s-days.
void write_evidence(JsonWriter& json, double compute);

/// A section of a Markdown document.
std::string evidence_markdown(double compute);

}  // namespace depthcost
