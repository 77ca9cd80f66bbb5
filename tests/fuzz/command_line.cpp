#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/program/arguments.hpp"
#include "cli/program/usage_error.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/fuzz/targets.hpp"

namespace depthcost::fuzz {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

bool parse_command_line(std::string_view words) {
  CLI::App app{"", "depthcost"};
  Command chosen;
  Verbosity verbosity = Verbosity::normal;
  add_commands(app, chosen, verbosity);
  std::vector<std::string> arguments = lines_of(words);
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
  return accepts([&] {
    try {
      app.parse(arguments);
    } catch (const CLI::Success&) {
    } catch (const CLI::ParseError& error) {
      const std::string line = usage_error(app, error);
      require(is_printable(line), "a usage error is not one printable line");
    }
  });
}

}  // namespace depthcost::fuzz
