// Which schemes `mixing` shows, and with which weights: those of a scenario and named ones, with
// the weights of a file or random ones.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/mixing/mixed_scheme.hpp"
#include "model/step/study.hpp"

namespace depthcost {

struct MixingQuestion {
  std::string scenario;              // its file
  std::vector<std::string> schemes;  // added to the scenario's; "all" names every scheme
  std::string weights;               // file; random numbers if empty
  Count seed = 1;                    // seed of the random numbers, not negative
  std::optional<Count> num_streams;  // replaces the scenario's number
  std::optional<Count> block_size;
  std::optional<Count> window;
  std::optional<Count> dilation;
  std::optional<Count> period;
};

struct MixedSchemes {
  std::vector<MixedScheme> schemes;
  Partition blocks;                   // for schemes with blocks
  std::vector<std::string> warnings;  // schemes of the scenario that have no matrix
};

/// Throws InputError at the wrong option, or at the place in the file.
MixedSchemes mixed_schemes(const Study& study, const MixingQuestion& question);

}  // namespace depthcost
