// What fuzz targets share: which outcome of an input is a defect.
#pragma once

#include <string_view>
#include <typeinfo>

#include "scenarios/text/input_error.hpp"

namespace depthcost::fuzz {

/// Ends the process if `holds` is false. The fuzzer then keeps the input, and a test fails.
void require(bool holds, std::string_view what);

/// The message of an InputError is one printable line: "file:line:column: error: problem".
void require_one_line(const InputError& error);

/// Runs `read` and says whether it accepted its input. An InputError is a good answer. Any other
/// exception leaves this function and ends the process.
template <class Read>
bool accepts(const Read& read) {
  try {
    read();
    return true;
  } catch (const InputError& error) {
    require_one_line(error);
    return false;
  }
}

}  // namespace depthcost::fuzz
