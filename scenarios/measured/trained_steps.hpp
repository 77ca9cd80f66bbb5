// The table of measured training steps: scenarios/published/training.csv, from NVIDIA-NeMo/
// Megatron-Bridge, docs/performance-summary-archive.md @0a25f911.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/evaluation/trained_step.hpp"
#include "scenarios/device/constants.hpp"
#include "scenarios/measured/unseen.hpp"

namespace depthcost {

/// Every row, with such constants.
std::vector<TrainedStep> trained_steps(Unseen unseen = Unseen::model);

/// The rows of a table with the columns of training.csv, all with `constants`. Throws InputError.
std::vector<TrainedStep> parse_trained_steps(std::string_view text, const std::string& file,
                                             const Constants& constants);

}  // namespace depthcost
