// Finds the members of an object by key and checks their kinds.
#include "scenarios/text/json_record.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "scenarios/text/suggest.hpp"

namespace depthcost {
namespace {

Count limited_count(const Node& node, Count most, std::string_view key, Range range) {
  const Count value = parse_count(as_scalar(node, key), node.position, key, range);
  if (value > most)
    throw InputError(node.position,
                     fmt::format("invalid {} '{}' (more than {})", key, value, most));
  return value;
}

}  // namespace

const Node& JsonRecord::at(std::string_view key) {
  const Node* value = map_.find(key);
  if (value == nullptr)
    throw InputError(node_.position, fmt::format("missing key '{}' (this record needs it)", key));
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.emplace_back(key);
  return *value;
}

double JsonRecord::number(std::string_view key, Range range) {
  const Node& node = at(key);
  return parse_number(as_scalar(node, key), node.position, key, range);
}

Count JsonRecord::count(std::string_view key, Range range) {
  return limited_count(at(key), kMaxCount, key, range);
}

Count JsonRecord::count_to(Count most, std::string_view key, Range range) {
  return limited_count(at(key), most, key, range);
}

std::vector<Count> JsonRecord::counts_to(Count most, std::string_view key, Range range) {
  std::vector<Count> values;
  for (const Node& item : list(key).items) values.push_back(limited_count(item, most, key, range));
  return values;
}

std::size_t JsonRecord::choice(std::string_view key, const std::vector<std::string>& names) {
  const std::string word = text(key);
  const auto found = std::find(names.begin(), names.end(), word);
  if (found == names.end())
    throw InputError(at(key).position, fmt::format("unknown {} '{}'{}", key, printable(word),
                                                   meant_or_known(word, names)));
  return static_cast<std::size_t>(found - names.begin());
}

void JsonRecord::refuse_others() const {
  for (const Member& member : map_.members)
    if (std::find(known_.begin(), known_.end(), member.key) == known_.end())
      throw InputError(member.position, fmt::format("unknown key '{}'{}", printable(member.key),
                                                    meant_or_known(member.key, known_)));
}

}  // namespace depthcost
