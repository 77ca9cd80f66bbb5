// One cell of a table with commas.
#pragma once

#include <string>
#include <string_view>

namespace depthcost {

/// `text`, in quotes where it needs them (RFC 4180).
std::string csv_cell(std::string_view text);

}  // namespace depthcost
