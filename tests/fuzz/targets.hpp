// Every fuzz target: one function that takes any bytes and returns, or ends the process at a
// defect.
#pragma once

#include <span>
#include <string_view>

namespace depthcost::fuzz {

struct Target {
  std::string_view name;     // of its folder in corpus/ too
  std::string_view shipped;  // files of the repository that it accepts, as a pattern; may be empty
  bool (*run)(std::string_view input);
};

std::span<const Target> targets();

bool read_scenario_text(std::string_view text);
bool read_model(std::string_view text);
bool read_hardware(std::string_view text);
bool read_profile(std::string_view text);
bool read_samples(std::string_view text);
bool read_measurements(std::string_view text);
bool read_tolerances(std::string_view text);
bool read_mixing_weights(std::string_view text);
bool read_hf_config(std::string_view text);
bool read_result(std::string_view text);
bool read_axis(std::string_view text);
bool read_pipeline_plan(std::string_view text);
bool read_shard_times(std::string_view bytes);
bool read_chrome_trace(std::string_view text);
bool read_nsys_table(std::string_view text);

/// Two bytes choose a unit's dimension and a range, the others are a number as users write it.
bool read_quantity(std::string_view bytes);

/// A command line, one word a line. Nothing is run.
bool parse_command_line(std::string_view words);

/// Bytes choose the values of a scenario. What is accepted is evaluated, and the answer is checked.
bool answer_written_scenario(std::string_view choices);

/// Bytes choose a function of the C interface, its sizes and its pointers.
bool call_c_interface(std::string_view choices);

}  // namespace depthcost::fuzz
