// Names and regular expressions become globs: `*` is any text, `?` any character, N a layer's
// number. What else regular expressions have is not read: it does not stand in published lists, and
// a matcher of all of it can be made to run for ever.
#include "scenarios/import/hf_module_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include "scenarios/import/hf_keys.hpp"

namespace depthcost {
namespace {

// More than a list of all matrices of the largest model has, each expert with a name of its own.
constexpr std::size_t kMaxModuleNames = std::size_t{1} << 16;
constexpr std::size_t kMaxExpression = 512;  // characters
constexpr std::size_t kMaxChoices = 512;     // globs of one expression

/// Whether the glob matches the whole text.
bool matches_glob(std::string_view glob, std::string_view text) {
  std::size_t g = 0;
  std::size_t t = 0;
  std::size_t behind_star = std::string_view::npos;
  std::size_t end_of_star = 0;  // of the text that the last star has taken
  while (t < text.size()) {
    if (g < glob.size() && glob[g] == '*') {
      behind_star = ++g;
      end_of_star = t;
    } else if (g < glob.size() && (glob[g] == '?' || glob[g] == text[t])) {
      ++g;
      ++t;
    } else if (behind_star != std::string_view::npos) {
      g = behind_star;
      t = ++end_of_star;
    } else {
      return false;
    }
  }
  return glob.find_first_not_of('*', g) == std::string_view::npos;
}

using Globs = std::vector<std::string>;

Globs globs_of(std::string_view expression);

/// Each character that "0-35" stands for between brackets.
Globs characters_in(std::string_view brackets) {
  if (brackets.find_first_of("^\\") != std::string_view::npos) return {};
  Globs all;
  for (std::size_t i = 0; i < brackets.size(); ++i) {
    const bool is_range = i + 2 < brackets.size() && brackets[i + 1] == '-';
    const int last = is_range ? brackets[i + 2] : brackets[i];
    for (int c = brackets[i]; c <= last; ++c) all.push_back(std::string(1, static_cast<char>(c)));
    if (is_range) i += 2;
  }
  return all;
}

/// The first piece of an expression. Without choices it is not understood.
struct ExpressionPiece {
  std::size_t length = 1;
  Globs choices;
  bool is_any = false;  // a dot or a digit: repeated, it is any text
};

ExpressionPiece first_piece(std::string_view expression) {
  const char first = expression.front();
  if (first == '.') return {1, {"?"}, true};
  if (first == '\\' && expression.size() > 1) {
    const char escaped = expression[1];
    if (escaped == 'd') return {2, characters_in("0-9"), true};
    const bool is_sign = std::string_view("._-/").find(escaped) != std::string_view::npos;
    return is_sign ? ExpressionPiece{2, {std::string(1, escaped)}, false} : ExpressionPiece{};
  }
  if (first == '[' || first == '(') {
    const std::size_t end = expression.find(first == '[' ? ']' : ')');
    if (end == std::string_view::npos) return {};
    std::string_view inside = expression.substr(1, end - 1);
    if (first == '[') return {end + 1, characters_in(inside), inside == "0-9"};
    if (inside.starts_with("?:")) inside.remove_prefix(2);
    return {end + 1, globs_of(inside), false};
  }
  if (std::string_view("*+?^$|{}])\\").find(first) != std::string_view::npos) return {};
  return {1, {std::string(1, first)}, false};
}

void append(Globs& heads, const Globs& choices) {
  if (choices.size() == 1) {
    for (std::string& head : heads) head += choices.front();
    return;
  }
  Globs longer;
  for (const std::string& head : heads)
    for (const std::string& choice : choices) longer.push_back(head + choice);
  heads = std::move(longer);
}

/// The globs that a regular expression stands for, one for each choice in its groups and brackets.
/// None if it is not understood.
Globs globs_of(std::string_view expression) {
  Globs done;
  Globs heads(1);
  while (!expression.empty()) {
    if (expression.front() == '|') {
      done.insert(done.end(), heads.begin(), heads.end());
      heads = Globs(1);
      expression.remove_prefix(1);
      continue;
    }
    ExpressionPiece piece = first_piece(expression);
    expression.remove_prefix(piece.length);
    const bool is_repeated = expression.starts_with('*') || expression.starts_with('+');
    if (piece.is_any && is_repeated) {
      piece.choices = Globs(1, "*");
      expression.remove_prefix(1);
    }
    if (piece.choices.empty()) return {};
    if (done.size() + heads.size() * piece.choices.size() > kMaxChoices) return {};
    append(heads, piece.choices);
  }
  done.insert(done.end(), heads.begin(), heads.end());
  return done;
}

/// Where a number behind "layers" has a `?`.
std::size_t any_in_number(std::string_view glob) {
  constexpr std::string_view kWord = "layers";
  const std::size_t word = glob.find(kWord);
  if (word == std::string_view::npos) return word;
  const std::size_t start = std::min(word + kWord.size() + 1, glob.size());
  const std::size_t end = glob.find_first_not_of("0123456789", start);
  return end != std::string_view::npos && glob[end] == '?' ? end : std::string_view::npos;
}

/// Any character in a layer's number is a digit, or the dot behind it. None where that makes too
/// many.
Globs with_numbers(Globs globs) {
  for (std::size_t i = 0; i < globs.size();) {
    const std::size_t at = any_in_number(globs[i]);
    if (at == std::string_view::npos) {
      ++i;
      continue;
    }
    constexpr std::string_view kAny = "0123456789.";
    if (globs.size() + kAny.size() > kMaxChoices) return {};
    const std::string glob = globs[i];
    globs[i][at] = kAny.front();
    for (const char c : kAny.substr(1)) {
      globs.push_back(glob);
      globs.back()[at] = c;
    }
  }
  return globs;
}

/// The globs of one entry, for the path of a module between dots. An expression must match from the
/// start, and what follows is free: match() of Python's re, as compressed-tensors calls it. A name
/// means what is under it, too, and may lack what stands before.
Globs globs_of_entry(std::string_view entry, NameRule rule) {
  if (!entry.starts_with("re:")) {
    // Only a number goes on: "gate" is written to spare routers, not "gate_proj".
    const bool goes_on =
        rule == NameRule::part && !entry.empty() &&
        std::string_view("0123456789").find(entry.back()) != std::string_view::npos;
    if (goes_on) return {fmt::format("*.{}*", entry)};
    while (entry.ends_with('.')) entry.remove_suffix(1);
    return {fmt::format("*.{}.*", entry)};
  }
  entry.remove_prefix(3);
  if (entry.size() > kMaxExpression) return {};
  if (entry.starts_with('^')) entry.remove_prefix(1);
  const bool has_end = entry.ends_with('$');
  if (has_end) entry.remove_suffix(1);
  Globs globs = globs_of(entry);
  for (std::string& glob : globs) glob = fmt::format(".{}{}", glob, has_end ? "." : "*");
  return with_numbers(std::move(globs));
}

/// Encoders and layers of multi-token prediction are not counted. Their layers have numbers, too.
bool is_of_another_stack(std::string_view glob) {
  return is_of_another_modality(glob) || glob.find("mtp") != std::string_view::npos;
}

/// The number of a layer as a glob has it.
struct NumberInGlob {
  std::string digits;
  bool may_go_on = false;  // any text follows, further digits too
};

/// Puts N in place of the number behind a word and one character: "layers.12." becomes "layers.N.".
std::optional<NumberInGlob> take_number(std::string& glob, std::string_view word) {
  const std::size_t at = glob.find(word);
  if (at == std::string::npos) return std::nullopt;
  const std::size_t start = at + word.size() + 1;
  if (start >= glob.size()) return std::nullopt;
  const std::size_t end = std::min(glob.find_first_not_of("0123456789", start), glob.size());
  if (end == start) return std::nullopt;
  NumberInGlob number{glob.substr(start, end - start), end < glob.size() && glob[end] == '*'};
  glob.replace(start, end - start, "N");
  return number;
}

/// Marks the layer of that number. If the number may go on, marks also those that begin with it.
void mark_layers(std::vector<bool>& layers, const NumberInGlob& number) {
  const auto num_layers = static_cast<Count>(layers.size());
  const char* const end = number.digits.data() + number.digits.size();
  Count first = 0;
  if (std::from_chars(number.digits.data(), end, first).ec != std::errc()) return;
  for (Count num_begun = 1; first < num_layers; first *= 10, num_begun *= 10) {
    for (Count i = first; i < std::min(first + num_begun, num_layers); ++i)
      layers[static_cast<std::size_t>(i)] = true;
    if (!number.may_go_on || first == 0) return;
  }
}

void mark_all(std::vector<bool>& layers, const std::vector<bool>& others) {
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (others[i]) layers[i] = true;
}

}  // namespace

ModuleNames::ModuleNames(const ConfigValue& list, Count num_layers, NameRule rule)
    : num_layers_(static_cast<std::size_t>(num_layers)) {
  std::size_t num_names = 0;
  for (const std::string& entry : list.words()) {
    const Globs globs = globs_of_entry(entry, rule);
    num_names += std::max(globs.size(), std::size_t{1});
    if (num_names > kMaxModuleNames) list.fail(fmt::format("more than {} names", kMaxModuleNames));
    if (globs.empty()) unread_.push_back(entry);
    for (const std::string& glob : globs) add(glob);
  }
}

void ModuleNames::add(std::string glob) {
  if (is_of_another_stack(glob)) return;
  // Engines spare all experts of a layer or none: is_layer_skipped of vLLM.
  take_number(glob, "experts");
  const std::optional<NumberInGlob> number = take_number(glob, "layers");
  if (const std::size_t at = glob.find("layers"); at != std::string::npos) glob.replace(0, at, "*");
  std::vector<bool>& layers = layers_of_globs_[glob];
  layers.resize(num_layers_, false);
  if (number)
    mark_layers(layers, *number);
  else
    layers.assign(num_layers_, true);
}

std::vector<bool> ModuleNames::layers_with(std::string_view matrix) const {
  constexpr std::array<std::string_view, 3> kRoots{"model", "language_model.model",
                                                   "model.language_model"};
  std::vector<bool> layers(num_layers_, false);
  for (const std::string_view root : kRoots) {
    const std::string path = fmt::format(".{}.layers.N.{}.", root, matrix);
    for (const auto& [glob, named] : layers_of_globs_)
      if (matches_glob(glob, path)) mark_all(layers, named);
  }
  return layers;
}

}  // namespace depthcost
