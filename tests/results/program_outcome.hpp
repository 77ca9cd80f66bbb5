// What a command of the program printed, with numbers to nine digits.
#pragma once

#include <string>
#include <vector>

namespace depthcost::test {

struct ProgramOutcome {
  int code = 0;
  std::string text;  // what it printed on both streams
};

/// Runs the program in this process. Prints numbers of JSON with nine digits, since the last ones
/// are the C library's, and leaves out the version.
ProgramOutcome outcome_of(std::vector<std::string> words);

/// The words of a command line that quotes nothing.
std::vector<std::string> words_of(const std::string& line);

}  // namespace depthcost::test
