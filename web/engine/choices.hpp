// What the page offers to choose from, and a model of the reader's own.
#pragma once

#include <string>
#include <string_view>

namespace depthcost::page {

/// Models, GPUs and schemes, as JSON.
std::string choices_json();

/// The model of a config.json: its name, layers and scheme, and the model file, as JSON. Throws
/// InputError.
std::string imported_json(std::string_view config, const std::string& file);

}  // namespace depthcost::page
