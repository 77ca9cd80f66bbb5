// Term by term: bytes over bandwidth or operations over rate, whichever is longer, at three ends.
#include "model/step/rest_of_step.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/base/interval_end.hpp"
#include "model/step/collectives.hpp"
#include "model/step/draft.hpp"

namespace depthcost {
namespace {

/// Kernels that a decoder layer launches, as serving engines split it up: [ours], counted from what
/// their stages are. Attention: projections in (two where they are compressed), rotation and cache,
/// core, output; an indexer's projections, scores and top-k. Linear: projections, convolution,
/// recurrence, gated norm, output. MLP: gate and up, activation, down; with experts a router,
/// top-k, sorting and combining, and the shared ones.
struct KernelsOf {
  double operator()(const GroupedAttention& a) const { return a.indexer.num_heads > 0 ? 7 : 4; }
  double operator()(const LatentAttention& a) const { return a.indexer.num_heads > 0 ? 9 : 6; }
  double operator()(const LinearAttention&) const { return 5; }
  double operator()(const CompressedAttention&) const { return 9; }
  double operator()(const DenseMlp&) const { return 3; }
  double operator()(const ExpertMlp& mlp) const { return mlp.num_shared > 0 ? 10 : 7; }
};

/// Rates of one device.
class Device {
 public:
  explicit Device(const Machine& machine) : machine_(machine) {}

  /// Seconds of a kernel group with such weights, `low` with the high rates.
  Estimate<Seconds> seconds(const Work& work, WeightDtype weights,
                            const Estimate<double>& efficiency) const {
    const auto at_end = [&](IntervalEnd end) {
      const IntervalEnd rate = opposite(end);
      // GPU engines' kernels.
      const double share = machine_.core ? 1 : at(efficiency, rate);
      const BytesPerSecond bandwidth = std::min(
          share * at(machine_.memory_bandwidth.back().bandwidth, rate), machine_.memory_ceiling);
      const double sustained = at(machine_.engine.sustained_rate, rate);
      const Flops of_weights = work.flops_at(end) - work.core;
      const Seconds core =
          (work.core - work.index_scores) / bf16() + work.index_scores / peak(WeightDtype::fp8);
      return std::max(work.bytes_at(end) / bandwidth,
                      (1 / sustained) * (of_weights / peak(weights) + core));
    };
    return {at_end(IntervalEnd::low), at_end(IntervalEnd::value), at_end(IntervalEnd::high),
            Evidence::assumed};
  }

  bool has_rate() const { return machine_.tensor_rate || machine_.vector_rate; }

 private:
  FlopsPerSecond bf16() const {
    return machine_.tensor_rate ? *machine_.tensor_rate : *machine_.vector_rate;
  }

  /// The rate of the type in which weights are multiplied; they may be stored in another.
  FlopsPerSecond peak(WeightDtype weights) const {
    if (weights == WeightDtype::mxfp4) return machine_.mxfp4_rate.value_or(bf16());
    if (weights == WeightDtype::nvfp4) return machine_.nvfp4_rate.value_or(bf16());
    if (weights == WeightDtype::fp8) return machine_.fp8_rate.value_or(bf16());
    // TF32 units have half the rate of bf16 ones.
    if (weights == WeightDtype::f32 && machine_.tensor_rate) return 0.5 * *machine_.tensor_rate;
    return bf16();
  }

  const Machine& machine_;
};

Estimate<Seconds> times(const Estimate<double>& k, const Estimate<Seconds>& a) {
  return {k.low * a.low, k.value * a.value, k.high * a.high, weakest(k.evidence, a.evidence)};
}

constexpr Estimate<Seconds> kNothing{{}, {}, {}, Evidence::measured};

/// A group of kernels with weights of one type.
RestPart kernels_part(const Study& study, std::string name, double calls, const Work& work,
                      WeightDtype weights, const EngineKernels& kernels) {
  const Estimate<double> efficiency =
      study.machine->engine.efficiency_of(kernels, step_kind(*study.model.architecture));
  return {std::move(name), calls, work, Device(*study.machine).seconds(work, weights, efficiency)};
}

/// The type of the residual stream as a type of weights.
WeightDtype weight_dtype_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::bf16:
      return WeightDtype::bf16;
    case Dtype::f16:
      return WeightDtype::f16;
    case Dtype::fp8:
      return WeightDtype::fp8;
    case Dtype::f32:
      return WeightDtype::f32;
  }
  return WeightDtype::bf16;
}

