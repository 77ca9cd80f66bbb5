// How full a device is, in a sentence.
#pragma once

#include <string>

#include "model/evaluation/evaluation.hpp"

namespace depthcost {

/// "Memory: decode/64 takes the most, 214.0 GB of the 288.4 GB of a device (74.2 %): weights 195.7
/// GB, KV cache 18.21 GB, residual path 18.98 MB." Empty where the device's memory or the model's
/// weights are not known, and where the study's own scheme does not fit, which the verdict says.
std::string memory_sentence(const Evaluation& e);

}  // namespace depthcost
