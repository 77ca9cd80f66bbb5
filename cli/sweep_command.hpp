// `sweep`: which block size, why, and the runner-up.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/console.hpp"
#include "cli/exit_code.hpp"
#include "scenarios/read/scenario_options.hpp"

namespace depthcost {

struct SweepOptions {
  std::string scenario;
  ScenarioOptions question;       // in place of it, if it has a model
  std::vector<std::string> axes;  // KEY=VALUES; block_size=1..L without any
  std::string format = "table";   // table | json | csv | markdown
  std::string directory;          // for files; stdout if empty
  std::int64_t max_points = 1'000'000;
  double compute = 5.6;  // PFLOP/s-days of the break-even
};
ExitCode run_sweep(const SweepOptions& options, Console& console);

}  // namespace depthcost
