// The message about bad input.
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

}  // namespace depthcost::test
