// P - 1 steps, in each of which every rank sends one part to the next.
#include "microbench/mpi/ring.hpp"

#include <algorithm>
#include <cassert>

namespace depthcost::bench {

std::span<double> Ring::part(std::span<double> whole, int index) const {
  const std::size_t size = whole.size() / static_cast<std::size_t>(ranks_.size);
  const int place = (index % ranks_.size + ranks_.size) % ranks_.size;
  return whole.subspan(static_cast<std::size_t>(place) * size, size);
}

Count Ring::pass_on(std::span<const double> sent, std::span<double> received) const {
  const int next = (ranks_.rank + 1) % ranks_.size;
  const int previous = (ranks_.rank + ranks_.size - 1) % ranks_.size;
  check(MPI_Sendrecv(sent.data(), static_cast<int>(sent.size()), MPI_DOUBLE, next, 0,
                     received.data(), static_cast<int>(received.size()), MPI_DOUBLE, previous, 0,
                     ranks_.communicator, MPI_STATUS_IGNORE),
        "MPI_Sendrecv");
  return static_cast<Count>(sent.size_bytes());
}

/// A part is sent first by the rank behind its owner, and comes to the owner last.
void Ring::reduce_scatter(std::span<double> own, std::span<double> whole) {
  assert(whole.size() == own.size() * static_cast<std::size_t>(ranks_.size));
  arrived_.resize(own.size());
  for (int step = 0; step + 1 < ranks_.size; ++step) {
    reduce_scatter_bytes_ += pass_on(part(whole, ranks_.rank - 1 - step), arrived_);
    const std::span<double> sum = part(whole, ranks_.rank - 2 - step);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += arrived_[i];
  }
  std::ranges::copy(part(whole, ranks_.rank), own.begin());
}

void Ring::all_gather(std::span<double> whole, std::span<const double> own) {
  assert(whole.size() == own.size() * static_cast<std::size_t>(ranks_.size));
  std::ranges::copy(own, part(whole, ranks_.rank).begin());
  for (int step = 0; step + 1 < ranks_.size; ++step)
    all_gather_bytes_ +=
        pass_on(part(whole, ranks_.rank - step), part(whole, ranks_.rank - step - 1));
}

}  // namespace depthcost::bench
