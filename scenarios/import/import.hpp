// From a Hugging Face config.json to a model file. What is not understood is refused, not guessed.
#pragma once

#include <string>
#include <string_view>

#include "scenarios/import/imported_model.hpp"

namespace depthcost {

/// Whether a path names a config that can be imported: it ends in .json.
bool is_config_path(std::string_view path);

/// The model that a config.json describes; `file` labels positions, its last part sources. Throws
/// InputError for what is no config, contradicts itself, lacks a key, or has one that could change
/// what a layer is and is not known.
ImportedModel import_config(std::string_view text, const std::string& file);

/// As above, from a file.
ImportedModel load_config(const std::string& path);

}  // namespace depthcost
