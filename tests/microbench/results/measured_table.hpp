// Measurements as Markdown: what kernels/README.md shows.
#pragma once

#include <string>
#include <string_view>

#include "microbench/results/benchmark_results.hpp"

namespace depthcost::bench {

/// One row for each operation of a backend: bandwidth and fraction of the ceiling by type, from the
/// lowest to the highest of all shapes, time of small batches. Says so where `kernels_hash` is no
/// longer that of the sources.
std::string measured_table(const Results& results, std::string_view backend,
                           std::string_view kernels_hash);

}  // namespace depthcost::bench
