// The emulation itself: what its primitives do, and what they call a fault.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/primitives/ptx.cuh"
#include "kernels/cuda/primitives/reduce.cuh"

namespace depthcost::cuda::emulation_test {
namespace {

struct Shape {
  dim3 grid{1};
  dim3 cta{64};
  unsigned cluster_size = 1;
  std::size_t shared_bytes = 1024;
};

/// Runs a kernel of one pointer to the end, and says what went wrong.
template <class T>
std::string fault_of(void (*kernel)(T*), T* data, const Shape& shape = {}) {
  launch(kernel, LaunchShape{shape.grid, shape.cta, shape.cluster_size, shape.shared_bytes}, {},
         data);
  try {
    cudaDeviceSynchronize();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

__global__ void sum_of_threads(float* result) {
  const float sum = warp_sum(static_cast<float>(threadIdx.x));
  auto* sums = reinterpret_cast<float*>(shared_memory());
  if (lane_id() == 0) sums[threadIdx.x / kWarpSize] = sum;
  __syncthreads();
  if (threadIdx.x == 0) result[blockIdx.x] = sums[0] + sums[1];
}

TEST(Emulation, AddsUpOverAWarpAndACta) {
  std::vector<float> results(3);
  EXPECT_EQ(fault_of(sum_of_threads, results.data(), {.grid = dim3(3)}), "");
  EXPECT_EQ(results, std::vector<float>(3, 63 * 64 / 2));
}

__global__ void half_waits(float*) {
  if (threadIdx.x < kWarpSize) named_barrier(1, 64);
}

TEST(Emulation, NamesWhoWaitsForever) {
  float unused = 0;
  const std::string fault = fault_of(half_waits, &unused);
  EXPECT_EQ(fault, "thread (0, 0, 0) of CTA (0, 0, 0) waits forever at named_barrier");
}

__global__ void diverged(float* data) {
  if (lane_id() == 0)
    __syncwarp();
  else
    data[0] = __shfl_xor_sync(kFullMask, 1.0F, 1U);
}

TEST(Emulation, RefusesLanesInDifferentFunctions) {
  float data = 0;
  const std::string fault = fault_of(diverged, &data, {.cta = dim3(32)});
  EXPECT_NE(fault.find(" while other lanes are in "), std::string::npos) << fault;
}

__global__ void beyond(float*) {
  if (threadIdx.x == 0) shared_memory()[1024] = std::byte{1};
}

TEST(Emulation, SeesWhatIsWrittenBehindSharedMemory) {
  float unused = 0;
  EXPECT_EQ(fault_of(beyond, &unused), "CTA (0, 0, 0): written 0 bytes behind its shared memory");
}

__global__ void copied(float* data) {
  auto* barrier = reinterpret_cast<std::uint64_t*>(shared_memory());
  auto* row = reinterpret_cast<float*>(shared_memory() + 128);
  if (threadIdx.x == 0) {
    init_barrier(barrier, 1);
    arrive_expecting(barrier, 64);
    bulk_copy(row, data, 64, barrier);
  }
  __syncthreads();
  const float early = row[threadIdx.x % 16];
  if (threadIdx.x == 0) data[16] = early;
  wait(barrier, 0);
  if (threadIdx.x < 16) data[17 + threadIdx.x] = 2 * row[threadIdx.x];
}

TEST(Emulation, CopiesLateAndLeavesNaNsUntilThen) {
  alignas(16) std::array<float, 64> data{};
  for (int i = 0; i < 16; ++i) data.at(static_cast<std::size_t>(i)) = static_cast<float>(i);
  EXPECT_EQ(fault_of(copied, data.data()), "");
  for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(data.at(17 + i), 2 * static_cast<float>(i));
}

__global__ void forgets_its_copy(float* data) {
  auto* barrier = reinterpret_cast<std::uint64_t*>(shared_memory());
  if (threadIdx.x == 0) {
    init_barrier(barrier, 1);
    arrive_expecting(barrier, 1 << 20);
    for (int i = 0; i < 40; ++i) bulk_copy(shared_memory() + 128, data, 64, barrier);
  }
}

TEST(Emulation, RefusesAKernelThatEndsBeforeItsCopies) {
  alignas(16) std::array<float, 64> data{};
  EXPECT_EQ(fault_of(forgets_its_copy, data.data(), {.cta = dim3(1)}),
            "a kernel ended before its bulk copies arrived");
}

__global__ void pushes(float* data) {
  auto* mine = reinterpret_cast<float*>(shared_memory());
  for (unsigned rank = 0; rank < cluster_size(); ++rank)
    if (threadIdx.x == 0)
      store_to_rank(mine + cluster_rank(), rank, 1.0F + static_cast<float>(cluster_rank()));
  cluster_arrive();
  cluster_wait();
  if (threadIdx.x == 0) data[blockIdx.x] = mine[0] + 10 * mine[1];
}

TEST(Emulation, PushesIntoOtherRanks) {
  std::vector<float> data(4);
  EXPECT_EQ(fault_of(pushes, data.data(), {.grid = dim3(4), .cluster_size = 2}), "");
  EXPECT_EQ(data, std::vector<float>(4, 21));
}

__global__ void multiplies(float* data) {
  // a(r, k) = r + 1 where k = 0, b(0, c) = c + 1.
  const unsigned group = lane_id() / 4;
  const bool has_first = lane_id() % 4 == 0;
  std::uint32_t a[4]{};
  if (has_first) {
    a[0] = bf16_pair(static_cast<float>(group + 1), 0);
    a[1] = bf16_pair(static_cast<float>(group + 9), 0);
  }
  const std::uint32_t b0 = has_first ? bf16_pair(static_cast<float>(group + 1), 0) : 0;
  float c[4]{};
  mma_bf16(c, a, b0, 0);
  for (unsigned i = 0; i < 4; ++i) data[(group + i / 2 * 8) * 8 + lane_id() % 4 * 2 + i % 2] = c[i];
}

TEST(Emulation, MultipliesTiles) {
  std::vector<float> data(16 * 8);
  EXPECT_EQ(fault_of(multiplies, data.data(), {.cta = dim3(32)}), "");
  for (std::size_t row = 0; row < 16; ++row)
    for (std::size_t column = 0; column < 8; ++column)
      EXPECT_EQ(data[row * 8 + column], static_cast<float>((row + 1) * (column + 1)));
}

TEST(Emulation, RefusesTooMuchSharedMemory) {
  float unused = 0;
  const LaunchShape shape{dim3(1), dim3(32), 1, 228 * 1024};
  EXPECT_THROW(launch(beyond, shape, {}, &unused), std::invalid_argument);
}

TEST(Emulation, RefusesAGridThatWouldWrap) {
  EXPECT_EQ(grid_of(0x7FFFFFFF), 0x7FFFFFFFU);
  EXPECT_THROW(grid_of(0x80000000), std::invalid_argument);
  EXPECT_THROW(grid_of(std::size_t{1} << 32), std::invalid_argument);
}

TEST(Emulation, LeavesNoErrorOfALaunchBehind) {
  float unused = 0;
  const LaunchShape shape{dim3(1), dim3(2048)};
  EXPECT_THROW(launch(beyond, shape, {}, &unused), std::runtime_error);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "a launch that failed must not fail the next call";
}

TEST(Emulation, KeepsTheErrorOfALaunchAsCudaDoes) {
  float unused = 0;
  cudaLaunchConfig_t config{.gridDim = dim3(1), .blockDim = dim3(2048)};
  EXPECT_EQ(cudaLaunchKernelEx(&config, beyond, &unused), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

}  // namespace
}  // namespace depthcost::cuda::emulation_test
