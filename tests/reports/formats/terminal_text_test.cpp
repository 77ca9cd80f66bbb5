// Tables and sentences on terminals of several widths, with colours and without.
#include "reports/formats/terminal_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "reports/formats/text_table.hpp"

namespace depthcost::terminal_text_test {
namespace {

const Table kTable{
    {{"scheme"}, {"schedule"}, {"bytes", Align::right}, {"time", Align::right}, {"verdict"}},
    {{"mhc", "fused", "1.2 MB", "3 us", "pass"},
     {"mhc", "two_pass", "0.9 MB", "2 µs", "fail by 2 %"},
     {"standard", "fused", "12 B", "1 us", "unknown"}}};

std::string at_width(std::size_t width) {
  return for_terminal(plain_text(kTable), {.width = width});
}

// The words of a verdict that is not sure are yellow, those that contain a red one too.
TEST(TerminalText, ColoursWhatIsNotSure) {
  for (const std::string word :
       {"unknown", "likely OK", "likely too much", "likely breaks", "may not fit", "ambiguous"}) {
    const Table table{{{"scheme"}, {"verdict"}}, {{"mhc", word}}};
    const std::string text = for_terminal(plain_text(table), {.colours = Colours::ansi});
    EXPECT_NE(text.find("\x1b[33m" + word + "\x1b[0m"), std::string::npos) << text;
  }
}

TEST(TerminalText, IsTheTextItselfWhereNothingIsKnownOfTheTerminal) {
  const std::string text = "A line.\n\n" + plain_text(kTable) + "no newline at the end";
  EXPECT_EQ(for_terminal(text, {}), text);
}

TEST(TerminalText, LeavesATableThatFitsAsItIs) {
  EXPECT_EQ(at_width(45), plain_text(kTable));
  EXPECT_NE(at_width(44), plain_text(kTable));
}

TEST(TerminalText, CutsATableBetweenColumnsAndRepeatsWhatTellsRowsApart) {
  EXPECT_EQ(at_width(40),
            "scheme    schedule   bytes  time\n"
            "--------  --------  ------  ----\n"
            "mhc       fused     1.2 MB  3 us\n"
            "mhc       two_pass  0.9 MB  2 µs\n"
            "standard  fused       12 B  1 us\n"
            "\n"
            "scheme    schedule  verdict\n"
            "--------  --------  -----------\n"
            "mhc       fused     pass\n"
            "mhc       two_pass  fail by 2 %\n"
            "standard  fused     unknown\n");
}

TEST(TerminalText, CutsBesideWideCharacters) {
  const Table table{{{"name"}, {"note"}}, {{"\u6A21\u578B", "long note"}, {"b", "\u6A21"}}};
  EXPECT_EQ(for_terminal(plain_text(table), {.width = 14}), plain_text(table));
  EXPECT_EQ(
      for_terminal(plain_text(table) + "abc\u6A21  no row\n", {.width = 10}),
      "name  note\n----  ---------\n\u6A21\u578B  long note\nb     \u6A21\nabc\u6A21  no\nrow\n");
}

TEST(TerminalText, RepeatsOneColumnWhereMoreWouldTakeHalfTheWidth) {
  EXPECT_TRUE(at_width(24).starts_with("scheme    schedule\n--------  --------\n"));
  EXPECT_NE(at_width(24).find("\n\nscheme     bytes  time\n"), std::string::npos) << at_width(24);
}

TEST(TerminalText, HasNoLineThatIsTooLong) {
  const std::string text = plain_text(kTable) +
                           "\nA sentence that goes on for quite a while, with µ in it.\n" +
                           "  indented, and also rather long for a terminal of few places\n";
  for (std::size_t width = 21; width < 60; ++width) {
    std::istringstream lines(for_terminal(text, {.width = width}));
    for (std::string line; std::getline(lines, line);) {
      const auto places = std::count_if(line.begin(), line.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
      });
      EXPECT_LE(static_cast<std::size_t>(places), width) << line;
    }
  }
}

TEST(TerminalText, LosesNoWordAtAnyWidth) {
  const std::string text = plain_text(kTable) + "* outside its domain\n\nOne two three four.\n";
  for (std::size_t width = 20; width < 50; ++width) {
    const std::string shown = for_terminal(text, {.width = width});
    for (const std::string word :
         {"two_pass", "0.9 MB", "2 µs", "fail by 2 %", "* outside", "four."})
      EXPECT_NE(shown.find(word), std::string::npos) << width << ": " << word << "\n" << shown;
  }
}

TEST(TerminalText, BreaksSentencesBetweenWordsAndKeepsTheirIndent) {
  EXPECT_EQ(for_terminal("  one two three\n", {.width = 10}), "  one two\n  three\n");
  EXPECT_EQ(for_terminal("supercalifragilistic\n", {.width = 10}), "supercalifragilistic\n");
}

TEST(TerminalText, TakesASentenceBelowATableForNoRow) {
  const std::string text = plain_text(kTable) + "unfused is outside: it takes blocks alike\n";
  EXPECT_TRUE(for_terminal(text, {.width = 45}).ends_with("it takes blocks alike\n"));
}

TEST(TerminalText, ColoursHeadersAndVerdictsAndNothingElse) {
  const std::string shown =
      for_terminal(plain_text(kTable) + "\npass on.\n", {.colours = Colours::ansi});
  for (const std::string part :
       {"\x1b[1mscheme\x1b[0m", "\x1b[2m--------\x1b[0m", "\x1b[32mpass\x1b[0m",
        "\x1b[31mfail by 2 %\x1b[0m", "\x1b[33munknown\x1b[0m"})
    EXPECT_NE(shown.find(part), std::string::npos) << part;
  EXPECT_TRUE(shown.ends_with("\npass on.\n"));
  EXPECT_EQ(shown.find("\x1b[0mfused"), std::string::npos);
  std::string plain = shown;
  for (std::size_t at = plain.find('\x1b'); at != std::string::npos; at = plain.find('\x1b'))
    plain.erase(at, plain.find('m', at) + 1 - at);
  EXPECT_EQ(plain, plain_text(kTable) + "\npass on.\n") << "colours take no place";
}

}  // namespace
}  // namespace depthcost::terminal_text_test
