// The tables of measurements in kernels/README.md.
#pragma once

#include <string>
#include <string_view>

#include "microbench/results/benchmark_results.hpp"

namespace depthcost::bench {

/// A row for each operation of a backend: bandwidth and fraction of the ceiling for each type, from
/// the lowest to the highest over shapes, and the times of small batches. The head says if the
/// measured kernels are not those of `kernels_hash`.
std::string measured_table(const Results& results, std::string_view backend,
                           std::string_view kernels_hash);

}  // namespace depthcost::bench
