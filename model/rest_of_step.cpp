// Term by term: bytes over bandwidth or operations over rate, whichever is longer, at three ends.
#include "model/rest_of_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/end.hpp"

namespace depthcost {
namespace {

/// Kernels that a decoder layer launches, as serving engines split it up: [ours], counted from what
/// their stages are. Attention: projections in (two where they are compressed), rotation and cache,
/// core, output. Linear: projections, convolution, recurrence, gated norm, output. MLP: gate and
/// up, activation, down; with experts a router, top-k, sorting and combining, and the shared ones.
struct KernelsOf {
  double operator()(const GroupedAttention&) const { return 4; }
  double operator()(const LatentAttention&) const { return 6; }
  double operator()(const LinearAttention&) const { return 5; }
  double operator()(const CompressedAttention&) const { return 9; }
  double operator()(const DenseMlp&) const { return 3; }
  double operator()(const ExpertMlp& mlp) const { return mlp.num_shared > 0 ? 10 : 7; }
};

/// Rates of one device.
class Device {
 public:
  explicit Device(const Machine& machine) : machine_(machine) {}

  /// Seconds of a kernel group with weights of so many bytes, `low` with the high rates.
  Estimate<Seconds> seconds(const Work& work, double bytes_per_weight) const {
    const auto at_end = [&](End end) {
      const End rate = opposite(end);
      const BytesPerSecond bandwidth =
          std::min(at(machine_.memory_bandwidth.back().bandwidth, rate), machine_.memory_ceiling);
      return std::max(work.bytes_at(end) / bandwidth,
                      work.flops_at(end) /
                          FlopsPerSecond{at(kSustainedRate, rate) * peak(bytes_per_weight).value});
    };
    return {at_end(End::low), at_end(End::value), at_end(End::high), Evidence::assumed};
  }

  bool has_rate() const { return machine_.tensor_rate || machine_.vector_rate; }

 private:
  /// Weights of 4 and 8 bits are multiplied at the fp8 rate where there is one.
  FlopsPerSecond peak(double bytes_per_weight) const {
    if (bytes_per_weight <= 1 && machine_.fp8_rate) return *machine_.fp8_rate;
    return machine_.tensor_rate ? *machine_.tensor_rate : *machine_.vector_rate;
  }

