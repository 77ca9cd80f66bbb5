// The values of residual.scheme.
#include "model/schemes/list.hpp"
#include "scenarios/keys/key_builders.hpp"

namespace depthcost {

std::span<const std::string_view> key_builders::scheme_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const SchemeRule* rule : scheme_rules()) all.push_back(rule->id);
    return all;
  }();
  return names;
}

}  // namespace depthcost
