// From a Hugging Face config.json to a model file. Keys that are not understood are refused, not
// guessed.
#pragma once

#include <string>
#include <string_view>

#include "scenarios/import/imported_model.hpp"

namespace depthcost {

/// Whether a path names a config that can be imported: it ends in .json.
bool is_config_path(std::string_view path);

/// The model that a config.json describes; `file` labels positions, its last part sources. A
/// `family` is a known model type: the config is read as one of it. Throws InputError for a file
/// that is no config, contradicts itself, lacks a key, or has an unknown key that could change what
/// a layer is.
ImportedModel import_config(std::string_view text, const std::string& file,
                            std::string_view family = "");

/// The same for a file.
ImportedModel load_config(const std::string& path, std::string_view family = "");

}  // namespace depthcost
