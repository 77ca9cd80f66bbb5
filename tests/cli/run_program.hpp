// Runs the program as users do: a process with arguments, two outputs, an exit code and its
// memory.
#pragma once

#include <string>
#include <vector>

namespace depthcost::test {

struct Invocation {
  std::vector<std::string> arguments;       // without the program's name
  std::string folder;                       // where it runs
  std::string output;                       // file for stdout; "" keeps it in the outcome
  std::string errors;                       // the same for stderr
  std::string path;                         // PATH, if not ours
  std::vector<std::string> variables = {};  // "NAME=VALUE", in place of ours
  std::string program = {};                 // a path; depthcost itself if empty
};

struct Outcome {
  int exit_code = -1;  // -1: it did not end by itself
  std::string output;
  std::string errors;
  double peak_megabytes = 0;
};

/// Runs it; kills it after two minutes: it hangs.
Outcome run_program(const Invocation& invocation);

/// It ended with one line of error, that one, and printed nothing else.
void expect_refusal(const Outcome& outcome, const std::string& line);

/// The same behind a verdict: a file beside it could not be written.
void expect_lost_file(const Outcome& outcome, const std::string& line);

}  // namespace depthcost::test
