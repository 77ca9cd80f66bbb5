// The best placements of a plan, as text and as JSON.
#pragma once

#include <string>

#include "model/plan/plan.hpp"

namespace depthcost {

struct PlanReport {
  std::string title;  // "llama_3_1_70b on h100_sxm"
  Count devices = 1;
  Study own;                                 // whose workload all placements share
  std::optional<Partition> kept_blocks;      // written, or the model's own: no plan has others
  std::optional<Partition> scenario_blocks;  // of a scenario file, where others were searched
  std::string assumed_scheme;                // planned where nobody named a scheme
  Bytes memory_limit;                        // what a plan may fill of a device
  std::vector<std::string> warnings;         // value_warnings()
  Plans plans;
  std::vector<std::string> evaluations;    // of the best plans: commands that evaluate them
  std::optional<Count> devices_with_room;  // where no plan fits: on so many the model does
  std::size_t refused = 0;
  std::string first_refusal;
  std::size_t left_out_context = 0;  // placements
  std::size_t left_out_data = 0;     // placements
};

std::string plan_text(const PlanReport& report);
std::string plan_json(const PlanReport& report, const std::string& program_version);

}  // namespace depthcost
