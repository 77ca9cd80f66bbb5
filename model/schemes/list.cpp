// Looks schemes up.
#include "model/schemes/list.hpp"

#include <algorithm>

namespace depthcost {

std::span<const SchemeRule* const> scheme_rules() { return schemes::kRules; }

bool is_standard(const Scheme& scheme) { return scheme.rule == &schemes::kStandard; }

const Partition* attnres_blocks(const Scheme& scheme) {
  return scheme.rule == &schemes::kBlockAttnRes ? &scheme.parameters.blocks : nullptr;
}

const SchemeRule* find_scheme(std::string_view id) {
  const auto rules = scheme_rules();
  const auto found =
      std::find_if(rules.begin(), rules.end(), [&](const auto* each) { return each->id == id; });
  return found == rules.end() ? nullptr : *found;
}

}  // namespace depthcost
