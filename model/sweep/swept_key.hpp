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
enum class SweptKey : std::uint8_t {
  scheme,
  block_size,
  num_blocks,
  num_streams,
  schedule,
  sequences,
  context,
  prompt_tokens,
  prefill_tokens,
  prefill_chunk,
  sequence_shards,
};

/// The path of the key in a scenario.
template <>
inline constexpr auto kNames<SweptKey> = other_names<SweptKey>(
    "residual.scheme", "residual.block_size", "residual.num_blocks", "residual.num_streams",
    "residual.schedule", "workload.decode.sequences", "workload.decode.context",
    "workload.decode.prefill_tokens", "workload.prefill.tokens", "workload.prefill.chunk",
    "workload.prefill.sequence_shards");

/// Whether its values compete for the best; each value of another key has a best choice of its own.
constexpr bool is_choice(SweptKey key) { return key <= SweptKey::schedule; }

/// Whether its values stand for names: schemes and schedules.
constexpr bool is_named(SweptKey key) {
  return key == SweptKey::scheme || key == SweptKey::schedule;
}

/// What the scenario is under one scheme.
struct SchemePath {
  std::string scheme;
  std::string refused = {};  // why it cannot be; then nothing below is known
  ResidualPath path = {};
  Schedule schedule = Schedule::fused;
};

/// One value of a swept key. A schedule is its enumerator's number, a scheme its place among
/// `schemes`.
struct Setting {
  SweptKey key = SweptKey::block_size;
  Count value = 0;
  Remainder remainder = Remainder::paper;  // of num_blocks
  std::span<const SchemePath> schemes = {};
};

/// Changes the study, which must have the workload that the key belongs to. Throws
/// Infeasible for what cannot exist.
void apply(const Setting& setting, Study& study);

}  // namespace depthcost
