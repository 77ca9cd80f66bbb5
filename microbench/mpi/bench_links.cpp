// How long messages and collectives take on the MPI at hand, from 8 B to 64 MiB:
//
//   mpirun -n N bench_links [--benchmark_out=FILE --benchmark_out_format=json ...]
//
// Options are Google Benchmark's. Ranks 0 and 1 send to each other (one_way: half a ping-pong;
// both_ways: a send and a receive at once). All N ranks take part in a collective. A time is the
// median over calls of the slowest rank's time. Every call has its own place in memory, and what
// arrives is checked. Without mpirun there is one rank and nothing to measure: exit code 2.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "microbench/harness/program.hpp"
#include "microbench/harness/sampling.hpp"
#include "microbench/harness/slope.hpp"
#include "microbench/mpi/ranks.hpp"
#include "model/machine/link_curve.hpp"

namespace depthcost::bench {
namespace {

constexpr std::size_t kSmallest = 8;
constexpr std::size_t kLargest = std::size_t{64} << 20U;
// Two of the largest messages. Small messages use the same place again after 128 MiB. [ours]
constexpr std::size_t kBufferBytes = 2 * kLargest;
constexpr std::size_t kLine = 64;

constexpr int kWarmUpCalls = 10;
constexpr int kFewestCalls = 5;
constexpr int kMostCalls = 500;

Ranks all_ranks;  // NOLINT: benchmarks are plain functions

/// What `rank` sends from `place` of its buffer: integers, so that sums are exact.
float content(int rank, std::size_t place) {
  return static_cast<float>((place * 7 + static_cast<std::size_t>(rank) * 131) % 1021);
}

struct LinkBuffers {
  std::vector<float> sent;
  std::vector<float> received;
};

LinkBuffers& buffers() {
  static LinkBuffers memory = [] {
    LinkBuffers filled{std::vector<float>(kBufferBytes / sizeof(float)),
                       std::vector<float>(kBufferBytes / sizeof(float))};
    for (std::size_t i = 0; i < filled.sent.size(); ++i)
      filled.sent[i] = content(all_ranks.rank, i);
    return filled;
  }();
  return memory;
}

/// All ranks take part in the other transfers.
bool is_between_two(Transfer transfer) {
  return transfer == Transfer::one_way || transfer == Transfer::both_ways;
}

/// One transfer of one size.
class Call {
 public:
  Call(Transfer transfer, std::size_t bytes)
      : transfer_(transfer),
        count_(bytes / sizeof(float)),
        stride_((bytes + kLine - 1) / kLine * kLine / sizeof(float)),
        share_(count_ / static_cast<std::size_t>(all_ranks.size)) {}

  /// Seconds on this rank; 0 where it takes no part.
  double run(std::size_t index) {
    place_ = index % (kBufferBytes / sizeof(float) / stride_) * stride_;
    const float* sent = buffers().sent.data() + place_;
    float* received = buffers().received.data() + place_;
    if (is_between_two(transfer_) && all_ranks.rank > 1) return 0;
    if (transfer_ != Transfer::one_way) meet();
    const double begin = MPI_Wtime();
    transfer(sent, received);
    const double elapsed = MPI_Wtime() - begin;
    if (transfer_ != Transfer::one_way) return elapsed;
    return all_ranks.is_first() ? elapsed / 2 : 0;
  }

  /// Whether the last call has left the right values.
  bool is_right() const {
    const float* received = buffers().received.data() + place_;
    const std::size_t begin = transfer_ == Transfer::reduce_scatter
                                  ? static_cast<std::size_t>(all_ranks.rank) * share_
                                  : 0;
    const std::size_t size = transfer_ == Transfer::reduce_scatter ? share_ : count_;
    if (is_between_two(transfer_) && all_ranks.rank > 1) return true;
    for (std::size_t i = 0; i < size; ++i)
      if (received[i] != expected(begin + i)) return false;
    return true;
  }

 private:
  void meet() const {
    if (!is_between_two(transfer_)) {
      check(MPI_Barrier(all_ranks.communicator), "MPI_Barrier");
      return;
    }
    const int other = 1 - all_ranks.rank;
    check(MPI_Sendrecv(nullptr, 0, MPI_BYTE, other, 1, nullptr, 0, MPI_BYTE, other, 1,
                       all_ranks.communicator, MPI_STATUS_IGNORE),
          "MPI_Sendrecv");
  }

