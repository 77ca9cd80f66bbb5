// Reads what `evaluate --format json` has written: every predicted number, with a name that is the
// same in other results.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "model/decision/difference.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost {

/// Largest result read, in bytes. Kimi K3 with `--layers` takes 6.3 MB.
inline constexpr std::size_t kMaxResultBytes = 32'000'000;

/// A row is named by its keys (workload, scheme, schedule, operation, ...), and by its place only
/// if it has none. The user's inputs and limits are left out, and so is `training.plan`, which
/// repeats chunks and transitions. A null counts as absent. Throws InputError for a file that is no
/// JSON, no such result, or of another schema version.
Result parse_result(std::string_view text, const std::string& file, int schema_version);

/// The same for a regular file.
Result load_result(const std::string& path, int schema_version);

}  // namespace depthcost
