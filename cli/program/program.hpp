// The whole program as a function.
#pragma once

namespace depthcost {

/// Runs the command that the words ask for, and returns its exit code. Catches all exceptions.
/// Ignores SIGPIPE and SIGXFSZ, so that a closed pipe and a too large file become errors of
/// writing.
int run_program(int argc, char** argv);

}  // namespace depthcost
