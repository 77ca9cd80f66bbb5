#include "tests/results/variations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <set>

#include "scenarios/text/input_text.hpp"
#include "scenarios/text/quantity.hpp"

namespace depthcost::test {
namespace {

// Around the limits of scenarios/keys/limits.hpp, too.
const std::vector<std::string> kCounts{"0",  "1",   "2",    "3",     "7",     "8",  "64",
                                       "96", "257", "4097", "16385", "65537", "1.5"};
const std::vector<std::string> kNumbers{"0", "0.25", "0.5",  "1",    "1.5",
                                        "8", "-1",   "1e-9", "1e30", "x"};
const std::vector<std::string> kLists{"[]",        "[1]", "[2, 2]", "[3, 5]",
                                      "[64, 512]", "7",   "[-1]",   "[x]"};

std::vector<std::string> quantities_of(Dimension dimension) {
  std::vector<std::string> values{"1", "1 parsec"};
  for (const Unit& unit : units())
    if (unit.dimension == dimension)
      for (const char* number : {"0", "2", "300"})
        values.push_back(fmt::format("{} {}", number, unit.text));
  return values;
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-' ||
         c == '+';
}

bool is_number(const std::string& word) {
  char* end = nullptr;
  std::strtod(word.c_str(), &end);
  return *end == '\0' && std::isalpha(static_cast<unsigned char>(word.front())) == 0;
}

struct Word {
  std::size_t begin = 0;
  std::string text;
};

/// Up to where a value's source is told, whose words are free.
std::vector<Word> words_in(const std::string& line) {
  const std::size_t last = std::min(line.find("source:"), line.size());
  std::vector<Word> words;
  for (std::size_t begin = 0; begin < last;) {
    std::size_t end = begin;
    while (end < last && is_word(line[end])) ++end;
    if (end > begin) words.push_back({begin, line.substr(begin, end - begin)});
    begin = std::max(end, begin + 1);
  }
  return words;
}

/// The line without its values: a row of JSON by its keys alone.
std::string shape_of(const std::string& line, const std::vector<Word>& words) {
  const bool is_row = line.find("\":") != std::string::npos;
  std::string shape;
  for (const Word& word : words) {
    const bool is_key = line.compare(word.begin + word.text.size(), 2, "\":") == 0;
    if (is_row ? is_key : !is_number(word.text)) shape += word.text + " ";
  }
  return shape;
}

/// What may stand in place of a word, for half of the words: in place of a number another, in place
/// of a name one that does not exist. Of the keys of a line only the first is varied.
std::optional<std::string> other(const Word& word, const std::string& line) {
  const std::string behind = line.substr(word.begin + word.text.size(), 2);
  const bool is_key = behind.starts_with(':') || behind == "\":";
  if (is_key && line.find_first_not_of(" -\"{[") != word.begin) return std::nullopt;
  const std::uint64_t hash = fnv1a(fmt::format("{}{}", line, word.begin));
  if (hash % 2 == 0) return std::nullopt;
  if (!is_number(word.text)) return "x";
  const double number = std::strtod(word.text.c_str(), nullptr);
  const std::vector<std::string> all{"0",    "1",  fmt::format("{}", number + 1),
                                     "1e30", "-1", fmt::format("{}", 2 * number),
                                     "0.5",  "3"};
  return all[hash / 2 % all.size()];
}

}  // namespace

std::vector<std::string> values_to_try(const Key& key) {
  switch (key.kind) {
    case KeyKind::count:
      return kCounts;
    case KeyKind::number:
      return kNumbers;
    case KeyKind::counts:
      return kLists;
    case KeyKind::quantity:
    case KeyKind::quantities:
      return quantities_of(key.dimension);
    case KeyKind::choice:
    case KeyKind::choices: {
      std::vector<std::string> values(key.choices.begin(), key.choices.end());
      values.insert(values.end(), {"x", "[]", fmt::format("[{}]", key.choices.front())});
      return values;
    }
    case KeyKind::reference:
      return {"gpt_oss_120b", "mi300x", "no_such_preset", "./no_such_file.yaml"};
    case KeyKind::text:
      return {"text", ""};
    case KeyKind::records:
      return {"[]", "x"};
  }
  return {};
}

std::vector<Variation> variations_of(const std::string& text) {
  std::vector<Variation> variations;
  std::set<std::string> shapes;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    const std::string line = text.substr(begin, end - begin);
    const std::vector<Word> words = words_in(line);
    if (line.front() != '#' && shapes.insert(shape_of(line, words)).second) {
      std::string label = line.substr(0, std::min<std::size_t>(line.size() - 1, 60));
      std::replace(label.begin(), label.end(), '"', '\'');
      variations.push_back({label, std::string(text).erase(begin, line.size())});
      for (const Word& word : words)
        if (const auto instead = other(word, line))
          variations.push_back(
              {label, std::string(text).replace(begin + word.begin, word.text.size(), *instead)});
    }
    begin = end;
  }
  return variations;
}

}  // namespace depthcost::test
