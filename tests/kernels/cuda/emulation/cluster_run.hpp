// One cluster of CTAs of an emulated kernel. Each of its threads is a fiber, and which one goes on
// is random.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <memory>

namespace depthcost::emulation {

struct Geometry {
  dim3 grid;
  dim3 cta;
  unsigned cluster_size = 1;  // CTAs along x
  std::size_t shared_bytes = 0;

  unsigned num_clusters() const { return grid.x / cluster_size * grid.y * grid.z; }
  unsigned num_threads() const { return cta.x * cta.y * cta.z; }
};

/// Whether the kernel before on the stream may still be running.
enum class PreviousKernel { running, ended };

struct ClusterState;

class ClusterRun {
 public:
  ClusterRun(const Geometry& geometry, unsigned cluster, const std::function<void()>& kernel,
             std::uint64_t seed, PreviousKernel previous);
  ClusterRun(const ClusterRun&) = delete;
  ClusterRun& operator=(const ClusterRun&) = delete;
  ~ClusterRun();

  /// Runs until every thread has ended, or those that have not wait for the previous kernel.
  /// Throws std::runtime_error for a fault, with the thread's place.
  void run();

  /// Threads that wait for it go on in the next run().
  void end_previous_kernel();

 private:
  std::unique_ptr<ClusterState> state_;
};

}  // namespace depthcost::emulation
