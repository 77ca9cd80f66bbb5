// All aggregations of Kimi K3 over one bank, single pass and two-phase.
#pragma once

namespace depthcost::bench {

void add_forward_passes();

}  // namespace depthcost::bench
