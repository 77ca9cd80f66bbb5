// Links from their samples: t = alpha_i + S / beta_i on ranges of sizes. REFERENCES.md, "links".
#pragma once

#include <span>
#include <vector>

#include "model/machine/comparison.hpp"
#include "model/machine/link_curve.hpp"
#include "profile/samples.hpp"

namespace depthcost::profile {

/// The time of one size.
struct LinkPoint {
  Bytes size;
  Seconds time;
};

/// Fewer points than this are no segment.
inline constexpr std::size_t kPointsPerSegment = 4;

/// The segments that fit best, as many as BIC allows. `points` by size, rising, all times positive;
/// at least kPointsPerSegment.
std::vector<LinkSegment> fit_segments(std::span<const LinkPoint> points);

/// Every second size, predicted from a fit to the others. No cases where there are too few sizes.
struct LinkError {
  Transfer transfer = Transfer::one_way;
  Count num_ranks = 2;
  ErrorSummary errors;
};

struct FittedLink {
  LinkCurve curve;  // fitted to all sizes
  LinkError held_out;
};

/// One for each transfer and number of ranks. Throws InputError where one has too few sizes.
std::vector<FittedLink> fit_links(const Samples& samples);

}  // namespace depthcost::profile
