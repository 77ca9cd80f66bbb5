// Tokens over threads: what a run throws on any of them reaches the caller.
#include "kernels/cpu/primitives/threads.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <new>

namespace depthcost::cpu::threads_test {
namespace {

constexpr std::size_t kTokens = 8;

/// As many threads as there are tokens, for as long as it lives.
class Threads {
 public:
  Threads() { omp_set_num_threads(kTokens); }
  ~Threads() { omp_set_num_threads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_ = omp_get_max_threads();
};

TEST(ForEachRange, ThrowsWhatOneThreadThrewOnceTheOthersAreDone) {
  const Threads threads;
  std::atomic<std::size_t> done{0};
  std::atomic<std::size_t> failed{0};
  const auto run = [&](TokenRange tokens) {
    const std::size_t count = tokens.end - tokens.begin;
    (tokens.begin == 0 ? failed : done) += count;
    if (tokens.begin == 0) throw std::bad_alloc();
  };
  EXPECT_THROW(for_each_range(kTokens, kBytesPerThread, run), std::bad_alloc);
  EXPECT_GT(done, 0U);
  EXPECT_EQ(done + failed, kTokens);
}

TEST(ForEachRange, ThrowsOneExceptionWhereAllThreadsThrow) {
  const Threads threads;
  const auto run = [](TokenRange) { throw std::bad_alloc(); };
  EXPECT_THROW(for_each_range(kTokens, kBytesPerThread, run), std::bad_alloc);
}

}  // namespace
}  // namespace depthcost::cpu::threads_test
