// --memory: which memory the messages of a run lie in.
#pragma once

#include "microbench/mpi/message_memory.hpp"
#include "microbench/mpi/program_options.hpp"

namespace depthcost::bench {

/// "host", "device" (given to MPI where MPI says that it reaches it, else staged), "staged" (device
/// memory, staged in any case) or, for tests, "emulated". Without the option: "device" where every
/// rank has one, else "host". A rank's device is its rank on its machine modulo the number of
/// devices. Collective; throws BadInput.
std::unique_ptr<MessageMemory> chosen_memory(const Ranks& ranks, const ProgramOptions& options);

}  // namespace depthcost::bench
