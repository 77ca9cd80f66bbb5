// The tree is built from yaml-cpp's events and not from YAML::Node, which expands aliases, lets
// duplicate keys pass in silence and recurses as deeply as the text does.
#include "scenarios/text/document.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "scenarios/text/bracket_limits.hpp"
#include "scenarios/text/input_text.hpp"

namespace depthcost {
namespace {

constexpr std::string_view kNoAliases =
    "aliases are not allowed (write the value where it is used)";

/// yaml-cpp drops a line that starts with % wherever it stands, for a directive or not.
void check_directives(std::string_view text, const std::string& file) {
  const std::size_t line_break = text.find("\n%");
  if (!text.starts_with('%') && line_break == std::string_view::npos) return;
  const std::size_t offset = text.starts_with('%') ? 0 : line_break + 1;
  throw InputError(end_position(text.substr(0, offset), file), "directives are not allowed");
}

std::string too_deep() { return fmt::format("nested deeper than {} levels", kMaxNestingDepth); }

/// Checked before yaml-cpp, which would take hundreds of megabytes for a file of opening brackets.
void check_brackets(std::string_view text, const std::string& file) {
  const std::optional<BracketExcess> excess = bracket_excess(text);
  if (!excess) return;
  throw InputError(end_position(text.substr(0, excess->offset), file),
                   excess->is_depth
                       ? too_deep()
                       : fmt::format("too many values in one pair of brackets (more than {} marks)",
                                     kMaxBracketMarks));
}

/// Whether the quoted text that starts at the offset ends. yaml-cpp 0.7 takes the rest of the file
/// as the text if the quote is not closed and the file ends with white space.
bool has_closing_quote(std::string_view text, std::size_t offset) {
  const char quote = text[offset];
  for (std::size_t i = offset + 1; i < text.size(); ++i) {
    const bool is_escape = quote == '"' ? text[i] == '\\' : text.substr(i, 2) == "''";
    if (is_escape) {
      ++i;
    } else if (text[i] == quote) {
      return true;
    }
  }
  return false;
}

/// Builds the tree from events, and refuses events that have no meaning here.
class TreeBuilder : public YAML::EventHandler {
 public:
  /// yaml-cpp's marks are offsets into the text without its byte order mark.
  TreeBuilder(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  /// The tree, once; nothing if no document was seen.
  std::optional<Node> take_root() { return std::move(root_); }

  Position position_of(const YAML::Mark& mark) const {
    if (mark.is_null()) return {file_, 1, 1};
    // At the end of the text yaml-cpp has already reset its column.
    if (static_cast<std::size_t>(mark.pos) >= text_.size()) return end_position(text_, file_);
    return {file_, mark.line + 1, mark.column + 1};
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (root_) fail(mark, "second document, or text after the first (a file holds one document)");
  }

  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_properties(mark, kTagOfPlain, anchor);
    if (expects_key()) fail(mark, "missing key (a null is not a key)");
    add({null_position(mark), ScalarNode{}});
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { fail(mark, kNoAliases); }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_properties(mark, tag, anchor);
    refuse_open_quote(mark);
    if (expects_key()) {
      begin_member(mark, value);
    } else {
      add({position_of(mark), ScalarNode{value, tag == kTagOfQuoted}});
    }
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    refuse_properties(mark, tag, anchor);
    if (expects_key()) fail_for_key(mark, style, "list", ']');
    open({position_of(mark), List{}}, mark);
  }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    refuse_properties(mark, tag, anchor);
    if (expects_key()) fail_for_key(mark, style, "map", '}');
    open({position_of(mark), Map{}}, mark);
  }

  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

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

  /// The tags that yaml-cpp gives to untagged nodes: to texts in quotes and block texts, and to
  /// others.
  static constexpr std::string_view kTagOfQuoted = "!";
  static constexpr std::string_view kTagOfPlain = "?";

  [[noreturn]] void fail(const YAML::Mark& mark, std::string_view message) const {
    throw InputError(position_of(mark), message);
  }

  /// A bracket that is never closed looks like the start of a key to yaml-cpp.
  [[noreturn]] void fail_for_key(const YAML::Mark& mark, YAML::EmitterStyle::value style,
                                 std::string_view kind, char closing_bracket) const {
    const std::string hint = style == YAML::EmitterStyle::Flow
                                 ? fmt::format(", or a '{}' is missing", closing_bracket)
                                 : "";
    fail(mark, fmt::format("invalid key (must be a word, not a {}{})", kind, hint));
  }

  bool expects_key() const {
    return !open_.empty() && std::holds_alternative<Map>(open_.back().node.content) &&
           !open_.back().key;
  }

  void refuse_properties(const YAML::Mark& mark, std::string_view tag,
                         YAML::anchor_t anchor) const {
    if (anchor != 0) fail(mark, "anchors are not allowed (write the value where it is used)");
    // A lone "!" gives the tag of a quoted text, and an absent value loses its tag.
    const bool starts_with_tag = text_.substr(offset_of(mark), 1) == "!";
    if (starts_with_tag || (tag != kTagOfPlain && tag != kTagOfQuoted))
      fail(mark, "tags are not allowed");
  }

  void refuse_open_quote(const YAML::Mark& mark) const {
    const std::size_t offset = offset_of(mark);
    const std::string_view first = text_.substr(offset, 1);
    const bool has_quote = first == "\"" || first == "'";
    if (has_quote && !has_closing_quote(text_, offset))
      fail(mark, "malformed YAML (no closing quote)");
  }

  std::size_t offset_of(const YAML::Mark& mark) const {
    return std::min(static_cast<std::size_t>(mark.pos), text_.size());
  }

  /// yaml-cpp places an absent value at whatever follows it, often a line or more below.
  Position null_position(const YAML::Mark& mark) const {
    if (open_.empty()) return position_of(mark);
    const OpenNode& parent = open_.back();
    return parent.key ? parent.key->position : parent.node.position;
  }

  void begin_member(const YAML::Mark& mark, const std::string& key) {
    const Position position = position_of(mark);
    const auto [first, is_new] = open_.back().line_of_keys.try_emplace(key, position.line);
    if (!is_new)
      fail(mark,
           fmt::format("duplicate key '{}' (first at line {})", printable(key), first->second));
    open_.back().key = PendingKey{key, position};
  }

  void open(Node node, const YAML::Mark& mark) {
    if (open_.size() == kMaxNestingDepth) fail(mark, too_deep());
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

  std::string_view text_;
  const std::string& file_;
  std::vector<OpenNode> open_;
  std::optional<Node> root_;
};

InputError syntax_error(const YAML::Exception& error, const TreeBuilder& builder) {
  const Position position = builder.position_of(error.mark);
  // An alias without its anchor is looked up, and missed, before the handler hears of it.
  if (error.msg == YAML::ErrorMsg::UNKNOWN_ANCHOR) return {position, kNoAliases};
  return {position, fmt::format("malformed YAML ({})", printable(error.msg))};
}

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
  check_directives(text, file);
  check_brackets(text, file);
  TreeBuilder builder(text, file);
  // yaml-cpp drops a byte order mark without counting it; given one, it leaves a second one alone.
  std::istringstream stream(std::string(kByteOrderMark) + std::string(text));
  try {
    YAML::Parser parser(stream);
    // The second call finds a second document, which the builder refuses. No third: yaml-cpp offers
    // a stray comma as an empty document for ever.
    if (parser.HandleNextDocument(builder)) parser.HandleNextDocument(builder);
  } catch (const YAML::Exception& error) {
    throw syntax_error(error, builder);
  }
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
  if (printable(text, text.size() * 4) != text)
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

}  // namespace depthcost
