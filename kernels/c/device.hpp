// The CUDA runtime's answer, without its header. Defined where the library is built with CUDA.
#pragma once

namespace depthcost::c {

bool has_cuda_device();

}  // namespace depthcost::c
