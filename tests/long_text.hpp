// Long bad input. A test program lists all of its cases whenever it starts, for each test anew: a
// case says how its text is made, and the test makes it.
#pragma once

#include <string>
#include <utility>

namespace depthcost::test {

/// One piece, many times over, between two other texts.
struct LongText {
  std::string before = {};
  std::string piece = {};
  int times = 0;
  std::string after = {};

  LongText(std::string text) : before(std::move(text)) {}
  LongText(const char* text) : before(text) {}
  LongText(std::string many, int how_often) : piece(std::move(many)), times(how_often) {}

  operator std::string() const {
    std::string text = before;
    for (int i = 0; i < times; ++i) text += piece;
    return text + after;
  }
};

inline LongText repeated(std::string piece, int times) { return {std::move(piece), times}; }

inline LongText operator+(const std::string& before, LongText text) {
  text.before = before + text.before;
  return text;
}

inline LongText operator+(LongText text, const std::string& after) {
  text.after += after;
  return text;
}

}  // namespace depthcost::test
