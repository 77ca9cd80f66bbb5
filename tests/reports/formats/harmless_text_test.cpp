// What a terminal or a runner would obey is written as \xNN; everything else stays.
#include "reports/formats/harmless_text.hpp"

#include <gtest/gtest.h>

namespace depthcost::harmless_text_test {
namespace {

TEST(HarmlessText, KeepsWhatNobodyObeys) {
  for (const std::string text :
       {"", "a: b\n\tc::d [x] # [y] \xC3\xA4 \xE2\x82\xAC \xE4\xB8\xAD\n", "x::error::y", ":\n:a"})
    EXPECT_EQ(harmless(text), text);
}

TEST(HarmlessText, WritesControlCharactersAsHexadecimal) {
  EXPECT_EQ(harmless("a\x1b[31mb\r\x7f"), "a\\x1B[31mb\\x0D\\x7F");
  EXPECT_EQ(harmless(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(harmless("a\xC2\x9B"
                     "b"),
            "a\\xC2\\x9Bb");
}

TEST(HarmlessText, WritesTurnsOfDirectionAsHexadecimal) {
  EXPECT_EQ(harmless("a\xE2\x80\xAE"
                     "b\xE2\x81\xA6"),
            "a\\xE2\\x80\\xAEb\\xE2\\x81\\xA6");
}

TEST(HarmlessText, HasNoCommandOfARunner) {
  EXPECT_EQ(harmless("::stop-commands::x\n  ::error::y\n\t::z"),
            "\\x3A:stop-commands::x\n  \\x3A:error::y\n\t\\x3A:z");
  EXPECT_EQ(harmless("a ##[error]b"), "a ##\\x5Berror]b");
}

}  // namespace
}  // namespace depthcost::harmless_text_test
