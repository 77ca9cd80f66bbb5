// A shell command whose outputs go to files.
#include "tests/microbench/mpi/mpirun.hpp"

#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "tests/temporary_folder.hpp"

namespace depthcost::test {
namespace {

// Allows root, and more processes than cores. Forbids copies between processes, which fail in
// containers. LeakSanitizer would report memory that Open MPI never frees.
constexpr const char* kEnvironment =
    "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
    "OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_vader_single_copy_mechanism=none "
    "ASAN_OPTIONS=detect_leaks=0 ";

}  // namespace

MpiOutcome run_alone(const std::string& program_and_arguments) {
  const TemporaryFolder folder;
  // Open MPI keeps a folder under TMPDIR while it runs. Two runs that share one can both fail: one
  // removes it at its end, the other makes it at its begin.
  const std::string command = kEnvironment + ("TMPDIR=" + folder.path("")) + " timeout 60 " +
                              program_and_arguments + " >" + folder.path("out") + " 2>" +
                              folder.path("err") + " </dev/null";
  const auto begin = std::chrono::steady_clock::now();
  const int status = std::system(command.c_str());
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  return {.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
          .output = content_of(folder.path("out")),
          .errors = content_of(folder.path("err")),
          .seconds = elapsed.count()};
}

MpiOutcome mpirun(int processes, const std::string& program_and_arguments) {
  return run_alone(DEPTHCOST_MPIRUN " -n " + std::to_string(processes) +
                   " --mca odls_base_sigkill_timeout 0 " + program_and_arguments);
}

std::vector<MpiOutcome> mpirun_each(int processes, const std::vector<std::string>& programs) {
  std::vector<MpiOutcome> outcomes(programs.size());
  const auto every_second = [&](std::size_t first) {
    for (std::size_t i = first; i < programs.size(); i += 2)
      outcomes[i] = mpirun(processes, programs[i]);
  };
  std::thread other([&] { every_second(1); });
  every_second(0);
  other.join();
  return outcomes;
}

}  // namespace depthcost::test
