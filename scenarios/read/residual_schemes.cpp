// Reads the parameters of schemes from keys of `residual`, and checks them by the rule of each
// scheme.
#include "scenarios/read/residual_schemes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

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

/// Whether the scheme takes the key of `residual`. What blocks there are follows from several keys.
bool takes_key(const SchemeRule& rule, std::string_view name) {
  if (name == "block_size" || name == "num_blocks" || name == "remainder")
    return has_block_size(Scheme{rule});
  return std::any_of(rule.keys.begin(), rule.keys.end(),
                     [&](const SchemeKey& key) { return key.name == name; });
}

/// A key that the scenario writes and none of its schemes takes.
void warn_of_unused(Values& scenario, const std::vector<std::string>& schemes,
                    const std::string& name) {
  const std::string path = "residual." + name;
  const Value* written = scenario.find(path);
  const auto takes_it = [&](const std::string& id) { return takes_key(*find_scheme(id), name); };
  const bool is_default = written == nullptr || written->positions.empty();
  if (is_default || std::any_of(schemes.begin(), schemes.end(), takes_it)) return;
  Value warned = *written;
  warned.warning = fmt::format("{} has no effect: no scheme here takes it.", path);
  scenario.set(path, std::move(warned));
}

}  // namespace

const Value* residual_value(const Values& scenario, const Values& model, const std::string& name) {
  const std::string path = "residual." + name;
  const Value* written = scenario.find(path);
  return written != nullptr ? written : model.find(path);
}

Count size_of_values(const Transformer& model) {
  if (model.architecture)
    for (const AttentionLayers& layers : model.architecture->attention)
      if (const auto* grouped = std::get_if<GroupedAttention>(&layers.attention))
        return grouped->num_kv_heads * grouped->head_dim;
  return model.hidden_size;
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
  for (const SchemeRule* rule : scheme_rules())
    for (const SchemeKey& key : rule->keys)
      warn_of_unused(scenario, schemes, std::string(key.name));
  // The remainder is that of a number of blocks.
  warn_of_unused(scenario, schemes,
                 scenario.has("residual.num_blocks") ? "num_blocks" : "remainder");
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

namespace {

/// Refuses `residual.weights` or `residual.weight_dtype` where no scheme has matrices of its own
/// that are stored as engines store weights.
void expect_matrices(std::string_view path, const Value& written,
                     const std::vector<std::string>& schemes) {
  const auto has_matrices = [](const std::string& id) { return find_scheme(id)->divides_weights; };
  if (std::any_of(schemes.begin(), schemes.end(), has_matrices)) return;
  std::vector<std::string_view> others;
  for (const SchemeRule* rule : scheme_rules())
    if (rule->divides_weights) others.push_back(rule->id);
  throw InputError(written.position,
                   fmt::format("conflicting {} '{}' (only {} has such matrices)", path,
                               written.texts.front(), fmt::join(others, ", ")));
}

/// Ranks that divide the matrices as the scenario writes it.
Count written_shards(const Values& scenario, const Value& written, const Study& study) {
  const Count ranks = scenario.count("parallelism.tensor");
  const auto refuse = [&](std::string_view reason) {
    throw InputError(written.position,
                     fmt::format("conflicting residual.weights 'sharded' ({})", reason));
  };
  if (ranks < 2) refuse("needs parallelism.tensor of at least 2");
  if (study.model.hidden_size % ranks != 0)
    refuse(fmt::format("parallelism.tensor, {}, must divide the hidden size, {}", ranks,
                       study.model.hidden_size));
  if (scenario.has("workload.training.sequence_length"))
    refuse("what its ranks send each other in training is not counted");
  return ranks;
}

}  // namespace

void read_stream_type(const Values& scenario, const Values& model,
                      const std::vector<std::string>& schemes, Study& study) {
  const double own = bytes_per_element(study.model.dtype);
  SchemeParameters& parameters = study.scheme_parameters;
  parameters.f32_row_d = bytes_per_element(Dtype::f32) / own;
  const Value* written = residual_value(scenario, model, "stream_dtype");
  if (written == nullptr) return;
  const auto has_type = [](const std::string& id) { return find_scheme(id)->has_stream_type; };
  if (std::none_of(schemes.begin(), schemes.end(), has_type)) {
    std::vector<std::string_view> others;
    for (const SchemeRule* rule : scheme_rules())
      if (rule->has_stream_type) others.push_back(rule->id);
    throw InputError(written->position,
                     fmt::format("conflicting residual.stream_dtype '{}' (only {} ship with "
                                 "streams of another type)",
                                 written->texts.front(), fmt::join(others, ", ")));
  }
  const double stream = bytes_per_element(named<Dtype>(written->texts.front()).value());
  if (stream < own)
    throw InputError(written->position,
                     fmt::format("invalid residual.stream_dtype '{}' (narrower than the model's "
                                 "{})",
                                 written->texts.front(), name(study.model.dtype)));
  parameters.stream_row_d = stream / own;
}

void read_scheme_weights(const Values& scenario, const std::vector<std::string>& schemes,
                         Study& study) {
  if (const Value* written = scenario.find("residual.weights")) {
    expect_matrices("residual.weights", *written, schemes);
    if (scenario.choice<WeightPlacement>("residual.weights") == WeightPlacement::sharded)
      study.scheme_parameters.weight_shards = written_shards(scenario, *written, study);
  }
  if (const Value* written = scenario.find("residual.weight_dtype")) {
    expect_matrices("residual.weight_dtype", *written, schemes);
    study.residual_weight_dtype = scenario.choice<WeightDtype>("residual.weight_dtype");
  }
}

void check_exchanges(const Values& scenario, const Study& study) {
  if (!study.machine || study.scheme_parameters.weight_shards == 1) return;
  for (const TransferKind kind : {TransferKind::all_reduce, TransferKind::all_gather})
    if (!transfer_time(*study.machine, kind, study.scheme_parameters.weight_shards, Bytes{1}))
      throw InputError(scenario.at("residual.weights").position,
                       fmt::format("conflicting residual.weights 'sharded' (the hardware has no "
                                   "times of {} over {} ranks)",
                                   name(kind), study.scheme_parameters.weight_shards));
}

void warn_of_bound(Values& scenario, const Study& study) {
  const Value* written = scenario.find("residual.schedule");
  if (written == nullptr) return;
  const Scheme& scheme = study.path.scheme;
  const bool is_bound_here = is_bound(scheme, study.schedule);
  if (!is_bound_here && !(study.training && is_training_bound(scheme, study.schedule))) return;
  Value warned = *written;
  warned.warning =
      fmt::format("{} is a bound of {}{}: no kernel is known that reaches it.",
                  name(study.schedule), name(scheme), is_bound_here ? "" : " in training");
  scenario.set("residual.schedule", std::move(warned));
}

}  // namespace depthcost
