// What a full disk or a reader that has gone means for the program.
#include "cli/output/stdout.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "reports/formats/harmless_text.hpp"
#include "scenarios/text/input_error.hpp"
#include "scenarios/text/input_text.hpp"

namespace depthcost {
namespace {

void write_whole(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return;
  // Who reads no further, as `| head` does, is no error: the shell's code for a closed pipe.
  constexpr int kClosedPipe = 128 + SIGPIPE;
  if (errno == EPIPE) std::_Exit(kClosedPipe);
  throw InputError({"stdout", 1, 1}, fmt::format("cannot write ({})", system_reason(errno)));
}

}  // namespace

void write_stdout(const std::string& text) { write_whole(harmless(text)); }

void write_our_codes(const std::string& text) { write_whole(text); }

}  // namespace depthcost
