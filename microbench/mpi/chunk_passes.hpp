// The two passes of a micro-batch over a chunk's layers. Each unpacks the message that it receives,
// adds up the vectors as its layers would, and packs the message that it sends. Every source of
// every layer is checked before the layer runs.
#pragma once

#include <map>
#include <vector>

#include "microbench/mpi/messenger.hpp"
#include "microbench/mpi/route.hpp"
#include "microbench/mpi/vector_contents.hpp"

namespace depthcost::bench {

/// How many of a vector's elements are checked: all, or so few that checking takes no time in a
/// timed step. The value is the distance between two checked elements.
enum class Checked : std::size_t { every_element = 1, samples = 1021 };

/// One micro-batch on one chunk.
struct ChunkPass {
  Count chunk = 0;
  Count micro_batch = 0;
  Checked checked = Checked::every_element;
};

struct VectorSize {
  Count bytes = 0;
  Count width = 0;  // of an element, in bytes
};

/// What a stage holds of a micro-batch: blocks and running sums, each by id.
struct Vectors {
  std::map<Count, Region> blocks;
  std::map<Count, Region> sums;
};

/// What both directions do with vectors.
class Pass {
 public:
  Pass(const Route& route, VectorSize size, Messenger& messenger)
      : route_(route), size_(size), messenger_(messenger) {}

  Count num_checked() const { return num_checked_; }

 protected:
  Elements elements(Region& vector) const { return {{vector.data(), vector.size()}, size_.width}; }
  std::size_t vector_bytes() const { return static_cast<std::size_t>(size_.bytes); }
  Region zeros();
  /// Throws RankFailure where the message is not as long as its vectors.
  void check_size(const Region& message, std::size_t num_vectors, const ChunkPass& at) const;
  /// Copy vector `i` of the message.
  void read(Region& vector, const Region& message, std::size_t i);
  void write(const Region& message, std::size_t i, const Region& vector);
  static std::map<Count, Region>& of_kind(Vectors& vectors, const VectorId& id) {
    return id.kind == VectorId::Kind::block ? vectors.blocks : vectors.sums;
  }
  /// Throws RankFailure, "stage S, micro-batch M, layer l: block n is missing".
  Region& require(Vectors& vectors, const VectorId& id, const ChunkPass& at,
                  const std::string& where) const;
  void check_content(Region& vector, std::uint32_t seed, LayerSum expected, const VectorId& id,
                     const ChunkPass& at, const std::string& where);
  [[noreturn]] void fail(const ChunkPass& at, const std::string& where,
                         const std::string& problem) const;

  const Route& route_;
  VectorSize size_;
  Messenger& messenger_;
  Count num_checked_ = 0;
};

class ForwardPass : public Pass {
 public:
  using Pass::Pass;

  /// Takes the message of transition chunk - 1 (none for chunk 0) and returns that of transition
  /// `chunk` (none for the last chunk).
  Region run(const ChunkPass& at, Region&& message);

 private:
  void embed(Vectors& vectors, const ChunkPass& at);
  void unpack(Vectors& vectors, const ChunkPass& at, Region message);
  void check_sources(Vectors& vectors, Count layer, const ChunkPass& at);
  void run_layer(Vectors& vectors, Count layer, const ChunkPass& at);
  Region pack(Vectors& vectors, const ChunkPass& at);
  void forget(Vectors& vectors, const ChunkPass& at);

  std::map<Count, Vectors> kept_;  // by micro-batch
};

class GradientPass : public Pass {
 public:
  using Pass::Pass;

  /// Takes the message of transition `chunk` and returns that of transition chunk - 1.
  Region run(const ChunkPass& at, Region&& message);

 private:
  void begin(Vectors& gradients, const ChunkPass& at);
  void unpack(Vectors& gradients, const ChunkPass& at, Region message);
  void run_layers(Vectors& gradients, LayerRange layers_here, const ChunkPass& at);
  void attend_to_blocks(Vectors& gradients, Count num_blocks, LayerRange layers_here,
                        const ChunkPass& at);
  void close_block(Vectors& gradients, Count block, const ChunkPass& at);
  Region pack(Vectors& gradients, const ChunkPass& at);

  std::map<Count, Vectors> kept_;  // by micro-batch
};

}  // namespace depthcost::bench
