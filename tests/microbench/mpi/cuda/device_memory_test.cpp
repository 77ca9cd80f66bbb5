// Messages in a device's memory: copies by themselves, and whole pipelines whose messages lie
// there. Skipped without a device, but for what is said then.
#include "microbench/mpi/device_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/microbench/mpi/mpirun.hpp"

namespace depthcost::bench::device_memory_test {
namespace {

using test::MpiOutcome;
using test::mpirun;

const std::string kRun =
    DEPTHCOST_BENCH_PIPELINE " " DEPTHCOST_SOURCE_DIR "/tests/microbench/mpi/fig3.json --steps 1 ";

class DeviceMemory : public testing::Test {
 protected:
  void SetUp() override {
    if (num_devices() == 0) GTEST_SKIP() << why_no_device();
  }
};

using DevicePipeline = DeviceMemory;

std::vector<std::byte> numbers(std::size_t size) {
  std::vector<std::byte> values(size);
  for (std::size_t i = 0; i < size; ++i) values[i] = static_cast<std::byte>(i * 7 + i / 251);
  return values;
}

TEST_F(DeviceMemory, KeepsWhatIsCopiedThereAndBack) {
  const auto memory = device_memory(0, Reach::through_host);
  Pool messages(memory->messages());
  const std::vector<std::byte> sent = numbers(100'003);
  std::vector<std::byte> back(sent.size());
  const Region message = messages.take(sent.size());
  memory->copy(Way::from_host, message.data(), sent.data(), sent.size());
  memory->copy(Way::to_host, back.data(), message.data(), back.size());
  EXPECT_EQ(back, sent);
}

/// As the transport does: several at a time, each way, asked for in any order.
TEST_F(DeviceMemory, SaysWhenACopyIsDoneThatWentOnByItself) {
  constexpr std::size_t kNumPieces = 8;
  constexpr std::size_t kBytes = std::size_t{3} << 20U;
  const auto memory = device_memory(0, Reach::through_host);
  Pool messages(memory->messages());
  Pool staging(memory->staging());
  const std::vector<std::byte> sent = numbers(kNumPieces * kBytes);
  const Region message = messages.take(sent.size());
  std::vector<Region> pieces;
  std::vector<MessageMemory::CopyId> copies;
  for (std::size_t i = 0; i < kNumPieces; ++i) {
    pieces.push_back(staging.take(kBytes));
    std::copy_n(sent.data() + i * kBytes, kBytes, pieces[i].data());
    copies.push_back(
        memory->begin_copy(Way::from_host, message.data() + i * kBytes, pieces[i].data(), kBytes));
  }
  while (!copies.empty())
    std::erase_if(copies, [&](MessageMemory::CopyId copy) { return memory->is_done(copy); });
  for (std::size_t i = 0; i < kNumPieces; ++i) {
    std::fill_n(pieces[i].data(), kBytes, std::byte{0});
    copies.push_back(
        memory->begin_copy(Way::to_host, pieces[i].data(), message.data() + i * kBytes, kBytes));
  }
  for (std::size_t i = kNumPieces; i-- > 0;) {
    while (!memory->is_done(copies[i])) {
    }
    EXPECT_TRUE(std::equal(pieces[i].data(), pieces[i].data() + kBytes, sent.data() + i * kBytes))
        << i;
  }
}

TEST_F(DevicePipeline, SendsTheBytesOfTheModelFromThere) {
  for (const std::string memory : {"device", "staged --piece 1000", "staged"}) {
    const MpiOutcome outcome = mpirun(4, kRun + "--memory " + memory);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors << outcome.output;
    EXPECT_NE(outcome.output.find(" in memory of "), std::string::npos) << outcome.output;
    EXPECT_NE(outcome.output.find("checked: "), std::string::npos) << outcome.output;
  }
}

TEST_F(DevicePipeline, IsTheDefault) {
  EXPECT_NE(mpirun(4, kRun).output.find(" in memory of "), std::string::npos);
}

TEST_F(DevicePipeline, BreaksWithoutABlock) {
  const MpiOutcome outcome = mpirun(4, kRun + "--memory device --drop 1@3");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.errors.find("block 1 is missing"), std::string::npos) << outcome.errors;
}

TEST(NoDevice, IsSaidOnceAndNotTheDefault) {
  if (num_devices() > 0) GTEST_SKIP() << "there is a device";
  const MpiOutcome outcome = mpirun(4, kRun + "--memory device");
  EXPECT_EQ(outcome.exit_code, 2);
  const std::string line = "error: invalid memory 'device' (" + why_no_device() + ")\n";
  EXPECT_NE(outcome.errors.find(line), std::string::npos) << outcome.errors;
  EXPECT_EQ(outcome.errors.find(line), outcome.errors.rfind(line)) << outcome.errors;
  EXPECT_NE(mpirun(4, kRun).output.find(" in host memory, "), std::string::npos);
}

}  // namespace
}  // namespace depthcost::bench::device_memory_test
