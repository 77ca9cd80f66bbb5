// How far a long computation is: it counts, and whoever waits for it reads on another thread.
#pragma once

#include <atomic>
#include <cstddef>

namespace depthcost {

/// Ends work whose result nobody waits for any more.
struct Stopped {};

/// Turns of work that take about as long as one another. What is expected may grow.
struct Progress {
  std::atomic<std::size_t> done{0};
  std::atomic<std::size_t> expected{0};
  std::atomic<bool> is_stopped{false};  // set by whoever waits
  const Progress* whole = nullptr;      // the work that this is a part of: it stops both

  /// A turn is done. Throws Stopped if no further one is wanted.
  void count() {
    ++done;
    check();
  }
  void check() const {
    if (is_stopped) throw Stopped{};
    if (whole != nullptr) whole->check();
  }
};

}  // namespace depthcost
