// The single pass of AttnRes with the changes that the paper ablates.
#pragma once

#include "kernels/cpu/primitives/dispatch.hpp"
#include "kernels/cpu/primitives/threads.hpp"
#include "kernels/operations/attnres.hpp"

namespace depthcost::cpu {

/// One target's kernel.
template <class T>
using SinglePassKernel = void (*)(const AttnResSinglePass<T>&, TokenRange);

/// The best target's, for a variant that differs from the paper in more than its window.
KernelsByType<SinglePassKernel> single_pass_ablations();

}  // namespace depthcost::cpu
