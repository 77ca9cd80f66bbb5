// Five simulations for each scheme: the middle, and both ends of the residual path with both ends
// of the rest. What replicas exchange once a step is added to each at both of its ends. Where they
// exchange in every pass there are nine, since that is part of the pipeline.
#include "model/training/training_step.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "model/ledger/backward.hpp"
#include "model/schemes/list.hpp"
#include "model/step/weights_and_cache.hpp"
#include "model/training/model_state.hpp"
#include "model/training/replicas.hpp"
#include "model/training/rest_of_training.hpp"

namespace depthcost {
namespace {

/// One way in which everything that is not known may lie.
struct Case {
  Corner corner;
  IntervalEnd rest = IntervalEnd::value;
  IntervalEnd exchange = IntervalEnd::value;  // of replicas
};

constexpr Corner kShort{IntervalEnd::low, IntervalEnd::low, IntervalEnd::low, IntervalEnd::low};
constexpr Corner kLong{IntervalEnd::high, IntervalEnd::high, IntervalEnd::high, IntervalEnd::high};

/// The middle, and both ends of the residual path with both ends of the rest and of the exchange.
constexpr std::array kCases{Case{},
                            Case{kShort, IntervalEnd::low, IntervalEnd::low},
                            Case{kShort, IntervalEnd::low, IntervalEnd::high},
                            Case{kShort, IntervalEnd::high, IntervalEnd::low},
                            Case{kShort, IntervalEnd::high, IntervalEnd::high},
                            Case{kLong, IntervalEnd::low, IntervalEnd::low},
                            Case{kLong, IntervalEnd::low, IntervalEnd::high},
                            Case{kLong, IntervalEnd::high, IntervalEnd::low},
                            Case{kLong, IntervalEnd::high, IntervalEnd::high}};

/// Whether a case has another pipeline than the one before it, and which of all pipelines it has.
constexpr bool begins_pipeline(std::size_t i) { return i == 0 || i % 2 == 1; }
constexpr std::size_t pipeline_of(std::size_t i) { return (i + 1) / 2; }

/// The residual work of every chunk, by pipeline.
using PipelineWorks = std::array<std::vector<ResidualWork>, pipeline_of(kCases.size() - 1) + 1>;

using CaseTimes = std::array<Seconds, kCases.size()>;

/// The same case with the other end of how well kernels do: two schemes have different kernels.
Case with_other_kernels(Case at) {
  at.corner.kernels = opposite(at.corner.kernels);
  return at;
}

Case as_it_is(Case at) { return at; }

/// Links without latency that carry anything at once: what communication costs is what they save.
std::vector<StageLink> free_links(std::size_t num_links) {
  return std::vector<StageLink>(
      num_links, {Seconds{}, BytesPerSecond{std::numeric_limits<double>::infinity()}});
}

/// Gradients of the path's own parameters: between replicas, and where every tensor rank has all of
/// them and a share of the tokens, between those.
ReductionTime reduction_of(const Study& study, const ResidualPath& path) {
  const double parameters = largest_stage_share(study) * path_parameters(study, path);
  ReductionTime time = reduction_time(study, {.dense = parameters}).value_or(ReductionTime{});
  if (path.scheme.parameters.weight_shards == 1) time += tensor_reduction_time(study, parameters);
  return time;
}

PipelineWorks works_of(const Study& study, const ResidualPath& path, Schedule schedule,
                       Case (*at)(Case)) {
  PipelineWorks works;
  for (std::size_t i = 0; i < kCases.size(); ++i)
    if (begins_pipeline(i))
      works[pipeline_of(i)] = residual_work(study, path, schedule, at(kCases[i]).corner);
  return works;
}

/// Everything that schemes have in common.
class TrainingModel {
 public:
  explicit TrainingModel(const Study& study)
      : study_(study),
        order_(training_order(study, study.training->num_micro_batches)),
        rest_(rest_of_training(study, training_workload(study))) {
    if (study.training->baseline_step)
      scale_rest_to(*study.training->baseline_step -
                    reduction(standard_path(), IntervalEnd::value, *study.training->baseline_step));
    else if (!rest_.rows.empty() && study.model.architecture && has_training_shares(*study.machine))
      add_reduction();
    if (exchanges_in_passes()) backward_of_device_ = backward_of_device();
  }

