// How far a long computation is: it counts, and whoever waits for it reads on another thread.
#pragma once

#include <atomic>
#include <cstddef>

namespace depthcost {

/// Turns of work that take about as long as one another. What is expected may grow.
struct Progress {
  std::atomic<std::size_t> done{0};
  std::atomic<std::size_t> expected{0};
};

}  // namespace depthcost
