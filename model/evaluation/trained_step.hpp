// Training steps of models that others have measured.
#pragma once

#include <string>
#include <vector>

#include "model/evaluation/compared_run.hpp"
#include "model/step/study.hpp"

namespace depthcost {

/// A measured optimiser step of one model with the standard residual, over all replicas.
struct TrainedStep {
  std::string id;  // "llama_3_1_8b/gb200/fp8/devices:8/tensor:1/context:1/pipeline:1x1/expert:1/
                   // 128x2x8192": one configuration
  std::string model;
  std::string gpu;
  std::string release;  // of the framework
  Study study;
  Seconds seconds;  // with reduction and optimiser
};

/// The steps beside their predictions; those left out whose rest is not modelled.
std::vector<ComparedRun> compared_training(const std::vector<TrainedStep>& steps);

}  // namespace depthcost
