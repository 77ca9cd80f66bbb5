// Time of one operation on one device. REFERENCES.md, "time".
//
//   t  = residual x stack x (launches x a(launch, level, skeleton)
//          + max(sum over operands and parameters of bytes / bandwidth, operations / rate, token)
//          + on top)
//   t >= max(a, bytes / ceiling, operations / rate)    (a CPU's core is no bound: kernels differ)
//
//   residual  what a profile's kernels take over this form; 1 without a profile
//   stack     what a stack's kernel takes over the fastest published one
//   token     GPUs: the way of one token through its kernel, model/machine/few_tokens.hpp
//   on top    CPUs: what a core does while memory waits
//
// An exchange between devices takes its measured time instead.
//
// The floor adds, it does not compete: on held-out H200 data the sum errs 2.2 % in the median, the
// maximum 8.6 %.
#pragma once

#include <array>
#include <optional>

#include "model/base/interval_end.hpp"
#include "model/base/traffic.hpp"
#include "model/machine/machine.hpp"
#include "model/operations/operation.hpp"

namespace depthcost {

/// One end of the *time* for each independent cause of uncertainty: bandwidth `low` is the short
/// time, that is the high bandwidth. Two schemes share the floor, the bandwidth and the residency:
/// a comparison varies these together. Each has kernels of its own.
struct Corner {
  IntervalEnd floor = IntervalEnd::value;
  IntervalEnd bandwidth = IntervalEnd::value;
  IntervalEnd residency = IntervalEnd::value;  // low: what might be cached is
  IntervalEnd kernels =
      IntervalEnd::value;  // how well a kernel does what was counted: model/machine/few_tokens.hpp
};

inline constexpr std::size_t kSharedCorners = 8;

// The bits of a corner's place among all of them: set where the end is high.
inline constexpr std::size_t kFloorBit = 8;
inline constexpr std::size_t kBandwidthBit = 4;
inline constexpr std::size_t kResidencyBit = 2;
inline constexpr std::size_t kKernelsBit = 1;

/// Every way in which the four can lie at their ends. Corners 2 i and 2 i + 1 differ in `kernels`
/// alone.
inline constexpr std::array<Corner, 2 * kSharedCorners> kCorners = [] {
  std::array<Corner, 2 * kSharedCorners> corners{};
  const auto end = [](std::size_t bit) { return bit == 0 ? IntervalEnd::low : IntervalEnd::high; };
  for (std::size_t i = 0; i < corners.size(); ++i)
    corners[i] = {end(i & kFloorBit), end(i & kBandwidthBit), end(i & kResidencyBit),
                  end(i & kKernelsBit)};
  return corners;
}();

/// Where the operands of a kernel lie that is measured alone. `cold`: in memory, all of them.
/// `hot`: where the call before has left them, in the cache as far as they fit.
enum class Temperature { cold, hot };

/// The circumstances of a launch.
struct Execution {
  double tokens = 1;  // T on one device
  Launch launch = Launch::graph;
  VectorStorage storage;
  /// Bytes that one layer streams between two residual operations (weights, experts, KV) on one
  /// device. Unknown: what is older than a kernel comes from memory, and might come from the cache.
  std::optional<Bytes> layer_bytes;
  double bank_age = 1;       // layers between two uses of a bank row or of a Phase 1 output
  double parameter_age = 1;  // layers between two uses of a parameter: all of a stage's
  /// Set for a kernel that is measured alone; otherwise the layers around it decide.
  std::optional<Temperature> temperature = {};
};

/// The terms of one operation, in seconds.
struct TimeTerms {
  Seconds floor;
  Seconds bytes;
  Seconds operations;
  Seconds on_top;    // operations that memory does not hide: model/machine/core_work.hpp
  Seconds token;     // one token's way through its kernel, however few there are: few_tokens.hpp
  Seconds transfer;  // what ranks send each other

  constexpr Seconds total() const {
    return floor + std::max({bytes, operations, token}) + on_top + transfer;
  }

  /// What the time consists of: of the terms that compete, the longest alone.
  constexpr TimeTerms binding() const {
    const Seconds longest = std::max({bytes, operations, token});
    const auto kept = [&](Seconds term) { return term == longest ? term : Seconds{}; };
    return {floor, kept(bytes), kept(operations), on_top, kept(token), transfer};
  }

