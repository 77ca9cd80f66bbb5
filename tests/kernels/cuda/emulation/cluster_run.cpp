// Fibers of Boost.Context, and what makes them wait.
#include "tests/kernels/cuda/emulation/cluster_run.hpp"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <array>
#include <boost/context/fiber.hpp>
#include <boost/context/pooled_fixedsize_stack.hpp>
#include <cstring>
#include <exception>
#include <random>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tests/kernels/cuda/emulation/device.hpp"
#include "tests/kernels/cuda/emulation/planted.hpp"

uint3 threadIdx;
uint3 blockIdx;
dim3 blockDim;
dim3 gridDim;

namespace depthcost::emulation {
namespace {

namespace context = boost::context;

// No multiple of a page: the tops of all stacks would share a few sets of the cache.
constexpr std::size_t kStackBytes = 64 * 1024 + 832;
constexpr std::size_t kNamedBarriers = 16;
constexpr std::size_t kSharedAlignment = 128;
constexpr std::size_t kGuardBytes = 256;
constexpr std::byte kPoison{0xFF};
constexpr std::byte kGuard{0xA5};

// One copy in so many steps arrives, so that most are late. [ours]
constexpr unsigned kStepsPerCopy = 16;

struct Thread;
using Waiting = std::vector<Thread*>;

struct Warp {
  std::array<WarpWords, 2> words{};
  unsigned turn = 0;
  unsigned num_lanes = 0;
  unsigned num_arrived = 0;
  const char* function = nullptr;
  Waiting waiting;
};

struct Barrier {
  unsigned num_arrived = 0;
  unsigned num_threads = 0;
  Waiting waiting;
};

/// A barrier of arrivals and bytes in shared memory.
struct CountingBarrier {
  unsigned num_arrivals = 0;
  unsigned pending = 0;
  std::int64_t bytes = 0;
  unsigned parity = 0;
  Waiting waiting;
};

struct Copy {
  std::byte* target;
  const std::byte* source;
  std::uint32_t num_bytes;
  CountingBarrier* barrier;
  float value = 0;  // what is copied where there is no source
};

struct Cta {
  uint3 index;
  unsigned rank = 0;
  unsigned num_live = 0;
  std::vector<std::byte> memory;
  std::byte* shared = nullptr;
  std::array<Barrier, kNamedBarriers> barriers;
  std::vector<Warp> warps;
};

struct Thread {
  uint3 index;
  unsigned lane = 0;
  Cta* cta = nullptr;
  Warp* warp = nullptr;
  const char* waits_at = nullptr;
  bool has_ended = false;
  bool has_arrived_at_cluster = false;
  context::fiber fiber;

  std::string place() const {
    return fmt::format("thread ({}, {}, {}) of CTA ({}, {}, {})", index.x, index.y, index.z,
                       cta->index.x, cta->index.y, cta->index.z);
  }
};

}  // namespace

struct ClusterState {
  ClusterState(const Geometry& shape, unsigned cluster, const std::function<void()>& body,
               std::uint64_t seed, PreviousKernel previous);

  void run();
  void wait(Waiting& waiting, const char* function);
  void wake(Waiting& waiting);
  void end_thread();
  [[noreturn]] void fail(const std::string& problem) const;

  void arrive_at_cluster();
  void end_cluster_phase_if_complete();
  void end_phase_if_complete(CountingBarrier& barrier);
  CountingBarrier& counting_barrier(std::uint64_t* barrier, const char* function);
  void finish_a_copy();
  void check_end() const;

