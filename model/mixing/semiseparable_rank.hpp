// How much of the past a depth mixing matrix can tell apart: the largest rank of a sub-matrix on or
// below its diagonal. The ordinary rank tells nothing: REFERENCES.md, "mixing".
#pragma once

#include "model/mixing/mixing_matrix.hpp"

namespace depthcost {

/// Pivots of a QR decomposition count that are larger than this share of the largest.
inline constexpr double kRankTolerance = 1e-9;

struct SemiseparableRank {
  Count rank = 0;
  Count cut = 0;  // a layer k whose cut has it: rows k..L, columns 0..k-1
};

/// max over k = 1..L of rank M[k..L, 0..k-1]: every sub-matrix on or below the diagonal lies in
/// such a cut. The middle cut comes first; others as long as one could have a larger rank.
SemiseparableRank semiseparable_rank(const MixingMatrix& matrix);

}  // namespace depthcost
