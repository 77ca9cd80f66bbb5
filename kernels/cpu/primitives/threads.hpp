// Shares tokens out over threads. One thread computes a token, always in the same order, so results
// do not depend on the number of threads.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <exception>

#include "kernels/cpu/tuning.hpp"

namespace depthcost::cpu {

struct TokenRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Keeps one of the exceptions that threads throw, since none may leave an OpenMP region.
class FirstException {
 public:
  template <class Run>
  void guard(const Run& run) noexcept {
    try {
      run();
    } catch (...) {
#pragma omp critical(depthcost_first_exception)
      if (!exception_) exception_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  std::exception_ptr exception_;
};

/// run(range) on disjoint ranges that make up `num_tokens`, of `bytes_per_token` each. Where runs
/// throw, the others finish; then one of the exceptions is thrown.
template <class Run>
void for_each_range(std::size_t num_tokens, std::size_t bytes_per_token, const Run& run) {
  const std::size_t worth = num_tokens * bytes_per_token / kBytesPerThread;
  const auto available = static_cast<std::size_t>(omp_get_max_threads());
  const std::size_t wanted = std::min({worth, available, num_tokens});
  if (wanted <= 1) {
    if (num_tokens > 0) run(TokenRange{0, num_tokens});
    return;
  }
  FirstException first;
#pragma omp parallel num_threads(static_cast <int>(wanted))
  {
    const auto thread = static_cast<std::size_t>(omp_get_thread_num());
    const auto num_threads = static_cast<std::size_t>(omp_get_num_threads());
    const TokenRange range{num_tokens * thread / num_threads,
                           num_tokens * (thread + 1) / num_threads};
    if (range.begin < range.end) first.guard([&] { run(range); });
  }
  first.rethrow();
}

}  // namespace depthcost::cpu
