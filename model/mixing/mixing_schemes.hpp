// The schemes that have a depth mixing matrix, in two lists. Only model/mixing includes this.
#pragma once

#include <fmt/format.h>

#include "model/mixing/mixing.hpp"

namespace depthcost::mixing {

inline std::optional<RankClaim> no_claim(const MixingShape&) { return std::nullopt; }
inline std::optional<Count> rank_one(const MixingShape&) { return 1; }

/// The most rows or columns that a sub-matrix on or below the diagonal has of both:
/// max_k min(L - k + 1, k) = floor((L + 1) / 2).
inline Count largest_rank(const MixingShape& shape) { return (shape.num_layers + 1) / 2; }
inline std::optional<Count> full_rank(const MixingShape& shape) { return largest_rank(shape); }

/// Single-state and multi-state recurrences: mixing_recurrences.cpp.
std::span<const MixingScheme> recurrences();
/// Cross-layer access: mixing_attention.cpp.
std::span<const MixingScheme> cross_layer_schemes();

}  // namespace depthcost::mixing