  const Machine& machine_;
};

Estimate<Seconds> plus(const Estimate<Seconds>& a, const Estimate<Seconds>& b) {
  return {a.low + b.low, a.value + b.value, a.high + b.high, weakest(a.evidence, b.evidence)};
}

Estimate<Seconds> times(double k, const Estimate<Seconds>& a) {
  return {k * a.low, k * a.value, k * a.high, a.evidence};
}

constexpr Estimate<Seconds> kNothing{{}, {}, {}, Evidence::measured};

void add(RestRow& row, const RestPart& part) {
  row.bytes = row.bytes + part.calls * part.work.bytes_at(End::value);
  row.flops = row.flops + part.calls * part.work.flops_at(End::value);
  row.time = plus(row.time, times(part.calls, part.time));
  row.parts.push_back(part);
}

/// A group of kernels with weights of one type.
RestPart kernels_part(const Study& study, std::string name, double calls, const Work& work,
                      double bytes_per_weight) {
  return {std::move(name), calls, work, Device(*study.machine).seconds(work, bytes_per_weight)};
}

RestRow attention_row(const Study& study, const std::vector<ForwardPass>& passes) {
  RestRow row{.term = RestTerm::attention, .time = kNothing};
  const Architecture& a = *study.model.architecture;
  for (const ForwardPass& pass : passes)
    for (const AttentionLayers& layers : a.attention)
      add(row, kernels_part(study, fmt::format("{} attention", name(layers.attention)),
                            pass.repeats * static_cast<double>(layers.num_decoder_layers),
                            attention_work(study, layers.attention, pass),
                            bytes_per_weight(a.weight_dtype)));
  return row;
}

RestRow mlp_row(const Study& study, const std::vector<ForwardPass>& passes) {
  RestRow row{.term = RestTerm::mlp, .time = kNothing};
  const Architecture& a = *study.model.architecture;
  for (const ForwardPass& pass : passes)
    for (const MlpLayers& layers : a.mlp) {
      const double calls = pass.repeats * static_cast<double>(layers.num_decoder_layers);
      const auto* experts = std::get_if<ExpertMlp>(&layers.mlp);
      add(row,
          kernels_part(study, experts ? "router and shared experts" : "dense MLP", calls,
                       common_mlp_work(study, layers.mlp, pass), bytes_per_weight(a.weight_dtype)));
      if (experts)
        add(row, kernels_part(study, "routed experts", calls, routed_work(study, *experts, pass),
                              bytes_per_weight(a.expert_dtype)));
    }
  return row;
}

/// An engine makes logits of each pass's last tokens, one a sequence; training of all.
RestRow head_row(const Study& study, WorkloadKind workload,
                 const std::vector<ForwardPass>& passes) {
  RestRow row{.term = RestTerm::head, .time = kNothing};
  for (const ForwardPass& pass : passes) {
    const double tokens = workload == WorkloadKind::training ? pass.tokens() : pass.num_sequences;
    add(row, kernels_part(study, "head", pass.repeats, head_work(study, tokens),
                          bytes_per_element(study.model.dtype)));
  }
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

/// Kernels of one pass: those of all layers, and one of the head.
double num_kernels(const Architecture& architecture) {
  double kernels = 1;
  for (const AttentionLayers& layers : architecture.attention)
    kernels +=
        static_cast<double>(layers.num_decoder_layers) * std::visit(KernelsOf{}, layers.attention);
  for (const MlpLayers& layers : architecture.mlp)
    kernels += static_cast<double>(layers.num_decoder_layers) * std::visit(KernelsOf{}, layers.mlp);
  return kernels;
}

RestRow launches_row(const Study& study, const std::vector<ForwardPass>& passes) {
  RestRow row{.term = RestTerm::launches, .time = kNothing};
  for (const ForwardPass& pass : passes) {
    const Estimate<Seconds> floor = plain_floor(*study.machine, pass.launch);
    const double launches = pass.repeats * num_kernels(*study.model.architecture);
    row.launches += launches;
    add(row, {.name = fmt::format("kernels launched as {}", name(pass.launch)),
              .calls = launches,
              .work = {},
              .time = {kKernelScatter.low * floor.low, floor.value,
                       kKernelScatter.high * floor.high, Evidence::assumed}});
  }
  return row;
}

/// The collectives of one pass, in order: kind, ranks, bytes, calls.
struct Collective {
  TransferKind kind = TransferKind::all_reduce;
  Count num_ranks = 1;
  Bytes size;
  double calls = 0;
};

/// Tensor parallelism joins the ranks behind every attention and every MLP. Experts that are spread
/// beyond the tensor ranks exchange rows as wide as they take, there and back.
std::vector<Collective> collectives_of(const Study& study, WorkloadKind workload,
                                       const ForwardPass& pass) {
  std::vector<Collective> all;
  const auto d = static_cast<double>(study.model.hidden_size);
  const Bytes vectors = storage(pass.tokens() * d, study.model.dtype);
  const Count tensor = study.tensor_parallel_size;
  const bool is_spread = study.expert_parallel_size > tensor;
  const bool is_sharded = workload == WorkloadKind::prefill
                              ? study.prefill->sequence_shards > 1
                              : study.layout == Layout::sequence_sharded;
  const auto join = [&](double calls) {
    if (tensor == 1) return;
    if (is_sharded) {
      all.push_back({TransferKind::reduce_scatter, tensor, vectors, calls});
      all.push_back({TransferKind::all_gather, tensor, vectors, calls});
    } else {
      all.push_back({TransferKind::all_reduce, tensor, vectors, calls});
    }
  };
  for (const AttentionLayers& layers : study.model.architecture->attention)
    join(static_cast<double>(layers.num_decoder_layers));
  for (const MlpLayers& layers : study.model.architecture->mlp) {
    const auto calls = static_cast<double>(layers.num_decoder_layers);
    join(calls);
    const auto* experts = std::get_if<ExpertMlp>(&layers.mlp);
    if (experts == nullptr || !is_spread) continue;
    // A rank sends its share of the tokens that it holds, each to every expert that it has chosen.
    const double visits = pass.tokens() /
                          static_cast<double>(ranks_of_tokens(sharding_of(study, pass))) *
                          static_cast<double>(experts->num_active);
    const Count width = experts->latent_width.value_or(study.model.hidden_size);
    all.push_back({TransferKind::all_to_all, study.expert_parallel_size,
                   storage(visits * static_cast<double>(width), study.model.dtype), 2 * calls});
  }
  return all;
}

TransferScope scope_of(const Machine& machine, Count num_ranks) {
  return num_ranks > machine.devices_per_node ? TransferScope::network : TransferScope::node;
}

/// Empty row where the hardware does not know a collective that is needed.
std::optional<RestRow> collectives_row(const Study& study, WorkloadKind workload,
                                       const std::vector<ForwardPass>& passes) {
  RestRow row{.term = RestTerm::collectives, .time = kNothing};
  for (const ForwardPass& pass : passes)
    for (const Collective& collective : collectives_of(study, workload, pass)) {
      const auto time = transfer_time(*study.machine, collective.kind,
                                      scope_of(*study.machine, collective.num_ranks),
                                      collective.num_ranks, collective.size);
      if (!time) return std::nullopt;
      const double calls = pass.repeats * collective.calls;
      row.launches += calls;
      Work work;
      work.add(1, collective.size, {});
      add(row, {.name = fmt::format("{} over {}", name(collective.kind), collective.num_ranks),
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

std::optional<RestRow> written_row(const Study& study, const Workload& workload, RestTerm term) {
  const WrittenTerm* written = find_written(study, workload.kind, term);
  if (written == nullptr) return std::nullopt;
  const Seconds seconds = written->seconds[written->seconds.size() == 1 ? 0 : workload.batch];
  return RestRow{.term = term,
                 .time = {seconds, seconds, seconds, Evidence::measured},
                 .origin = RestOrigin::written};
}

std::optional<RestRow> modelled_row(const Study& study, WorkloadKind workload, RestTerm term,
                                    const std::vector<ForwardPass>& passes) {
  switch (term) {
    case RestTerm::attention:
      return attention_row(study, passes);
    case RestTerm::mlp:
      return mlp_row(study, passes);
    case RestTerm::head:
      return head_row(study, workload, passes);
    case RestTerm::collectives:
      return collectives_row(study, workload, passes);
    case RestTerm::launches:
      return launches_row(study, passes);
  }
  return std::nullopt;
}

}  // namespace

std::string_view name(RestOrigin origin) {
  return origin == RestOrigin::modelled ? "modelled" : "written";
}

Estimate<Seconds> RestOfStep::total() const {
  Estimate<Seconds> sum = kNothing;
  for (const RestRow& row : rows) sum = plus(sum, row.time);
  return sum;
}

RestOfStep rest_of_step(const Study& study, const Workload& workload) {
  RestOfStep rest;
  std::vector<ForwardPass> passes;
  for (const Pass& pass : workload.passes) passes.push_back(pass.forward);
  for (const RestTerm term : kRestTerms) {
    std::optional<RestRow> row = written_row(study, workload, term);
    if (!row && !study.model.architecture) return {{}, "the model has no attention and mlp"};
    if (!row && !Device(*study.machine).has_rate()) return {{}, "the hardware has no bf16_rate"};
    if (!row) row = modelled_row(study, workload.kind, term, passes);
    if (!row) return {{}, "the hardware has no transfers for the collectives of a layer"};
    row->workload = workload.name;
    rest.rows.push_back(*row);
  }
  return rest;
}

}  // namespace depthcost
