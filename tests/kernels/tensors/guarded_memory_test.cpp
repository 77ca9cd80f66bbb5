#include "tests/kernels/tensors/guarded_memory.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

namespace depthcost::test {
namespace {

TEST(GuardedMemory, CanBeWrittenUpToItsLastByte) {
  for (const std::size_t bytes : {1U, 2U, 64U, 100U, 4096U, 5000U}) {
    const GuardedMemory memory(bytes);
    std::memset(memory.begin(), 0xFF, bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.begin()) % 16, 0U);
  }
}

TEST(GuardedMemory, OfNoBytesHasAnAddress) { EXPECT_NE(GuardedMemory(0).begin(), nullptr); }

TEST(GuardedMemoryDeathTest, EndsTheProcessThatGoesBeyondIt) {
  const GuardedMemory memory(112);
  volatile char* const end = static_cast<char*>(memory.begin()) + 112;
  EXPECT_DEATH(*end = 1, "");
  EXPECT_DEATH(static_cast<void>(*end), "");
}

}  // namespace
}  // namespace depthcost::test