  const Study& study() const { return study_; }
  const PipelineOrder& order() const { return order_; }
  const RestOfStep& rest() const { return rest_; }
  /// Why per cent cannot be given.
  std::string missing() const { return study_.training->baseline_step ? "" : rest_.missing; }

  /// What replicas' messages once a step add to a pipeline of that makespan: those of the layers'
  /// weights and of the path's own. It is part of a measured step.
  Seconds reduction(const ResidualPath& path, IntervalEnd end, Seconds makespan) const {
    return exposed(exchange_of(path), end, makespan);
  }

  /// Whether a case has another pipeline than the one before it: what replicas exchange beside its
  /// passes is part of it.
  bool has_own_pipeline(std::size_t i) const { return begins_pipeline(i) || exchanges_in_passes(); }

  /// The pipeline and what it does not hide, in the middle.
  Seconds step_seconds(const ResidualPath& path, Schedule schedule) const {
    const Seconds pipeline =
        makespan(times(path, schedule, residual_work(study_, path, schedule, {}), {}));
    return pipeline + reduction(path, IntervalEnd::value, pipeline);
  }

  /// The same in every case but the first, which is `middle`; `at` alters each case, for which
  /// `work` is the residual path's.
  CaseTimes step_times(const ResidualPath& path, Schedule schedule, Seconds middle,
                       const PipelineWorks& work, Case (*at)(Case)) const {
    CaseTimes steps{middle};
    Seconds pipeline;
    for (std::size_t i = 1; i < kCases.size(); ++i) {
      const Case altered = at(kCases[i]);
      if (has_own_pipeline(i))
        pipeline = makespan(times(path, schedule, work[pipeline_of(i)], altered));
      steps[i] = pipeline + reduction(path, altered.exchange, pipeline);
    }
    return steps;
  }

  Seconds makespan(const PipelineWork& times) const { return makespan_of(order_, times); }

  /// What the step takes at least, whatever the residual path: its layers alone, over links without
  /// messages.
  Seconds least_seconds() const {
    const std::vector<LayerWork> layers = layer_work(study_, rest_, IntervalEnd::value);
    PipelineWork times{.forward_messages = std::vector<Bytes>(layers.size() - 1),
                       .backward_messages = std::vector<Bytes>(layers.size() - 1),
                       .links = free_links(layers.size() - 1)};
    for (const LayerWork& chunk : layers)
      times.chunks.push_back(
          chunk_times({}, chunk, {}, of_a_chunk(reduction_, IntervalEnd::value)));
    const Seconds pipeline = makespan(times);
    return pipeline + exposed(reduction_, IntervalEnd::value, pipeline);
  }

  PipelineWork work(const ResidualPath& path, Schedule schedule, const Case& at) const {
    return work(path, schedule, residual_work(study_, path, schedule, at.corner), at);
  }

  PipelineWork work(const ResidualPath& path, Schedule schedule,
                    const std::vector<ResidualWork>& residual, const Case& at) const {
    PipelineWork work = times(path, schedule, residual, at);
    work.order = order_;
    return work;
  }

