// Products of counts, as doubles: they may be larger than any count.
#include "model/evaluation/predicted_work.hpp"

#include <algorithm>
#include <set>

#include "model/ledger/launches.hpp"
#include "model/schemes/list.hpp"
#include "model/training/training_work.hpp"

namespace depthcost {
namespace {

/// What a few layers launch: those at both ends, and two runs of layers in the middle. A run holds
/// layers of every kind where kinds alternate.
struct SampledLayers {
  SampledLayers(const ResidualPath& path, Schedule schedule) {
    const Count L = path.num_layers;
    const auto run_from = [&](Count first) {
      std::set<Operation> run;
      for (Count layer = first; layer < first + kRun; ++layer) {
        const Launches launches =
            path.scheme.rule->operations(layer_at(path, std::clamp<Count>(layer, 1, L)), schedule);
        most = std::max(most, launches.size());
        run.insert(launches.begin(), launches.end());
      }
      distinct.insert(run.begin(), run.end());
      return run;
    };
    run_from(1);
    run_from(L - kRun + 1);
    are_alike = run_from(L / 3) == run_from(2 * L / 3);
  }

  static constexpr Count kRun = 24;
  std::size_t most = 0;  // of one layer
  std::set<Operation> distinct;
  bool are_alike = false;  // in the middle
};

double passes_of_a_step(const Study& study) {
  const PipelineLayout layout = layout_of(study);
  return static_cast<double>(layout.chunk_layers.size()) *
         static_cast<double>(study.training->num_micro_batches);
}

/// Batches of a decode step, and whole chunks and the rest of a prefill.
double num_timed_passes(const Study& study) {
  const double decode = study.decode ? static_cast<double>(study.decode->sequences.size()) : 0;
  return std::max(1.0, decode + (study.prefill ? 2 : 0));
}

template <class Work>
double over_runs(const Study& study, const Work& work) {
  double sum = 0;
  for (const ResidualPath& path : paths_of(study))
    for (const Schedule schedule : path.scheme.rule->schedules) sum += work(path, schedule);
  return sum;
}

double num_choices(const std::vector<SweptAxis>& axes) {
  double choices = 1;
  for (const SweptAxis& axis : axes)
    if (is_choice(axis.key)) choices *= static_cast<double>(axis.values.size());
  return choices;
}

/// What a sweep goes through for one choice, in layers.
double swept_layers_of(const ResidualPath& path) {
  constexpr double kWeightOfBlocks = 1.0 / 16;
  if (path.scheme.rule->pattern == DepthPattern::alike) return 1;
  const auto layers = static_cast<double>(path.num_layers);
  return attnres_blocks(path.scheme) == nullptr ? layers : kWeightOfBlocks * layers;
}

}  // namespace

double distinct_launches(const ResidualPath& path, Schedule schedule) {
  const SampledLayers layers(path, schedule);
  const auto output = static_cast<double>(output_launches(path, schedule).size());
  // Until the window is full, each layer reads one source more.
  const Count filling = std::min(path.num_layers, path.scheme.parameters.window);
  if (layers.are_alike)
    return static_cast<double>(layers.distinct.size()) +
           static_cast<double>(layers.most) * static_cast<double>(filling) + output;
  Count different = path.num_layers;
  // A block has a first layer, a second one, and others that are alike.
  if (const Partition* blocks = attnres_blocks(path.scheme))
    different = std::min(different, 3 * blocks->num_blocks);
  return static_cast<double>(layers.most) * static_cast<double>(different) + output;
}

double timed_launches(const Study& study) {
  return num_timed_passes(study) * over_runs(study, distinct_launches);
}

double simulated_passes(const Study& study) {
  if (!study.training) return 0;
  const double passes = passes_of_a_step(study);
  return over_runs(study, [&](const ResidualPath&, Schedule) { return passes; });
}

double layer_rows_asked(const Study& study) {
  double rows = 0;
  for (const ResidualPath& path : paths_of(study))
    rows += static_cast<double>(path.num_layers) *
            static_cast<double>(countings_of(path.scheme).size());
  return rows + over_runs(study, [](const ResidualPath& path, Schedule schedule) {
           return static_cast<double>(path.num_layers) *
                  static_cast<double>(SampledLayers(path, schedule).most);
         });
}

double swept_layers(const Study& study, const std::vector<SweptAxis>& axes) {
  double layers = 0;
  double num_schemes = 1;
  for (const SweptAxis& axis : axes) {
    if (axis.key != SweptKey::scheme) continue;
    num_schemes = static_cast<double>(axis.schemes.size());
    for (const SchemePath& swept : axis.schemes)
      if (swept.refused.empty()) layers += swept_layers_of(swept.path);
  }
  if (layers == 0) layers = num_schemes * swept_layers_of(study.path);
  return num_choices(axes) / num_schemes * layers;
}

double planned_layers(const Study& study, const std::vector<SweptAxis>& axes) {
  return num_timed_passes(study) * swept_layers(study, axes);
}

double swept_passes(const Study& study, const std::vector<SweptAxis>& axes) {
  return study.training ? num_choices(axes) * passes_of_a_step(study) : 0;
}

}  // namespace depthcost
