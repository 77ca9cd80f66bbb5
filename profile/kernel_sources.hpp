// Whether measured kernels are those of today's sources.
#pragma once

#include <string>

#include "profile/profile.hpp"

namespace depthcost::profile {

/// Hashes of the sources beside which this program was built, by cmake/kernels_hash.cmake.
struct KernelSources {
  std::string cpu;
  std::string cuda;
};

const KernelSources& kernel_sources();

/// "Stale: the sources of the measured kernels have changed since." Empty where they have not.
std::string stale_mark(const Profile& profile);
std::string stale_mark(const Samples& samples);

}  // namespace depthcost::profile
