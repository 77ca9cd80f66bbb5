// A Hugging Face config.json: its decoder's section, the names that a key goes by, and the keys
// that nobody has asked for.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/text/document.hpp"
#include "scenarios/text/quantity.hpp"

namespace depthcost {

class ConfigSection;

/// One value with its path: "text_config.num_hidden_layers". Every reader throws InputError, which
/// names that path, for a value of another kind.
class ConfigValue {
 public:
  ConfigValue(const Node& node, std::string path) : node_(&node), path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  const Position& position() const { return node_->position; }
  bool is_list() const { return std::holds_alternative<List>(node_->content); }

  Count count(Range range = Range::positive) const;
  double number() const;
  bool flag() const;
  const std::string& word() const;
  std::vector<Count> counts(Range range = Range::positive) const;
  std::vector<std::string> words() const;
  ConfigSection section() const;

  /// The text as written, for messages; "" for a list or a map.
  std::string text() const;

  /// "invalid text_config.dtype 'int8' (reason)".
  [[noreturn]] void fail(std::string_view reason) const;

 private:
  const Node* node_;
  std::string path_;
};

/// The names under which one quantity is known.
using Aliases = std::vector<std::string_view>;

/// One object of the file. Null counts as absent.
class ConfigSection {
 public:
  ConfigSection(const Node& node, std::string prefix);

  const Position& position() const { return position_; }
  const std::string& prefix() const { return prefix_; }
  const std::vector<Member>& members() const { return map_->members; }

  /// The value of the first name that is there; all of them count as asked for. Throws InputError
  /// where two of them say different things.
  std::optional<ConfigValue> find(const Aliases& names);

  /// The same, but throws InputError if there is none. `why` stands in the message.
  ConfigValue at(const Aliases& names, std::string_view why);

  bool is_asked_for(const std::string& name) const { return asked_for_.contains(name); }

  /// Throws InputError for the first member that is neither null nor asked for.
  void refuse_others() const;

 private:
  const Map* map_;
  Position position_;
  std::string prefix_;  // "text_config.", or "" at the top
  std::set<std::string> asked_for_;
};

/// The whole file: the section that describes the decoder, and the top, where it looks next. Last
/// it looks at the defaults of the model's class in transformers, which a config need not repeat.
class HfConfig {
 public:
  /// `document` must outlive this. Throws InputError where it is no object, or has two decoders.
  HfConfig(const Node& document, std::string label);

  /// The name of the file, as sources cite it.
  const std::string& label() const { return label_; }

  /// Where the decoder's section begins: the place to report what is missing.
  const Position& position() const { return (nested_ ? *nested_ : top_).position(); }

  /// Takes a JSON object of defaults; paths name them "transformers' llama4_text.head_dim". Where
  /// there are several, the first one that has a key counts.
  void add_defaults(std::string_view model_type, std::string_view json);

  /// Whether find() or at() has returned one of them.
  bool has_used_defaults() const { return has_used_defaults_; }

  std::optional<ConfigValue> find(const Aliases& names);
  ConfigValue at(const Aliases& names, std::string_view why);

  /// Like find(), but at the top of the file only.
  std::optional<ConfigValue> find_at_top(const Aliases& names) { return top_.find(names); }

  /// Marks keys as known. No result depends on them.
  void ignore(const Aliases& names);

  /// "config.json: text_config.a, b". Only the first key of a section has its path.
  std::string cite(const std::vector<std::string>& paths) const;

  /// Throws InputError for the first key that could change what a layer is and that nobody has
  /// asked for. `model_type` stands in the message.
  void refuse_unknown_structure(std::string_view model_type) const;

 private:
  std::string label_;
  ConfigSection top_;
  std::optional<ConfigSection> nested_;
  std::vector<std::unique_ptr<Node>> default_documents_;
  std::vector<ConfigSection> defaults_;
  bool has_used_defaults_ = false;
};

}  // namespace depthcost
