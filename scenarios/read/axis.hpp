// Axes of a sweep, as the command line gives them: KEY=VALUES, where KEY is a path of the scenario
// ("residual.block_size", or short "block_size"; "model.hidden_size"; "hardware") and VALUES a list
// or a range:
//
//   8,16,24     h100_sxm,h200_sxm     4.8 TB/s,8 TB/s
//   1..64       1..L (L layers of the model)     1..1024:x2     0..4096:+512
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenarios/keys/keys.hpp"

namespace depthcost {

/// A range of counts, both ends included as far as the steps meet them.
struct AxisRange {
  enum class Step { add, multiply };

  Count first = 1;
  std::optional<Count> last;  // absent: L
  Step step = Step::add;
  Count by = 1;
};

struct Axis {
  std::string path;  // in full
  const Key* key = nullptr;
  std::string argument;            // as typed
  std::vector<std::string> items;  // the values of a list, as a file would have them
  std::optional<AxisRange> range;
};

/// Throws InputError: keys that do not exist (with the nearest name) or hold no single value,
/// values of another kind, empty and reversed ranges, a value that is there twice.
Axis parse_axis(const std::string& argument);

/// The same for several axes. Throws InputError if two have the same key.
std::vector<Axis> parse_axes(const std::vector<std::string>& arguments);

/// How many values the axis has for a model of `num_layers` layers. Counts without making them.
double num_values(const Axis& axis, Count num_layers);

/// The values, as they would stand in the file. Throws InputError for a range that ends at L and
/// begins above it.
std::vector<std::string> values_of(const Axis& axis, Count num_layers);

/// The position that messages about axes give.
Position axis_position();

}  // namespace depthcost
