// Tokens per second of a training step, and how much of the machine's arithmetic they are.
#pragma once

#include "model/step/study.hpp"

namespace depthcost {

/// Operations of a training step for each of its tokens, as the model needs them: three times those
/// of a forward pass, nothing that is recomputed. [palm] App. B
/// The study must have a training step and an architecture.
Flops model_flops_per_token(const Study& study);

/// What all replicas do together.
struct Throughput {
  double tokens_per_second = 0;
  double tokens_per_second_and_device = 0;
  FlopsPerSecond model_rate;  // of one device
  double utilization = 0;     // MFU: model_rate over the device's dense bf16 rate
};

/// The throughput of a step that takes so long. The study must have a machine with a bf16 rate,
/// too.
Throughput throughput(const Study& study, Seconds step);

}  // namespace depthcost