RestRow attention_row(const Study& study, const std::vector<ForwardPass>& passes) {
  RestRow row{.term = RestTerm::attention, .time = kNothing};
  const Architecture& a = *study.model.architecture;
  for (const ForwardPass& pass : passes)
    for (const AttentionLayers& layers : a.attention)
      for (const AttentionPart& part : attention_parts(study, layers.attention, pass))
        add_part(row, kernels_part(study, part.name,
                                   pass.repeats * static_cast<double>(layers.num_decoder_layers),
                                   part.work, a.weight_dtype, study.machine->engine.attention));
  return row;
}

/// One for tokens that are decoded, `k` for those of a prompt.
Estimate<double> mean_factor(const Estimate<double>& k, const ForwardPass& pass) {
  const double share = pass.prompt_tokens() / pass.tokens();
  const auto mean = [share](double end) { return (1 - share) + share * end; };
  return {mean(k.low), mean(k.value), mean(k.high), k.evidence};
}

/// Whichever takes longer, end by end.
Estimate<Seconds> longer(const Estimate<Seconds>& a, const Estimate<Seconds>& b) {
  return {std::max(a.low, b.low), std::max(a.value, b.value), std::max(a.high, b.high),
          weakest(a.evidence, b.evidence)};
}

/// Engines' experts reach less of a prefill's rates than dense products. That slows their
/// arithmetic alone: as long as they wait for weights, a prompt's tokens are like others.
RestPart routed_part(const Study& study, WorkloadKind workload, const ExpertMlp& experts,
                     double calls, const ForwardPass& pass) {
  const EngineConstants& engine = study.machine->engine;
  const auto part_of = [&](const Work& work) {
    return kernels_part(study, "routed experts", calls, work,
                        study.model.architecture->expert_dtype, engine.mlp);
  };
  const Work work = routed_work(study, experts, pass);
  RestPart part = part_of(work);
  if (workload != WorkloadKind::prefill && !pass.prompt) return part;
  const Estimate<double> slower = workload == WorkloadKind::prefill
                                      ? engine.prefill_of_experts
                                      : mean_factor(engine.prefill_of_experts, pass);
  Work arithmetic = work;
  arithmetic.bytes = {};
  part.time = longer(part.time, times(slower, part_of(arithmetic).time));
  return part;
}

RestRow mlp_row(const Study& study, WorkloadKind workload, const std::vector<ForwardPass>& passes) {
  RestRow row{.term = RestTerm::mlp, .time = kNothing};
  const Architecture& a = *study.model.architecture;
  for (const ForwardPass& pass : passes)
    for (const MlpLayers& layers : a.mlp) {
      const double calls = pass.repeats * static_cast<double>(layers.num_decoder_layers);
      const auto* experts = std::get_if<ExpertMlp>(&layers.mlp);
      add_part(row, kernels_part(study, experts ? "router and shared experts" : "dense MLP", calls,
                                 common_mlp_work(study, layers.mlp, pass, RankTokens::same),
                                 a.weight_dtype, study.machine->engine.mlp));
      if (experts) add_part(row, routed_part(study, workload, *experts, calls, pass));
    }
  if (a.tables.empty()) return row;
  for (const ForwardPass& pass : passes)
    add_part(row, kernels_part(study, "other projections", pass.repeats, table_work(study, pass),
                               a.weight_dtype, study.machine->engine.mlp));
  return row;
}

RestRow head_row(const Study& study, WorkloadKind workload,
                 const std::vector<ForwardPass>& passes) {
  RestRow row{.term = RestTerm::head, .time = kNothing};
  for (const ForwardPass& pass : passes)
    add_part(row, kernels_part(study, "head", pass.repeats,
                               head_work(study, tokens_of_head(workload, pass)),
                               weight_dtype_of(study.model.dtype), study.machine->engine.mlp));
  return row;
}

