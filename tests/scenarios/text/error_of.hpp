// The message about bad input, and a helper to make input long.
#pragma once

#include <string>

#include "scenarios/text/input_error.hpp"

namespace depthcost::test {

/// what() of the InputError that the call throws; "" if it throws none.
template <class Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

inline std::string repeated(const std::string& piece, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += piece;
  return text;
}

}  // namespace depthcost::test
