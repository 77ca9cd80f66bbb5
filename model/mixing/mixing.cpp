// The list, and what its schemes can take.
#include "model/mixing/mixing.hpp"

#include <algorithm>

#include "model/base/infeasible.hpp"
#include "model/mixing/mixing_schemes.hpp"

namespace depthcost {
namespace {

std::vector<MixingScheme> all_schemes() {
  std::vector<MixingScheme> all;
  for (const auto list : {mixing::recurrences(), mixing::cross_layer_schemes()})
    all.insert(all.end(), list.begin(), list.end());
  return all;
}

void require_range(MixingParameter parameter, Count value, Count num_layers) {
  const Count high = parameter == MixingParameter::num_streams ? kMaxMixingStreams : num_layers;
  if (value >= 1 && value <= high) return;
  throw Infeasible(fmt::format("invalid {} '{}' (must be 1 to {})", name(parameter), value, high));
}

}  // namespace

Count value_of(const MixingShape& shape, MixingParameter parameter) {
  switch (parameter) {
    case MixingParameter::num_streams:
      return shape.num_streams;
    case MixingParameter::block_size:
      return shape.blocks.block_size;
    case MixingParameter::window:
      return shape.window;
    case MixingParameter::dilation:
      return shape.dilation;
    case MixingParameter::period:
      return shape.period;
  }
  return 0;
}

void set_parameter(MixingShape& shape, MixingParameter parameter, Count value) {
  if (parameter != MixingParameter::block_size) require_range(parameter, value, shape.num_layers);
  switch (parameter) {
    case MixingParameter::num_streams:
      shape.num_streams = value;
      break;
    case MixingParameter::block_size:
      shape.blocks = partition_by_size(shape.num_layers, value);
      break;
    case MixingParameter::window:
      shape.window = value;
      break;
    case MixingParameter::dilation:
      shape.dilation = value;
      break;
    case MixingParameter::period:
      shape.period = value;
      break;
  }
}

std::span<const MixingScheme> mixing_schemes() {
  static const std::vector<MixingScheme> all = all_schemes();
  return all;
}

const MixingScheme* find_mixing_scheme(std::string_view name) {
  const auto schemes = mixing_schemes();
  const auto found = std::find_if(schemes.begin(), schemes.end(),
                                  [&](const MixingScheme& scheme) { return scheme.name == name; });
  return found == schemes.end() ? nullptr : &*found;
}

MixingShape shape_of_rows(const MixingScheme& scheme, const MixingShape& model) {
  MixingShape shape = model;
  shape.num_layers = std::max(Count{1}, model.num_layers / scheme.layers_per_row);
  return shape;
}

void require_parameter(const MixingScheme& scheme, const MixingShape& shape,
                       MixingParameter parameter) {
  if (parameter != MixingParameter::block_size)
    return require_range(parameter, value_of(shape, parameter), shape.num_layers);
  if (shape.blocks.num_layers != shape.num_layers)
    throw Infeasible(fmt::format("missing block_size ({} needs one)", scheme.name));
}

void require_shape(const MixingScheme& scheme, const MixingShape& shape) {
  for (const MixingParameter parameter : scheme.parameters)
    require_parameter(scheme, shape, parameter);
}

}  // namespace depthcost
