// Five simulations for each scheme: the middle, and both ends of the residual path with both ends
// of the rest.
#include "model/training_step.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace depthcost {
namespace {

/// One way in which everything that is not known may lie.
struct Case {
  Corner corner;
  End rest = End::value;
};

constexpr Corner kShort{End::low, End::low, End::low};
constexpr Corner kLong{End::high, End::high, End::high};
constexpr std::array kCases{Case{}, Case{kShort, End::low}, Case{kShort, End::high},
                            Case{kLong, End::low}, Case{kLong, End::high}};

using CaseTimes = std::array<Seconds, kCases.size()>;

/// Links without latency that carry anything at once: what communication costs is what they save.
std::vector<StageLink> free_links(std::size_t num_links) {
  return std::vector<StageLink>(
      num_links, {Seconds{}, BytesPerSecond{std::numeric_limits<double>::infinity()}});
}

/// Everything that schemes have in common.
class TrainingModel {
 public:
  explicit TrainingModel(const Study& study)
      : study_(study),
        order_(training_order(study, study.training->num_micro_batches)),
        rest_(rest_of_step(study, training_workload(study))) {
    if (study.training->baseline_step) scale_rest_to(*study.training->baseline_step);
  }

  const PipelineOrder& order() const { return order_; }
  const RestOfStep& rest() const { return rest_; }
  /// Why per cent cannot be given.
  std::string missing() const { return study_.training->baseline_step ? "" : rest_.missing; }

  PipelineWork work(const ResidualPath& path, Schedule schedule, const Case& at) const {
    const auto residual = residual_work(study_, path, schedule, at.corner);
    const auto layers = layer_work(study_, rest_, at.rest);
    PipelineWork work{.order = order_,
                      .forward_messages = forward_messages(study_, path),
                      .backward_messages = backward_messages(study_, path),
                      .sends = study_.training->sends};
    for (std::size_t chunk = 0; chunk < residual.size(); ++chunk)
      work.chunks.push_back(chunk_times(residual[chunk], layers[chunk]));
    const auto links = stage_links(study_, work.forward_messages);
    // Without anything beside it to hide behind, communication would say nothing.
    const bool is_known = links && !rest_.rows.empty();
    work.links = is_known ? *links : free_links(work.forward_messages.size());
    return work;
  }

  CaseTimes makespans(const ResidualPath& path, Schedule schedule) const {
    CaseTimes times;
    for (std::size_t i = 0; i < kCases.size(); ++i)
      times[i] = simulate(work(path, schedule, kCases[i])).makespan;
    return times;
  }

 private:
  /// Half of the layers' backward pass is for the inputs, half for the weights; the residual path
  /// has no weights to speak of.
  ChunkTimes chunk_times(const ResidualWork& residual, const LayerWork& layers) const {
    return {.forward = layers.forward + residual.forward,
            .recompute = recomputes(*study_.training) ? residual.forward : Seconds{},
            .backward_input = 0.5 * layers.backward + residual.backward,
            .backward_weight = 0.5 * layers.backward};
  }

  /// The layers take what is left of a measured step: found by halving, as a makespan rises with
  /// them.
  void scale_rest_to(Seconds measured) {
    constexpr int kHalvings = 50;
    if (rest_.rows.empty())
      rest_.rows = {
          {.workload = "training", .term = RestTerm::attention, .origin = RestOrigin::written}};
    const ResidualPath standard = baseline_path(study_, study_.path);
    RestOfStep unit = rest_;
    const Seconds total = unit.total().value;
    for (RestRow& row : unit.rows) {
      const double share = total.value > 0 ? row.time.value / total : 1;
      row.time = {Seconds{share}, Seconds{share}, Seconds{share}, Evidence::measured};
    }
    double low = 0;
    double high = measured.value;
    for (int i = 0; i < kHalvings; ++i) {
      const double middle = (low + high) / 2;
      set_rest(unit, middle);
      (simulate(work(standard, Schedule::fused, {})).makespan < measured ? low : high) = middle;
    }
    set_rest(unit, (low + high) / 2);
  }

  void set_rest(const RestOfStep& unit, double seconds) {
    for (std::size_t i = 0; i < unit.rows.size(); ++i) {
      const Seconds time = seconds * unit.rows[i].time.value;
      rest_.rows[i].time = {time, time, time, Evidence::measured};
    }
  }

