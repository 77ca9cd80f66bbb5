// The enumeration of pipeline transitions. See pipeline.hpp.
#include "model/pipeline/pipeline.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>

#include "model/base/infeasible.hpp"

namespace depthcost {
namespace {

void check_chunks(const PipelineLayout& layout) {
  const auto num_chunks = static_cast<Count>(layout.chunk_layers.size());
  const Count P = layout.num_stages;
  const Count V = layout.num_virtual_stages;
  // A quotient and not the product P V: the product of two counts from a scenario may overflow.
  if (P < 1 || V < 1 || num_chunks % P != 0 || num_chunks / P != V) {
    throw Infeasible("invalid chunk_layers of length '" + std::to_string(num_chunks) +
                     "' (must have one entry for each of the " + std::to_string(P) + " x " +
                     std::to_string(V) + " chunks)");
  }
}

/// Entry c is the boundary where chunk c starts; the last entry is the end of the model.
std::vector<Boundary> chunk_boundaries(const PipelineLayout& layout,
                                       std::span<const Count> block_sizes) {
  check_layout(layout, std::accumulate(block_sizes.begin(), block_sizes.end(), Count{0}));
  std::vector<Boundary> boundaries;
  boundaries.reserve(layout.chunk_layers.size() + 1);
  Boundary here;
  boundaries.push_back(here);
  std::size_t block = 0;
  for (const Count num_layers : layout.chunk_layers) {
    here.open_layers += num_layers;
    while (block < block_sizes.size() && here.open_layers >= block_sizes[block]) {
      here.open_layers -= block_sizes[block++];
    }
    here.completed_blocks = static_cast<Count>(block);
    boundaries.push_back(here);
  }
  return boundaries;
}

/// What a stage knows is always a prefix of the block ids: it entered its previous chunk with the
/// whole history, and the blocks that it completed there follow without a gap. So one id is enough.
Count first_block_sent(const std::vector<Boundary>& boundaries, std::size_t receiver,
                       std::size_t num_stages, const Payload& payload) {
  const std::size_t v = virtual_stage_of_chunk(receiver, num_stages);
  if (payload.cache == Cache::none || v == 0) {
    return payload.embedding == Embedding::sent ? 0 : 1;
  }
  const std::size_t previous_chunk =
      chunk_of_stage(stage_of_chunk(receiver, num_stages), v - 1, num_stages);
  const std::size_t known = payload.cache == Cache::own ? previous_chunk + 1 : previous_chunk;
  return boundaries[known].completed_blocks + 1;
}

void append(PipelineTraffic& traffic, const Transition& transition) {
  traffic.total += transition.vectors;
  traffic.peak = std::max(traffic.peak, transition.vectors);
  traffic.transitions.push_back(transition);
}

[[noreturn]] void refuse_chunks(const std::string& num_chunks, Count decoder_layers,
                                Count layers_per_decoder_layer) {
  const std::string unit = layers_per_decoder_layer == 1 ? "layers" : "decoder layers";
  throw Infeasible("invalid number of pipeline chunks '" + num_chunks + "' (must be 1 to " +
                   std::to_string(decoder_layers) + ", the number of " + unit +
                   "; write chunk_layers to leave chunks empty)");
}

}  // namespace

std::vector<std::size_t> chunks_of_stage(std::size_t stage, std::size_t num_stages,
                                         std::size_t num_chunks) {
  std::vector<std::size_t> chunks;
  for (std::size_t v = 0; v < num_chunks / num_stages; ++v)
    chunks.push_back(chunk_of_stage(stage, v, num_stages));
  return chunks;
}

void check_layout(const PipelineLayout& layout, Count num_layers) {
  check_chunks(layout);
  Count sum = 0;
  for (const Count n : layout.chunk_layers) {
    if (n < 0) {
      throw Infeasible("invalid chunk_layers entry '" + std::to_string(n) +
                       "' (must not be negative)");
    }
    sum += n;
  }
  if (sum != num_layers) {
    throw Infeasible("invalid chunk_layers (must add up to the model's " +
                     std::to_string(num_layers) + " layers, but add up to " + std::to_string(sum) +
                     ")");
  }
}

PipelineTraffic pipeline_traffic(const PipelineLayout& layout, std::span<const Count> block_sizes,
                                 const Payload& payload) {
  const std::vector<Boundary> boundaries = chunk_boundaries(layout, block_sizes);
  const auto num_stages = static_cast<std::size_t>(layout.num_stages);
  const std::size_t num_chunks = layout.chunk_layers.size();
  PipelineTraffic traffic;
  traffic.transitions.reserve(num_chunks - 1);
  for (std::size_t receiver = 1; receiver < num_chunks; ++receiver) {
    const Boundary here = boundaries[receiver];
    Transition transition{
        .first_block = first_block_sent(boundaries, receiver, num_stages, payload),
        .end_block = here.completed_blocks + 1,
        .open_layers = here.open_layers};
    if (num_stages > 1) {
      const Count num_blocks = transition.end_block - transition.first_block;
      const bool sends_partial = payload.partial == PartialSum::sent && here.open_layers > 0;
      transition.vectors = num_blocks + (sends_partial ? 1 : 0);
    }
    append(traffic, transition);
  }
  return traffic;
}

PipelineTraffic uniform_traffic(const PipelineLayout& layout, Count vectors_per_transition) {
  return traffic_by_layer(layout, [=](Count) { return vectors_per_transition; });
}

PipelineTraffic traffic_by_layer(const PipelineLayout& layout,
                                 const std::function<Count(Count)>& vectors) {
  check_chunks(layout);
  PipelineTraffic traffic;
  traffic.transitions.reserve(layout.chunk_layers.size() - 1);
  Count layers_before = 0;
  for (std::size_t receiver = 1; receiver < layout.chunk_layers.size(); ++receiver) {
    layers_before += layout.chunk_layers[receiver - 1];
    append(traffic, Transition{.vectors = layout.num_stages > 1 ? vectors(layers_before) : 0});
  }
  return traffic;
}

std::vector<Count> cached_blocks_per_stage(const PipelineLayout& layout,
                                           std::span<const Count> block_sizes) {
  const std::vector<Boundary> boundaries = chunk_boundaries(layout, block_sizes);
  const auto num_stages = static_cast<std::size_t>(layout.num_stages);
  std::vector<Count> blocks;
  blocks.reserve(num_stages);
  for (std::size_t stage = 0; stage < num_stages; ++stage) {
    const auto chunks = chunks_of_stage(stage, num_stages, layout.chunk_layers.size());
    blocks.push_back(boundaries[chunks.back()].completed_blocks + 1);
  }
  return blocks;
}

std::vector<Count> uncached_copies_per_stage(const PipelineLayout& layout,
                                             std::span<const Count> block_sizes) {
  const std::vector<Boundary> boundaries = chunk_boundaries(layout, block_sizes);
  const auto num_stages = static_cast<std::size_t>(layout.num_stages);
  std::vector<Count> copies(num_stages, 0);
  for (std::size_t chunk = 0; chunk < layout.chunk_layers.size(); ++chunk) {
    copies[stage_of_chunk(chunk, num_stages)] += boundaries[chunk].completed_blocks + 1;
  }
  return copies;
}

std::vector<Count> even_chunks(Count decoder_layers, Count layers_per_decoder_layer,
                               Count num_chunks) {
  if (num_chunks < 1 || num_chunks > decoder_layers) {
    refuse_chunks(std::to_string(num_chunks), decoder_layers, layers_per_decoder_layer);
  }
  const Count even_share = decoder_layers / num_chunks;
  const Count num_larger = decoder_layers % num_chunks;
  std::vector<Count> chunks(static_cast<std::size_t>(num_chunks),
                            even_share * layers_per_decoder_layer);
  for (std::size_t chunk = 0; chunk < static_cast<std::size_t>(num_larger); ++chunk) {
    chunks[chunk] += layers_per_decoder_layer;
  }
  return chunks;
}

PipelineLayout even_layout(Count num_stages, Count num_virtual_stages, Count decoder_layers,
                           Count layers_per_decoder_layer) {
  const Count P = num_stages;
  const Count V = num_virtual_stages;
  if (P < 1 || V < 1 || P > decoder_layers / V) {
    refuse_chunks(std::to_string(P) + " x " + std::to_string(V), decoder_layers,
                  layers_per_decoder_layer);
  }
  return {.num_stages = P,
          .num_virtual_stages = V,
          .chunk_layers = even_chunks(decoder_layers, layers_per_decoder_layer, P * V)};
}

}  // namespace depthcost
