// What crosses pipeline boundaries for the sake of the residual path: the paper's two closed forms,
// and the enumeration of every transition, for boundaries that fall anywhere. From [attnres]
// Sec. 4.1.
//
//   chunk       c = 0 .. PV-1, runs on stage c mod P in virtual stage c div P: stage_of_chunk()
//   transition  i goes from chunk i to chunk i + 1
//   block ids   0 is the embedding b_0, 1 .. N are the AttnRes blocks
//
// P = 3, V = 2, blocks of two chunks; below each chunk the block ids that its stage holds on entry:
//
//   chunk     0      1      2      3      4       5
//   stage     0      1      2      0      1       2
//   layers   |---- b_1 ----|---- b_2 ----|---- b_3 ----|
//   on entry  0      0      0,1    0,1    0,1,2   0,1,2      sent to chunk 4, cached: only 1, 2
//
// Every count is in d-vectors per token of one micro-batch, forward; the backward pass mirrors it.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include "model/base/units.hpp"

namespace depthcost {

// Eq. 7 and Eq. 8. Both leave b_0 and unfinished partial sums out, take boundaries to be
// aligned with blocks, and are not zero at P = 1, where there is no wire: pipeline_traffic() is
// right about all three.

/// N_p, blocks that one chunk completes on average; a fraction is legal.
///   N / (P V)
/// [attnres] Sec. 4.1 ("each physical stage produces on average N_p block representations").
constexpr double blocks_per_chunk(Count num_blocks, Count num_stages, Count num_virtual_stages) {
  const double N = static_cast<double>(num_blocks);
  const double P = static_cast<double>(num_stages);
  const double V = static_cast<double>(num_virtual_stages);
  return N / (P * V);
}

/// d-vectors per token over all transitions when each carries the whole history.
///   sum_{j=1}^{C-1} j N_p = C (C - 1) / 2 N_p        C = P V
/// [attnres] Eq. 7.
constexpr double naive_traffic(Count num_stages, Count num_virtual_stages,
                               double blocks_per_chunk) {
  const double C = static_cast<double>(num_stages) * static_cast<double>(num_virtual_stages);
  const double N_p = blocks_per_chunk;
  return C * (C - 1) / 2 * N_p;
}

/// d-vectors per token over all transitions when a stage keeps the blocks that it received.
///   P (P - 1) / 2 N_p + (V - 1) P^2 N_p
/// [attnres] Eq. 8. P N_p per later transition includes the receiver's own blocks: they are sent
/// back.
constexpr double cached_traffic(Count num_stages, Count num_virtual_stages,
                                double blocks_per_chunk) {
  const double P = static_cast<double>(num_stages);
  const double V = static_cast<double>(num_virtual_stages);
  const double N_p = blocks_per_chunk;
  return (P * (P - 1) / 2 + (V - 1) * P * P) * N_p;
}

/// Which layers run where. chunk_layers[c] counts the layers (sublayers) of chunk c; zeros are
/// legal.
struct PipelineLayout {
  Count num_stages = 1;
  Count num_virtual_stages = 1;
  std::vector<Count> chunk_layers;
};

/// The stage that runs a chunk. The stages form a ring: behind the last one the first goes on.
///   c mod P      [interleaved] Sec. 2.2
template <std::integral Int>
constexpr Int stage_of_chunk(Int chunk, std::type_identity_t<Int> num_stages) {
  return chunk % num_stages;
}

/// How many chunks of its stage come before a chunk.
///   v = c div P
template <std::integral Int>
constexpr Int virtual_stage_of_chunk(Int chunk, std::type_identity_t<Int> num_stages) {
  return chunk / num_stages;
}

/// The chunk of a stage that has v chunks of that stage before it.
///   v P + p
template <std::integral Int>
constexpr Int chunk_of_stage(Int stage, std::type_identity_t<Int> virtual_stage,
                             std::type_identity_t<Int> num_stages) {
  return virtual_stage * num_stages + stage;
}

/// All chunks of a stage, in the order of the layers.
std::vector<std::size_t> chunks_of_stage(std::size_t stage, std::size_t num_stages,
                                         std::size_t num_chunks);

/// Throws Infeasible unless there are PV chunks and they hold exactly num_layers layers.
void check_layout(const PipelineLayout& layout, Count num_layers);

/// What a stage keeps between its chunks, and need not be sent again.
enum class Cache {
  none,      ///< nothing: Eq. 7
  received,  ///< what it was sent (stage 0: also b_0): Eq. 8 and Fig. 3
  own,       ///< also the blocks that it completed itself
};

/// Whether b_0 is an item to be sent, as in Fig. 3, or known everywhere, as in Eq. 7 and 8.
enum class Embedding { omitted, sent };

/// Whether the unfinished sum of a block moves too where a boundary falls inside that block.
/// Neither the equations nor Fig. 3 count it; without it the network cannot be computed.
enum class PartialSum { omitted, sent };

struct Payload {
  Cache cache = Cache::none;
  Embedding embedding = Embedding::sent;
  PartialSum partial = PartialSum::sent;
};

/// What is finished at a place between two layers.
struct Boundary {
  Count completed_blocks = 0;  ///< blocks 1 .. completed_blocks
  Count open_layers = 0;  ///< layers already summed into the next, unfinished block; 0 if aligned
};

/// The boundary after num_layers layers of equal blocks.
constexpr Boundary boundary_after(Count num_layers, Count block_size) {
  return {.completed_blocks = num_layers / block_size, .open_layers = num_layers % block_size};
}

/// d-vectors per token that a transition carries when nothing is cached.
///   completed blocks + [b_0] + [unfinished partial sum]
/// [ours], from [attnres] Eq. 6: the sources of the next layer, each once. No hidden state is sent
/// beside them, the next layer computes it.
constexpr Count naive_transition(Boundary boundary, Embedding embedding, PartialSum partial) {
  return boundary.completed_blocks + (embedding == Embedding::sent ? 1 : 0) +
         (partial == PartialSum::sent && boundary.open_layers > 0 ? 1 : 0);
}

/// One transition. The ids handed over are contiguous: first_block <= id < end_block.
struct Transition {
  Count first_block = 0;
  Count end_block = 0;
  Count open_layers = 0;  ///< > 0: a partial sum is unfinished here, whether it is sent or not
  Count vectors = 0;      ///< d-vectors per token on the wire; 0 on a single stage
};

struct PipelineTraffic {
  std::vector<Transition> transitions;  ///< PV - 1 of them
  Count total = 0;
  Count peak = 0;  ///< of one transition
};

/// Every transition of Block AttnRes. block_sizes are in layers, in order.
/// Throws Infeasible unless there are PV chunks and they hold exactly the layers of the blocks.
PipelineTraffic pipeline_traffic(const PipelineLayout& layout, std::span<const Count> block_sizes,
                                 const Payload& payload);

/// Every transition of a scheme that always hands over the same number of d-vectors.
PipelineTraffic uniform_traffic(const PipelineLayout& layout, Count vectors_per_transition);

/// Every transition of a scheme that hands over `vectors(l)` d-vectors behind l layers.
PipelineTraffic traffic_by_layer(const PipelineLayout& layout,
                                 const std::function<Count(Count)>& vectors);

/// d-vectors per token, per stage, that stay for each micro-batch in flight when each block is kept
/// once: the history on entry of the stage's last chunk, b_0 included. Blocks completed inside that
/// chunk are no part of it.
std::vector<Count> cached_blocks_per_stage(const PipelineLayout& layout,
                                           std::span<const Count> block_sizes);

/// d-vectors per token, per stage, that stay for each micro-batch in flight without a cache: every
/// chunk keeps the history that it was handed, b_0 included.
std::vector<Count> uncached_copies_per_stage(const PipelineLayout& layout,
                                             std::span<const Count> block_sizes);

/// Decoder layers spread evenly, the first chunks one larger; each counts as
/// layers_per_decoder_layer layers (2, or 1 for a model given in layers). Throws Infeasible if a
/// chunk would be empty.
std::vector<Count> even_chunks(Count decoder_layers, Count layers_per_decoder_layer,
                               Count num_chunks);

/// even_chunks() over P stages of V virtual stages each; a product P V beyond any integer is
/// refused too.
PipelineLayout even_layout(Count num_stages, Count num_virtual_stages, Count decoder_layers,
                           Count layers_per_decoder_layer);

}  // namespace depthcost
