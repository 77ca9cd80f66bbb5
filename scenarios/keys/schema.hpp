// The table of keys in two other forms: JSON Schema for editors, Markdown for readers.
#pragma once

#include <string>

#include "scenarios/keys/keys.hpp"

namespace depthcost {

/// JSON Schema (draft 2020-12) of scenario files, model and hardware maps included.
std::string json_schema();

/// Every key with type, default and meaning, as Markdown.
std::string key_documentation();

}  // namespace depthcost
