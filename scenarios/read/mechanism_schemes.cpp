// Parameters of mechanisms from keys of `residual`, held against what each mechanism says of them.
#include "scenarios/read/mechanism_schemes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/base/infeasible.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost {
namespace {

Count MechanismParameters::*member_of(const Mechanism& mechanism, std::string_view name) {
  return std::find_if(mechanism.keys.begin(), mechanism.keys.end(),
                      [&](const MechanismKey& key) { return key.name == name; })
      ->member;
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Where the scheme is named: as the scenario's own, or beside it.
const Position& naming_position(const Values& scenario, const Values& model,
                                std::string_view scheme) {
  const Value* compare = scenario.find("residual.compare");
  if (compare != nullptr)
    for (std::size_t i = 0; i < compare->texts.size(); ++i)
      if (compare->texts[i] == scheme) return compare->position_of(i);
  const Value* own = residual_value(scenario, model, "scheme");
  return own == nullptr ? scenario.position() : own->position;
}

}  // namespace

const Value* residual_value(const Values& scenario, const Values& model, const std::string& name) {
  const std::string path = "residual." + name;
  const Value* written = scenario.find(path);
  return written != nullptr ? written : model.find(path);
}

void read_mechanism_parameters(Values& scenario, const Values& model,
                               const std::vector<std::string>& schemes,
                               std::optional<Count> counted_block_size,
                               MechanismParameters& parameters) {
  if (counted_block_size) parameters.block_size = *counted_block_size;
  for (const Mechanism* mechanism : mechanisms())
    for (const MechanismKey& key : mechanism->keys) {
      const std::string name(key.name);
      Count& parameter = parameters.*key.member;
      if (const Value* written = residual_value(scenario, model, name))
        parameter = static_cast<Count>(written->numbers.front());
      else if (contains(schemes, mechanism->id) && !(name == "block_size" && counted_block_size))
        scenario.set("residual." + name,
                     {.texts = {std::to_string(parameter)},
                      .numbers = {static_cast<double>(parameter)},
                      .position = naming_position(scenario, model, mechanism->id),
                      .origin = fmt::format("default: {}", key.source)});
    }
}

MechanismScheme mechanism_scheme(const Mechanism& mechanism, const Values& scenario,
                                 const Values& model, const Study& study) {
  const MechanismScheme scheme{&mechanism, study.mechanism_parameters, study.model.num_layers};
  const auto problem = parameter_problem(scheme);
  if (!problem) return scheme;
  const Value* written = residual_value(scenario, model, std::string(problem->key));
  throw InputError(
      written == nullptr ? naming_position(scenario, model, mechanism.id) : written->position,
      fmt::format("invalid residual.{} '{}' for {} ({})", problem->key,
                  scheme.parameters.*member_of(mechanism, problem->key), mechanism.id,
                  problem->reason));
}

void check_training_schemes(const Values& scenario, const Study& study) {
  if (!study.training) return;
  std::vector<ResidualPath> paths = study.compare;
  paths.insert(paths.begin(), study.path);
  for (const ResidualPath& path : paths) {
    const auto* other = std::get_if<MechanismScheme>(&path.scheme);
    if (other == nullptr) continue;
    try {
      refuse_training(*other);
    } catch (const Infeasible& error) {
      throw InputError(scenario.at("workload.training.sequence_length").position, error.what());
    }
  }
}

}  // namespace depthcost
