// Constants with their intervals, made without one GPU, architecture or model.
#pragma once

#include <string>
#include <vector>

#include "profile/calibration/fit.hpp"

namespace depthcost::calibration {

/// The names that a fold may leave out: every GPU, architecture and model of the tables.
std::vector<std::string> names_of_folds(const Tables& tables);

/// Fits the constants on what `left_out` does not hold, then leaves out each of the remaining GPUs,
/// architectures and models in turn, and chooses the intervals that hold nine of ten of the rows
/// that were left out so.
Constants fold(const Tables& tables, const LeftOut& left_out, const Constants& start);

/// The constants as a file of scenarios/constants.
std::string to_yaml(const Constants& constants);

}  // namespace depthcost::calibration
