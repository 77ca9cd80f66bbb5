// What can be varied in a study without reading its scenario again.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/base/enum_names.hpp"
#include "model/step/study.hpp"

namespace depthcost {

/// The first five are choices: they compete. The others are circumstances: what is best is asked
/// under each of them.
enum class Knob : std::uint8_t {
  scheme,
  block_size,
  num_blocks,
  num_streams,
  schedule,
  sequences,
  context,
  prefill_tokens,
  prefill_chunk,
  sequence_shards,
};

/// A knob is named by its key in a scenario.
template <>
inline constexpr auto kNames<Knob> = other_names<Knob>(
    "residual.scheme", "residual.block_size", "residual.num_blocks", "residual.num_streams",
    "residual.schedule", "workload.decode.sequences", "workload.decode.context",
    "workload.prefill.tokens", "workload.prefill.chunk", "workload.prefill.sequence_shards");

/// Whether its values stand for names: schemes and schedules.
constexpr bool is_named(Knob knob) { return knob == Knob::scheme || knob == Knob::schedule; }

/// What the scenario is under one scheme.
struct SchemePath {
  std::string scheme;
  std::string refused = {};  // why it cannot be; then nothing below is known
  ResidualPath path = {};
  Schedule schedule = Schedule::fused;
};

/// One value of a knob. A schedule is its enumerator's number, a scheme its place among `schemes`.
struct Setting {
  Knob knob = Knob::block_size;
  Count value = 0;
  Remainder remainder = Remainder::paper;  // of num_blocks
  std::span<const SchemePath> schemes = {};
};

/// Changes the study. It must have what the knob is of: a decode or prefill workload. Throws
/// Infeasible for what cannot exist.
void apply(const Setting& setting, Study& study);

}  // namespace depthcost
