// The tree is built from libyaml's events and not from its own documents, which expand aliases and
// let duplicate keys pass in silence.
#include "scenarios/text/document.hpp"

#include <fmt/format.h>
#include <yaml.h>

#include <algorithm>
#include <map>
#include <new>
#include <optional>
#include <utility>

#include "scenarios/text/input_text.hpp"

namespace depthcost {
namespace {

constexpr std::string_view kSecondDocument =
    "second document, or text after the first (a file holds one document)";

/// Where the marks of libyaml are. They count characters, and a position counts bytes.
class Places {
 public:
  Places(std::string_view text, const std::string& file) : file_(file) {
    const auto is_ascii = [](char byte) { return static_cast<unsigned char>(byte) < 0x80; };
    const auto continues = [](char byte) {
      return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
    };
    for (std::size_t i = text.find('\n'); i != std::string_view::npos; i = text.find('\n', i + 1))
      lines_.push_back(i + 1);
    if (std::all_of(text.begin(), text.end(), is_ascii)) return;
    for (std::size_t i = 0; i < text.size(); ++i)
      if (!continues(text[i])) characters_.push_back(i);
    characters_.push_back(text.size());
  }

  /// In bytes from the start of the text.
  std::size_t offset(const yaml_mark_t& mark) const {
    if (characters_.empty()) return mark.index;
    return characters_[std::min(mark.index, characters_.size() - 1)];
  }

  Position at(std::size_t offset) const {
    const auto next_line = std::upper_bound(lines_.begin(), lines_.end(), offset);
    return {file_, static_cast<int>(next_line - lines_.begin()),
            static_cast<int>(offset - *(next_line - 1)) + 1};
  }

  Position at(const yaml_mark_t& mark) const { return at(offset(mark)); }

 private:
  const FileName file_;
  std::vector<std::size_t> lines_{0};    // where each line starts
  std::vector<std::size_t> characters_;  // where each character starts, if it is not ASCII alone
};

/// Builds the tree from events, and refuses events that have no meaning here.
class TreeBuilder {
 public:
  explicit TreeBuilder(const Places& places) : places_(places) {}

  /// The tree, once; nothing if no document was seen.
  std::optional<Node> take_root() { return std::move(root_); }

  /// The list or map whose end is awaited, or nullptr.
  const Node* innermost() const { return open_.empty() ? nullptr : &open_.back().node; }

  void take(const yaml_event_t& event) {
    switch (event.type) {
      case YAML_DOCUMENT_START_EVENT:
        return start_document(event);
      case YAML_ALIAS_EVENT:
        fail(event, "aliases are not allowed (write the value where it is used)");
      case YAML_SCALAR_EVENT:
        return take_scalar(event);
      case YAML_SEQUENCE_START_EVENT:
        refuse_properties(event, event.data.sequence_start.anchor, event.data.sequence_start.tag);
        if (expects_key()) fail(event, "invalid key (must be a word, not a list)");
        return open({places_.at(event.start_mark), List{}}, event);
      case YAML_MAPPING_START_EVENT:
        refuse_properties(event, event.data.mapping_start.anchor, event.data.mapping_start.tag);
        if (expects_key()) fail(event, "invalid key (must be a word, not a map)");
        return open({places_.at(event.start_mark), Map{}}, event);
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT:
        return close();
      case YAML_NO_EVENT:
      case YAML_STREAM_START_EVENT:
      case YAML_STREAM_END_EVENT:
      case YAML_DOCUMENT_END_EVENT:
        return;
    }
  }

 private:
  struct PendingKey {
    std::string text;
    Position position;
  };

  /// A list or map whose end has not been seen.
  struct OpenNode {
    Node node;
    std::optional<PendingKey> key;            // in a map: a key that waits for its value
    std::map<std::string, int> line_of_keys;  // in a map; searching its members would be quadratic
  };

  [[noreturn]] void fail(const yaml_event_t& event, std::string_view message) const {
    throw InputError(places_.at(event.start_mark), message);
  }

