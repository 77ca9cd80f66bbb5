// The table of measured serving runs: scenarios/published/steps.csv.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/evaluation/served_step.hpp"
#include "scenarios/device/constants.hpp"
#include "scenarios/measured/unseen.hpp"

namespace depthcost {

/// Every row, with such constants.
std::vector<ServedStep> served_steps(Unseen unseen = Unseen::model);

/// The rows of a table with the columns of steps.csv, all with `constants`. Throws InputError.
std::vector<ServedStep> parse_served_steps(std::string_view text, const std::string& file,
                                           const Constants& constants);

}  // namespace depthcost
