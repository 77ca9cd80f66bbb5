// What residual.scheme may say.
#include "model/schemes/mechanism.hpp"
#include "scenarios/keys/key_builders.hpp"

namespace depthcost {

std::span<const std::string_view> key_builders::scheme_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all{"standard", "mhc", "full_attnres", "block_attnres"};
    for (const Mechanism* mechanism : mechanisms()) all.push_back(mechanism->id);
    return all;
  }();
  return names;
}

}  // namespace depthcost
