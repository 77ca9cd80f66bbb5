// Reads files of fitted constants: those that ship, or a user's.
#pragma once

#include <string>

#include "model/machine/constants.hpp"

namespace depthcost {

/// The constants that were fitted on everything: scenarios/constants/all.yaml.
const Constants& shipped_constants();

/// The shipped constants that have not seen `left_out`, a GPU, an architecture or a model; nullptr
/// where nothing of it was fitted.
const Constants* shipped_fold(const std::string& left_out);

/// Throws InputError.
Constants load_constants(const std::string& path);

/// The constants of the file that an option names, or those that ship.
Constants constants_of_option(const std::string& path);

}  // namespace depthcost
