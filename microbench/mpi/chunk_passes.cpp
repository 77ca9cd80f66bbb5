// What both passes share.
#include "microbench/mpi/chunk_passes.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace depthcost::bench {

Region Pass::zeros() {
  Region vector = messenger_.vector(vector_bytes());
  std::fill_n(vector.data(), vector.size(), std::byte{0});
  return vector;
}

void Pass::check_size(const Region& message, std::size_t num_vectors, const ChunkPass& at) const {
  const std::size_t expected = num_vectors * vector_bytes();
  if (message.size() != expected)
    fail(at, "message", fmt::format("{} bytes arrived, not {}", message.size(), expected));
}

// Copying many vectors takes long: other messages are advanced meanwhile.
void Pass::read(Region& vector, const Region& message, std::size_t i) {
  messenger_.read(vector, message, i * vector_bytes());
  messenger_.progress();
}

void Pass::write(const Region& message, std::size_t i, const Region& vector) {
  messenger_.write(message, i * vector_bytes(), vector);
  messenger_.progress();
}

void Pass::fail(const ChunkPass& at, const std::string& where, const std::string& problem) const {
  throw RankFailure(fmt::format("stage {}, micro-batch {}, {}: {}",
                                stage_of_chunk<Count>(at.chunk, messenger_.ranks().size),
                                at.micro_batch, where, problem));
}

Region& Pass::require(Vectors& vectors, const VectorId& id, const ChunkPass& at,
                      const std::string& where) const {
  std::map<Count, Region>& place = of_kind(vectors, id);
  const auto found = place.find(id.id);
  if (found == place.end()) fail(at, where, name(id) + " is missing");
  return found->second;
}

void Pass::check_content(Region& vector, std::uint32_t seed, LayerSum expected, const VectorId& id,
                         const ChunkPass& at, const std::string& where) {
  ++num_checked_;
  const auto wrong =
      first_difference(elements(vector), seed, expected, static_cast<std::size_t>(at.checked));
  if (wrong) fail(at, where, fmt::format("{} is wrong at element {}", name(id), *wrong));
}

}  // namespace depthcost::bench
