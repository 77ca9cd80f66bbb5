// Elements and escapes.
#include "reports/junit.hpp"

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

/// For attributes and texts alike. Texts come from reports and are UTF-8.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const std::string_view replacement = entity(c);
    if (replacement.empty())
      result += c;
    else
      result += replacement;
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
                                 escaped(it.name), escaped(it.class_name));
  if (it.outcome == JunitOutcome::failed)
    text += fmt::format("      <failure type=\"{}\" message=\"{}\"/>\n", escaped(it.failure_type),
                        escaped(it.message));
  if (it.outcome == JunitOutcome::skipped)
    text += fmt::format("      <skipped message=\"{}\"/>\n", escaped(it.message));
  text += fmt::format("      <system-out>{}</system-out>\n", escaped(it.output));
  return text + "    </testcase>\n";
}

}  // namespace

std::string to_junit(const JunitSuite& suite) {
  const std::string counts = fmt::format(
      "tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" time=\"0\"", suite.cases.size(),
      count_of(suite, JunitOutcome::failed), count_of(suite, JunitOutcome::skipped));
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0}>\n"
      "  <testsuite name=\"{1}\" {0}>\n    <properties>\n",
      counts, escaped(suite.name));
  for (const auto& [name, value] : suite.properties)
    text +=
        fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", escaped(name), escaped(value));
  text += "    </properties>\n";
  for (const JunitCase& it : suite.cases) text += case_element(it);
  return text + "  </testsuite>\n</testsuites>\n";
}

}  // namespace depthcost
