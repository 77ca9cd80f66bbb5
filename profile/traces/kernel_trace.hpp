// The kernels of a profiler's trace: of the PyTorch profiler (Chrome's trace format), of `nsys
// stats -r cuda_gpu_trace` as CSV or JSON, all of them also packed by gzip, or of `nsys export
// --type sqlite`.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/evaluation/traced_step.hpp"

namespace depthcost {

/// Largest content of a trace in JSON, which is read without being held, and in CSV, which is held.
/// A packed file can hold a thousand times its size. [ours]
inline constexpr std::uintmax_t kMaxTraceBytes = 4'000'000'000;
inline constexpr std::size_t kMaxTraceTableBytes = 256'000'000;

/// The launches of one device.
struct KernelTrace {
  std::map<std::string, std::vector<Interval>> kernels;  // by name; never empty
  std::set<std::string> steps;                           // names of the profiler's steps
  std::string device;                                    // as the trace calls it; may be empty
  Count other_devices = 0;                               // whose kernels were left out
  Count without_duration = 0;                            // kernels that were left out
};

/// Throws InputError for what is no such trace, and for one without a kernel that has a duration.
KernelTrace load_trace(const std::string& path, std::uintmax_t max_bytes = kMaxTraceBytes);

}  // namespace depthcost
