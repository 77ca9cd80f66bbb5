// A parameter of a matrix comes from an option, else from the weights file, else from the scenario.
#include "scenarios/measured/mixing_question.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "model/base/infeasible.hpp"
#include "model/evaluation/family.hpp"
#include "scenarios/measured/mixing_file.hpp"
#include "scenarios/presets/reference.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost {
namespace {

/// Runs `attempt`, and reports its errors at `place`, an option or a file.
template <class Attempt>
auto feasible(const std::string& place, const Attempt& attempt) {
  try {
    return attempt();
  } catch (const Infeasible& error) {
    throw InputError({place, 1, 1}, error.what());
  }
}

/// A parameter of a mixing matrix: its option, and the key of `residual` that has it otherwise.
struct ParameterSource {
  MixingParameter parameter;
  const char* option;
  std::optional<Count> MixingQuestion::*written;
  Count SchemeParameters::*member;
};

constexpr std::array kParameterSources{
    ParameterSource{MixingParameter::num_streams, "--streams", &MixingQuestion::num_streams,
                    &SchemeParameters::num_streams},
    ParameterSource{MixingParameter::block_size, "--block-size", &MixingQuestion::block_size,
                    &SchemeParameters::block_size},
    ParameterSource{MixingParameter::window, "--window", &MixingQuestion::window,
                    &SchemeParameters::window},
    ParameterSource{MixingParameter::dilation, "--dilation", &MixingQuestion::dilation,
                    &SchemeParameters::dilation},
    ParameterSource{MixingParameter::period, "--period", &MixingQuestion::period,
                    &SchemeParameters::period}};

/// Whether the scenario's own schemes have the parameter.
bool decides(const Study& study, const ParameterSource& source) {
  for (const ResidualPath& path : paths_of(study)) {
    if (takes(path.scheme, source.member)) return true;
    if (source.parameter == MixingParameter::block_size && blocks_of(path.scheme) != nullptr)
      return true;
  }
  return false;
}

/// Streams and blocks of the scenario, or of the options that replace them. Defaults are limited by
/// the layers of the model.
ExpectedShape shape_of(const Study& study, const MixingQuestion& question) {
  ExpectedShape expected{.shape = {.num_layers = study.model.num_layers}, .decided = {}};
  const SchemeParameters& parameters = study.scheme_parameters;
  const Count num_blocks = std::max(Count{1}, study.model.num_layers / 2);
  expected.shape.num_streams = parameters.num_streams;
  expected.shape.blocks = family_blocks(study);
  expected.shape.window = std::min(parameters.window, study.model.num_layers);
  expected.shape.dilation = std::min(parameters.dilation, num_blocks);
  expected.shape.period = std::min(parameters.period, num_blocks);
  for (const ParameterSource& source : kParameterSources) {
    const std::optional<Count>& written = question.*source.written;
    if (written)
      feasible(source.option, [&] { set_parameter(expected.shape, source.parameter, *written); });
    if (written || decides(study, source)) expected.decided.insert(source.parameter);
  }
  return expected;
}

void add_once(std::vector<const MixingScheme*>& schemes, const MixingScheme& scheme) {
  if (std::find(schemes.begin(), schemes.end(), &scheme) == schemes.end())
    schemes.push_back(&scheme);
}

/// The schemes of the scenario that have a matrix, and the named ones, which must have one.
std::vector<const MixingScheme*> schemes_of(const Study& study, const MixingQuestion& question,
                                            std::vector<std::string>& warnings) {
  std::vector<const MixingScheme*> schemes;
  for (const ResidualPath& path : paths_of(study)) {
    const MixingScheme* scheme = find_mixing_scheme(name(path.scheme));
    if (scheme == nullptr)
      warnings.push_back(unknown_mixing_scheme(name(path.scheme)));
    else
      add_once(schemes, *scheme);
  }
  for (const std::string& written : question.schemes) {
    if (written == "all") {
      for (const MixingScheme& scheme : mixing_schemes()) add_once(schemes, scheme);
      continue;
    }
    const MixingScheme* scheme = find_mixing_scheme(written);
    if (scheme == nullptr) throw InputError({"--scheme", 1, 1}, unknown_mixing_scheme(written));
    add_once(schemes, *scheme);
  }
  if (schemes.empty()) throw InputError({question.scenario, 1, 1}, warnings.front());
  return schemes;
}

/// The scheme with its weights. Errors in them are reported at `place`.
MixedScheme mixed(const MixingScheme& scheme, const MixingShape& shape, MixingWeights weights,
                  WeightsOrigin origin, const std::string& place) {
  MixingMatrix matrix = scheme.matrix(shape, weights);
  for (Count l = 1; l <= shape.num_layers; ++l)
    for (Count i = 0; i < l; ++i)
      if (!std::isfinite(matrix(l, i)))
        throw InputError({place, 1, 1},
                         fmt::format("weights that overflow (M_{{{}->{}}} of {} is not finite)", i,
                                     l, scheme.name));
  const SemiseparableRank rank = semiseparable_rank(matrix);
  return {&scheme, shape, std::move(origin), std::move(weights), std::move(matrix), rank};
}

MixedScheme random_scheme(const MixingScheme& scheme, const MixingShape& model,
                          const MixingQuestion& question) {
  const MixingShape shape = shape_of_rows(scheme, model);
  for (const ParameterSource& source : kParameterSources) {
    if (std::find(scheme.parameters.begin(), scheme.parameters.end(), source.parameter) ==
        scheme.parameters.end())
      continue;
    feasible(question.*source.written ? source.option : question.scenario,
             [&] { require_parameter(scheme, shape, source.parameter); });
  }
  const auto seed = static_cast<std::uint64_t>(question.seed);
  return mixed(scheme, shape, random_weights(scheme.tables(shape), seed), {}, question.scenario);
}

}  // namespace

MixedSchemes mixed_schemes(const Study& study, const MixingQuestion& question) {
  if (study.model.num_layers > kMaxMixingLayers)
    throw InputError({question.scenario, 1, 1},
                     fmt::format("too many layers for a mixing matrix ({}, more than {})",
                                 study.model.num_layers, kMaxMixingLayers));
  const ExpectedShape expected = shape_of(study, question);
  MixedSchemes result{.schemes = {}, .blocks = expected.shape.blocks, .warnings = {}};
  std::vector<const MixingScheme*> schemes = schemes_of(study, question, result.warnings);
  std::optional<MixingFile> file;
  if (!question.weights.empty()) {
    file = load_mixing_file(question.weights, expected);
    add_once(schemes, *file->scheme);
  }
  for (const MixingScheme* scheme : schemes) {
    const bool is_of_file = file && file->scheme == scheme;
    result.schemes.push_back(is_of_file ? mixed(*scheme, file->shape, file->weights,
                                                {file_label(question.weights), file->num_tokens},
                                                question.weights)
                                        : random_scheme(*scheme, expected.shape, question));
  }
  return result;
}

}  // namespace depthcost
