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

/// How long mpirun lets the others live that it ends because of one: not at all, which saves up to
/// two seconds, or as long as it usually does, for their last words.
enum class Grace { none, usual };

/// `program` and its arguments, a shell's words, in `processes` processes; ends them after a
/// minute.
MpiOutcome mpirun(int processes, const std::string& program_and_arguments,
                  Grace grace = Grace::none);

/// Several of them, two at a time: a run that fails mostly waits.
std::vector<MpiOutcome> mpirun_each(int processes, const std::vector<std::string>& programs,
                                    Grace grace = Grace::none);

/// Without mpirun.
MpiOutcome run_alone(const std::string& program_and_arguments);

}  // namespace depthcost::test
