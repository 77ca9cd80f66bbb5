// fast_float: the std::from_chars of clang's library, which a browser's programs use, reads no
// double.
#include "model/base/decimal.hpp"

#include <fast_float/fast_float.h>

#include <cmath>

namespace depthcost {
namespace {

bool is_written_as_zero(std::string_view text) {
  return text.substr(0, text.find_first_of("eE")).find_first_of("123456789") ==
         std::string_view::npos;
}

}  // namespace

std::optional<double> decimal_value(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto read = fast_float::from_chars(text.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end || !std::isfinite(value)) return std::nullopt;
  if (value == 0 && !is_written_as_zero(text)) return std::nullopt;
  return value;
}

}  // namespace depthcost
