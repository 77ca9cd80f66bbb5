// A loop whose turns are independent of one another, on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace depthcost {

/// Joins its threads at its end: the library of clang has no std::jthread.
struct JoinedThreads {
  std::vector<std::thread> threads;

  ~JoinedThreads() {
    for (std::thread& thread : threads) thread.join();
  }
};

/// Calls `turn(i)` for every i below `count`. What a turn throws ends the loop and is thrown here.
template <class Turn>
void each_in_parallel(std::size_t count, std::size_t num_threads, const Turn& turn) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr error;
  std::mutex mutex;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        turn(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!error) error = std::current_exception();
        next = count;
      }
    }
  };
  {
    JoinedThreads started;
    for (std::size_t i = 1; i < std::min(num_threads, count); ++i)
      started.threads.emplace_back(work);
    work();
  }
  if (error) std::rethrow_exception(error);
}

/// Hardware threads of this machine; at least 1.
inline std::size_t num_hardware_threads() {
  return std::max<std::size_t>(1, std::thread::hardware_concurrency());
}

}  // namespace depthcost
