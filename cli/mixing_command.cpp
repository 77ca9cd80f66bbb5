// `mixing`: the scenario's schemes and those that are named, with a file's weights or random ones.
#include "cli/mixing_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "cli/files.hpp"
#include "cli/magnitude.hpp"
#include "cli/plot_files.hpp"
#include "cli/version.hpp"
#include "model/base/infeasible.hpp"
#include "model/evaluation/family.hpp"
#include "model/schemes/list.hpp"
#include "reports/mixing_report.hpp"
#include "scenarios/measured/mixing_file.hpp"
#include "scenarios/presets/reference.hpp"
#include "scenarios/read/scenario.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost {
namespace {

/// What `attempt` refuses is the fault of what stands at `place`: an option or a file.
template <class Attempt>
auto feasible(const std::string& place, const Attempt& attempt) {
  try {
    return attempt();
  } catch (const Infeasible& error) {
    throw InputError({place, 1, 1}, error.what());
  }
}

/// A number of a mixing matrix: its option, and the key of `residual` that it comes from otherwise.
struct KnobSource {
  MixingKnob knob;
  const char* option;
  std::optional<Count> MixingOptions::*written;
  Count SchemeParameters::*member;
};

constexpr std::array kKnobSources{
    KnobSource{MixingKnob::num_streams, "--streams", &MixingOptions::num_streams,
               &SchemeParameters::num_streams},
    KnobSource{MixingKnob::block_size, "--block-size", &MixingOptions::block_size,
               &SchemeParameters::block_size},
    KnobSource{MixingKnob::window, "--window", &MixingOptions::window, &SchemeParameters::window},
    KnobSource{MixingKnob::dilation, "--dilation", &MixingOptions::dilation,
               &SchemeParameters::dilation},
    KnobSource{MixingKnob::period, "--period", &MixingOptions::period, &SchemeParameters::period}};

/// Whether the scenario's own schemes have the number.
bool decides(const Study& study, const KnobSource& source) {
  for (const ResidualPath& path : paths_of(study)) {
    if (takes(path.scheme, source.member)) return true;
    if (source.knob == MixingKnob::block_size && blocks_of(path.scheme) != nullptr) return true;
  }
  return false;
}

/// Streams and blocks of the scenario, and what options say in their place. Defaults are no larger
/// than the model.
ExpectedShape shape_of(const Study& study, const MixingOptions& options) {
  ExpectedShape expected{.shape = {.num_layers = study.model.num_layers}, .decided = {}};
  const SchemeParameters& parameters = study.scheme_parameters;
  const Count num_blocks = std::max(Count{1}, study.model.num_layers / 2);
  expected.shape.num_streams = parameters.num_streams;
  expected.shape.blocks = family_blocks(study);
  expected.shape.window = std::min(parameters.window, study.model.num_layers);
  expected.shape.dilation = std::min(parameters.dilation, num_blocks);
  expected.shape.period = std::min(parameters.period, num_blocks);
  for (const KnobSource& source : kKnobSources) {
    const std::optional<Count>& written = options.*source.written;
    if (written) feasible(source.option, [&] { set_knob(expected.shape, source.knob, *written); });
    if (written || decides(study, source)) expected.decided.insert(source.knob);
  }
  return expected;
}

void add_once(std::vector<const MixingScheme*>& schemes, const MixingScheme& scheme) {
  if (std::find(schemes.begin(), schemes.end(), &scheme) == schemes.end())
    schemes.push_back(&scheme);
}

/// Those of the scenario that have a matrix, and those that are asked for, which must.
std::vector<const MixingScheme*> schemes_of(const Study& study, const MixingOptions& options,
                                            const Console& console) {
  std::vector<const MixingScheme*> schemes;
  std::vector<std::string> without;
  for (const ResidualPath& path : paths_of(study)) {
    const MixingScheme* scheme = find_mixing_scheme(name(path.scheme));
    if (scheme == nullptr)
      without.push_back(unknown_mixing_scheme(name(path.scheme)));
    else
      add_once(schemes, *scheme);
  }
  for (const std::string& written : options.schemes) {
    if (written == "all") {
      for (const MixingScheme& scheme : mixing_schemes()) add_once(schemes, scheme);
      continue;
    }
    const MixingScheme* scheme = find_mixing_scheme(written);
    if (scheme == nullptr) throw InputError({"--scheme", 1, 1}, unknown_mixing_scheme(written));
    add_once(schemes, *scheme);
  }
  if (schemes.empty()) throw InputError({options.scenario, 1, 1}, without.front());
  for (const std::string& reason : without) console.warn(reason);
  return schemes;
}

/// Where the weights of one scheme come from, and where what is wrong with them stands.
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
                          const MixingOptions& options) {
  const MixingShape shape = shape_of_rows(scheme, model);
  for (const KnobSource& source : kKnobSources) {
    if (std::find(scheme.knobs.begin(), scheme.knobs.end(), source.knob) == scheme.knobs.end())
      continue;
    feasible(options.*source.written ? source.option : options.scenario,
             [&] { require_knob(scheme, shape, source.knob); });
  }
  const auto seed = static_cast<std::uint64_t>(options.seed);
  return mixed(scheme, shape, random_weights(scheme.tables(shape), seed), {}, options.scenario);
}

