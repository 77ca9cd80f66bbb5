#include "tests/fuzz/target.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

namespace depthcost::fuzz {

void require(bool holds, std::string_view what) {
  if (holds) return;
  fmt::print(stderr, "defect: {}\n", what);
  std::fflush(stderr);
  std::abort();
}

void require_one_line(const InputError& error) {
  const std::string_view text = error.what();
  if (!is_printable(text))
    require(false, fmt::format("an error is not one printable line: {}", printable(text, 500)));
  require(text.find(": error: ") != std::string_view::npos, "an error has no \": error: \"");
  if (text.size() >= 2000) require(false, fmt::format("an error has {} bytes", text.size()));
  require(error.position().line >= 1 && error.position().column >= 1, "a position is below 1:1");
}

}  // namespace depthcost::fuzz
