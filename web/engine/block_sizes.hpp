// What each block size of Block AttnRes would cost.
#pragma once

#include <string>

#include "web/engine/page_answer.hpp"

namespace depthcost::page {

/// The scenario at block sizes from one layer to all, as JSON: what each adds, and what it keeps in
/// memory. Throws InputError.
std::string block_sizes_json(const ScenarioText& scenario);

}  // namespace depthcost::page
