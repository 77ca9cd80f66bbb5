// The hashes come from CMake.
#include "profile/kernel_sources.hpp"

namespace depthcost::profile {
namespace {

std::string mark_unless_same(const std::string& measured, const std::string& today) {
  return measured == today ? "" : "Stale: the sources of the measured kernels have changed since.";
}

}  // namespace

const KernelSources& kernel_sources() {
  static const KernelSources sources{DEPTHCOST_CPU_KERNELS_HASH, DEPTHCOST_CUDA_KERNELS_HASH};
  return sources;
}

std::string stale_mark(const Profile& profile) {
  const KernelSources& today = kernel_sources();
  return mark_unless_same(profile.kernels_hash, profile.is_gpu ? today.cuda : today.cpu);
}

std::string stale_mark(const Samples& samples) {
  const KernelSources& today = kernel_sources();
  return mark_unless_same(samples.kernels_hash, samples.is_gpu() ? today.cuda : today.cpu);
}

}  // namespace depthcost::profile
