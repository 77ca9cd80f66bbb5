// Operations over rates, or bytes over the datasheet's bandwidth where a micro-batch is so small.
#include "model/training/rest_of_training.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/machine/node_crossing.hpp"
#include "model/step/collectives.hpp"

namespace depthcost {
namespace {

/// Rates of one device in training.
class TrainingDevice {
 public:
  TrainingDevice(const Study& study)
      : machine_(*study.machine),
        constants_(machine_.engine.training),
        error_(constants_.errors[static_cast<std::size_t>(step_kind(*study.model.architecture))]),
        precision_(study.training->precision) {}

  FlopsPerSecond bf16_products() const { return constants_.bf16_products * *machine_.tensor_rate; }

  /// Without fp8 units, fp8 is computed as bf16.
  FlopsPerSecond products() const {
    if (precision_ == Precision::bf16 || !machine_.fp8_rate) return bf16_products();
    return constants_.fp8_products * *machine_.fp8_rate;
  }

  FlopsPerSecond experts() const { return constants_.experts * *machine_.tensor_rate; }

  double core_share(const Work& work) const {
    const Seconds core = work.core / bf16_products();
    const Seconds all = core + (work.flops_at(IntervalEnd::value) - work.core) / products();
    return core > Seconds{} ? core / all : 0;
  }

  /// Attention's scores and mixes are bf16 in every precision.
  RestPart part(std::string name, double calls, const Work& work, FlopsPerSecond rate) const {
    const auto at_end = [&](IntervalEnd end) {
      const Seconds products = (work.flops_at(end) - work.core) / rate;
      const Seconds core = work.core / bf16_products();
      return at(error_, end) *
             std::max(products + core, work.bytes_at(end) / machine_.memory_ceiling);
    };
    return {std::move(name),
            calls,
            work,
            {at_end(IntervalEnd::low), at_end(IntervalEnd::value), at_end(IntervalEnd::high),
             Evidence::assumed}};
  }

