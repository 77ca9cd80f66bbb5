// The list of a quantised checkpoint: modules that stay as they are, by name or by pattern.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/import/hf_config.hpp"

namespace depthcost {

/// Whether a name in a list means modules of that name and what is under them, or also those in
/// whose path a number at its end goes on: "layers.1" in "layers.12".
enum class NameRule : std::uint8_t { whole, part };

/// The modules of decoder layers that a list names.
class ModuleNames {
 public:
  /// Throws InputError for a list that is not one of texts, or that has too many.
  ModuleNames(const ConfigValue& list, Count num_layers, NameRule rule);

  /// In which decoder layers the list names a matrix, such as "self_attn.q_proj". N stands for the
  /// number of an expert.
  std::vector<bool> layers_with(std::string_view matrix) const;

  /// Expressions that are not understood. What they name is not known.
  const std::vector<std::string>& unread() const { return unread_; }

 private:
  void add(std::string glob);

  std::size_t num_layers_;
  std::map<std::string, std::vector<bool>> layers_of_globs_;
  std::vector<std::string> unread_;
};

}  // namespace depthcost
