// The names of the options are those of the command line.
#include "python/binding/question.hpp"

#include <nanobind/stl/string.h>

#include "python/binding/tree.hpp"

namespace depthcost::python {
namespace {

namespace nb = nanobind;

/// A dict need not say which version of the keys it has: it is written for the package at hand.
void add_schema(Node& document) {
  auto* map = std::get_if<Map>(&document.content);
  if (map == nullptr || map->find("schema") != nullptr) return;
  Node schema{document.position, ScalarNode{std::string(scenario_keys().schema)}};
  map->members.insert(map->members.begin(), {"schema", document.position, std::move(schema)});
}

void set_option(ScenarioOptions& options, const std::string& name, const std::string& value) {
  static const std::map<std::string, std::string ScenarioOptions::*> members{
      {"model", &ScenarioOptions::model},      {"hardware", &ScenarioOptions::hardware},
      {"tensor", &ScenarioOptions::tensor},    {"pipeline", &ScenarioOptions::pipeline},
      {"data", &ScenarioOptions::data},        {"expert", &ScenarioOptions::expert},
      {"residual", &ScenarioOptions::scheme},  {"block_size", &ScenarioOptions::block_size},
      {"compare", &ScenarioOptions::compare},  {"decode", &ScenarioOptions::decode},
      {"context", &ScenarioOptions::context},  {"prefill", &ScenarioOptions::prefill},
      {"training", &ScenarioOptions::training}};
  options.*members.at(name) = value;
}

}  // namespace

Question question_of(const std::string& kind, nb::handle source,
                     const std::map<std::string, std::string>& options,
                     const std::vector<std::string>& budgets,
                     const std::vector<std::string>& settings) {
  Question question;
  for (const auto& [name, value] : options) set_option(question.options, name, value);
  question.options.budgets = budgets;
  question.options.settings = settings;
  if (kind == "path") question.path = nb::cast<std::string>(source);
  if (kind == "text") {
    question.path = kNoFile;
    question.options.document = {parse_document(nb::cast<std::string>(source), kNoFile), kNoFile};
  }
  if (kind == "dict") {
    question.path = kNoFile;
    Node document = tree_of(source, kNoFile);
    add_schema(document);
    question.options.document = {std::move(document), kNoFile, Provenance::options};
  }
  return question;
}

}  // namespace depthcost::python
