// Builds the tree from nlohmann's events. They have no places, so the iterator that the parser
// reads from counts bytes. A token begins at the first byte after the previous token that is no
// separator.
#include "scenarios/text/json_document.hpp"

#include <fmt/format.h>

#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "scenarios/text/input_text.hpp"

namespace depthcost {
namespace {

/// Bytes of the text; tells `num_read` how many have been taken.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, std::size_t& num_read) : at_(at), num_read_(&num_read) {}

  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    ++at_;
    ++*num_read_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) {
    return a.at_ == b.at_;
  }
  friend bool operator!=(const CountingIterator& a, const CountingIterator& b) { return !(a == b); }

 private:
  const char* at_;
  std::size_t* num_read_;
};

/// Builds the tree from the events of the parser.
class JsonTree {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  JsonTree(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  std::size_t& num_read() { return num_read_; }
  Node take_root() { return *std::move(root_); }

  bool null() { return add(begin_token(), ScalarNode{}); }
  bool boolean(bool value) { return add(begin_token(), ScalarNode{value ? "true" : "false"}); }
  bool number_integer(number_integer_t) { return number(); }
  bool number_unsigned(number_unsigned_t) { return number(); }
  bool number_float(number_float_t, const string_t&) { return number(); }
  bool string(string_t& text) { return add(begin_token(), ScalarNode{std::move(text), true}); }
  bool binary(binary_t&) { return false; }  // JSON has none

  bool start_object(std::size_t) { return open(Map{}); }
  bool start_array(std::size_t) { return open(List{}); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(string_t& text) {
    const Position position = begin_token();
    OpenNode& map = open_.back();
    const auto [first, is_new] = map.line_of_keys.try_emplace(text, position.line);
    if (!is_new)
      throw InputError(position, fmt::format("duplicate key '{}' (first at line {})",
                                             printable(text), first->second));
    map.key = {std::move(text), position, {}};
    return true;
  }

  bool parse_error(std::size_t num_bytes, const std::string&,
                   const nlohmann::json::exception& error) {
    const std::size_t last = num_bytes == 0 ? 0 : num_bytes - 1;
    refuse_infinite(last);
    throw InputError(
        end_position(text_.substr(0, last), file_),
        fmt::format("malformed JSON ({})", printable(json_problem(error.what()), kMaxReason)));
  }

 private:
  static constexpr std::size_t kMaxReason = 120;

  /// Python writes them; JSON has no such numbers.
  void refuse_infinite(std::size_t offset) const {
    const std::size_t word = text_.find_last_of(" \t\r\n,:[", offset) + 1;
    for (const std::string_view name : {"NaN", "Infinity", "-Infinity"})
      if (text_.substr(word).starts_with(name))
        throw InputError(end_position(text_.substr(0, word), file_),
                         fmt::format("malformed JSON ('{}' is no number of JSON)", name));
  }

  /// An array or object whose end has not been seen.
  struct OpenNode {
    Node node;
    Member key;  // in an object: a key that waits for its value
    std::map<std::string, int>
        line_of_keys;  // in an object; searching its members would be quadratic
  };

  /// The place of the token that has just been read.
  Position begin_token() {
    token_ = text_.find_first_not_of(" \t\r\n,:", last_read_);
    for (; counted_ < token_; ++counted_) {
      if (text_[counted_] != '\n') continue;
      ++line_;
      line_start_ = counted_ + 1;
    }
    last_read_ = num_read_;
    return {file_, line_, static_cast<int>(token_ - line_start_) + 1};
  }

  bool number() {
    const Position position = begin_token();
    const std::size_t end = text_.find_first_of(" \t\r\n,]}", token_);
    // A byte behind the number has been taken to see its end.
    last_read_ = end == std::string_view::npos ? text_.size() : end;
    return add(position, ScalarNode{std::string(text_.substr(token_, last_read_ - token_))});
  }

  template <class Content>
  bool open(Content content) {
    const Position position = begin_token();
    if (open_.size() == kMaxNestingDepth)
      throw InputError(position,
                       fmt::format("nested too deeply (more than {} levels)", kMaxNestingDepth));
    open_.push_back({{position, std::move(content)}, {}, {}});
    return true;
  }

  bool close() {
    begin_token();
    Node node = std::move(open_.back().node);
    open_.pop_back();
    return add(node.position, std::move(node.content));
  }

  bool add(const Position& position, decltype(Node::content) content) {
    if (++num_values_ > kMaxJsonValues)
      throw InputError(position, fmt::format("more than {} values", kMaxJsonValues));
    Node node{position, std::move(content)};
    if (open_.empty()) {
      root_ = std::move(node);
      return true;
    }
    OpenNode& parent = open_.back();
    if (auto* list = std::get_if<List>(&parent.node.content)) {
      list->items.push_back(std::move(node));
      return true;
    }
    parent.key.value = std::move(node);
    std::get<Map>(parent.node.content).members.push_back(std::move(parent.key));
    return true;
  }

  std::string_view text_;
  const FileName file_;
  std::size_t num_values_ = 0;
  std::size_t num_read_ = 0;   // bytes that the parser has taken
  std::size_t last_read_ = 0;  // where the previous token ended
  std::size_t token_ = 0;      // where the last token begins
  std::size_t counted_ = 0;    // up to here lines have been counted
  std::size_t line_start_ = 0;
  int line_ = 1;
  std::vector<OpenNode> open_;
  std::optional<Node> root_;
};

}  // namespace

std::string json_problem(std::string_view what) {
  for (const std::string_view mark : {" - ", "] "}) {
    const std::size_t at = what.find(mark);
    if (at == std::string_view::npos) continue;
    what.remove_prefix(at + mark.size());
    break;
  }
  constexpr std::string_view kQuote = "; last read: '";
  const std::size_t quote = what.find(kQuote);
  if (quote == std::string_view::npos) return std::string(what);
  const std::size_t end = what.rfind('\'');
  return std::string(what.substr(0, quote)).append(what.substr(end + 1));
}

Node parse_json(std::string_view text, const std::string& file, std::size_t max_bytes) {
  text = checked_text(text, file, max_bytes);
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    throw InputError({file, 1, 1}, "empty document (holds no value)");
  JsonTree tree(text, file);
  const CountingIterator first(text.data(), tree.num_read());
  const CountingIterator last(text.data() + text.size(), tree.num_read());
  nlohmann::json::sax_parse(first, last, &tree);
  return tree.take_root();
}

}  // namespace depthcost
