// What an answer is written as.
#pragma once

#include <cstdint>

#include "model/base/enum_names.hpp"

namespace depthcost {

/// Each command takes some of these. `table` and `text` are for a terminal, `plan` is the file that
/// bench_pipeline runs.
enum class Format : std::uint8_t { table, text, markdown, json, csv, plan };

}  // namespace depthcost
