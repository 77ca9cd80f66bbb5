// Which operation a kernel is, by its name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profile/traces/kernel_trace.hpp"

namespace depthcost {

struct KernelName {
  std::string match;      // a part of the name; with a * a pattern of the whole
  std::string operation;  // of the catalogue
  std::string beside;     // what else the kernel does; empty: nothing
};

/// Those of every serving and training stack that ships, file by file.
std::vector<KernelName> shipped_kernel_names();

/// Those of a file. Throws InputError.
std::vector<KernelName> load_kernel_names(const std::string& path);

/// The first that matches, or nullptr.
const KernelName* find_kernel_name(const std::vector<KernelName>& names, std::string_view kernel);

/// Sums by operation, and what no name matches. Throws InputError if no kernel is of the residual
/// path; `file` is the trace's.
TracedStep traced_step(const KernelTrace& trace, const std::vector<KernelName>& names,
                       const std::string& file);

}  // namespace depthcost
