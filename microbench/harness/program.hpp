// The main of every program that measures: it fails where nothing was measured or anything failed.
#pragma once

#include <string_view>

namespace depthcost::bench {

/// Where there is no device, what needs one is skipped with this message, and that is no failure.
inline constexpr const char* kNoCudaDevice = "no CUDA device";

/// Of the CPU kernels' sources in this build.
std::string_view kernels_hash();

/// At namespace scope: benchmarks that a program has beside its own, where the file is linked to
/// it.
struct Registration {
  explicit Registration(void (*add_benchmarks)());
};

/// Runs what `add_benchmarks` and all Registrations register. 0 if something was measured and
/// nothing failed, 1 if not, 2 for a wrong command line. Options are Google Benchmark's; by default
/// repetitions are interleaved at random, and the console shows medians.
int run_program(int argc, char** argv, void (*add_benchmarks)());

}  // namespace depthcost::bench
