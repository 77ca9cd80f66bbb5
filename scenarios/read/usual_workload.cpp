// The values are YAML, so that they read as a user would have written them.
#include "scenarios/read/usual_workload.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "scenarios/text/input_error.hpp"
#include "scenarios/text/quantity.hpp"

namespace depthcost {
namespace {

/// Every part at the place where the name stands, since it has none of its own.
void place(Node& node, const Position& position) {
  node.position = position;
  if (auto* list = std::get_if<List>(&node.content))
    for (Node& item : list->items) place(item, position);
  if (auto* map = std::get_if<Map>(&node.content))
    for (Member& member : map->members) {
      member.position = position;
      place(member.value, position);
    }
}

/// The value at a key of a map, or nullptr.
const Node* child(const Node& node, std::string_view key) {
  const auto* map = std::get_if<Map>(&node.content);
  return map == nullptr ? nullptr : map->find(key);
}

/// The stages that the document writes; 1 where it writes none. The reader checks them again.
Count stages_of(const Node& document) {
  const Node* parallelism = child(document, "parallelism");
  const Node* written = parallelism == nullptr ? nullptr : child(*parallelism, "pipeline");
  if (written == nullptr) return 1;
  const Node* cited = child(*written, "value");
  const Node& ranks = cited == nullptr ? *written : *cited;
  const auto* scalar = std::get_if<ScalarNode>(&ranks.content);
  return scalar == nullptr ? 1 : parse_count(*scalar, ranks.position, "parallelism.pipeline");
}

std::string cited(std::string_view key, std::string_view value, std::string_view source) {
  return fmt::format("{}: {{value: {}, source: \"{}\"}}", key, value, source);
}

std::string training(Count stages) {
  const std::string length = cited("sequence_length", "8192",
                                   "default: Llama 3 is trained on 8K tokens, arXiv:2407.21783");
  if (stages < 2) return fmt::format("{{{}}}", length);
  return fmt::format("{{{}, {}}}", length,
                     cited("micro_batches", fmt::format("{}", kMicroBatchesOfAStage * stages),
                           kMicroBatchesSource));
}

std::string described(const std::string& name, const Position& position, const Node& document) {
  if (name == "training") return training(stages_of(document));
  if (name == "decode")
    return fmt::format("{{{}}}",
                       cited("sequences", fmt::format("[{}]", kUsualBatches), kUsualBatchesSource));
  if (name == "prefill")
    return fmt::format("{{{}, {}}}", cited("tokens", kUsualPrompt, kUsualPromptSource),
                       cited("chunk", fmt::format("{}", kUsualChunk), kUsualPromptSource));
  throw InputError(position,
                   fmt::format("invalid workload '{}' (must be decode | prefill | training, or a "
                               "map of them)",
                               printable(name)));
}

/// The usual values of a workload, all at the place of its name.
Node written_out(const std::string& name, const Position& position, const Node& document) {
  Node values = parse_document(described(name, position, document), position.file);
  place(values, position);
  return values;
}

bool is_empty_map(const Node& node) {
  const auto* map = std::get_if<Map>(&node.content);
  return map != nullptr && map->members.empty();
}

}  // namespace

Node with_usual_workload(Node document) {
  auto* map = std::get_if<Map>(&document.content);
  if (map == nullptr) return document;
  const auto member = std::find_if(map->members.begin(), map->members.end(),
                                   [](const Member& it) { return it.key == "workload"; });
  if (member == map->members.end()) return document;
  Node& workload = member->value;
  if (auto* kinds = std::get_if<Map>(&workload.content)) {
    for (Member& kind : kinds->members)
      if (is_empty_map(kind.value))
        kind.value = written_out(kind.key, kind.value.position, document);
    return document;
  }
  const auto* name = std::get_if<ScalarNode>(&workload.content);
  if (name == nullptr || name->is_null()) return document;
  const Position position = workload.position;
  const std::string kind = name->text;
  Node described = written_out(kind, position, document);
  workload.content = Map{{{kind, position, std::move(described)}}};
  return document;
}

}  // namespace depthcost
