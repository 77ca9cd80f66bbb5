// Which schemes are to be mixed over depth, and with which weights: a scenario's own and named
// ones, with a file's weights or random ones.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/mixing/mixed_scheme.hpp"
#include "model/step/study.hpp"

namespace depthcost {

struct MixingQuestion {
  std::string scenario;              // its file
  std::vector<std::string> schemes;  // beside the scenario's; "all" for every one
  std::string weights;               // file; random numbers if empty
  Count seed = 1;                    // of random numbers, not negative
  std::optional<Count> num_streams;  // in place of the scenario's
  std::optional<Count> block_size;
  std::optional<Count> window;
  std::optional<Count> dilation;
  std::optional<Count> period;
};

struct MixedSchemes {
  std::vector<MixedScheme> schemes;
  Partition blocks;                   // of schemes that have some
  std::vector<std::string> warnings;  // schemes of the scenario that have no matrix
};

/// Throws InputError at the option, or in the file, that is wrong.
MixedSchemes mixed_schemes(const Study& study, const MixingQuestion& question);

}  // namespace depthcost
