// Elements and escapes.
#include "reports/formats/junit.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace depthcost {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

std::string_view entity(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\n':
      return "&#10;";
    case '\t':
      return "&#9;";
    default:
      return static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? kReplacement : "";
  }
}

/// U+FFFE or U+FFFF, which are no characters.
bool is_no_character(std::string_view text) {
  return text.starts_with("\xEF\xBF\xBE") || text.starts_with("\xEF\xBF\xBF");
}

/// For attributes and texts alike. Texts come from reports and are UTF-8.
std::string xml_text(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const bool is_foreign = is_no_character(text);
    const std::string_view replacement = is_foreign ? kReplacement : entity(text.front());
    result += replacement.empty() ? text.substr(0, 1) : replacement;
    text.remove_prefix(is_foreign ? 3 : 1);
  }
  return result;
}

std::size_t count_of(const JunitSuite& suite, JunitOutcome outcome) {
  return static_cast<std::size_t>(
      std::count_if(suite.cases.begin(), suite.cases.end(),
                    [&](const JunitCase& it) { return it.outcome == outcome; }));
}

std::string case_element(const JunitCase& it) {
  std::string text = fmt::format("    <testcase name=\"{}\" classname=\"{}\" time=\"0\">\n",
                                 xml_text(it.name), xml_text(it.class_name));
  if (it.outcome == JunitOutcome::failed || it.outcome == JunitOutcome::error)
    text += fmt::format("      <{} type=\"{}\" message=\"{}\"/>\n",
                        it.outcome == JunitOutcome::error ? "error" : "failure",
                        xml_text(it.failure_type), xml_text(it.message));
  if (it.outcome == JunitOutcome::skipped)
    text += fmt::format("      <skipped message=\"{}\"/>\n", xml_text(it.message));
  return text + "    </testcase>\n";
}

/// Ant's schema has an output for the suite alone.
std::string outputs(const JunitSuite& suite) {
  std::string text;
  for (const JunitCase& it : suite.cases)
    if (!it.output.empty()) text += fmt::format("{}: {}\n", xml_text(it.name), xml_text(it.output));
  return text;
}

}  // namespace

std::string to_junit(const JunitSuite& suite) {
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
      "  <testsuite name=\"{}\" package=\"depthcost\" id=\"0\" timestamp=\"1970-01-01T00:00:00\" "
      "hostname=\"localhost\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" "
      "time=\"0\">\n    <properties>\n",
      xml_text(suite.name), suite.cases.size(), count_of(suite, JunitOutcome::failed),
      count_of(suite, JunitOutcome::error), count_of(suite, JunitOutcome::skipped));
  for (const auto& [name, value] : suite.properties)
    text += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", xml_text(name),
                        xml_text(value));
  text += "    </properties>\n";
  for (const JunitCase& it : suite.cases) text += case_element(it);
  return fmt::format(
      "{}    <system-out>{}</system-out>\n    <system-err></system-err>\n  </testsuite>\n"
      "</testsuites>\n",
      text, outputs(suite));
}

}  // namespace depthcost
