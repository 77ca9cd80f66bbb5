#include "tests/results/program_outcome.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/program/program.hpp"

namespace depthcost::test {
namespace {

using nlohmann::json;

void write_rounded(const json& value, std::string& text) {
  if (value.is_number_float()) {
    text += fmt::format("{:.9g}", value.get<double>());
  } else if (value.is_object()) {
    for (const auto& [key, member] : value.items()) {
      if (key == "program_version") continue;
      text += key + ":";
      write_rounded(member, text);
    }
  } else if (value.is_array()) {
    for (const json& element : value) write_rounded(element, text);
  } else {
    text += value.dump();
  }
  text += '\n';
}

}  // namespace

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), {}};
}

ProgramOutcome outcome_of(std::vector<std::string> words) {
  words.insert(words.begin(), {"depthcost", "--quiet"});
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  ProgramOutcome outcome{run_program(static_cast<int>(pointers.size()), pointers.data()), {}};
  std::fflush(stdout);
  const std::string printed = testing::internal::GetCapturedStdout();
  outcome.text = testing::internal::GetCapturedStderr();
  const json document = json::parse(printed, nullptr, false);
  if (document.is_discarded())
    outcome.text += printed;
  else
    write_rounded(document, outcome.text);
  return outcome;
}

}  // namespace depthcost::test