  /// The same without order tables, which may be large.
  PipelineWork times(const ResidualPath& path, Schedule schedule,
                     const std::vector<ResidualWork>& residual, const Case& at) const {
    const auto layers = layer_work(study_, rest_, at.rest);
    PipelineWork work{.forward_messages = forward_messages(study_, path),
                      .backward_messages = backward_messages(study_, path),
                      .sends = study_.training->sends};
    const auto offload = offload_seconds(study_, path, schedule, at.corner.bandwidth);
    const Exchange exchange =
        exchanges_in_passes() ? of_a_chunk(exchange_of(path), at.exchange) : Exchange{};
    for (std::size_t chunk = 0; chunk < residual.size(); ++chunk)
      work.chunks.push_back(chunk_times(residual[chunk], layers[chunk], offload[chunk], exchange));
    const auto links = stage_links(study_, work.forward_messages);
    // Without anything beside it to hide behind, communication would say nothing.
    const bool is_known = links && !rest_.rows.empty();
    work.links = is_known ? *links : free_links(work.forward_messages.size());
    return work;
  }

 private:
  /// What replicas exchange beside each pass of a chunk, at one end.
  struct Exchange {
    Seconds forward;
    Seconds backward;
    IntervalEnd end = IntervalEnd::value;
  };

  Exchange of_a_chunk(const ReductionTime& of_a_device, IntervalEnd end) const {
    const double share = 1 / static_cast<double>(layout_of(study_).num_virtual_stages);
    return {share * at(of_a_device.forward, end), share * at(of_a_device.backward, end), end};
  }

  /// Whether replicas exchange in every micro-batch.
  bool exchanges_in_passes() const { return study_.training->sharding >= StateSharding::gradients; }

  /// The backward pass of a device's layers on one micro-batch, in the mean over the stages.
  Seconds backward_of_device() const {
    Seconds all;
    for (const LayerWork& chunk : layer_work(study_, rest_, IntervalEnd::value))
      all += chunk.recompute + chunk.backward_input + chunk.backward_weight;
    return (1 / as_double(layout_of(study_).num_stages)) * all;
  }

  Seconds exposed(const ReductionTime& exchange, IntervalEnd end, Seconds makespan) const {
    const double of_one = 1 / as_double(study_.training->num_micro_batches);
    return exchange.exposed(end, of_one * makespan, backward_of_device_);
  }

  ReductionTime exchange_of(const ResidualPath& path) const {
    ReductionTime time = reduction_;
    time += reduction_of(study_, path);
    return time;
  }

  /// The residual path has no weights to speak of: its backward pass is for the inputs. Offloaded
  /// activations leave beside a forward pass and come back beside a backward pass, which take at
  /// least so long. So does what replicas exchange: a backward pass waits for it at its end, where
  /// the gradients of the weights are, which no other stage waits for.
  ChunkTimes chunk_times(const ResidualWork& residual, const LayerWork& layers, Seconds offload,
                         const Exchange& exchange) const {
    const Seconds forward = std::max(layers.forward + residual.forward, offload);
    const Seconds recompute =
        (recomputes_residual(*study_.training) ? residual.forward : Seconds{}) + layers.recompute;
    const Seconds for_weights = layers.backward_weight;
    const Seconds for_inputs =
        std::max(layers.backward_input + residual.backward, offload - for_weights);
    const Seconds backward = recompute + for_inputs + for_weights;
    const Seconds waiting = beside_exchange(backward, exchange.backward, exchange.end) - backward;
    return {.forward = beside_exchange(forward, exchange.forward, exchange.end),
            .recompute = recompute,
            .backward_input = for_inputs,
            .backward_weight = for_weights + waiting,
            .exchange = waiting};
  }

  ResidualPath standard_path() const {
    return baseline_path(study_, study_.path, WorkloadKind::training);
  }

