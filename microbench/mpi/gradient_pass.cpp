// Backward: every layer adds to the gradient of each of its sources. A gradient goes back to where
// its vector came from. The gradient of a block that a stage had cached waits there for the chunk
// that the block was sent to. So the gradient that comes to the chunk that formed the vector is the
// sum over every later layer and the output aggregation, which is layer L + 1. That is checked.
#include <fmt/format.h>

#include <algorithm>

#include "microbench/mpi/chunk_passes.hpp"

namespace depthcost::bench {
namespace {

using Kind = VectorId::Kind;

/// A partial sum has the gradients of the block that it becomes.
std::uint32_t seed(const ChunkPass& at, Count id) {
  return seed_of(Content::gradients, at.micro_batch, id);
}

}  // namespace

Region GradientPass::run(const ChunkPass& at, Region&& message) {
  Vectors& gradients = kept_[at.micro_batch];
  if (at.chunk == route_.num_chunks() - 1)
    begin(gradients, at);
  else
    unpack(gradients, at, std::move(message));
  LayerRange here = route_.chunk(at.chunk);
  while (!here.is_empty()) {
    LayerRange part = here;
    if (route_.has_blocks())
      part.first = std::max(here.first, route_.block(route_.block_of(here.last)).first);
    run_layers(gradients, part, at);
    here.last = part.first - 1;
    messenger_.progress();
  }
  if (at.chunk > 0) return pack(gradients, at);
  if (route_.has_blocks())
    check_content(require(gradients, {Kind::block, 0}, at, "backward"), seed(at, 0),
                  layers(1, route_.num_layers() + 1), {Kind::block, 0}, at, "backward");
  gradients.blocks.clear();
  gradients.sums.clear();
  kept_.erase(at.micro_batch);
  return {};
}

void GradientPass::begin(Vectors& gradients, const ChunkPass& at) {
  const LayerRange output{route_.num_layers() + 1, route_.num_layers() + 1};
  if (route_.has_blocks()) {
    attend_to_blocks(gradients, route_.num_blocks() + 1, output, at);
    return;
  }
  for (Count id = 0; id < route_.num_sums(); ++id) {
    const auto [place, is_new] = gradients.sums.insert_or_assign(id, zeros());
    add_layers(elements(place->second), seed(at, id), layers(output.first, output.last));
  }
}

void GradientPass::unpack(Vectors& gradients, const ChunkPass& at, Region message) {
  const std::vector<VectorId> carried = route_.vectors_on(at.chunk);
  check_size(message, carried.size(), at);
  gradients.sums.clear();
  for (std::size_t i = 0; i < carried.size(); ++i) {
    Region arrived = messenger_.vector(vector_bytes());
    read(arrived, message, i);
    const auto [place, is_new] = of_kind(gradients, carried[i]).try_emplace(carried[i].id);
    std::swap(place->second, arrived);
    if (is_new) continue;
    add(elements(place->second), elements(arrived));
  }
}

/// The layers are of one block, or any of a fixed payload.
void GradientPass::run_layers(Vectors& gradients, LayerRange layers_here, const ChunkPass& at) {
  const std::string where = fmt::format("backward of layer {}", layers_here.first);
  const Count L = route_.num_layers();
  const Count n = route_.has_blocks() ? route_.block_of(layers_here.last) : 0;
  if (route_.has_blocks() && route_.block(n).last == layers_here.last)
    close_block(gradients, n, at);
  if (route_.has_blocks()) attend_to_blocks(gradients, n, layers_here, at);
  // The first layer of a block begins its sum, and has no sum to attend to.
  const Count first = std::max(layers_here.first, route_.sum_begins(layers_here.last) + 1);
  for (Count id = 0; id < route_.num_sums(); ++id) {
    const VectorId sum{Kind::sum, id};
    const std::uint32_t of = seed(at, route_.has_blocks() ? n : id);
    Region& gradient = require(gradients, sum, at, where);
    add_layers(elements(gradient), of, layers(first, layers_here.last));
    check_content(gradient, of, layers(first, L + 1), sum, at, where);
  }
  if (route_.sum_begins(layers_here.first) == layers_here.first) gradients.sums.clear();
}

void GradientPass::attend_to_blocks(Vectors& gradients, Count num_blocks, LayerRange layers_here,
                                    const ChunkPass& at) {
  for (Count id = 0; id < num_blocks; ++id) {
    const auto [place, is_new] = gradients.blocks.try_emplace(id);
    if (is_new) place->second = zeros();
    add_layers(elements(place->second), seed(at, id), layers(layers_here.first, layers_here.last));
  }
}

/// The sum that became the block has its gradient.
void GradientPass::close_block(Vectors& gradients, Count block, const ChunkPass& at) {
  const std::string where = fmt::format("backward of layer {}", route_.block(block).last);
  const VectorId id{Kind::block, block};
  Region& gradient = require(gradients, id, at, where);
  check_content(gradient, seed(at, block),
                layers(route_.block(block).last + 1, route_.num_layers() + 1), id, at, where);
  gradients.sums.clear();
  gradients.sums.emplace(0, std::move(gradient));
  gradients.blocks.erase(block);
}

Region GradientPass::pack(Vectors& gradients, const ChunkPass& at) {
  const std::vector<VectorId> carried = route_.vectors_on(at.chunk - 1);
  Region message = messenger_.message(carried.size() * vector_bytes());
  for (std::size_t i = 0; i < carried.size(); ++i) {
    std::map<Count, Region>& place = of_kind(gradients, carried[i]);
    const auto [gradient, is_new] = place.try_emplace(carried[i].id);
    // A chunk without layers only hands a vector on, and adds nothing to its gradient.
    if (is_new) gradient->second = zeros();
    write(message, i, gradient->second);
    place.erase(gradient);
  }
  return message;
}

}  // namespace depthcost::bench
