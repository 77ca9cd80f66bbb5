// Whether there is a CUDA device, without the header of the runtime.
#pragma once

namespace depthcost::cuda {

/// Also false if there is no driver.
bool has_device();

}  // namespace depthcost::cuda
