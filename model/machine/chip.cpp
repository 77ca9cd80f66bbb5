// Look-ups in the table.
#include "model/machine/chip.hpp"

#include <algorithm>
#include <cstdlib>

namespace depthcost {

const Chip* find_chip(std::string_view name) {
  const auto* const found = std::find_if(kChips.begin(), kChips.end(),
                                         [&](const Chip& chip) { return chip.name == name; });
  return found == kChips.end() ? nullptr : found;
}

int chip_distance(std::string_view one, std::string_view other) {
  constexpr int kOtherVendor = 1000;
  if (one == other) return 0;
  const Chip* const a = find_chip(one);
  const Chip* const b = find_chip(other);
  if (a == nullptr || b == nullptr || a->vendor != b->vendor) return kOtherVendor;
  return 1 + std::abs(a->year - b->year);
}

}  // namespace depthcost
