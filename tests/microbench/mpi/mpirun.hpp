// Programs under mpirun, as scripts/test finds them: on one machine, perhaps in a container,
// perhaps with fewer cores than processes.
#pragma once

#include <string>

namespace depthcost::test {

struct MpiOutcome {
  int exit_code = -1;
  std::string output;
  std::string errors;
  double seconds = 0;
};

/// `program` and its arguments, a shell's words, in `processes` processes; ends them after a
/// minute.
MpiOutcome mpirun(int processes, const std::string& program_and_arguments);

/// Without mpirun.
MpiOutcome run_alone(const std::string& program_and_arguments);

}  // namespace depthcost::test
