// `mixing`: depth mixing matrices, their ranks, and magnitudes through depth.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/console.hpp"
#include "cli/exit_code.hpp"
#include "model/base/units.hpp"

namespace depthcost {

struct MixingOptions {
  std::string scenario;
  std::vector<std::string> schemes;  // beside the scenario's; "all" for every one
  std::string weights;               // file; random numbers if empty
  Count seed = 1;                    // of random numbers, not negative
  std::optional<Count> num_streams;  // in place of the scenario's
  std::optional<Count> block_size;
  std::optional<Count> window;
  std::optional<Count> dilation;
  std::optional<Count> period;
  bool magnitude = false;
  std::string format = "table";  // table | json | csv
  std::string directory;         // for files; stdout if empty
};
ExitCode run_mixing(const MixingOptions& options, Console& console);

}  // namespace depthcost