  bool expects_key() const {
    return !open_.empty() && std::holds_alternative<Map>(open_.back().node.content) &&
           !open_.back().key;
  }

  void start_document(const yaml_event_t& event) const {
    const auto& start = event.data.document_start;
    if (root_) fail(event, kSecondDocument);
    if (start.version_directive != nullptr ||
        start.tag_directives.start != start.tag_directives.end)
      fail(event, "directives are not allowed");
  }

  void refuse_properties(const yaml_event_t& event, const yaml_char_t* anchor,
                         const yaml_char_t* tag) const {
    if (anchor != nullptr)
      fail(event, "anchors are not allowed (write the value where it is used)");
    if (tag != nullptr) fail(event, "tags are not allowed (each key has its type)");
  }

  void take_scalar(const yaml_event_t& event) {
    const auto& scalar = event.data.scalar;
    refuse_properties(event, scalar.anchor, scalar.tag);
    std::string text(reinterpret_cast<const char*>(scalar.value), scalar.length);
    const bool quoted = scalar.style != YAML_PLAIN_SCALAR_STYLE;
    if (!quoted && is_null(text)) {
      if (expects_key()) fail(event, "missing key (a null is not a key)");
      add({null_position(event), ScalarNode{}});
    } else if (expects_key()) {
      begin_member(event, std::move(text));
    } else {
      add({places_.at(event.start_mark), ScalarNode{std::move(text), quoted}});
    }
  }

  /// The nulls of YAML 1.2's core schema.
  static bool is_null(std::string_view plain) {
    return plain.empty() || plain == "~" || plain == "null" || plain == "Null" || plain == "NULL";
  }

  /// libyaml places an absent value at what follows it.
  Position null_position(const yaml_event_t& event) const {
    if (open_.empty()) return places_.at(event.start_mark);
    const OpenNode& parent = open_.back();
    return parent.key ? parent.key->position : parent.node.position;
  }

  void begin_member(const yaml_event_t& event, std::string key) {
    const Position position = places_.at(event.start_mark);
    const auto [first, is_new] = open_.back().line_of_keys.try_emplace(key, position.line);
    if (!is_new)
      fail(event,
           fmt::format("duplicate key '{}' (first at line {})", printable(key), first->second));
    open_.back().key = PendingKey{std::move(key), position};
  }

  void open(Node node, const yaml_event_t& event) {
    if (open_.size() == kMaxNestingDepth)
      fail(event, fmt::format("nested too deeply (more than {} levels)", kMaxNestingDepth));
    open_.push_back({std::move(node), std::nullopt, {}});
  }

  void close() {
    Node node = std::move(open_.back().node);
    open_.pop_back();
    add(std::move(node));
  }

  void add(Node node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    OpenNode& parent = open_.back();
    if (auto* list = std::get_if<List>(&parent.node.content)) {
      list->items.push_back(std::move(node));
      return;
    }
    PendingKey key = *std::exchange(parent.key, std::nullopt);
    std::get<Map>(parent.node.content)
        .members.push_back({std::move(key.text), std::move(key.position), std::move(node)});
  }