  /// The layers take what is left of a measured step. A makespan is convex in them (a maximum of
  /// sums), so that chords up to a point beyond it lead there from below.
  void scale_rest_to(Seconds measured) {
    constexpr int kMostChords = 40;
    constexpr double kPrecision = 1e-12;
    if (rest_.rows.empty())
      rest_.rows = {{.workload = WorkloadId::training(),
                     .term = RestTerm::attention,
                     .origin = RestOrigin::written}};
    RestOfStep unit = rest_;
    const Seconds total = unit.total().value;
    for (RestRow& row : unit.rows) {
      const double share = total.value > 0 ? row.time.value / total : 1;
      row.time = {Seconds{share}, Seconds{share}, Seconds{share}, Evidence::measured};
    }
    const ResidualPath standard = standard_path();
    const auto residual = residual_work(study_, standard, Schedule::fused, {});
    const auto makespan_with = [&](double seconds) {
      set_rest(unit, seconds);
      return makespan(times(standard, Schedule::fused, residual, {})).value;
    };
    double low = 0;
    double at_low = makespan_with(low);
    const double beyond = measured.value;
    const double at_beyond = makespan_with(beyond);
    for (int i = 0; i < kMostChords && at_low < (1 - kPrecision) * measured.value; ++i) {
      low += (measured.value - at_low) * (beyond - low) / (at_beyond - at_low);
      at_low = makespan_with(low);
    }
    set_rest(unit, low);
  }

  void set_rest(const RestOfStep& unit, double seconds) {
    for (std::size_t i = 0; i < unit.rows.size(); ++i) {
      const Seconds time = seconds * unit.rows[i].time.value;
      rest_.rows[i].time = {time, time, time, Evidence::measured};
    }
  }

  /// Where its link is not known, nothing is said of the step.
  void add_reduction() {
    const DeviceParameters parameters = device_parameters(as_trained(study_));
    const auto time = reduction_time(study_, {parameters.dense(), parameters.experts});
    if (time)
      reduction_ = *time;
    else
      rest_ = {{}, "the hardware has no link_bandwidth or network_bandwidth between replicas"};
  }

