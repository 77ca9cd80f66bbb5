// What a cost model has to know of a variant: what it moves, and how it is launched. Traffic is
// that of memory; a scalar variant reads rows again from L2. Operands have the names of their roles
// in the ledger. The descriptors of a scheme stand in its *_variants.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "kernels/cuda/plan.hpp"
#include "kernels/cuda/tile_plan.hpp"

namespace depthcost::cuda {

/// How the threads of a kernel cooperate.
enum class Skeleton { elementwise, row_reduction, cluster_reduction };

/// d-vectors per token.
struct OperandTraffic {
  std::string_view operand;
  double reads_d = 0;
  double writes_d = 0;
};

struct Descriptor {
  std::string_view operation;
  std::string_view variant;
  Skeleton skeleton = Skeleton::row_reduction;
  std::array<OperandTraffic, 5> operands{};
  double reads_scalars = 0;  // per token
  double writes_scalars = 0;
  unsigned launches = 1;
  std::size_t bytes_in_flight_per_cta = 0;  // of loads, before the first is used
};

/// Vectors of a row. Device and alignment are taken to be such that a kernel gets its fast path.
template <class T>
constexpr std::size_t vectors_of(std::size_t hidden_size) {
  constexpr std::size_t kElements = 16 / sizeof(T);
  return hidden_size % kElements == 0 ? hidden_size / kElements : 0;
}

/// Vectors that the tensor cores can take: none of float.
template <class T>
constexpr std::size_t tile_vectors_of(std::size_t hidden_size) {
  return sizeof(T) == 2 ? vectors_of<T>(hidden_size) : 0;
}

constexpr double count(std::size_t value) { return static_cast<double>(value); }

constexpr Skeleton skeleton_of(unsigned cluster_size) {
  return cluster_size > 1 ? Skeleton::cluster_reduction : Skeleton::row_reduction;
}

/// Bytes on their way to a CTA whose rows stay in registers, `rows` of them read at once.
constexpr std::size_t bytes_in_flight(const RowPlan& plan, std::size_t rows) {
  return std::size_t{plan.slices_per_thread} * plan.threads_per_row * plan.rows_per_cta * rows * 16;
}

/// Bytes on their way to a CTA: `vectors` for each thread of a tile, else an element.
constexpr std::size_t bytes_in_flight(const TilePlan& plan, std::size_t vectors) {
  return plan.threads * (plan.variant == TileVariant::cluster_tile ? vectors * 16 : sizeof(float));
}

/// The descriptor of a row that is combined from `rows` others, all of which are read at once.
/// Operands are left to the caller.
constexpr Descriptor combined_row(std::string_view operation, std::size_t vectors,
                                  std::size_t rows) {
  const RowPlan plan = combine_plan(vectors);
  return {.operation = operation,
          .variant = name(plan.variant),
          .skeleton = Skeleton::row_reduction,
          .bytes_in_flight_per_cta = bytes_in_flight(plan, rows)};
}

}  // namespace depthcost::cuda