/// The floor of a plain kernel.
Estimate<Seconds> plain_floor(const Machine& machine, Launch launch) {
  for (const LaunchFloor& entry : machine.floors)
    if (entry.launch == launch && entry.level == Level::memory &&
        entry.skeleton == Skeleton::elementwise)
      return entry.floor;
  return kNothing;
}

/// What `a` takes more than `b`, end by end.
Estimate<Seconds> more_than(const Estimate<Seconds>& a, const Estimate<Seconds>& b) {
  const auto more = [](Seconds one, Seconds other) { return std::max(Seconds{}, one - other); };
  return {more(a.low, b.low), more(a.value, b.value), more(a.high, b.high),
          weakest(a.evidence, b.evidence)};
}

/// What a kernel takes beside its bytes and operations: on a GPU an engine's, but no less than its
/// launch. Assumed, since the number of kernels is counted by hand.
Estimate<Seconds> kernel_floor(const Study& study, Launch launch, const EngineKernels& kernels) {
  const Machine& machine = *study.machine;
  const Estimate<Seconds> floor = plain_floor(machine, launch);
  if (machine.core) return floor;
  const bool is_ahead = engine_launches_ahead(machine, launch);
  const double share = is_ahead ? machine.engine.floor_of_launched_ahead : 1;
  Estimate<Seconds> engine =
      share * machine.engine.floor_of(kernels, step_kind(*study.model.architecture));
  // An engine's floor was fitted to steps that run as graphs.
  if (launch == Launch::stream && !is_ahead)
    engine += more_than(floor, plain_floor(machine, Launch::graph));
  return {std::max(floor.low, engine.low), std::max(floor.value, engine.value),
          std::max(floor.high, engine.high), Evidence::assumed};
}

/// Kernels of one pass by kind: of all layers, and one of the head.
struct KernelCounts {
  double attention = 0;
  double mlp = 1;
};

KernelCounts num_kernels(const Architecture& architecture) {
  KernelCounts counts;
  for (const AttentionLayers& layers : architecture.attention)
    counts.attention +=
        as_double(layers.num_decoder_layers) * std::visit(KernelsOf{}, layers.attention);
  for (const MlpLayers& layers : architecture.mlp)
    counts.mlp += as_double(layers.num_decoder_layers) * std::visit(KernelsOf{}, layers.mlp);
  return counts;
}

RestRow launches_row(const Study& study, const std::vector<ForwardPass>& passes) {
  RestRow row{.term = RestTerm::launches, .time = kNothing};
  const KernelCounts counts = num_kernels(*study.model.architecture);
  for (const ForwardPass& pass : passes) {
    const auto add_kernels = [&](std::string_view kind, double kernels,
                                 const EngineKernels& constants) {
      row.launches += pass.repeats * kernels;
      add_part(row, {.name = fmt::format("kernels of {}, launched as {}", kind, name(pass.launch)),
                     .calls = pass.repeats * kernels,
                     .work = {},
                     .time = kernel_floor(study, pass.launch, constants)});
    };
    add_kernels("attention", counts.attention, study.machine->engine.attention);
    add_kernels("MLP and head", counts.mlp, study.machine->engine.mlp);
  }
  return row;
}

/// What an engine may take for the sequences of a decode step, however it spreads the model.
RestPart sequences_part(const Study& study, const ForwardPass& pass) {
  return {.name = "sequences of an engine",
          .calls = pass.repeats * pass.num_sequences,
          .work = {},
          .time = {{}, {}, study.machine->engine.sequence_time, Evidence::assumed}};
}

/// Nothing where the hardware does not know a collective that is needed.
std::optional<RestRow> collectives_row(const Study& study, WorkloadKind workload,
                                       const std::vector<ForwardPass>& passes) {
  RestRow row{.term = RestTerm::collectives, .time = kNothing};
  for (const ForwardPass& pass : passes)
    for (const Collective& collective : collectives_of(study, workload, pass)) {
      const auto time =
          transfer_time(*study.machine, collective.kind, collective.num_ranks, collective.size);
      if (!time) return std::nullopt;
      const double calls = pass.repeats * collective.calls;
      row.launches += calls;
      Work work;
      work.add(1, collective.size, {});
      add_part(row, {.name = fmt::format("{} over {}", name(collective.kind), collective.num_ranks),
                     .calls = calls,
                     .work = work,
                     .time = *time});
    }
  return row;
}

