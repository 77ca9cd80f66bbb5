// CLI11's messages begin with the word that they are about, unless the whole command is wrong.
#include "cli/program/usage_error.hpp"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "scenarios/text/input_error.hpp"
#include "scenarios/text/suggest.hpp"

namespace depthcost {
namespace {

// Limit for messages that repeat what was typed.
constexpr std::size_t kMaxCharacters = 200;

struct Complaint {
  std::string subject;
  std::string problem;
  std::string reason = {};  // in brackets, before the help is named
};

/// The command whose words CLI11 was reading.
const CLI::App& innermost(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : innermost(*chosen.front());
}

std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& word : option->get_lnames()) words.push_back("--" + word);
  return words;
}

std::vector<std::string> commands_of(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::App* sub : command.get_subcommands([](const CLI::App*) { return true; }))
    words.push_back(sub->get_name());
  return words;
}

/// Says what was probably meant.
std::string unknown_word(const CLI::App& command, const std::string& word) {
  const bool is_option = word.starts_with('-');
  const auto words = is_option ? options_of(command) : commands_of(command);
  const std::string_view kind = is_option ? "option" : words.empty() ? "argument" : "command";
  return fmt::format("unknown {} '{}'{}", kind, printable(word), did_you_mean(word, words));
}

/// "depthcost presets show".
std::string words_of(const CLI::App& command) {
  const CLI::App* const parent = command.get_parent();
  return parent == nullptr ? command.get_name() : words_of(*parent) + " " + command.get_name();
}

/// "{a,b}" or "0 to 9".
std::string possible_values(std::string range) {
  if (!range.starts_with('{')) return "from " + range;
  range = range.substr(1, range.size() - 2);
  for (std::size_t i = 0; (i = range.find(',', i)) != std::string::npos; i += 3)
    range.replace(i, 1, " | ");
  return range;
}

/// "foo not in {a,b}", or "Value 0 not in range 1 to 9".
Complaint invalid_value(const std::string& subject, const std::string& text) {
  for (const std::string_view words : {" not in range ", " not in "}) {
    const std::size_t at = text.rfind(words);
    if (at == std::string::npos) continue;
    const std::size_t value = text.starts_with("Value ") ? 6 : 0;
    return {subject, fmt::format("invalid value '{}'", text.substr(value, at - value)),
            fmt::format("must be {}", possible_values(text.substr(at + words.size())))};
  }
  return {subject, text};
}

/// "Could not convert: --streams = 1.5".
Complaint unreadable_number(const CLI::App& command, const std::string& text) {
  const std::size_t name = text.find(": ") + 2;
  const std::size_t equals = text.find(" = ", name);
  const std::string subject = text.substr(name, equals - name);
  const CLI::Option* const option = command.get_option_no_throw(subject);
  const bool is_real = option != nullptr && option->get_type_name() == "FLOAT";
  return {subject, fmt::format("invalid value '{}'", text.substr(equals + 3)),
          is_real ? "must be a number" : "must be a whole number"};
}

Complaint complaint(const CLI::App& command, const CLI::ParseError& error) {
  const std::string text = printable(error.what(), kMaxCharacters);
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr)
    return unreadable_number(command, text);
  constexpr std::string_view kRequired = " is required";
  if (text.ends_with(kRequired)) {
    const std::string what = text.substr(0, text.size() - kRequired.size());
    return {command.get_name(), "missing " + (what == "A subcommand" ? "command" : what)};
  }
  if (text.ends_with(" requires --model"))
    return {command.get_name(), text, "a scenario file's keys are changed by --set KEY=VALUE"};
  const std::size_t colon = text.find(": ");
  if (colon == std::string::npos) return {command.get_name(), text};
  const std::string subject = text.substr(0, colon);
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) == nullptr)
    return invalid_value(subject, text.substr(colon + 2));
  if (text.ends_with(" missing")) return {subject, "missing value"};
  return {subject, "more than one value", "it takes one"};
}

}  // namespace

std::string usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = innermost(app);
  const std::vector<std::string> unknown = app.remaining(true);
  const Complaint found =
      unknown.empty() ? complaint(command, error)
                      : Complaint{command.get_name(), unknown_word(command, unknown.front())};
  return fmt::format("{}:1:1: error: {} ({}see {} --help)", found.subject, found.problem,
                     found.reason.empty() ? "" : found.reason + "; ", words_of(command));
}

}  // namespace depthcost
