// Every rank comes to the same decision.
#include "microbench/mpi/memory_choice.hpp"

#include <stdexcept>

#include "microbench/mpi/device_memory.hpp"
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace depthcost::bench {

#ifndef DEPTHCOST_WITH_CUDA
int num_devices() { return 0; }
std::string why_no_device() { return "built without CUDA"; }
std::unique_ptr<MessageMemory> device_memory(int, Reach) {
  throw std::logic_error(why_no_device());
}
#endif

namespace {

/// Only Open MPI can be asked.
bool reaches_devices() {
#if defined(OMPI_HAVE_MPI_EXT_CUDA) && OMPI_HAVE_MPI_EXT_CUDA
  return MPIX_Query_cuda_support() == 1;
#else
  return false;
#endif
}

int lowest(const Ranks& ranks, int value) {
  int result = 0;
  check(MPI_Allreduce(&value, &result, 1, MPI_INT, MPI_MIN, ranks.communicator), "MPI_Allreduce");
  return result;
}

int rank_on_this_machine(const Ranks& ranks) {
  MPI_Comm here = MPI_COMM_NULL;
  check(MPI_Comm_split_type(ranks.communicator, MPI_COMM_TYPE_SHARED, ranks.rank, MPI_INFO_NULL,
                            &here),
        "MPI_Comm_split_type");
  int rank = 0;
  check(MPI_Comm_rank(here, &rank), "MPI_Comm_rank");
  check(MPI_Comm_free(&here), "MPI_Comm_free");
  return rank;
}

/// The copy that --lose RANK@COPY names, where RANK is this one.
int lost_copy(const Ranks& ranks, const ProgramOptions& options) {
  const At lost = options.at("lose");
  return lost.what == std::to_string(ranks.rank) ? lost.where : -1;
}

}  // namespace

std::unique_ptr<MessageMemory> chosen_memory(const Ranks& ranks, const ProgramOptions& options) {
  const bool has_devices = lowest(ranks, num_devices()) > 0;
  const std::string choice = options.has("memory") ? options.text("memory")
                             : has_devices         ? "device"
                                                   : "host";
  if (choice == "host") return std::make_unique<MessageMemory>();
  if (choice == "emulated") return emulated_device_memory(lost_copy(ranks, options));
  if (choice != "device" && choice != "staged")
    options.fail("invalid memory '" + choice + "' (must be one of: host, device, staged)");
  if (!has_devices)
    throw BadInput("error: invalid memory '" + choice + "' (" +
                   (num_devices() > 0 ? "another rank has no device" : why_no_device()) + ")");
  const bool is_reached = lowest(ranks, reaches_devices() ? 1 : 0) == 1;
  return device_memory(rank_on_this_machine(ranks) % num_devices(),
                       choice == "device" && is_reached ? Reach::by_mpi : Reach::through_host);
}

}  // namespace depthcost::bench
