// How often somebody took the CPU away from this process.
#pragma once

namespace depthcost::bench {

/// Since the process began: context switches that it did not ask for, and ticks (1/100 s) that a
/// hypervisor took from any CPU. 0 where the system does not say.
long interruptions();

}  // namespace depthcost::bench
