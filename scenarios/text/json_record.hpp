// One object of a JSON file that a program has written, such as samples of a measurement or a
// pipeline plan.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/enum_names.hpp"
#include "scenarios/text/document.hpp"
#include "scenarios/text/quantity.hpp"

namespace depthcost {

/// Every member must be asked for, so that a misspelt key is an error. All functions throw
/// InputError at the position of the mistake.
class JsonRecord {
 public:
  /// `what` names the object in the message for a node that is no object.
  JsonRecord(const Node& node, std::string_view what) : node_(node), map_(as_map(node, what)) {}

  const Node& at(std::string_view key);
  bool has(std::string_view key) const { return map_.find(key) != nullptr; }
  std::string text(std::string_view key) { return as_scalar(at(key), key).text; }
  double number(std::string_view key, Range range = Range::positive);
  /// An integer, at most kMaxCount.
  Count count(std::string_view key, Range range = Range::positive);
  Count count_to(Count most, std::string_view key, Range range = Range::positive);
  std::vector<Count> counts_to(Count most, std::string_view key, Range range = Range::positive);
  const List& list(std::string_view key) { return as_list(at(key), key); }
  /// The index of the value in `names`.
  std::size_t choice(std::string_view key, const std::vector<std::string>& names);
  /// The value with this name; `values` are those that the key takes.
  template <class Enum, std::size_t N = kEnumerators<Enum>.size()>
  Enum value(std::string_view key, const std::array<Enum, N>& values = kEnumerators<Enum>) {
    std::vector<std::string> names;
    for (const Enum value : values) names.emplace_back(name(value));
    return values[choice(key, names)];
  }

  /// Throws for a member that was not asked for.
  void refuse_others() const;

 private:
  const Node& node_;
  const Map& map_;
  std::vector<std::string> known_;
};

}  // namespace depthcost
