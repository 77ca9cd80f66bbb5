// The values of one point of a sweep under their keys, for JSON and CSV.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "model/sweep/recommendation.hpp"

namespace depthcost {

/// A number, or a text where `text` is not empty; neither where it is not known.
struct PointValue {
  std::string_view key;
  std::optional<double> number;
  std::string_view text;
};

/// The recommendation among the choices of one group, and the choices on the front.
struct GroupAnswer {
  Recommendation recommendation;
  std::vector<std::size_t> front;
};

GroupAnswer answer_for(const Sweep& sweep, std::size_t circumstance);

/// Axes left out; the same keys for every point, in the same order.
std::vector<PointValue> point_values(const Sweep& sweep, std::size_t circumstance,
                                     std::size_t choice, const GroupAnswer& answer);

}  // namespace depthcost
