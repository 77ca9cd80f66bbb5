// MPI from its start to its end, and how errors end a program: bad input, which every rank finds,
// and a rank that cannot go on, which must end the others too.
#pragma once

#include <mpi.h>

#include <functional>
#include <stdexcept>
#include <string>

namespace depthcost::bench {

/// An error that every rank finds: rank 0 reports it, and all end with exit code 2.
class BadInput : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An error that some ranks find: each of them reports it, and all ranks end with exit code 1.
class RankFailure : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws RankFailure unless `status` is MPI_SUCCESS.
void check(int status, const char* call);

/// This process among the others.
struct Ranks {
  MPI_Comm communicator = MPI_COMM_NULL;
  int rank = 0;
  int size = 1;

  bool is_first() const { return rank == 0; }
};

/// Throws BadInput unless mpirun started `expected` processes; `what` says why they are needed.
void require_ranks(const Ranks& ranks, int expected, const std::string& what);

/// The whole file, read by rank 0 and sent to all. Throws BadInput with the text of an InputError.
std::string read_on_first(const Ranks& ranks, const std::string& path);

/// Runs `program` between MPI_Init and MPI_Finalize. Returns its exit code, or that of its error.
int run_ranks(int argc, char** argv, const std::function<int(const Ranks&)>& program);

}  // namespace depthcost::bench
