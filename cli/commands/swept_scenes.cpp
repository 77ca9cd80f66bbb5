// Keeps a scene that cannot be read, with its reason.
#include "cli/commands/swept_scenes.hpp"

#include <fmt/format.h>

#include "model/base/parallel.hpp"
#include "model/schemes/list.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost {
namespace {

/// The config.json of a released model rarely has blocks. A sweep asks what they would cost.
std::string_view hint(const Study& study) {
  return is_standard(study.path.scheme)
             ? " (add --residual block_attnres, or set residual.scheme in the scenario)"
             : "";
}

[[noreturn]] void refuse_all(const SweepPlan& plan, const SweepReport& report) {
  for (const ReportedScene& scene : report.scenes)
    if (scene.sweep)
      throw InputError(axis_position(),
                       fmt::format("nothing to sweep: {}{}", scene.sweep->choices().front().refused,
                                   hint(scene.sweep->study())));
  throw InputError(axis_position(), plan.scenes.front().refused);
}

bool has_point(const Sweep& sweep) {
  for (const SweepChoice& choice : sweep.choices())
    if (choice.refused.empty()) return true;
  return false;
}

}  // namespace

SweepPlan plan_of(const SweepOptions& options, const Progress& progress) {
  return plan_sweep(asked_document(options.scenario, options.question), options.axes,
                    options.max_points, progress);
}

SweepReport swept_scenes(SweepPlan plan, const SweepOptions& options, Progress& progress,
                         SweepRows rows) {
  SweepReport report{.title = {},
                     .scene_axes = plan.scene_axes,
                     .scenes = {},
                     .own = study_as_written(plan.source),
                     .warnings = plan.warnings,
                     .compute = options.compute,
                     .writing = nullptr};
  // Several scenes count as one each, since the points of later scenes are not known yet.
  const bool is_one = plan.scenes.size() == 1;
  if (!is_one) progress.expected = plan.scenes.size();
  bool is_any = false;
  for (SweepScene& scene : plan.scenes) {
    if (!is_one) progress.count();
    ReportedScene& reported = report.scenes.emplace_back(
        ReportedScene{std::move(scene.values), std::nullopt, scene.refused});
    if (!scene.study) continue;
    if (report.title.empty()) report.title = scene.study->name;
    Progress of_scene;
    of_scene.whole = &progress;
    reported.sweep.emplace(*std::move(scene.study), std::move(scene.axes), num_hardware_threads(),
                           is_one ? &progress : &of_scene, rows);
    rows.first += reported.sweep->num_rows();
    is_any = is_any || has_point(*reported.sweep);
  }
  if (!is_any) refuse_all(plan, report);
  return report;
}

}  // namespace depthcost
