// The functions that JavaScript calls: texts in, a text out. What a user got wrong comes back as
// {"error": "file:line:column: error: ..."}. A result stays until the next call.
#include <cstddef>
#include <exception>
#include <string>

#include "reports/formats/json_writer.hpp"
#include "web/engine/block_sizes.hpp"
#include "web/engine/choices.hpp"

namespace {

template <class Answer>
const char* answered(const Answer& answer) {
  static std::string result;
  try {
    result = answer();
  } catch (const std::exception& error) {
    depthcost::JsonWriter json;
    json.object([&] { json.member("error", std::string_view(error.what())); });
    result = std::move(json).text();
  }
  return result.c_str();
}

}  // namespace

extern "C" {

[[gnu::used]] const char* depthcost_choices() { return answered(depthcost::page::choices_json); }

[[gnu::used]] const char* depthcost_import(const char* config, std::size_t size, const char* file) {
  return answered([&] { return depthcost::page::imported_json({config, size}, file); });
}

[[gnu::used]] const char* depthcost_evaluate(const char* scenario, const char* file) {
  return answered([&] {
    return depthcost::page::evaluation_json({scenario, file}, DEPTHCOST_VERSION);
  });
}

[[gnu::used]] const char* depthcost_answer(const char* scenario, const char* file) {
  return answered([&] { return depthcost::page::answer_json({scenario, file}); });
}

[[gnu::used]] const char* depthcost_block_sizes(const char* scenario, const char* file) {
  return answered([&] { return depthcost::page::block_sizes_json({scenario, file}); });
}

[[gnu::used]] const char* depthcost_markdown(const char* scenario, const char* file) {
  return answered([&] {
    return depthcost::page::report_markdown({scenario, file}, DEPTHCOST_VERSION);
  });
}
}
