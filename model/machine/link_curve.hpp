// How long a message takes on a link that was measured: piecewise linear, since MPI and NCCL change
// their protocol with the size. REFERENCES.md, "links".
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/base/enum_names.hpp"
#include "model/base/units.hpp"

namespace depthcost {

/// What moves. `both_ways`: two ranks send to each other at once; bytes of one direction. Of
/// collectives, bytes of the whole vector: what goes in and comes out (all_reduce), goes in
/// (reduce_scatter), comes out (all_gather).
enum class Transfer : std::uint8_t { one_way, both_ways, all_reduce, reduce_scatter, all_gather };

/// Messages of `from` bytes and more, up to the next segment. An infinite bandwidth: bytes are
/// free.
struct LinkSegment {
  Bytes from;
  Seconds latency;
  BytesPerSecond bandwidth;
};

struct LinkCurve {
  Transfer transfer = Transfer::one_way;
  Count num_ranks = 2;
  std::vector<LinkSegment> segments;  // by `from`, rising; at least one
};

/// Seconds of one message or collective of `size` bytes.
///   t(S) = alpha_i + S / beta_i        i: the last segment that begins at S or below, else the
///   first
/// Hockney (1994), piece by piece. REFERENCES.md, "links".
inline Seconds message_time(const LinkCurve& curve, Bytes size) {
  const LinkSegment* segment = &curve.segments.front();
  for (const LinkSegment& next : curve.segments)
    if (next.from <= size) segment = &next;
  return segment->latency + size / segment->bandwidth;
}

/// The curve of that transfer among that many ranks, or nullptr.
inline const LinkCurve* find_link(std::span<const LinkCurve> curves, Transfer transfer,
                                  Count num_ranks) {
  for (const LinkCurve& curve : curves)
    if (curve.transfer == transfer && curve.num_ranks == num_ranks) return &curve;
  return nullptr;
}

}  // namespace depthcost