  const Study& study_;
  PipelineOrder order_;
  RestOfStep rest_;
};

Estimate<Seconds> spread(const CaseTimes& times, Evidence evidence) {
  const auto [low, high] = std::minmax_element(times.begin(), times.end());
  return {*low, times.front(), *high, evidence};
}

Estimate<double> spread(const std::array<double, kCases.size()>& ratios, Evidence evidence) {
  const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
  return {*low, ratios.front(), *high, evidence};
}

/// Residual path of a stage, all micro-batches, as the mean over stages.
Seconds residual_seconds(const Study& study, const ResidualPath& path, Schedule schedule,
                         const Corner& corner) {
  Seconds sum;
  const double num_forward = recomputes(*study.training) ? 2 : 1;
  for (const ResidualWork& chunk : residual_work(study, path, schedule, corner))
    sum = sum + num_forward * chunk.forward + chunk.backward;
  const double per_stage = static_cast<double>(study.training->num_micro_batches) /
                           static_cast<double>(layout_of(study).num_stages);
  return per_stage * sum;
}

/// What the step would be shorter by if links were free.
Seconds communication_seconds(PipelineWork work) {
  const Seconds makespan = simulate(work).makespan;
  work.links = free_links(work.links.size());
  return makespan - simulate(work).makespan;
}

/// The standard residual's step, at every case.
struct Baseline {
  CaseTimes times;
  Seconds communication;
};

Baseline baseline_of(const TrainingModel& model, const ResidualPath& standard) {
  return {model.makespans(standard, Schedule::fused),
          communication_seconds(model.work(standard, Schedule::fused, {}))};
}

StepRow step_row(const Study& study, const TrainingModel& model, const TrainingRun& run,
                 const Baseline& against) {
  const ResidualPath& path = *run.path;
  const Schedule schedule = run.schedule;
  const CaseTimes& baseline = against.times;
  const CaseTimes times = model.makespans(path, schedule);
  CaseTimes residual;
  CaseTimes delta;
  std::array<double, kCases.size()> overhead{};
  std::array<double, kCases.size()> share{};
  for (std::size_t i = 0; i < kCases.size(); ++i) {
    residual[i] = residual_seconds(study, path, schedule, kCases[i].corner);
    delta[i] = times[i] - baseline[i];
    overhead[i] = delta[i] / baseline[i];
    share[i] = residual[i] / times[i];
  }
  // Backward kernels are not measured.
  constexpr Evidence evidence = Evidence::assumed;
  StepRow row{.workload = "training",
              .path = &path,
              .schedule = schedule,
              .residual = spread(residual, evidence),
              .delta = spread(delta, evidence),
              .missing = model.missing(),
              .dominant = Dominant::bytes};
  if (run.communication - against.communication > 0.5 * row.delta.value)
    row.dominant = Dominant::communication;
  if (!row.missing.empty()) return row;
  const bool is_measured = study.training->baseline_step.has_value();
  row.baseline_step =
      is_measured ? Estimate<Seconds>{baseline[0], baseline[0], baseline[0], Evidence::measured}
                  : spread(baseline, evidence);
  row.overhead = spread(overhead, evidence);
  row.share = spread(share, evidence);
  return row;
}

struct AccumulationOf {
  GradientAccumulation mode;
  double operator()(const Standard&) const { return 0; }
  double operator()(const Mhc&) const { return 0; }
  double operator()(const FullAttnRes& scheme) const { return accumulation_d(scheme, mode); }
  double operator()(const BlockAttnRes& scheme) const { return accumulation_d(scheme, mode); }
};

TrainingRun training_run(const Study& study, const TrainingModel& model, const ResidualPath& path,
                         Schedule schedule) {
  PipelineWork work = model.work(path, schedule, {});
  const SimulatedStep step = simulate(work);
  TrainingRun run{.path = &path,
                  .schedule = schedule,
                  .makespan = step.makespan,
                  .bubble = bubble_share(step),
                  .accumulation_d = std::visit(
                      AccumulationOf{study.training->gradient_accumulation}, path.scheme),
                  .messages = work.forward_messages,
                  .stages = training_memory(study, path, model.order())};
  for (const ResidualWork& chunk : residual_work(study, path, schedule, {})) {
    run.forward = run.forward + chunk.forward;
    run.backward = run.backward + chunk.backward;
  }
  if (recomputes(*study.training)) run.recompute = run.forward;
  run.communication = communication_seconds(std::move(work));
  return run;
}

}  // namespace

Seconds least_training_step(const Study& study) {
  Study without_layers = study;
  without_layers.training->baseline_step = Seconds{};
  const TrainingModel model(without_layers);
  return simulate(model.work(baseline_path(study, study.path), Schedule::fused, {kShort})).makespan;
}

TrainingAnswer training_answer(const Study& study, const std::vector<ResidualPath>& paths) {
  TrainingAnswer answer;
  if (!study.training || !study.machine) return answer;
  const TrainingModel model(study);
  answer.rest = model.rest();
  for (const ResidualPath& path : paths) {
    const Baseline baseline = baseline_of(model, baseline_path(study, path));
    for (const Schedule schedule : schedules_of(path.scheme)) {
      answer.runs.push_back(training_run(study, model, path, schedule));
      answer.steps.push_back(step_row(study, model, answer.runs.back(), baseline));
    }
  }
  answer.work = model.work(paths.front(), study.schedule, {});
  answer.simulated = simulate(*answer.work);
  return answer;
}

}  // namespace depthcost
