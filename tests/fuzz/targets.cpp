#include "tests/fuzz/targets.hpp"

#include <array>

namespace depthcost::fuzz {
namespace {

constexpr std::array kTargets{
    Target{"scenario", "scenarios/*.yaml", read_scenario_text},
    Target{"model", "scenarios/models/*.yaml", read_model},
    Target{"hardware", "scenarios/hardware/*.yaml", read_hardware},
    Target{"profile", "scenarios/profiles/*.yaml", read_profile},
    Target{"samples", "", read_samples},
    Target{"measurements", "", read_measurements},
    Target{"tolerances", "scenarios/tolerances/*.yaml", read_tolerances},
    Target{"mixing_weights", "", read_mixing_weights},
    Target{"hf_config", "tests/scenarios/configs/*.json", read_hf_config},
    Target{"result", "", read_result},
    Target{"axis", "", read_axis},
    Target{"quantity", "", read_quantity},
    Target{"pipeline_plan", "", read_pipeline_plan},
    Target{"shard_times", "", read_shard_times},
    Target{"chrome_trace", "", read_chrome_trace},
    Target{"nsys_table", "", read_nsys_table},
    Target{"command_line", "", parse_command_line},
    Target{"answer", "", answer_written_scenario},
    Target{"c_interface", "", call_c_interface},
};

}  // namespace

std::span<const Target> targets() { return kTargets; }

}  // namespace depthcost::fuzz