  const Study& study_;
  PipelineOrder order_;
  RestOfStep rest_;
  ReductionTime reduction_;
  Seconds backward_of_device_;  // where it matters: exchanges_in_passes()
};

/// Both ranges together, around the value of the first.
template <class Q>
Estimate<Q> covering(Estimate<Q> range, const Estimate<Q>& other) {
  range.low = std::min(range.low, other.low);
  range.high = std::max(range.high, other.high);
  return range;
}

Estimate<Seconds> spread(const CaseTimes& times, Evidence evidence) {
  const auto [low, high] = std::minmax_element(times.begin(), times.end());
  return {*low, times.front(), *high, evidence};
}

Estimate<double> spread(const std::array<double, kCases.size()>& ratios, Evidence evidence) {
  const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
  return {*low, ratios.front(), *high, evidence};
}

/// Residual path of a stage, all micro-batches, as the mean over stages.
Seconds residual_seconds(const Study& study, const std::vector<ResidualWork>& work) {
  Seconds sum;
  const double num_forward = recomputes_residual(*study.training) ? 2 : 1;
  for (const ResidualWork& chunk : work) {
    sum += num_forward * chunk.forward;
    sum += chunk.backward;
  }
  const double per_stage = static_cast<double>(study.training->num_micro_batches) /
                           static_cast<double>(layout_of(study).num_stages);
  return per_stage * sum;
}

/// What the step would be shorter by if links were free.
Seconds communication_seconds(const TrainingModel& model, PipelineWork times, Seconds makespan) {
  if (times.links.empty()) return {};
  times.links = free_links(times.links.size());
  return makespan - model.makespan(times);
}

/// The standard residual's step, at every case, and with the other end of its kernels.
struct Baseline {
  CaseTimes times;
  CaseTimes with_other_kernels;
  Seconds communication;
  TimeTerms terms;
};

TimeTerms sum_of_terms(const std::vector<ResidualWork>& work) {
  TimeTerms sum;
  for (const ResidualWork& chunk : work) sum += chunk.terms;
  return sum;
}

Baseline baseline_of(const TrainingModel& model, const ResidualPath& standard) {
  const auto work = works_of(model.study(), standard, Schedule::fused, as_it_is);
  const auto others = works_of(model.study(), standard, Schedule::fused, with_other_kernels);
  PipelineWork times = model.times(standard, Schedule::fused, work.front(), {});
  const Seconds makespan = model.makespan(times);
  const Seconds middle = makespan + model.reduction(standard, IntervalEnd::value, makespan);
  return {model.step_times(standard, Schedule::fused, middle, work, as_it_is),
          model.step_times(standard, Schedule::fused, middle, others, with_other_kernels),
          communication_seconds(model, std::move(times), makespan), sum_of_terms(work.front())};
}

/// What a longer or shorter step is put down to.
Dominant dominant_of(Seconds delta, Seconds communication, const TimeTerms& terms,
                     const TimeTerms& standard) {
  if (std::abs(communication.value) > 0.5 * std::abs(delta.value)) return Dominant::communication;
  return depthcost::dominant_of(delta.value == 0 ? terms : terms + -1 * standard);
}

StepRow step_row(const Study& study, const TrainingModel& model, const TrainingRun& run,
                 const Baseline& against) {
  const ResidualPath& path = *run.path;
  const Schedule schedule = run.schedule;
  const CaseTimes& baseline = against.times;
  // A path of the same kernels differs in nothing.
  const bool is_same = is_standard(path.scheme) && schedule == Schedule::fused;
  const CaseTimes& crossed = is_same ? against.times : against.with_other_kernels;
  const PipelineWorks work = works_of(study, path, schedule, as_it_is);
  const CaseTimes times =
      model.step_times(path, schedule, run.makespan + run.reduction, work, as_it_is);
  CaseTimes residual;
  CaseTimes delta;
  CaseTimes crossed_delta;
  std::array<double, kCases.size()> overhead{};
  std::array<double, kCases.size()> crossed_overhead{};
  std::array<double, kCases.size()> share{};
  for (std::size_t i = 0; i < kCases.size(); ++i) {
    residual[i] = residual_seconds(study, work[pipeline_of(i)]);
    delta[i] = times[i] - baseline[i];
    overhead[i] = delta[i] / baseline[i];
    crossed_delta[i] = times[i] - crossed[i];
    crossed_overhead[i] = crossed_delta[i] / crossed[i];
    share[i] = residual[i] / times[i];
  }
  // Backward kernels are not measured.
  constexpr Evidence evidence = Evidence::assumed;
  StepRow row{.workload = WorkloadId::training(),
              .path = &path,
              .schedule = schedule,
              .residual = spread(residual, evidence),
              .delta = covering(spread(delta, evidence), spread(crossed_delta, evidence)),
              .missing = model.missing(),
              .dominant = dominant_of(delta.front(), run.communication - against.communication,
                                      sum_of_terms(work.front()), against.terms)};
  if (!row.missing.empty()) return row;
  const bool is_measured = study.training->baseline_step.has_value();
  row.baseline_step =
      is_measured ? Estimate<Seconds>{baseline[0], baseline[0], baseline[0], Evidence::measured}
                  : spread(baseline, evidence);
  row.overhead = covering(spread(overhead, evidence), spread(crossed_overhead, evidence));
  row.share = spread(share, evidence);
  return row;
}

TrainingRun training_run(const Study& study, const TrainingModel& model, const ResidualPath& path,
                         Schedule schedule) {
  PipelineWork work = model.work(path, schedule, {});
  const SimulatedStep step = simulate(work);
  TrainingRun run{.path = &path,
                  .schedule = schedule,
                  .makespan = step.makespan,
                  .reduction = model.reduction(path, IntervalEnd::value, step.makespan),
                  .bubble = bubble_share(step),
                  .accumulation_d = accumulation_d(path, study.training->gradient_accumulation),
                  .messages = work.forward_messages,
                  .stages = training_memory(study, path, schedule, model.order())};
  for (const ResidualWork& chunk : residual_work(study, path, schedule, {})) {
    run.forward += chunk.forward;
    run.backward += chunk.backward;
  }
  if (recomputes_residual(*study.training)) run.recompute = run.forward;
  run.communication = communication_seconds(model, std::move(work), step.makespan);
  return run;
}

}  // namespace

Seconds standard_training_step(const Study& study) {
  const TrainingModel model(study);
  const ResidualPath standard = baseline_path(study, study.path, WorkloadKind::training);
  return model.step_seconds(standard, Schedule::fused);
}

Seconds least_seconds_of_training(const Study& study) {
  return TrainingModel(study).least_seconds();
}

Seconds least_training_step(const Study& study) {
  Study without_layers = study;
  without_layers.training->baseline_step = Seconds{};
  const TrainingModel model(without_layers);
  const ResidualPath standard = baseline_path(study, study.path, WorkloadKind::training);
  return model.makespan(model.times(
      standard, Schedule::fused, residual_work(without_layers, standard, Schedule::fused, kShort),
      {kShort, IntervalEnd::low, IntervalEnd::low}));
}

ExposedCommunication exposed_communication(const Study& study) {
  if (!study.pipeline) return {.share = {}, .missing = "the scenario has no pipeline"};
  if (!study.machine) return {.share = {}, .missing = "the scenario has no hardware"};
  const TrainingModel model(study);
  if (!model.missing().empty()) return {.share = {}, .missing = model.missing()};
  if (!stage_links(study, forward_messages(study, study.path)))
    return {.share = {}, .missing = "the hardware has no transfers between pipeline stages"};
  std::array<double, kCases.size()> shares{};
  Seconds makespan;
  Seconds exposed;
  for (std::size_t i = 0; i < kCases.size(); ++i) {
    const Case& at = kCases[i];
    if (model.has_own_pipeline(i)) {
      PipelineWork times =
          model.times(study.path, study.schedule,
                      residual_work(study, study.path, study.schedule, at.corner), at);
      makespan = model.makespan(times);
      exposed = communication_seconds(model, std::move(times), makespan);
    }
    const Seconds step = makespan + model.reduction(study.path, at.exchange, makespan);
    shares[i] = exposed / (step - exposed);
  }
  return {.share = spread(shares, Evidence::assumed), .missing = ""};
}

struct TrainingSteps::Shared {
  const Study& study;
  TrainingModel model;
  Baseline baseline;
};

TrainingSteps::TrainingSteps(const Study& study)
    : shared_(std::make_unique<Shared>(Shared{study, TrainingModel(study), {}})) {
  shared_->baseline =
      baseline_of(shared_->model, baseline_path(study, study.path, WorkloadKind::training));
}

TrainingSteps::~TrainingSteps() = default;

StepRow TrainingSteps::row(const ResidualPath& path, Schedule schedule) const {
  const TrainingModel& model = shared_->model;
  PipelineWork times =
      model.times(path, schedule, residual_work(shared_->study, path, schedule, {}), {});
  const Seconds makespan = model.makespan(times);
  const TrainingRun run{.path = &path,
                        .schedule = schedule,
                        .makespan = makespan,
                        .reduction = model.reduction(path, IntervalEnd::value, makespan),
                        .communication = communication_seconds(model, std::move(times), makespan)};
  return step_row(shared_->study, shared_->model, run, shared_->baseline);
}

TrainingAnswer training_answer(const Study& study, const std::vector<ResidualPath>& paths) {
  TrainingAnswer answer;
  if (!study.training || !study.machine) return answer;
  const TrainingModel model(study);
  answer.rest = model.rest();
  // All paths have the study's layers and attachment, and so one baseline.
  const Baseline baseline =
      baseline_of(model, baseline_path(study, study.path, WorkloadKind::training));
  for (const ResidualPath& path : paths) {
    for (const Schedule schedule : path.scheme.rule->schedules) {
      answer.runs.push_back(training_run(study, model, path, schedule));
      answer.steps.push_back(step_row(study, model, answer.runs.back(), baseline));
    }
  }
  answer.work = model.work(paths.front(), study.schedule, {});
  answer.simulated = simulate(*answer.work);
  return answer;
}

}  // namespace depthcost
