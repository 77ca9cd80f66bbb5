// The main function of every program that measures.
#pragma once

#include <string_view>

namespace depthcost::bench {

/// The message of a benchmark that is skipped because it needs a device. That is no failure.
inline constexpr const char* kNoCudaDevice = "no CUDA device";

/// The hash of the sources of the CPU kernels in this build.
std::string_view kernels_hash();

/// Stands at namespace scope. Adds the benchmarks of its file to any program that the file is
/// linked to.
struct Registration {
  explicit Registration(void (*add_benchmarks)());
};

/// Runs the benchmarks of `add_benchmarks` and of all Registrations. Returns 0 if something was
/// measured and nothing failed, else 1, and 2 for a wrong command line. Options are Google
/// Benchmark's. By default repetitions are interleaved at random, and the console shows medians.
int run_program(int argc, char** argv, void (*add_benchmarks)());

}  // namespace depthcost::bench
