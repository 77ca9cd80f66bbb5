// Transition by transition, in each pass.
#include "model/step/stage_sends.hpp"

#include <algorithm>

#include "model/step/scheme_payload.hpp"

namespace depthcost {
namespace {

/// One message of a rank with `share` of its vectors to send, and of one with all of them.
std::optional<Estimate<Seconds>> message_time(const Study& study, TransferScope scope, double share,
                                              Bytes all) {
  const auto least = transfer_time(*study.machine, TransferKind::send, scope, 2, share * all);
  const auto most = transfer_time(*study.machine, TransferKind::send, scope, 2, all);
  if (!least || !most) return std::nullopt;
  return Estimate<Seconds>{least->low, least->value, most->high,
                           weakest(least->evidence, most->evidence)};
}

}  // namespace

TransferScope scope_between_stages(const Study& study, Count ranks, Count from_stage,
                                   Count to_stage) {
  const auto [first, last] = std::minmax(from_stage, to_stage);
  const Count per_node = study.machine->devices_per_node;
  const bool is_one_node = first * ranks / per_node == ((last + 1) * ranks - 1) / per_node;
  return first == last || is_one_node ? TransferScope::node : TransferScope::network;
}

Estimate<Seconds> send_time(const Study& study, const ResidualPath& path,
                            const Workload& workload) {
  Estimate<Seconds> all{{}, {}, {}, Evidence::measured};
  if (!study.pipeline || study.pipeline->num_stages == 1) return all;
  const PipelineLayout& layout = *study.pipeline;
  // Replicas are engines of their own, so that a stage is what one replica has of it.
  const Count ranks = study.tensor_parallel_size * study.context_parallel_size;
  const auto stage = [&](std::size_t chunk) {
    return stage_of_chunk(static_cast<Count>(chunk), layout.num_stages);
  };
  const auto transitions = scheme_payload(layout, path, Cache::received).transitions;
  for (const Pass& pass : workload.passes) {
    const double tokens = pass.execution.tokens;
    const double least = pass.forward.tokens() / as_double(study.tensor_parallel_size);
    for (std::size_t i = 0; i < transitions.size(); ++i) {
      if (stage(i) == stage(i + 1)) continue;
      const Bytes bytes = tokens * payload_bytes(study, workload.id.kind, transitions[i].vectors);
      const auto time =
          message_time(study, scope_between_stages(study, ranks, stage(i), stage(i + 1)),
                       std::min(1.0, least / tokens), bytes);
      if (time)
        all += pass.repeats * *time;
      else
        all.evidence = Evidence::assumed;
    }
  }
  return all;
}

}  // namespace depthcost