  const Places& places_;
  std::vector<OpenNode> open_;
  std::optional<Node> root_;
};

/// The events of a text, one after the other.
class Events {
 public:
  Events(std::string_view text, const Places& places) : text_(text), places_(places) {
    if (yaml_parser_initialize(&parser_) == 0) throw std::bad_alloc();
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;
  ~Events() {
    yaml_event_delete(&event_);
    yaml_parser_delete(&parser_);
  }

  /// The next event, until the next call; nullptr after the last. `open` is the list or map that
  /// it stands in, or nullptr. Throws InputError.
  const yaml_event_t* next(const Node* open) {
    yaml_event_delete(&event_);
    if (yaml_parser_parse(&parser_, &event_) == 0) throw syntax_error(open);
    return event_.type == YAML_STREAM_END_EVENT ? nullptr : &event_;
  }

 private:
  InputError syntax_error(const Node* open) const {
    if (parser_.error == YAML_MEMORY_ERROR) throw std::bad_alloc();
    if (parser_.error == YAML_READER_ERROR)
      return {places_.at(parser_.problem_offset), malformed(parser_.problem)};
    const std::size_t offset = places_.offset(parser_.problem_mark);
    const Position position = places_.at(offset);
    const std::string_view problem = parser_.problem;
    if (problem == "did not find expected <document start>") return {position, kSecondDocument};
    if (problem == "found character that cannot start any token" && text_.substr(offset, 1) == "\t")
      return {position, malformed("a tab where a value starts; indent with spaces")};
    if (problem.starts_with("did not find expected") && offset == text_.size() && open != nullptr)
      return {position,
              malformed(fmt::format("the file ends inside the {} that starts at line {}",
                                    std::holds_alternative<List>(open->content) ? "list" : "map",
                                    open->position.line))};
    return {position, malformed(std::string(problem) + context(position.line))};
  }

  static std::string malformed(std::string_view problem) {
    return fmt::format("malformed YAML ({})", problem);
  }

  /// " while parsing a flow sequence that starts at line 3".
  std::string context(int line_of_problem) const {
    if (parser_.context == nullptr) return "";
    const int line = places_.at(parser_.context_mark).line;
    return fmt::format(" {}{}", parser_.context,
                       line == line_of_problem ? "" : fmt::format(" that starts at line {}", line));
  }

  std::string_view text_;
  const Places& places_;
  yaml_parser_t parser_{};
  yaml_event_t event_{};
};

template <class Content>
const Content& content_as(const Node& node, std::string_view what, std::string_view expected) {
  if (const auto* content = std::get_if<Content>(&node.content)) return *content;
  if (const auto* scalar = std::get_if<ScalarNode>(&node.content))
    throw InputError(node.position, fmt::format("invalid {} '{}' (must be {})", what,
                                                printable(scalar->text), expected));
  const bool is_list = std::holds_alternative<List>(node.content);
  throw InputError(node.position, fmt::format("invalid {} (must be {}, not {})", what, expected,
                                              is_list ? "a list" : "a map"));
}

}  // namespace

const Node* Map::find(std::string_view key) const {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [key](const Member& member) { return member.key == key; });
  return found == members.end() ? nullptr : &found->value;
}

Node parse_document(std::string_view text, const std::string& file) {
  text = checked_text(text, file);
  const Places places(text, file);
  TreeBuilder builder(places);
  Events events(text, places);
  while (const yaml_event_t* event = events.next(builder.innermost())) builder.take(*event);
  std::optional<Node> root = builder.take_root();
  const bool is_empty = !root || (std::holds_alternative<ScalarNode>(root->content) &&
                                  std::get<ScalarNode>(root->content).is_null());
  if (is_empty) throw InputError({file, 1, 1}, "empty document (holds no value)");
  return *std::move(root);
}

Node load_document(const std::string& path) { return parse_document(load_text(path), path); }

const ScalarNode& as_scalar(const Node& node, std::string_view what) {
  return content_as<ScalarNode>(node, what, "a single value");
}

const std::string& as_text(const Node& node, std::string_view what) {
  const std::string& text = as_scalar(node, what).text;
  if (text.empty())
    throw InputError(node.position, fmt::format("invalid {} (empty; need a text)", what));
  if (!is_printable(text))
    throw InputError(node.position, fmt::format("invalid {} '{}' (holds a control character)", what,
                                                printable(text)));
  return text;
}

const List& as_list(const Node& node, std::string_view what) {
  return content_as<List>(node, what, "a list");
}

const Map& as_map(const Node& node, std::string_view what) {
  return content_as<Map>(node, what, "a map");
}

const Map& root_map(const Node& document, std::string_view what) {
  if (std::holds_alternative<ScalarNode>(document.content))
    throw InputError(document.position,
                     fmt::format("invalid {} (must be a map, not a single value)", what));
  return as_map(document, what);
}

}  // namespace depthcost
