// Reads the parameters of schemes from keys of `residual`, and checks them by the rule of each
// scheme.
#include "scenarios/read/residual_schemes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/base/infeasible.hpp"
#include "model/schemes/list.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost {
namespace {

Count SchemeParameters::*member_of(const SchemeRule& rule, std::string_view name) {
  return std::find_if(rule.keys.begin(), rule.keys.end(),
                      [&](const SchemeKey& key) { return key.name == name; })
      ->member;
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The place that names the scheme: residual.scheme or residual.compare.
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

void read_scheme_parameters(Values& scenario, const Values& model,
                            const std::vector<std::string>& schemes,
                            std::optional<Count> counted_block_size, SchemeParameters& parameters) {
  if (counted_block_size) parameters.block_size = *counted_block_size;
  for (const SchemeRule* rule : scheme_rules())
    for (const SchemeKey& key : rule->keys) {
      const std::string name(key.name);
      Count& parameter = parameters.*key.member;
      if (const Value* written = residual_value(scenario, model, name))
        parameter = static_cast<Count>(written->numbers.front());
      else if (contains(schemes, rule->id) && !(name == "block_size" && counted_block_size))
        scenario.set("residual." + name, {.texts = {std::to_string(parameter)},
                                          .numbers = {static_cast<double>(parameter)},
                                          .position = naming_position(scenario, model, rule->id),
                                          .origin = fmt::format("default: {}", key.source)});
    }
}

Scheme scheme_of(const SchemeRule& rule, const SchemeParameters& parameters, Count num_layers,
                 const Values& scenario, const Values& model) {
  Scheme scheme(rule, parameters);
  const auto problem = parameter_problem(scheme, num_layers);
  if (!problem) return scheme;
  const Value* written = residual_value(scenario, model, std::string(problem->key));
  throw InputError(
      written == nullptr ? naming_position(scenario, model, rule.id) : written->position,
      fmt::format("invalid residual.{} '{}' for {} ({})", problem->key,
                  scheme.parameters.*member_of(rule, problem->key), rule.id, problem->reason));
}

void check_training_schemes(const Values& scenario, const Study& study) {
  if (!study.training) return;
  for (const ResidualPath& path : paths_of(study)) try {
      backward_of(path.scheme);
    } catch (const Infeasible& error) {
      throw InputError(scenario.at("workload.training.sequence_length").position, error.what());
    }
}

}  // namespace depthcost
