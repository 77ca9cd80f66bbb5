// The CUDA runtime's answer, without its header.
#pragma once

namespace depthcost::cuda {

/// False also where there is no driver.
bool has_device();

}  // namespace depthcost::cuda
