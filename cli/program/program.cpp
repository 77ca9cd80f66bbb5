// Catches all exceptions and returns an exit code.
#include "cli/program/program.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <new>
#include <span>
#include <sstream>

#include "cli/output/stdout.hpp"
#include "cli/output/version.hpp"
#include "cli/program/arguments.hpp"
#include "cli/program/completion.hpp"
#include "cli/program/usage_error.hpp"
#include "profile/profile_file.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost {
namespace {

// Limit for messages of libraries, which repeat what was typed.
constexpr std::size_t kMaxForeignCharacters = 200;

int fail(const std::string& line) {
  show_error(line);
  return static_cast<int>(ExitCode::bad_input);
}

/// Refuses an empty text or another option as the value of an option. Usually a shell variable was
/// not set.
void refuse_empty_values(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options())
    for (const std::string& value : option->results()) {
      if (value.empty())
        throw InputError({option->get_name(), 1, 1}, "missing value (the text is empty)");
      if (value.starts_with('-') && command.get_option_no_throw(value) != nullptr)
        throw InputError({option->get_name(), 1, 1},
                         fmt::format("missing value ('{}' is an option)", printable(value)));
    }
  for (const CLI::App* sub : command.get_subcommands()) refuse_empty_values(*sub);
}

/// Refuses "--junit=", which a workflow writes if a variable is not set. The parser would take the
/// next option for the value.
void refuse_empty_assignments(std::span<char*> words) {
  for (const std::string_view word : words) {
    if (word == "--") return;
    if (word.starts_with('-') && word.find('=') == word.size() - 1)
      throw InputError({std::string(word.substr(0, word.size() - 1)), 1, 1},
                       "missing value (the text is empty)");
  }
}

/// Refuses what the parser of options takes for a number in another base, or with separators:
/// "010" is 8 to it, and "0x10" 16.
void refuse_other_bases(const CLI::App& command) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (const CLI::Option* option : command.get_options()) {
    const std::string type = option->get_type_name();
    const bool is_whole = type.starts_with("INT") || type.starts_with("UINT");
    if (!is_whole && !type.starts_with("FLOAT")) continue;
    for (const std::string& value : option->results()) {
      const std::string_view digits =
          std::string_view(value).substr(value.starts_with('-') ? 1 : 0);
      const bool is_plain =
          is_whole ? !digits.empty() && std::all_of(digits.begin(), digits.end(), is_digit)
                   : digits.find_first_of("xX_'") == std::string_view::npos;
      const bool has_zero = digits.size() > 1 && digits[0] == '0' && is_digit(digits[1]);
      if (is_plain && !has_zero) continue;
      throw InputError({option->get_name(), 1, 1},
                       fmt::format("invalid value '{}' (must be {} in plain digits)",
                                   printable(value), is_whole ? "a whole number" : "a number"));
    }
  }
  for (const CLI::App* sub : command.get_subcommands()) refuse_other_bases(*sub);
}

/// 0 if help or a version was asked for, which has been printed.
int answer_usage(const CLI::App& app, const CLI::Success& help) {
  std::ostringstream text;
  app.exit(help, text, text);
  write_stdout(text.str());
  return static_cast<int>(ExitCode::good);
}

int complete(const CLI::App& app, std::span<char*> words) {
  write_stdout(completions(app, std::vector<std::string>(words.begin(), words.end())));
  return static_cast<int>(ExitCode::good);
}

int run(int argc, char** argv) {
  CLI::App app{
      "Predicts what a residual scheme costs a transformer: time, memory and communication.",
      "depthcost"};
  app.set_version_flag("--version", kVersion);
  app.require_subcommand(1);
  app.footer("A command's own help has examples: depthcost report --help");
  Command chosen;
  Verbosity verbosity = Verbosity::normal;
  add_commands(app, chosen, verbosity);
  const std::span<char*> words(argv, static_cast<std::size_t>(argc));
  // Answered before parsing, since these words may be anything.
  if (argc > 1 && words[1] == std::string_view(kCompleteWord))
    return complete(app, words.subspan(2));
  refuse_empty_assignments(words);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return answer_usage(app, help);
  } catch (const CLI::ParseError& error) {
    return fail(usage_error(app, error));
  }
  refuse_empty_values(app);
  refuse_other_bases(app);
  Console console(verbosity);
  return static_cast<int>(chosen(console));
}

}  // namespace

int run_program(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return run(argc, argv);
  } catch (const profile::MeasurementInvalid& error) {
    fail(error.what());
    return static_cast<int>(ExitCode::measurement_invalid);
  } catch (const profile::ForeignSamples& reason) {
    fail(reason.what());
    return static_cast<int>(ExitCode::skipped);
  } catch (const InputError& error) {
    return fail(error.what());
  } catch (const std::bad_alloc&) {
    return fail("depthcost:1:1: error: out of memory (ask for fewer points or batches)");
  } catch (const std::exception& error) {
    return fail(fmt::format("depthcost:1:1: error: {} (internal; please report it)",
                            printable(error.what(), kMaxForeignCharacters)));
  }
}

}  // namespace depthcost
