// Whose kernels the residual operations are.
#pragma once

#include <cstdint>

#include "model/base/enum_names.hpp"

namespace depthcost {

/// A key of scenarios: residual.implementation.
///   fastest_published      what the fastest stack takes whose times are public
///   vllm, sglang, trtllm   what that stack's kernels are measured to take over the fastest
///   ours                   the kernels of kernels/cuda, by their counts alone
///   eager                  a framework's own kernels: the schedule `unfused`
enum class Implementation : std::uint8_t { fastest_published, vllm, sglang, trtllm, ours, eager };

/// Serving stacks whose mHC kernels are measured.
constexpr bool is_stack(Implementation implementation) {
  return implementation == Implementation::vllm || implementation == Implementation::sglang ||
         implementation == Implementation::trtllm;
}

}  // namespace depthcost
