// Forward: layer outputs are added to the running sum, and finished sums become blocks.
#include <fmt/format.h>

#include "microbench/mpi/chunk_passes.hpp"

namespace depthcost::bench {
namespace {

using Kind = VectorId::Kind;

/// All blocks are sums of the same layer outputs. The residual streams of a fixed payload differ.
std::uint32_t seed(const ChunkPass& at, const VectorId& id) {
  return seed_of(Content::values, at.micro_batch, id.kind == Kind::sum ? id.id : 0);
}

}  // namespace

Region ForwardPass::run(const ChunkPass& at, Region&& message) {
  Vectors& vectors = kept_[at.micro_batch];
  if (at.chunk == 0)
    embed(vectors, at);
  else
    unpack(vectors, at, std::move(message));
  const LayerRange& here = route_.chunk(at.chunk);
  for (Count layer = here.first; layer <= here.last; ++layer) {
    check_sources(vectors, layer, at);
    run_layer(vectors, layer, at);
    messenger_.progress();
  }
  const bool is_last = at.chunk == route_.num_chunks() - 1;
  if (is_last) check_sources(vectors, route_.num_layers() + 1, at);
  Region output = is_last ? Region{} : pack(vectors, at);
  forget(vectors, at);
  return output;
}

void ForwardPass::embed(Vectors& vectors, const ChunkPass& at) {
  const Kind kind = route_.has_blocks() ? Kind::block : Kind::sum;
  for (Count id = 0; id < (route_.has_blocks() ? 1 : route_.num_sums()); ++id) {
    Region vector = messenger_.vector(vector_bytes());
    set_layers(elements(vector), seed(at, {kind, id}), layers(0, 0));
    of_kind(vectors, {kind, id}).insert_or_assign(id, std::move(vector));
  }
}

void ForwardPass::unpack(Vectors& vectors, const ChunkPass& at, Region message) {
  const std::vector<VectorId> carried = route_.vectors_on(at.chunk - 1);
  check_size(message, carried.size(), at);
  for (std::size_t i = 0; i < carried.size(); ++i) {
    Region vector = messenger_.vector(vector_bytes());
    read(vector, message, i);
    of_kind(vectors, carried[i]).insert_or_assign(carried[i].id, std::move(vector));
  }
}

void ForwardPass::check_sources(Vectors& vectors, Count layer, const ChunkPass& at) {
  const bool is_output = layer > route_.num_layers();
  const std::string where = is_output ? "output aggregation" : fmt::format("layer {}", layer);
  const Count num_blocks = !route_.has_blocks() ? 0
                           : is_output          ? route_.num_blocks() + 1
                                                : route_.block_of(layer);
  for (Count id = 0; id < num_blocks; ++id) {
    const VectorId block{Kind::block, id};
    const LayerRange summed = id == 0 ? LayerRange{0, 0} : route_.block(id);
    check_content(require(vectors, block, at, where), seed(at, block),
                  layers(summed.first, summed.last), block, at, where);
  }
  if (route_.has_blocks() && (is_output || route_.sum_begins(layer) == layer)) return;
  const Count begins = is_output ? 0 : route_.sum_begins(layer);
  for (Count id = 0; id < route_.num_sums(); ++id) {
    const VectorId sum{Kind::sum, id};
    check_content(require(vectors, sum, at, where), seed(at, sum), layers(begins, layer - 1), sum,
                  at, where);
  }
}

void ForwardPass::run_layer(Vectors& vectors, Count layer, const ChunkPass& at) {
  if (route_.sum_begins(layer) == layer) vectors.sums.insert_or_assign(0, zeros());
  for (auto& [id, sum] : vectors.sums)
    add_layers(elements(sum), seed(at, {Kind::sum, id}), layers(layer, layer));
  if (!route_.has_blocks()) return;
  const Count block = route_.block_of(layer);
  if (route_.block(block).last != layer) return;
  vectors.blocks.insert_or_assign(block, std::move(vectors.sums.at(0)));
  vectors.sums.clear();
}

Region ForwardPass::pack(Vectors& vectors, const ChunkPass& at) {
  const std::vector<VectorId> carried = route_.vectors_on(at.chunk);
  Region message = messenger_.message(carried.size() * vector_bytes());
  for (std::size_t i = 0; i < carried.size(); ++i)
    write(message, i,
          require(vectors, carried[i], at, fmt::format("message to chunk {}", at.chunk + 1)));
  return message;
}

/// Keeps what the cache keeps for a later chunk of this stage.
void ForwardPass::forget(Vectors& vectors, const ChunkPass& at) {
  vectors.sums.clear();
  const Count P = messenger_.ranks().size;
  const bool is_last_here =
      virtual_stage_of_chunk(at.chunk, P) == virtual_stage_of_chunk(route_.num_chunks() - 1, P);
  if (is_last_here || route_.cache() == Cache::none) {
    vectors.blocks.clear();
    if (is_last_here) kept_.erase(at.micro_batch);
    return;
  }
  if (route_.cache() == Cache::own) return;
  const LayerRange& here = route_.chunk(at.chunk);
  for (auto it = vectors.blocks.begin(); it != vectors.blocks.end();) {
    const Count closes = it->first == 0 ? 0 : route_.block(it->first).last;
    if (closes < here.first || closes > here.last) {
      ++it;
      continue;
    }
    it = vectors.blocks.erase(it);
  }
}

}  // namespace depthcost::bench
