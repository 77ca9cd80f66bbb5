// Writes to stdout.
#pragma once

#include <string>

namespace depthcost {

/// Writes what harmless() leaves of the text to stdout. Throws if the disk is full. Where the
/// reader is gone, as that of `| head`, the program ends with 141, the shell's code of a closed
/// pipe.
void write_stdout(const std::string& text);

/// The same for a text whose colours or annotations are our own.
void write_our_codes(const std::string& text);

}  // namespace depthcost
