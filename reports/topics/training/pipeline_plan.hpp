// A training step's pipeline as a file that microbench/mpi/bench_pipeline runs with real messages.
#pragma once

#include <string>

#include "model/evaluation/evaluation.hpp"
#include "reports/formats/json_writer.hpp"

namespace depthcost {

/// The members of a plan, "depthcost-pipeline/1": schedule, layout, payload, tokens, and the
/// modelled seconds and links of the study's scheme as it is quoted. The evaluation must have a
/// training step.
void append_plan(JsonWriter& json, const Evaluation& evaluation);

/// The plan as a document of its own.
std::string pipeline_plan(const Evaluation& evaluation);

}  // namespace depthcost
