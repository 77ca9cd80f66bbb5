// Attention joins its tensor ranks, an MLP too; experts beyond them dispatch and combine.
#include "model/step/collectives.hpp"

#include <algorithm>
#include <cmath>

namespace depthcost {
namespace {

/// Rows in fp8 have a scale in f32 for 128 elements. [deepep]
constexpr double kElementsPerScale = 128;

/// Tensor ranks join the tokens of a pass behind a layer.
void join(const Study& study, WorkloadKind workload, const ForwardPass& pass, double calls,
          std::vector<Collective>& all) {
  const Count tensor = study.tensor_parallel_size;
  if (tensor == 1) return;
  const auto d = static_cast<double>(study.model.hidden_size);
  const Bytes vectors = storage(pass.tokens() * d, study.model.dtype);
  if (residual_shards(study, workload) > 1) {
    all.push_back({TransferKind::reduce_scatter, tensor, vectors, calls});
    all.push_back({TransferKind::all_gather, tensor, vectors, calls});
  } else {
    all.push_back({TransferKind::all_reduce, tensor, vectors, calls});
  }
}

/// How many of the `places` that share out the experts may have one of a token's, in the mean over
/// all choices of t of G groups.
///   p t / G                                where a group lies in several places
///   p (1 - C(G - G/p, t) / C(G, t))        where a place has several groups
double reach_of_token(double places, const ExpertMlp& experts) {
  const double groups = as_double(experts.num_groups);
  const double chosen = as_double(experts.groups_of_token);
  if (places >= groups) return places * chosen / groups;
  const double in_a_place = groups / places;
  double misses = 1;
  for (double i = 0; i < chosen; ++i)
    misses *= std::max(0.0, groups - in_a_place - i) / (groups - i);
  return places * (1 - misses);
}

/// How many of the `places` that share out the experts have one of a token's, in the mean over all
/// choices from the r places that it reaches.
///   r (1 - (1 - 1/r)^k)
double places_of_token(double places, const ExpertMlp& experts) {
  const double reach = reach_of_token(places, experts);
  return reach * (1 - std::pow(1 - 1 / reach, as_double(experts.num_active)));
}

/// How often a token is sent. The kernels of a prefill send it once to each rank, or over a network
/// to each node, which hands it on inside; those of a decode step send it to every expert. [deepep]
double copies_of_token(const Study& study, WorkloadKind workload, const ExpertMlp& experts) {
  if (workload != WorkloadKind::prefill) return as_double(experts.num_active);
  const bool is_spread = study.machine && nodes_of_experts(study) > 1;
  return is_spread ? nodes_of_token(study, experts)
                   : places_of_token(as_double(study.expert_parallel_size), experts);
}

/// A rank sends its share of the tokens that it holds, in rows as wide as the experts take.
void dispatch_and_combine(const Study& study, WorkloadKind workload, const ForwardPass& pass,
                          const ExpertMlp& experts, double calls, std::vector<Collective>& all) {
  const double visits = pass.tokens() /
                        static_cast<double>(ranks_of_tokens(sharding_of(study, pass))) *
                        copies_of_token(study, workload, experts);
  const Count width = experts.latent_width.value_or(study.model.hidden_size);
  const double elements = visits * static_cast<double>(width);
  const auto push = [&](Dtype dtype) {
    all.push_back(
        {TransferKind::all_to_all, study.expert_parallel_size, sent_rows(elements, dtype), calls});
  };
  push(dispatch_dtype(study));
  push(study.model.dtype);
}

}  // namespace

Bytes sent_rows(double elements, Dtype dtype) {
  const double scales = dtype == Dtype::fp8 ? elements / kElementsPerScale : 0;
  return storage(elements, dtype) + storage(scales, Dtype::f32);
}

double nodes_of_experts(const Study& study) {
  return std::ceil(as_double(study.expert_parallel_size) /
                   as_double(study.machine->devices_per_node));
}

double nodes_of_token(const Study& study, const ExpertMlp& experts) {
  return places_of_token(nodes_of_experts(study), experts);
}

bool experts_are_spread(const Study& study) {
  if (study.expert_parallel_size <= study.tensor_parallel_size) return false;
  return !study.model.architecture || has_experts(*study.model.architecture);
}

Dtype dispatch_dtype(const Study& study) {
  if (study.dispatch_dtype) return *study.dispatch_dtype;
  const bool is_fp8 =
      study.model.architecture && study.model.architecture->expert_dtype == WeightDtype::fp8;
  return is_fp8 ? Dtype::fp8 : study.model.dtype;
}

std::vector<Collective> collectives_of(const Study& study, WorkloadKind workload,
                                       const ForwardPass& pass) {
  std::vector<Collective> all;
  for (const AttentionLayers& layers : study.model.architecture->attention)
    join(study, workload, pass, static_cast<double>(layers.num_decoder_layers), all);
  for (const MlpLayers& layers : study.model.architecture->mlp) {
    const auto calls = static_cast<double>(layers.num_decoder_layers);
    join(study, workload, pass, calls, all);
    const auto* experts = std::get_if<ExpertMlp>(&layers.mlp);
    if (experts != nullptr && experts_are_spread(study))
      dispatch_and_combine(study, workload, pass, *experts, calls, all);
  }
  return all;
}

}  // namespace depthcost
