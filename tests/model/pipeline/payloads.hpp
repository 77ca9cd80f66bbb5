// Every kind of payload across a pipeline boundary, and short forms for tests.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "model/pipeline/pipeline.hpp"

namespace depthcost::test {

using Counts = std::vector<Count>;

inline constexpr std::array kCaches = {Cache::none, Cache::received, Cache::own};
inline constexpr std::array kEmbeddings = {Embedding::omitted, Embedding::sent};
inline constexpr std::array kPartialSums = {PartialSum::omitted, PartialSum::sent};

inline std::size_t as_index(Count n) { return static_cast<std::size_t>(n); }

inline std::vector<Payload> every_payload() {
  std::vector<Payload> payloads;
  for (const Cache cache : kCaches) {
    for (const Embedding embedding : kEmbeddings) {
      for (const PartialSum partial : kPartialSums) payloads.push_back({cache, embedding, partial});
    }
  }
  return payloads;
}

inline Counts vectors_of(const PipelineTraffic& traffic) {
  Counts vectors;
  for (const Transition& t : traffic.transitions) vectors.push_back(t.vectors);
  return vectors;
}

}  // namespace depthcost::test
