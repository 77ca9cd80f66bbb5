// What an operation moves per token: d-vectors and loose scalars, reads and writes apart. Totals
// are derived, never stored; only `bytes` knows the storage types.
#pragma once

#include <optional>

#include "model/base/units.hpp"

namespace depthcost {

/// d-vectors (d elements of one token, whatever their type) and loose f32 scalars, per token.
struct Traffic {
  double reads_d = 0;
  double writes_d = 0;
  double reads_scalars = 0;
  double writes_scalars = 0;
  double phase1_d = 0;  // those of the d-vectors above that hold Phase 1 outputs

  friend constexpr bool operator==(const Traffic&, const Traffic&) = default;
  friend constexpr Traffic operator+(const Traffic& a, const Traffic& b) {
    return {a.reads_d + b.reads_d, a.writes_d + b.writes_d, a.reads_scalars + b.reads_scalars,
            a.writes_scalars + b.writes_scalars, a.phase1_d + b.phase1_d};
  }
  friend constexpr Traffic& operator+=(Traffic& a, const Traffic& b) { return a = a + b; }
  friend constexpr Traffic operator*(double k, const Traffic& t) {
    return {k * t.reads_d, k * t.writes_d, k * t.reads_scalars, k * t.writes_scalars,
            k * t.phase1_d};
  }
};

constexpr double total_d(const Traffic& t) { return t.reads_d + t.writes_d; }
constexpr double total_scalars(const Traffic& t) { return t.reads_scalars + t.writes_scalars; }

/// How the d-vectors of one model are stored.
struct VectorStorage {
  double hidden_size = 0;     // d
  Dtype dtype = Dtype::bf16;  // of every d-vector but the Phase 1 outputs
  Dtype phase1_dtype = Dtype::bf16;
  std::optional<double> bytes_per_weight = {};  // of a scheme's matrices; absent: as `dtype`
};

/// Bytes per token.
constexpr Bytes bytes(const Traffic& t, const VectorStorage& s) {
  return storage((total_d(t) - t.phase1_d) * s.hidden_size, s.dtype) +
         storage(t.phase1_d * s.hidden_size, s.phase1_dtype) +
         Bytes{kBytesPerScalar * total_scalars(t)};
}

/// Sum of `count` terms in arithmetic progression from `first` to `last`. Exact: all are integers
/// below 2^53, or carry the one fraction of Table 1.
constexpr Traffic arithmetic_series(const Traffic& first, const Traffic& last, Count count) {
  return 0.5 * static_cast<double>(count) * (first + last);
}

}  // namespace depthcost