  Geometry geometry;
  const std::function<void()>& kernel;
  std::mt19937_64 random;
  bool previous_has_ended;
  std::vector<Cta> ctas;
  std::vector<Thread> threads;
  Waiting ready;
  Waiting late;  // of a CTA that starts when the others have done what they can without it
  Waiting for_previous;
  Waiting for_cluster;
  unsigned num_live = 0;
  unsigned num_at_cluster = 0;
  std::unordered_map<std::uint64_t*, CountingBarrier> counting_barriers;
  std::vector<Copy> copies;
  Thread* current = nullptr;
  context::fiber scheduler;
  std::exception_ptr fault;
};

namespace {

ClusterState* running = nullptr;

void place_in(const Geometry& geometry, unsigned cluster, std::vector<Cta>& ctas) {
  const unsigned per_row = geometry.grid.x / geometry.cluster_size;
  for (unsigned rank = 0; rank < geometry.cluster_size; ++rank) {
    Cta& cta = ctas[rank];
    cta.rank = rank;
    cta.index = {cluster % per_row * geometry.cluster_size + rank,
                 cluster / per_row % geometry.grid.y, cluster / per_row / geometry.grid.y};
    cta.num_live = geometry.num_threads();
    cta.memory.assign(geometry.shared_bytes + kSharedAlignment + kGuardBytes, kPoison);
    const auto address = reinterpret_cast<std::uintptr_t>(cta.memory.data());
    cta.shared = cta.memory.data() + (kSharedAlignment - address % kSharedAlignment);
    std::fill_n(cta.shared + geometry.shared_bytes,
                cta.memory.data() + cta.memory.size() - (cta.shared + geometry.shared_bytes),
                kGuard);
    cta.warps.resize((geometry.num_threads() + kWarpSize - 1) / kWarpSize);
  }
}

uint3 index_of(unsigned thread, const dim3& cta) {
  return {thread % cta.x, thread / cta.x % cta.y, thread / cta.x / cta.y};
}

}  // namespace

ClusterState::ClusterState(const Geometry& shape, unsigned cluster,
                           const std::function<void()>& body, std::uint64_t seed,
                           PreviousKernel previous)
    : geometry(shape),
      kernel(body),
      random(seed),
      previous_has_ended(previous == PreviousKernel::ended),
      ctas(shape.cluster_size),
      threads(std::size_t{shape.cluster_size} * shape.num_threads()) {
  static context::pooled_fixedsize_stack stacks(kStackBytes);
  place_in(geometry, cluster, ctas);
  num_live = static_cast<unsigned>(threads.size());
  // In half of the clusters no CTA is late.
  const unsigned late_rank = static_cast<unsigned>(random() % (2 * geometry.cluster_size));
  for (unsigned i = 0; i < num_live; ++i) {
    Thread& thread = threads[i];
    const unsigned in_cta = i % geometry.num_threads();
    thread.index = index_of(in_cta, geometry.cta);
    thread.lane = in_cta % kWarpSize;
    thread.cta = &ctas[i / geometry.num_threads()];
    thread.warp = &thread.cta->warps[in_cta / kWarpSize];
    ++thread.warp->num_lanes;
    thread.fiber = context::fiber(std::allocator_arg, stacks, [this](context::fiber&& main) {
      scheduler = std::move(main);
      try {
        kernel();
        end_thread();
      } catch (const context::detail::forced_unwind&) {
        throw;
      } catch (...) {
        fault = std::current_exception();
      }
      return std::move(scheduler);
    });
    const bool is_late = geometry.cluster_size > 1 && thread.cta->rank == late_rank;
    (is_late ? late : ready).push_back(&thread);
  }
}

void ClusterState::fail(const std::string& problem) const {
  throw std::runtime_error(fmt::format("{}: {}", current->place(), problem));
}

void ClusterState::run() {
  running = this;
  blockDim = geometry.cta;
  gridDim = geometry.grid;
  while (!ready.empty() || !late.empty() || (!copies.empty() && num_live > 0)) {
    if (ready.empty() && copies.empty()) std::swap(ready, late);
    if (ready.empty() || (!copies.empty() && random() % kStepsPerCopy == 0)) {
      finish_a_copy();
      continue;
    }
    std::swap(ready[random() % ready.size()], ready.back());
    current = ready.back();
    ready.pop_back();
    threadIdx = current->index;
    blockIdx = current->cta->index;
    current->fiber = std::move(current->fiber).resume();
    if (fault) std::rethrow_exception(fault);
  }
  if (for_previous.empty()) check_end();
}

void ClusterState::wait(Waiting& waiting, const char* function) {
  Thread* self = current;
  self->waits_at = function;
  waiting.push_back(self);
  scheduler = std::move(scheduler).resume();
  self->waits_at = nullptr;
}

void ClusterState::wake(Waiting& waiting) {
  ready.insert(ready.end(), waiting.begin(), waiting.end());
  waiting.clear();
}

void ClusterState::end_thread() {
  current->has_ended = true;
  --num_live;
  Cta& cta = *current->cta;
  --cta.num_live;
  // A thread that has ended counts as arrived at barriers of all threads.
  Barrier& all = cta.barriers[0];
  if (all.num_arrived > 0 && all.num_threads == 0 && all.num_arrived == cta.num_live) {
    all.num_arrived = 0;
    wake(all.waiting);
  }
  if (current->has_arrived_at_cluster) fail("ends between cluster_arrive and cluster_wait");
  end_cluster_phase_if_complete();
}

void ClusterState::arrive_at_cluster() {
  if (current->has_arrived_at_cluster) fail("arrives twice at the cluster's barrier");
  current->has_arrived_at_cluster = true;
  ++num_at_cluster;
  end_cluster_phase_if_complete();
}

void ClusterState::end_cluster_phase_if_complete() {
  if (num_live == 0 || num_at_cluster < num_live) return;
  num_at_cluster = 0;
  for (Thread& thread : threads) thread.has_arrived_at_cluster = false;
  wake(for_cluster);
}

void ClusterState::end_phase_if_complete(CountingBarrier& barrier) {
  if (barrier.pending > 0 || barrier.bytes != 0) return;
  barrier.pending = barrier.num_arrivals;
  barrier.parity ^= 1;
  wake(barrier.waiting);
}

CountingBarrier& ClusterState::counting_barrier(std::uint64_t* barrier, const char* function) {
  const auto found = counting_barriers.find(barrier);
  if (found == counting_barriers.end()) fail(fmt::format("{} on no barrier", function));
  return found->second;
}

void ClusterState::finish_a_copy() {
  std::swap(copies[random() % copies.size()], copies.back());
  const Copy copy = copies.back();
  copies.pop_back();
  std::memcpy(copy.target,
              copy.source == nullptr ? static_cast<const void*>(&copy.value) : copy.source,
              copy.num_bytes);
  copy.barrier->bytes -= copy.num_bytes;
  end_phase_if_complete(*copy.barrier);
}

void ClusterState::check_end() const {
  for (const Thread& thread : threads)
    if (!thread.has_ended)
      throw std::runtime_error(
          fmt::format("{} waits forever at {}", thread.place(), thread.waits_at));
  if (!copies.empty()) throw std::runtime_error("a kernel ended before its bulk copies arrived");
  for (const Cta& cta : ctas) {
    const std::byte* end = cta.memory.data() + cta.memory.size();
    for (const std::byte* at = cta.shared + geometry.shared_bytes; at < end; ++at)
      if (*at != kGuard)
        throw std::runtime_error(
            fmt::format("CTA ({}, {}, {}): written {} bytes behind its shared memory", cta.index.x,
                        cta.index.y, cta.index.z, at - cta.shared - geometry.shared_bytes));
  }
}

ClusterRun::ClusterRun(const Geometry& geometry, unsigned cluster,
                       const std::function<void()>& kernel, std::uint64_t seed,
                       PreviousKernel previous)
    : state_(std::make_unique<ClusterState>(geometry, cluster, kernel, seed, previous)) {}

ClusterRun::~ClusterRun() = default;

void ClusterRun::run() { state_->run(); }

void ClusterRun::end_previous_kernel() {
  state_->previous_has_ended = true;
  state_->wake(state_->for_previous);
}

const WarpWords& exchange(const char* function, const LaneWords& given) {
  Warp& warp = *running->current->warp;
  if (warp.num_arrived > 0 && warp.function != function &&
      std::strcmp(warp.function, function) != 0)
    running->fail(fmt::format("{} while other lanes are in {}", function, warp.function));
  const unsigned turn = warp.turn;
  warp.function = function;
  warp.words[turn][running->current->lane] = given;
  if (++warp.num_arrived < warp.num_lanes) {
    running->wait(warp.waiting, function);
  } else {
    warp.num_arrived = 0;
    warp.turn ^= 1;
    running->wake(warp.waiting);
  }
  return warp.words[turn];
}

void sync_warp() {
  if (is_planted(Bug::no_syncwarp, __builtin_return_address(0))) return;
  exchange("__syncwarp", {});
}

std::byte* shared_memory() { return running->current->cta->shared; }

void barrier(const char* function, unsigned id, unsigned num_threads) {
  if (is_planted(Bug::no_barrier, __builtin_return_address(0))) return;
  Cta& cta = *running->current->cta;
  Barrier& barrier = cta.barriers.at(id);
  if (barrier.num_arrived > 0 && barrier.num_threads != num_threads)
    running->fail(fmt::format("{} {} of {} threads while others wait for {}", function, id,
                              num_threads, barrier.num_threads));
  barrier.num_threads = num_threads;
  if (++barrier.num_arrived < (num_threads == 0 ? cta.num_live : num_threads)) {
    running->wait(barrier.waiting, function);
    return;
  }
  barrier.num_arrived = 0;
  running->wake(barrier.waiting);
}

unsigned cluster_rank() { return running->current->cta->rank; }
unsigned cluster_size() { return running->geometry.cluster_size; }

void cluster_arrive() { running->arrive_at_cluster(); }

void cluster_wait() {
  if (is_planted(Bug::no_cluster_wait, __builtin_return_address(0))) return;
  // The last one to arrive ends the phase, and waits for nothing.
  if (running->current->has_arrived_at_cluster) running->wait(running->for_cluster, "cluster_wait");
}

float* at_rank(float* target, unsigned rank) {
  const Cta& own = *running->current->cta;
  const std::ptrdiff_t offset = reinterpret_cast<std::byte*>(target) - own.shared;
  const auto size = static_cast<std::ptrdiff_t>(running->geometry.shared_bytes);
  if (offset < 0 || offset + static_cast<std::ptrdiff_t>(sizeof(float)) > size)
    running->fail("store_to_rank outside of the shared memory");
  if (rank >= running->ctas.size()) running->fail("store_to_rank to no rank of the cluster");
  if (running->ctas[rank].num_live == 0) running->fail("store_to_rank to a CTA that has ended");
  return reinterpret_cast<float*>(running->ctas[rank].shared + offset);
}

void init_barrier(std::uint64_t* barrier, unsigned num_arrivals) {
  running->counting_barriers[barrier] = {.num_arrivals = num_arrivals, .pending = num_arrivals};
}

void arrive(std::uint64_t* barrier, std::uint32_t expected_bytes) {
  CountingBarrier& it = running->counting_barrier(barrier, "arrive");
  if (it.pending == 0) running->fail("arrives at a barrier that awaits bytes alone");
  it.bytes += expected_bytes;
  --it.pending;
  running->end_phase_if_complete(it);
}

void wait(std::uint64_t* barrier, unsigned parity) {
  if (is_planted(Bug::no_wait, __builtin_return_address(0))) return;
  if (is_planted(Bug::flipped_parity, __builtin_return_address(0))) parity ^= 1;
  CountingBarrier& it = running->counting_barrier(barrier, "wait");
  while (it.parity == parity) running->wait(it.waiting, "wait");
}

void bulk_copy(void* target, const void* source, std::uint32_t num_bytes, std::uint64_t* barrier) {
  constexpr std::uintptr_t kAlignment = 16;
  for (const std::uintptr_t address :
       {reinterpret_cast<std::uintptr_t>(target), reinterpret_cast<std::uintptr_t>(source),
        std::uintptr_t{num_bytes}})
    if (address % kAlignment != 0) running->fail("bulk_copy that is not aligned to 16 bytes");
  auto* to = static_cast<std::byte*>(target);
  const std::byte* shared = running->current->cta->shared;
  if (to < shared || to + num_bytes > shared + running->geometry.shared_bytes)
    running->fail("bulk_copy outside of the shared memory");
  std::fill_n(to, num_bytes, kPoison);
  running->copies.push_back({to, static_cast<const std::byte*>(source), num_bytes,
                             &running->counting_barrier(barrier, "bulk_copy")});
}

void store_async(float* target, std::uint64_t* barrier, float value) {
  std::memset(target, static_cast<int>(kPoison), sizeof *target);
  running->copies.push_back({.target = reinterpret_cast<std::byte*>(target),
                             .source = nullptr,
                             .num_bytes = sizeof *target,
                             .barrier = &running->counting_barrier(barrier, "store_async"),
                             .value = value});
}

void wait_for_previous_kernel() {
  if (is_planted(Bug::no_wait_for_previous_kernel, __builtin_return_address(0))) return;
  if (!running->previous_has_ended)
    running->wait(running->for_previous, "wait_for_previous_kernel");
}

}  // namespace depthcost::emulation
