// One function for each group of keys.
#include "model/sweep/swept_key.hpp"

#include <fmt/format.h>

#include "model/base/infeasible.hpp"
#include "model/schemes/scheme.hpp"

namespace depthcost {
namespace {

void set_scheme(Study& study, const SchemePath& scheme) {
  if (!scheme.refused.empty()) throw Infeasible(scheme.refused);
  study.path = scheme.path;
  study.schedule = scheme.schedule;
}

void set_partition(Study& study, const Partition& partition) {
  Scheme& scheme = study.path.scheme;
  if (!has_block_size(scheme))
    throw Infeasible(fmt::format("scheme {} has no blocks", name(scheme)));
  set_blocks(scheme.parameters, partition);
}

void set_streams(Study& study, Count num_streams) {
  Scheme& scheme = study.path.scheme;
  if (!takes(scheme, &SchemeParameters::num_streams))
    throw Infeasible(fmt::format("scheme {} has no streams", name(scheme)));
  scheme.parameters.num_streams = num_streams;
  if (const auto problem = parameter_problem(scheme, study.path.num_layers))
    throw Infeasible(fmt::format("invalid {} '{}' for {} ({})", problem->key, num_streams,
                                 name(scheme), problem->reason));
}

void set_schedule(Study& study, Schedule schedule) {
  if (const std::string problem = schedule_problem(study.path.scheme, schedule); !problem.empty())
    throw Infeasible(fmt::format("invalid schedule '{}' ({})", name(schedule), problem));
  study.schedule = schedule;
}

}  // namespace

void apply(const Setting& setting, Study& study) {
  const Count L = study.model.num_layers;
  const Count value = setting.value;
  switch (setting.key) {
    case SweptKey::scheme:
      return set_scheme(study, setting.schemes[static_cast<std::size_t>(value)]);
    case SweptKey::block_size:
      return set_partition(study, partition_by_size(L, value));
    case SweptKey::num_blocks:
      return set_partition(study, partition_by_count(L, value, setting.remainder));
    case SweptKey::num_streams:
      return set_streams(study, value);
    case SweptKey::schedule:
      return set_schedule(study, static_cast<Schedule>(value));
    case SweptKey::sequences:
      study.decode->sequences = {value};
      return;
    case SweptKey::context:
      study.decode->context = value;
      return;
    case SweptKey::prompt_tokens:
      if (value == 0) return study.decode->prompt.reset();
      if (!study.decode->prompt) study.decode->prompt.emplace();
      study.decode->prompt->tokens = value;
      return;
    case SweptKey::prefill_tokens:
      study.prefill->tokens = value;
      return;
    case SweptKey::prefill_chunk:
      study.prefill->chunk = value;
      return;
    case SweptKey::sequence_shards:
      study.prefill->sequence_shards = value;
      return;
  }
}

}  // namespace depthcost