const WrittenTerm* find_written(const Study& study, WorkloadKind workload, RestTerm term) {
  for (const WrittenTerm& written : study.written_terms)
    if (written.workload == workload && written.term == term) return &written;
  return nullptr;
}

std::optional<RestRow> modelled_row(const Study& study, WorkloadKind workload, RestTerm term,
                                    const std::vector<ForwardPass>& passes) {
  switch (term) {
    case RestTerm::attention:
      return attention_row(study, passes);
    case RestTerm::mlp:
      return mlp_row(study, workload, passes);
    case RestTerm::head:
      return head_row(study, workload, passes);
    case RestTerm::collectives:
      return collectives_row(study, workload, passes);
    case RestTerm::launches:
      return launches_row(study, passes);
  }
  return std::nullopt;
}

/// The row with the parts of the layers that draft.
std::optional<RestRow> with_draft(const Study& study, WorkloadKind workload, RestTerm term,
                                  const std::vector<ForwardPass>& passes) {
  std::optional<RestRow> row = modelled_row(study, workload, term, passes);
  if (term == RestTerm::launches && workload == WorkloadKind::decode && !study.machine->core)
    for (const ForwardPass& pass : passes) add_part(*row, sequences_part(study, pass));
  const DraftLayers* draft = workload == WorkloadKind::decode ? draft_of(study) : nullptr;
  if (!row || draft == nullptr) return row;
  const std::optional<RestRow> drafted =
      modelled_row(draft_study(study, *draft), workload, term, draft_passes(study, *draft, passes));
  if (!drafted) return std::nullopt;
  for (RestPart part : drafted->parts) {
    part.name = "draft: " + part.name;
    add_part(*row, part);
  }
  row->launches += drafted->launches;
  return row;
}

}  // namespace

void add_part(RestRow& row, const RestPart& part) {
  row.bytes += part.calls * part.work.bytes_at(IntervalEnd::value);
  row.flops += part.calls * part.work.flops_at(IntervalEnd::value);
  row.time += part.calls * part.time;
  row.parts.push_back(part);
}

std::optional<RestRow> written_row(const Study& study, const Workload& workload, RestTerm term) {
  const WrittenTerm* written = find_written(study, workload.id.kind, term);
  if (written == nullptr) return std::nullopt;
  const Seconds seconds = written->seconds[written->seconds.size() == 1 ? 0 : workload.batch];
  return RestRow{.workload = workload.id,
                 .term = term,
                 .time = {seconds, seconds, seconds, Evidence::measured},
                 .origin = RestOrigin::written};
}

Estimate<Seconds> RestOfStep::total() const {
  Estimate<Seconds> sum = kNothing;
  for (const RestRow& row : rows) sum += row.time;
  return sum;
}

StepKind step_kind(const Architecture& architecture) {
  return has_experts(architecture) ? StepKind::experts : StepKind::dense;
}

RestOfStep rest_of_step(const Study& study, const Workload& workload) {
  RestOfStep rest;
  std::vector<ForwardPass> passes;
  for (const Pass& pass : workload.passes) passes.push_back(pass.forward);
  for (const RestTerm term : kEnumerators<RestTerm>) {
    std::optional<RestRow> row = written_row(study, workload, term);
    if (!row && !study.model.architecture) return {{}, "the model has no attention and mlp"};
    if (!row && !Device(*study.machine).has_rate()) return {{}, "the hardware has no bf16_rate"};
    if (!row) row = with_draft(study, workload.id.kind, term, passes);
    if (!row)
      return {{}, "the hardware has no measured transfers, which tensor and expert ranks need"};
    row->workload = workload.id;
    rest.rows.push_back(*row);
  }
  return rest;
}

}  // namespace depthcost
