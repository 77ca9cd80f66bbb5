// Follows the words before the last through the commands. Then CLI11 knows which option or argument
// comes next and what it takes.
#include "cli/program/completion.hpp"

#include <string_view>

#include "scenarios/presets/presets.hpp"

namespace depthcost {
namespace {

constexpr const char* kBash = R"script(# source <(depthcost completion bash)
_depthcost() {
  local word=${COMP_WORDS[COMP_CWORD]} line
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :files) compopt -o filenames 2>/dev/null; mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$word") ;;
      :folders) compopt -o filenames 2>/dev/null; mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -d -- "$word") ;;
      *) COMPREPLY+=("${line%%$'\t'*}") ;;
    esac
  done < <("${COMP_WORDS[0]/#\~/$HOME}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _depthcost depthcost
)script";

constexpr const char* kZsh = R"script(#compdef depthcost
# source <(depthcost completion zsh), or a file _depthcost on fpath
_depthcost() {
  local line
  local -a candidates
  for line in "${(@f)$("${(Q)words[1]/#\~/$HOME}" __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
    case $line in
      :files) _files ;;
      :folders) _files -/ ;;
      ?*) candidates+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
    esac
  done
  (( $#candidates )) && _describe depthcost candidates
}
compdef _depthcost depthcost
)script";

constexpr const char* kFish = R"script(# depthcost completion fish | source
function __depthcost_complete
  set -l words (commandline -opc) (commandline -ct)
  for line in ($words[1] __complete $words[2..-1] 2>/dev/null)
    switch $line
      case :files
        __fish_complete_path (commandline -ct)
      case :folders
        __fish_complete_directories (commandline -ct)
      case '*'
        echo $line
    end
  end
end
complete -c depthcost -f -a '(__depthcost_complete)'
)script";

/// Candidates for one word.
class Candidates {
 public:
  /// `prefix` is the part of the same word before the completed part: "--format=".
  explicit Candidates(std::string_view word, std::string_view prefix = {})
      : word_(word), prefix_(prefix) {}

  void add(std::string_view candidate, std::string_view meaning = {}) {
    if (!candidate.starts_with(word_)) return;
    text_ += std::string(prefix_) + std::string(candidate);
    if (!meaning.empty()) text_ += "\t" + std::string(meaning.substr(0, meaning.find('\n')));
    text_ += "\n";
  }

  void add_presets(std::string_view kind) {
    for (const Preset& preset : presets())
      if (kind.empty() || preset.kind == kind) add(preset.id, preset.kind);
  }

  /// Adds values of a type as CLI11 names it: "FILE", or "TEXT:{table,json}" for a choice.
  void add_values(std::string_view type) {
    if (type == completed::kModel) add_presets("models");
    if (type == completed::kHardware) {
      add_presets("hardware");
      add_presets("profiles");
    }
    if (type == completed::kPreset) add_presets({});
    if (type == completed::kFolder) text_ += ":folders\n";
    if (type == completed::kFile || type == completed::kModel || type == completed::kHardware)
      text_ += ":files\n";
    const std::size_t open = type.find('{');
    if (open == std::string_view::npos) return;
    std::string_view choices = type.substr(open + 1, type.find('}') - open - 1);
    while (!choices.empty()) {
      const std::size_t end = std::min(choices.find(','), choices.size());
      add(choices.substr(0, end));
      choices.remove_prefix(std::min(end + 1, choices.size()));
    }
  }

  const std::string& text() const { return text_; }

 private:
  std::string_view word_;
  std::string_view prefix_;
  std::string text_;
};

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

std::vector<const CLI::Option*> arguments_of(const CLI::App& command) {
  std::vector<const CLI::Option*> arguments;
  for (const CLI::Option* option : command.get_options())
    if (option->get_positional()) arguments.push_back(option);
  return arguments;
}

/// The place in a command line: the command read so far, and what the next word belongs to.
struct Place {
  const CLI::App* command = nullptr;
  const CLI::Option* option = nullptr;  // the next word is its value
  std::size_t num_arguments = 0;
};

const CLI::App* subcommand_of(const CLI::App& command, const std::string& word) {
  for (const CLI::App* sub : command.get_subcommands([](const CLI::App*) { return true; }))
    if (sub->check_name(word)) return sub;
  return nullptr;
}

const CLI::Option* option_of(const CLI::App& command, const std::string& word) {
  for (const CLI::Option* option : command.get_options())
    if (option->nonpositional() && option->check_name(word)) return option;
  return nullptr;
}

Place place_behind(const CLI::App& app, std::span<const std::string> words) {
  Place place{&app};
  for (const std::string& word : words) {
    // bash makes three words of --format=json.
    if (word == "=") continue;
    if (place.option != nullptr) {
      place.option = nullptr;
    } else if (word.starts_with('-')) {
      const CLI::Option* option = option_of(*place.command, word);
      if (option != nullptr && takes_value(*option)) place.option = option;
    } else if (const CLI::App* sub = subcommand_of(*place.command, word)) {
      place = {sub};
    } else {
      ++place.num_arguments;
    }
  }
  return place;
}

void add_options(const CLI::App& command, Candidates& candidates) {
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames())
      candidates.add("--" + name, option->get_description());
    for (const std::string& name : option->get_snames())
      candidates.add("-" + name, option->get_description());
  }
}

void add_argument(const Place& place, Candidates& candidates) {
  const auto arguments = arguments_of(*place.command);
  if (arguments.empty()) return;
  const bool is_last = place.num_arguments >= arguments.size();
  const CLI::Option& argument = *(is_last ? arguments.back() : arguments[place.num_arguments]);
  if (is_last && argument.get_items_expected_max() == 1) return;
  candidates.add_values(argument.get_type_name());
}

}  // namespace

std::string completions(const CLI::App& app, std::span<const std::string> words) {
  if (words.empty()) return {};
  // bash gives the = of --format= as the last word.
  const std::string word = words.back() == "=" ? "" : words.back();
  const Place place = place_behind(app, words.first(words.size() - 1));
  if (const std::size_t equals = word.find('=');
      word.starts_with("--") && equals != std::string::npos) {
    const CLI::Option* option = option_of(*place.command, word.substr(0, equals));
    Candidates values(std::string_view(word).substr(equals + 1),
                      std::string_view(word).substr(0, equals + 1));
    if (option != nullptr) values.add_values(option->get_type_name());
    return values.text();
  }
  Candidates candidates(word);
  if (place.option != nullptr) {
    candidates.add_values(place.option->get_type_name());
  } else if (word.starts_with('-')) {
    add_options(*place.command, candidates);
  } else {
    for (const CLI::App* sub : place.command->get_subcommands([](const CLI::App*) { return true; }))
      candidates.add(sub->get_name(), sub->get_description());
    add_argument(place, candidates);
  }
  return candidates.text();
}

std::string completion_script(const std::string& shell) {
  if (shell == "bash") return kBash;
  return shell == "zsh" ? kZsh : kFish;
}

}  // namespace depthcost
