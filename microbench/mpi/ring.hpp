// Reduce-scatter and all-gather in a ring, because MPI does not say what its own send.
#pragma once

#include <span>
#include <vector>

#include "microbench/mpi/session.hpp"
#include "model/base/units.hpp"

namespace depthcost::bench {

class Ring {
 public:
  explicit Ring(const Ranks& ranks) : ranks_(ranks) {}

  /// own[i] = the sum over ranks r of theirs' whole[rank * own.size() + i]; `whole`, P times as
  /// long as `own`, is used up.
  void reduce_scatter(std::span<double> own, std::span<double> whole);
  /// `whole` = every rank's `own`, one after the other.
  void all_gather(std::span<double> whole, std::span<const double> own);

  /// Bytes that this rank has sent.
  Count reduce_scatter_bytes() const { return reduce_scatter_bytes_; }
  Count all_gather_bytes() const { return all_gather_bytes_; }

 private:
  std::span<double> part(std::span<double> whole, int index) const;
  /// To the next rank, from the one before; bytes sent.
  Count pass_on(std::span<const double> sent, std::span<double> received) const;

  Ranks ranks_;
  std::vector<double> arrived_;
  Count reduce_scatter_bytes_ = 0;
  Count all_gather_bytes_ = 0;
};

}  // namespace depthcost::bench
