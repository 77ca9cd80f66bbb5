// Which double a decimal text is.
#pragma once

#include <optional>
#include <string_view>

namespace depthcost {

/// The number that the whole text is, as JSON writes numbers; the nearest double. Nothing where the
/// text is no finite number, or is one that a double holds as infinity or as zero.
std::optional<double> decimal_value(std::string_view text);

}  // namespace depthcost