  void transfer(const float* sent, float* received) const {
    const auto count = static_cast<int>(count_);
    const auto share = static_cast<int>(share_);
    const int other = 1 - all_ranks.rank;
    const MPI_Comm all = all_ranks.communicator;
    switch (transfer_) {
      case Transfer::one_way:
        if (all_ranks.is_first())
          check(MPI_Send(sent, count, MPI_FLOAT, other, 0, all), "MPI_Send");
        check(MPI_Recv(received, count, MPI_FLOAT, other, 0, all, MPI_STATUS_IGNORE), "MPI_Recv");
        if (!all_ranks.is_first())
          check(MPI_Send(sent, count, MPI_FLOAT, other, 0, all), "MPI_Send");
        return;
      case Transfer::both_ways:
        check(MPI_Sendrecv(sent, count, MPI_FLOAT, other, 0, received, count, MPI_FLOAT, other, 0,
                           all, MPI_STATUS_IGNORE),
              "MPI_Sendrecv");
        return;
      case Transfer::all_reduce:
        check(MPI_Allreduce(sent, received, count, MPI_FLOAT, MPI_SUM, all), "MPI_Allreduce");
        return;
      case Transfer::reduce_scatter:
        check(MPI_Reduce_scatter_block(sent, received, share, MPI_FLOAT, MPI_SUM, all),
              "MPI_Reduce_scatter_block");
        return;
      case Transfer::all_gather:
        check(MPI_Allgather(sent, share, MPI_FLOAT, received, share, MPI_FLOAT, all),
              "MPI_Allgather");
        return;
    }
  }

  float expected(std::size_t i) const {
    if (is_between_two(transfer_)) return content(1 - all_ranks.rank, place_ + i);
    if (transfer_ == Transfer::all_gather)
      return content(static_cast<int>(i / share_), place_ + i % share_);
    float sum = 0;
    for (int rank = 0; rank < all_ranks.size; ++rank) sum += content(rank, place_ + i);
    return sum;
  }

  Transfer transfer_;
  std::size_t count_;   // floats
  std::size_t stride_;  // from one call's place to the next
  std::size_t share_;   // of one rank, in a collective
  std::size_t place_ = 0;
};

/// The median over `count` calls of the slowest rank's time, the same on all ranks.
double sample_calls(Call& call, std::size_t& index, int count) {
  std::vector<double> seconds;
  for (int i = 0; i < count; ++i) seconds.push_back(call.run(index++));
  check(MPI_Allreduce(MPI_IN_PLACE, seconds.data(), count, MPI_DOUBLE, MPI_MAX,
                      all_ranks.communicator),
        "MPI_Allreduce");
  return median_of(std::move(seconds));
}

bool is_right_everywhere(const Call& call) {
  int is_right = call.is_right() ? 1 : 0;
  check(MPI_Allreduce(MPI_IN_PLACE, &is_right, 1, MPI_INT, MPI_MIN, all_ranks.communicator),
        "MPI_Allreduce");
  return is_right != 0;
}

/// Every rank runs the same calls: the number that decides how many is the same on all ranks.
void run(benchmark::State& state, Transfer transfer, std::size_t bytes) {
  Call call(transfer, bytes);
  std::size_t index = 0;
  const double first = sample_calls(call, index, kWarmUpCalls);
  bool is_right = is_right_everywhere(call);
  const double wanted = kShortestSample.count() / std::max(first, 1e-9);
  const int count = static_cast<int>(std::clamp(wanted, double{kFewestCalls}, double{kMostCalls}));
  for (auto _ : state) state.SetIterationTime(sample_calls(call, index, count));
  is_right = is_right_everywhere(call) && is_right;
  if (!is_right) state.SkipWithError("wrong values have arrived");
  state.counters["bytes"] = static_cast<double>(bytes);
}

void add_all() {
  for (const Transfer transfer : kEnumerators<Transfer>)
    for (std::size_t bytes = kSmallest; bytes <= kLargest; bytes *= 2) {
      const bool is_pair = is_between_two(transfer);
      const std::size_t num_ranks = is_pair ? 2 : static_cast<std::size_t>(all_ranks.size);
      if (bytes % (sizeof(float) * num_ranks) != 0 && !is_pair) continue;
      const std::string name =
          fmt::format("mpi/{}/f32/ranks:{}/bytes:{}", depthcost::name(transfer), num_ranks, bytes);
      const auto body = [=](benchmark::State& state) {
        if (all_ranks.is_first()) show_progress(name);
        run(state, transfer, bytes);
      };
      benchmark::RegisterBenchmark(name.c_str(), body)
          ->UseManualTime()
          ->Iterations(kSamplesPerRepetition)
          ->Unit(benchmark::kMicrosecond);
    }
}

int measure(const Ranks& ranks, int argc, char** argv) {
  if (ranks.size < 2) throw BadInput("error: 1 process started (mpirun -n 2: links have two ends)");
  all_ranks = ranks;
  // All ranks run the same benchmarks in the same order. Only the first one reports.
  std::vector<std::string> words;
  for (int i = 0; i < argc; ++i)
    if (ranks.is_first() || !std::string_view(argv[i]).starts_with("--benchmark_out"))
      words.emplace_back(argv[i]);
  words.emplace_back("--benchmark_enable_random_interleaving=false");
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  if (!ranks.is_first() && std::freopen("/dev/null", "w", stdout) == nullptr)
    throw RankFailure("/dev/null cannot be opened");
  return run_program(static_cast<int>(pointers.size()), pointers.data(), add_all);
}

}  // namespace
}  // namespace depthcost::bench

int main(int argc, char** argv) {
  using namespace depthcost::bench;
  return run_ranks(argc, argv, [&](const Ranks& ranks) { return measure(ranks, argc, argv); });
}