 private:
  const Machine& machine_;
  const TrainingConstants& constants_;
  const Estimate<double>& error_;
  Precision precision_;
};

/// Rows that leave a device's adapter for each of its tokens: one for every other node that has an
/// expert of the token, since a node hands it on inside. [deepep]
///   (k - 1) / k of nodes_of_token()
double remote_rows(const Study& study, const ExpertMlp& experts) {
  const double nodes = nodes_of_experts(study);
  return (nodes - 1) / nodes * nodes_of_token(study, experts);
}

/// What is left of `time` beside `hidden`: least where that lasts longest, and all of it at the
/// high end.
Estimate<Seconds> beyond(const Estimate<Seconds>& time, const Estimate<Seconds>& hidden) {
  const auto longer = [](Seconds a, Seconds b) { return std::max(Seconds{}, a - b); };
  return {longer(time.low, hidden.high), longer(time.value, hidden.value), time.high,
          time.evidence};
}

/// Tokens on their way to experts in other nodes, and back in the model's type. At the low end they
/// hide beside the products of another micro-batch, as long as these last. Inside a node they are
/// in the share of the experts.
RestPart dispatch_part(const Study& study, const MlpLayers& layers, const ForwardPass& pass,
                       const Estimate<Seconds>& products) {
  const auto& experts = std::get<ExpertMlp>(layers.mlp);
  const double tokens = pass.tokens() / as_double(study.tensor_parallel_size);
  const Count width = experts.latent_width.value_or(study.model.hidden_size);
  const double elements = tokens * remote_rows(study, experts) * as_double(width);
  const Bytes bytes =
      sent_rows(elements, dispatch_dtype(study)) + sent_rows(elements, study.model.dtype);
  const auto at_end = [&](IntervalEnd end) {
    return bytes / (at(kNetworkEfficiency, opposite(end)) * *study.machine->network_bandwidth);
  };
  Work work;
  work.add(1, bytes, {});
  const double calls = as_double(layers.num_decoder_layers);
  const Estimate<Seconds> whole{at_end(IntervalEnd::low), at_end(IntervalEnd::value),
                                at_end(IntervalEnd::high), Evidence::assumed};
  double num_layers = 0;
  for (const MlpLayers& all : study.model.architecture->mlp)
    num_layers += as_double(all.num_decoder_layers);
  Estimate<Seconds> time = beyond(whole, (1 / num_layers) * products);
  // DualPipe pairs a forward pass with a backward pass so that it hides in the middle too.
  // [dualpipe]
  if (study.training->schedule != PipelineSchedule::dualpipe) time.value = whole.value;
  return {"dispatch and combine between nodes", calls, work, time};
}

bool crosses_nodes(const Study& study) {
  return has_experts(*study.model.architecture) && nodes_of_experts(study) > 1;
}

void add_layers_of_mlp(RestRow& row, const Study& study, const TrainingDevice& device,
                       const MlpLayers& layers, const ForwardPass& pass) {
  const double calls = as_double(layers.num_decoder_layers);
  const auto* experts = std::get_if<ExpertMlp>(&layers.mlp);
  add_part(row, device.part(experts != nullptr ? "router and shared experts" : "dense MLP", calls,
                            common_mlp_work(study, layers.mlp, pass, RankTokens::shared),
                            device.products()));
  if (experts != nullptr)
    add_part(row, device.part("routed experts", calls, routed_work(study, *experts, pass),
                              device.experts()));
}

/// What tensor ranks exchange.
std::vector<Collective> joins_of(const Study& study, const ForwardPass& pass) {
  std::vector<Collective> joins;
  for (const Collective& collective : collectives_of(study, WorkloadKind::training, pass))
    if (collective.kind != TransferKind::all_to_all) joins.push_back(collective);
  return joins;
}

bool is_in_a_node(const Study& study) {
  return study.tensor_parallel_size <= study.machine->devices_per_node;
}

/// Measured, or inside a node at its links' rate: (n - 1) / n of the bytes, twice in an all-reduce.
/// Nothing where the machine knows neither.
std::optional<Estimate<Seconds>> join_time(const Study& study, const Collective& join) {
  const Machine& machine = *study.machine;
  const auto scope = is_in_a_node(study) ? TransferScope::node : TransferScope::network;
  const auto measured = transfer_time(machine, join.kind, scope, join.num_ranks, join.size);
  if (measured || !is_in_a_node(study) || !machine.link_bandwidth) return measured;
  const double ranks = as_double(join.num_ranks);
  const double passes = join.kind == TransferKind::all_reduce ? 2 : 1;
  return time_over(*machine.link_bandwidth, (passes * (ranks - 1) / ranks) * join.size);
}

std::optional<RestPart> join_part(const Study& study, const Collective& join) {
  const auto time = join_time(study, join);
  if (!time) return std::nullopt;
  Work work;
  work.add(1, join.size, {});
  return RestPart{fmt::format("{} over {}", name(join.kind), join.num_ranks), join.calls, work,
                  *time};
}

/// What tensor ranks exchange while `products` run. Inside a node Megatron-LM overlaps both, so
/// that only what lasts longer than the products is left, but for the high end.
void add_joins(RestRow& row, const Study& study, const ForwardPass& pass,
               const Estimate<Seconds>& products) {
  std::vector<RestPart> joins;
  Estimate<Seconds> all{{}, {}, {}, Evidence::measured};
  for (const Collective& join : joins_of(study, pass))
    if (const auto part = join_part(study, join)) {
      joins.push_back(*part);
      all += part->calls * part->time;
    }
  const Estimate<Seconds> left = is_in_a_node(study) ? beyond(all, products) : all;
  for (RestPart& part : joins) {
    if (is_in_a_node(study)) part.name += ", beyond the products";
    part.time.low = left.low / all.low * part.time.low;
    part.time.value = left.value / all.value * part.time.value;
    add_part(row, part);
  }
}

/// What the model or the hardware would have to say of a term; empty if they do.
std::string missing_for(const Study& study, RestTerm term, const ForwardPass& pass) {
  if (!study.model.architecture) return "the model has no attention and mlp";
  if (!study.machine->tensor_rate) return "the hardware has no bf16_rate";
  if (term != RestTerm::collectives) return "";
  if (crosses_nodes(study) && !study.machine->network_bandwidth)
    return "the hardware has no network_bandwidth, which experts in several nodes need";
  for (const Collective& join : joins_of(study, pass))
    if (!join_part(study, join))
      return "the hardware has no transfers or link_bandwidth, which tensor ranks need";
  return "";
}

/// One term of a pass, behind attention and MLPs that take `products`.
RestRow training_row(const Study& study, RestTerm term, const ForwardPass& pass,
                     const Estimate<Seconds>& products) {
  const TrainingDevice device(study);
  const Architecture& architecture = *study.model.architecture;
  RestRow row{.term = term, .time = {{}, {}, {}, Evidence::assumed}};
  switch (term) {
    case RestTerm::attention:
      for (const AttentionLayers& layers : architecture.attention)
        add_part(row,
                 device.part(attention_name(layers.attention), as_double(layers.num_decoder_layers),
                             attention_work(study, layers.attention, pass), device.products()));
      return row;
    case RestTerm::mlp:
      for (const MlpLayers& layers : architecture.mlp)
        add_layers_of_mlp(row, study, device, layers, pass);
      if (!architecture.tables.empty())
        add_part(row,
                 device.part("other projections", 1, table_work(study, pass), device.products()));
      return row;
    case RestTerm::head:
      add_part(row, device.part("head", 1,
                                head_work(study, tokens_of_head(WorkloadKind::training, pass)),
                                device.bf16_products()));
      return row;
    case RestTerm::collectives:
      if (crosses_nodes(study))
        for (const MlpLayers& layers : architecture.mlp)
          if (std::holds_alternative<ExpertMlp>(layers.mlp))
            add_part(row, dispatch_part(study, layers, pass, products));
      add_joins(row, study, pass, products);
      return row;
    case RestTerm::launches:
      return row;
  }
  return row;
}

}  // namespace

bool has_training_shares(const Machine& machine) { return !machine.core; }

Study as_trained(Study study) {
  study.decode.reset();  // layers that draft a decode step's tokens are not trained
  if (study.model.architecture) {
    study.model.architecture->weight_dtype = WeightDtype::bf16;
    study.model.architecture->expert_dtype = WeightDtype::bf16;
  }
  if (!study.routing) study.routing = Routing::balanced;
  return study;
}

RestOfStep rest_of_training(const Study& study, const Workload& workload) {
  if (!has_training_shares(*study.machine)) return rest_of_step(study, workload);
  const ForwardPass& pass = workload.passes.front().forward;
  const Study trained = as_trained(study);
  RestOfStep rest;
  Estimate<Seconds> products{{}, {}, {}, Evidence::measured};
  for (const RestTerm term : kEnumerators<RestTerm>) {
    std::optional<RestRow> row = written_row(study, workload, term);
    if (!row) {
      const std::string missing = missing_for(study, term, pass);
      if (!missing.empty()) return {{}, missing};
      row = training_row(trained, term, pass, products);
    }
    if (term == RestTerm::attention || term == RestTerm::mlp) products += row->time;
    row->workload = workload.id;
    rest.rows.push_back(*row);
  }
  return rest;
}

double core_share(const Study& study, const Work& work) {
  if (has_training_shares(*study.machine)) return TrainingDevice(study).core_share(work);
  return work.core > Flops{} ? work.core / work.flops_at(IntervalEnd::value) : 0;
}

}  // namespace depthcost