MixingReport report_of(const Study& study, const MixingOptions& options, const Console& console) {
  if (study.model.num_layers > kMaxMixingLayers)
    throw InputError({options.scenario, 1, 1},
                     fmt::format("too many layers for a mixing matrix ({}, more than {})",
                                 study.model.num_layers, kMaxMixingLayers));
  const ExpectedShape expected = shape_of(study, options);
  std::vector<const MixingScheme*> schemes = schemes_of(study, options, console);
  std::optional<MixingFile> file;
  if (!options.weights.empty()) {
    file = load_mixing_file(options.weights, expected);
    add_once(schemes, *file->scheme);
  }
  MixingReport report{.title = study.name,
                      .num_layers = study.model.num_layers,
                      .seed = options.seed,
                      .schemes = {},
                      .magnitudes = {}};
  for (const MixingScheme* scheme : schemes) {
    const bool is_of_file = file && file->scheme == scheme;
    report.schemes.push_back(is_of_file ? mixed(*scheme, file->shape, file->weights,
                                                {file_label(options.weights), file->num_tokens},
                                                options.weights)
                                        : random_scheme(*scheme, expected.shape, options));
  }
  if (!options.magnitude) return report;
  if (report.num_layers < kMinGrowthLayers)
    throw InputError({"--magnitude", 1, 1},
                     fmt::format("too few layers for a law of growth ({}, needs {})",
                                 report.num_layers, kMinGrowthLayers));
  report.magnitudes = random_magnitudes(report.num_layers, expected.shape.blocks,
                                        static_cast<std::uint64_t>(options.seed));
  return report;
}

/// One document and, beside a Markdown one, its plots.
std::vector<NewFile> files_of(const MixingReport& report, const MixingOptions& options,
                              Progress& progress) {
  const std::string stem = std::filesystem::path(options.scenario).stem().string();
  if (options.format == "json") return {{stem + "-mixing.json", mixing_json(report, kVersion)}};
  if (options.format == "csv") return {{stem + "-mixing.csv", mixing_csv(report)}};
  DrawnPlots drawn = draw(mixing_plots(report), stem, progress);
  std::vector<PlotFile> shown;
  for (std::size_t i = 0; i < drawn.files.size(); ++i)
    shown.push_back({drawn.files[i].name, drawn.captions[i]});
  std::vector<NewFile> files = std::move(drawn.files);
  files.push_back({stem + "-mixing.md", mixing_markdown(report, shown, drawn.missing, kVersion)});
  return files;
}

}  // namespace

ExitCode run_mixing(const MixingOptions& options, Console& console) {
  const Scenario scenario = read_scenario(options.scenario);
  const MixingReport report = report_of(scenario.study, options, console);
  if (!options.directory.empty()) {
    const std::vector<NewFile> files = files_of(report, options, console.watch("mixing"));
    console.stop_watching();
    write_files(options.directory, files);
    show(fmt::format("-> {}/{}\n", options.directory, files.back().name));
    return ExitCode::good;
  }
  if (options.format == "json") write_stdout(mixing_json(report, kVersion));
  if (options.format == "csv") write_stdout(mixing_csv(report));
  if (options.format == "table") show(mixing_text(report));
  return ExitCode::good;
}

}  // namespace depthcost
