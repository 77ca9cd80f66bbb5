// Which weights of a model a list of modules leaves as they are.
#pragma once

#include <string_view>
#include <vector>

#include "model/architecture/architecture.hpp"
#include "scenarios/import/hf_module_names.hpp"
#include "scenarios/import/hf_parts.hpp"

namespace depthcost {

/// A part of the decoder layers. Routed experts are stored in expert_dtype, all else that is here
/// in weight_dtype.
struct SparedPart {
  std::string_view name;
  bool is_routed = false;
  std::vector<double> weights;  // of each decoder layer
  std::vector<double> spared;   // of these, the ones that the list names
};

/// Attention and MLPs. Routers, which are not here, are counted in the dtype of the model anyway.
std::vector<SparedPart> spared_parts(const HfModel& model, const Architecture& architecture,
                                     const ModuleNames& named);

}  // namespace depthcost
