// Messages in the memory of a CUDA device: cuda/device_memory.cpp. A build without CUDA has no
// device: memory_choice.cpp.
#pragma once

#include "microbench/mpi/message_memory.hpp"

namespace depthcost::bench {

/// 0 also without a driver.
int num_devices();

/// Why num_devices() is 0: "built without CUDA".
std::string why_no_device();

/// Makes device `index` that of this process.
std::unique_ptr<MessageMemory> device_memory(int index, Reach reach);

}  // namespace depthcost::bench
