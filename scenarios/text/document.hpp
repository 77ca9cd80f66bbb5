// A YAML file as a tree of scalars, lists and maps, each with its place in the file. Anchors,
// aliases, tags and further documents are refused.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "scenarios/text/input_text.hpp"

namespace depthcost {

struct Node;
struct Member;

/// The most lists and maps inside one another.
inline constexpr std::size_t kMaxNestingDepth = 64;

/// A text as written, with quotes and escapes resolved. A null or an absent value is empty and
/// unquoted.
struct ScalarNode {
  std::string text;
  bool quoted = false;

  bool is_null() const { return text.empty() && !quoted; }
};

struct List {
  std::vector<Node> items;
};

/// Members in the order of the file; no key twice.
struct Map {
  std::vector<Member> members;

  /// The value of the key, or nullptr.
  const Node* find(std::string_view key) const;
};

/// Null values stand at their key, or at their list, because libyaml places an absent value at
/// what follows it.
struct Node {
  Position position;
  std::variant<ScalarNode, List, Map> content;
};

struct Member {
  std::string key;
  Position position;  // where the key is
  Node value;
};

/// The tree of the one document in the text. The file name only labels positions.
/// Throws InputError, and nothing else that the text could cause.
Node parse_document(std::string_view text, const std::string& file);

/// Reads a regular file and parses it.
Node load_document(const std::string& path);

/// The node's content, or an InputError "invalid WHAT ... (must be a map)" at the node.
const ScalarNode& as_scalar(const Node& node, std::string_view what);
/// The same for names and paths: the text is not empty, and printable() would change nothing in it.
const std::string& as_text(const Node& node, std::string_view what);
const List& as_list(const Node& node, std::string_view what);
const Map& as_map(const Node& node, std::string_view what);
/// The map that a whole file is. What else is there is not quoted: it may be no file of ours.
const Map& root_map(const Node& document, std::string_view what);

}  // namespace depthcost
