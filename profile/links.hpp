// Link curves from samples: t = alpha_i + S / beta_i on ranges of sizes. REFERENCES.md, "links".
#pragma once

#include <span>
#include <vector>

#include "model/machine/comparison.hpp"
#include "model/machine/link_curve.hpp"
#include "profile/samples.hpp"

namespace depthcost::profile {

/// The time of one message size.
struct LinkPoint {
  Bytes size;
  Seconds time;
};

/// The fewest points of a segment.
inline constexpr std::size_t kPointsPerSegment = 4;

/// The segments that fit best, as many as BIC allows. `points` are at least kPointsPerSegment, with
/// rising sizes and positive times.
std::vector<LinkSegment> fit_segments(std::span<const LinkPoint> points);

/// The error at every second size, predicted from a fit to the others. Without cases if there are
/// too few sizes.
struct LinkError {
  Transfer transfer = Transfer::one_way;
  Count num_ranks = 2;
  ErrorSummary errors;
};

struct FittedLink {
  LinkCurve curve;  // fitted to all sizes
  LinkError held_out;
};

/// A curve for each transfer and number of ranks. Throws InputError where one has too few sizes.
std::vector<FittedLink> fit_links(const Samples& samples);

}  // namespace depthcost::profile
