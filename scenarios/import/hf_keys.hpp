// Which keys of a config.json cannot be passed over in silence.
#pragma once

#include <string_view>

#include "scenarios/text/document.hpp"

namespace depthcost {

/// Whether a key that the importer does not read could change what a layer is. A config that
/// transformers has dumped carries dozens of defaults, which do not.
bool may_change_structure(std::string_view key, const Node& value);

/// Whether a key beside `text_config` speaks of images, sound or how they enter.
bool is_of_another_modality(std::string_view key);

}  // namespace depthcost
