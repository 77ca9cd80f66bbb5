// Layers are counted from 1; 0 is the embedding, L + 1 the output aggregation.
#include "microbench/mpi/route.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace depthcost::bench {
namespace {

std::vector<LayerRange> ranges_of(const std::vector<Count>& sizes) {
  std::vector<LayerRange> ranges;
  Count next = 1;
  for (const Count size : sizes) {
    ranges.push_back({next, next + size - 1});
    next += size;
  }
  return ranges;
}

}  // namespace

std::string name(const VectorId& vector) {
  if (vector.kind == VectorId::Kind::block) return fmt::format("block {}", vector.id);
  return vector.id == 0 ? "the partial sum" : fmt::format("sum {}", vector.id);
}

Route::Route(const PipelinePlan& plan)
    : traffic_(traffic_of(plan)), chunks_(ranges_of(plan.layout.chunk_layers)) {
  num_layers_ = chunks_.back().last;
  if (const auto* fixed = std::get_if<FixedPayload>(&plan.payload)) {
    num_sums_ = fixed->vectors;
    return;
  }
  const auto& payload = std::get<BlockPayload>(plan.payload);
  cache_ = payload.cache;
  blocks_ = ranges_of(payload.block_sizes);
  block_of_.assign(1, 0);
  for (Count n = 1; n <= num_blocks(); ++n)
    block_of_.insert(block_of_.end(), static_cast<std::size_t>(block(n).last - block(n).first + 1),
                     n);
}

std::vector<VectorId> Route::vectors_on(Count transition) const {
  const Transition& here = traffic_.transitions[static_cast<std::size_t>(transition)];
  std::vector<VectorId> vectors;
  if (has_blocks())
    for (Count id = here.first_block; id < here.end_block; ++id)
      vectors.push_back({VectorId::Kind::block, id});
  if (!has_blocks() || here.open_layers > 0)
    for (Count id = 0; id < num_sums_; ++id) vectors.push_back({VectorId::Kind::sum, id});
  if (withheld_ && withheld_->transition == transition) std::erase(vectors, withheld_->vector);
  return vectors;
}

bool Route::withhold(const Withheld& withheld) {
  if (withheld.transition < 0 || withheld.transition >= num_chunks() - 1) return false;
  const std::vector<VectorId> vectors = vectors_on(withheld.transition);
  const bool is_carried =
      std::find(vectors.begin(), vectors.end(), withheld.vector) != vectors.end();
  if (is_carried) withheld_ = withheld;
  return is_carried;
}

}  // namespace depthcost::bench
