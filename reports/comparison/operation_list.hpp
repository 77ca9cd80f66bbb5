// The operations that a measured kernel can be compared with.
#pragma once

#include <string>
#include <string_view>

namespace depthcost {

/// What each operation is called, which counts it needs, and what it reads and writes at n = 8
/// sources, S = 12 queries and m = 4 streams. `format` is table, markdown or json.
std::string operation_list(std::string_view format, std::string_view program_version);

}  // namespace depthcost
