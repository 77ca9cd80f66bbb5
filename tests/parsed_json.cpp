#include "tests/parsed_json.hpp"

namespace depthcost::test {

nlohmann::json parsed_json(const std::string& text) { return nlohmann::json::parse(text); }

nlohmann::ordered_json parsed_in_order(const std::string& text) {
  return nlohmann::ordered_json::parse(text);
}

std::string written_json(const nlohmann::ordered_json& document) { return document.dump(1); }

}  // namespace depthcost::test
