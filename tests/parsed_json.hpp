// JSON of megabytes, read and written by code that is optimised: tests are not.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace depthcost::test {

/// Throws as nlohmann::json::parse() does.
nlohmann::json parsed_json(const std::string& text);

/// The same, with the keys of each object in the order of the text.
nlohmann::ordered_json parsed_in_order(const std::string& text);

/// On lines, as the program writes it.
std::string written_json(const nlohmann::ordered_json& document);

}  // namespace depthcost::test