  friend constexpr TimeTerms operator+(const TimeTerms& a, const TimeTerms& b) {
    return {a.floor + b.floor,   a.bytes + b.bytes, a.operations + b.operations,
            a.on_top + b.on_top, a.token + b.token, a.transfer + b.transfer};
  }
  friend constexpr TimeTerms& operator+=(TimeTerms& a, const TimeTerms& b) { return a = a + b; }
  friend constexpr TimeTerms operator*(double k, const TimeTerms& t) {
    return {k * t.floor, k * t.bytes, k * t.operations, k * t.on_top, k * t.token, k * t.transfer};
  }
};

/// Share of an operand's bytes that memory, not the cache, serves: by reuse distance.
double memory_weight(const Machine& machine, const Operation& operation, Operand operand,
                     const Execution& execution, IntervalEnd residency);

/// Bytes by the level that serves them. `near`: a core's own caches, whose loads are in its rates.
struct ServedBytes {
  double memory = 0;
  double cache = 0;
  double near = 0;
  double total() const { return memory + cache + near; }

  friend constexpr ServedBytes operator+(const ServedBytes& a, const ServedBytes& b) {
    return {a.memory + b.memory, a.cache + b.cache, a.near + b.near};
  }
  friend constexpr ServedBytes& operator+=(ServedBytes& a, const ServedBytes& b) {
    return a = a + b;
  }
  friend constexpr ServedBytes operator*(double k, const ServedBytes& b) {
    return {k * b.memory, k * b.cache, k * b.near};
  }
};

/// Bytes of one launch: those of its tokens, how many of them are reads, and its parameters'.
struct LevelBytes {
  ServedBytes tokens;
  double reads = 0;
  ServedBytes parameters;
  double coldest = 0;  // largest memory weight of an operand: it decides how long the start takes
  ServedBytes all() const { return tokens + parameters; }
  double memory_share() const { return all().total() > 0 ? all().memory / all().total() : 1; }
};

/// One launch: its bytes are shared out over the levels once, whatever is asked of it. Keeps
/// references to what it was made from.
class LaunchTime {
 public:
  /// The machine knows the collective of an exchange.
  LaunchTime(const Machine& machine, const Operation& operation, const Execution& execution);

  TimeTerms terms(const Corner& corner) const;
  /// As kCorners. What several corners share is worked out once.
  std::array<TimeTerms, kCorners.size()> corner_terms() const;
  /// Each alone is a time that no kernel can beat.
  TimeTerms bounds() const;
  /// The largest of them; a measurement below 0.97 x this says that a formula is wrong.
  Seconds bound() const;
  /// The weakest input of a prediction.
  Evidence evidence() const;
  /// Share of the bytes that memory serves.
  double memory_share() const { return moved_.memory_share(); }

 private:
  const LevelBytes& moved(IntervalEnd residency) const;
  Seconds floor(const Corner& corner) const;
  Seconds bytes(const Corner& corner) const;
  TimeTerms terms(Seconds floor, Seconds bytes, const Corner& corner) const;

  const Machine& machine_;
  const Operation& operation_;
  const Execution& execution_;
  CoreTime core_;                       // operations
  TokenWork work_;                      // of GPUs
  Estimate<double> residual_{1, 1, 1};  // measured over predicted, of a profile's kernels
  Estimate<double> stack_{1, 1, 1};     // over the fastest kernels
  Estimate<Seconds> exchange_{};
  LevelBytes at_best_;  // what might be cached is
  LevelBytes moved_;    // what is not known to be cached comes from memory
};

/// The part that the layer must wait for: all but what a Phase 1 computes for later layers.
Seconds critical_time(const Operation& operation, const Execution& execution,
                      const TimeTerms& terms);

/// Kernels that only stream from and to memory, `num_kernels` of them together: their floors and
/// their bytes at that mix. What has no kernel of its own here is timed so.
TimeTerms stream_terms(const Machine& machine, Launch launch, double num_kernels, Bytes reads,
                       Bytes writes, const Corner& corner);

/// What ranks send each other in one exchange, as transfer_time() counts it.
Bytes exchange_bytes(const Operation& operation, const Execution& execution);

/// Nothing where the machine has no times of that collective.
std::optional<Estimate<Seconds>> exchange_time(const Machine& machine, const Operation& operation,
                                               const Execution& execution);

/// Bytes of the parameters that one call reads.
Bytes parameter_bytes(const Operation& operation, const VectorStorage& types);

/// Bytes per launch: all operands, and the parameters once.
Bytes launch_bytes(const Operation& operation, const Execution& execution);

}  // namespace depthcost
