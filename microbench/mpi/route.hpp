// Which layers a chunk runs, and which vectors a transition between two chunks carries.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "microbench/mpi/plan_file.hpp"

namespace depthcost::bench {

/// A completed block, or a running sum: that of an unfinished block, or residual stream `id` of a
/// fixed payload.
struct VectorId {
  enum class Kind { block, sum };
  Kind kind = Kind::block;
  Count id = 0;

  friend bool operator==(const VectorId&, const VectorId&) = default;
};

/// "block 3", "the partial sum".
std::string name(const VectorId& vector);

/// Layers first .. last, from 1; none where last < first.
struct LayerRange {
  Count first = 1;
  Count last = 0;

  bool is_empty() const { return last < first; }
};

/// A vector that is left out of a transition in both directions, so that the run must fail.
struct Withheld {
  VectorId vector;
  Count transition = 0;
};

class Route {
 public:
  explicit Route(const PipelinePlan& plan);

  Count num_layers() const { return num_layers_; }
  Count num_chunks() const { return static_cast<Count>(chunks_.size()); }
  Count num_blocks() const { return static_cast<Count>(blocks_.size()); }
  bool has_blocks() const { return !blocks_.empty(); }
  Cache cache() const { return cache_; }
  const PipelineTraffic& traffic() const { return traffic_; }
  const LayerRange& chunk(Count c) const { return chunks_[static_cast<std::size_t>(c)]; }

  /// Layers of block n = 1 .. N.
  const LayerRange& block(Count n) const { return blocks_[static_cast<std::size_t>(n - 1)]; }
  /// n of the block that holds layer l.
  Count block_of(Count layer) const { return block_of_[static_cast<std::size_t>(layer)]; }

  /// Number of running sums: 1 in AttnRes, else the number of vectors of the payload.
  Count num_sums() const { return num_sums_; }
  /// The first layer of the sum that layer l attends to; 0 is the embedding.
  Count sum_begins(Count layer) const { return has_blocks() ? block(block_of(layer)).first : 0; }

  /// The vectors in the order of the message.
  std::vector<VectorId> vectors_on(Count transition) const;

  /// Returns false where the transition does not carry the vector.
  bool withhold(const Withheld& withheld);

 private:
  Count num_layers_ = 0;
  Count num_sums_ = 1;
  Cache cache_ = Cache::none;
  PipelineTraffic traffic_;
  std::vector<LayerRange> chunks_;
  std::vector<LayerRange> blocks_;
  std::vector<Count> block_of_;  // by layer, 0 unused
  std::optional<Withheld> withheld_;
};

}  // namespace depthcost::bench
