// Programs under mpirun, as scripts/test finds them: on one machine, perhaps in a container,
// perhaps with fewer cores than processes.
#pragma once

#include <string>
#include <vector>

namespace depthcost::test {

struct MpiOutcome {
  int exit_code = -1;
  std::string output;
  std::string errors;
  double seconds = 0;
};

/// Runs a program with its arguments, as words of a shell, in `processes` processes, for a minute
/// at most. If one fails, mpirun ends the others at once, which saves up to two seconds.
MpiOutcome mpirun(int processes, const std::string& program_and_arguments);

/// Runs several, two at a time, since a run that fails mostly waits.
std::vector<MpiOutcome> mpirun_each(int processes, const std::vector<std::string>& programs);

/// Runs a program without mpirun.
MpiOutcome run_alone(const std::string& program_and_arguments);

}  // namespace depthcost::test
