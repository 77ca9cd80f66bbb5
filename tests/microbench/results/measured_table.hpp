// The tables of measurements in kernels/README.md.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "microbench/results/benchmark_results.hpp"

namespace depthcost::bench {

/// By the name of a kernel's case: the seconds that a core's passes over rows alone would take.
using CoreSeconds = std::map<std::string, double>;

/// A row for each operation of a backend: bandwidth, fraction of the ceiling and of the core's
/// bound for each type, from the lowest to the highest over shapes, and the times of small batches.
/// Behind a "±" stands the widest half of a 90 % interval in the cell. The head says if the
/// measured kernels are not those of `kernels_hash`.
std::string measured_table(const Results& results, std::string_view backend,
                           std::string_view kernels_hash, const CoreSeconds& core_seconds = {});

}  // namespace depthcost::bench
