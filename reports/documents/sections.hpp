// The sections of the answer, in the order in which documents show them.
#pragma once

#include <span>

#include "reports/section/section.hpp"

namespace depthcost {

/// In the order of the JSON, the CSV and the list of metrics.
std::span<const DataSection> data_sections();

/// In the order in which people read the report, the terminal's tables and the plots.
std::span<const TextSection> text_sections();

}  // namespace depthcost
