// What `evaluate --format json` has written, read again: every number that is a prediction, under a
// name by which another result has it too.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "model/decision/difference.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost {

/// Largest result read, in bytes. Kimi K3 with `--layers` takes 6.3 MB.
inline constexpr std::size_t kMaxResultBytes = 32'000'000;

/// Rows are named by what identifies them (workload, scheme, schedule, operation, ...), never by
/// their place, unless that is all there is. What a user has written (inputs, limits) and
/// `training.plan`, which repeats chunks and transitions, are no predictions; a number that is null
/// is not there. Throws InputError: for what is not JSON, not such a result, or of another schema
/// version.
Result parse_result(std::string_view text, const std::string& file, int schema_version);

/// As above, from a regular file.
Result load_result(const std::string& path, int schema_version);

}  // namespace depthcost
