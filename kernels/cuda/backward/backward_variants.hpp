// The variants of backward kernels, and what they move.
#pragma once

#include "kernels/cuda/descriptor.hpp"
#include "kernels/operations/backward/operations.hpp"

namespace depthcost::cuda {

/// Where a kernel keeps its share of a row, and of sums over its tokens.
enum class BackwardVariant {
  registers,
  streamed,  // in memory: rows too long for registers
  scalar,    // in memory, element by element: rows that are not whole vectors
};

constexpr std::string_view name(BackwardVariant variant) {
  switch (variant) {
    case BackwardVariant::registers:
      return "registers";
    case BackwardVariant::streamed:
      return "streamed";
    case BackwardVariant::scalar:
      return "scalar";
  }
  return "";
}

struct BackwardPlan {
  BackwardVariant variant = BackwardVariant::scalar;
  unsigned threads = kScalarThreads;
};

/// Vectors of a row that a thread holds.
template <class T>
inline constexpr unsigned kBackwardSlices = kBackwardElements * sizeof(T) / 16;

/// `vectors` of a row; 0 where they cannot be used.
template <class T>
constexpr BackwardPlan backward_plan(std::size_t vectors) {
  if (vectors == 0) return {};
  const std::size_t threads = whole_warps(ceil_div(vectors, kBackwardSlices<T>));
  if (threads > kBackwardThreads) return {BackwardVariant::streamed, kBackwardThreads};
  return {BackwardVariant::registers, static_cast<unsigned>(threads)};
}

/// Threads of a CTA that keeps nothing in registers. Its rows are longer than one access each.
constexpr unsigned streamed_threads(std::size_t vectors) {
  if (vectors == 0) return kScalarThreads;
  return static_cast<unsigned>(
      std::min<std::size_t>(whole_warps(vectors), kBackwardStreamedThreads));
}

/// The descriptor of a kernel that keeps nothing in registers, and asks for `vectors` of a row
/// before it uses them.
template <class T>
constexpr Descriptor streamed_kernel(std::string_view operation, std::size_t hidden_size,
                                     std::size_t vectors) {
  const bool has_vectors = vectors_of<T>(hidden_size) > 0;
  return {.operation = operation,
          .variant = name(has_vectors ? BackwardVariant::streamed : BackwardVariant::scalar),
          .skeleton = Skeleton::row_reduction,
          .launches = 2,
          .bytes_in_flight_per_cta = streamed_threads(vectors_of<T>(hidden_size)) * vectors *
                                     (has_vectors ? 16 : sizeof(T))};
}

/// The descriptor of a kernel that reads `rows` of a token before it uses them. Operands are left
/// to the caller. A second launch adds up gradients of parameters.
template <class T>
constexpr Descriptor backward_kernel(std::string_view operation, std::size_t hidden_size,
                                     std::size_t rows) {
  const BackwardPlan plan = backward_plan<T>(vectors_of<T>(hidden_size));
  const std::size_t vectors = plan.variant == BackwardVariant::registers ? kBackwardSlices<T> : 1;
  return {.operation = operation,
          .variant = name(plan.variant),
          .skeleton = Skeleton::row_reduction,
          .launches = 2,
          .bytes_in_flight_per_cta = plan.threads * vectors * rows *
                                     (plan.variant == BackwardVariant::scalar ? sizeof(T) : 16)};
}

/// A backward pass that names its operands. Rows that it only reads are what the forward pass has
/// left, but for `output_gradient`; all others are gradients. `sums` belongs to its slices.
template <class Op>
concept RowBackward = RowOperation<Op> && requires(const Op& op) {
  op.slices;
};

/// Its operands in their roles. What it reads is asked for at once.
class BackwardRoles : public IgnoresSizes {
 public:
  double states = 0;  // rows of the forward pass
  double arriving = 0;
  double gradient_reads = 0;
  double gradient_writes = 0;

  constexpr std::size_t num_reads() const {
    return static_cast<std::size_t>(states + arriving + gradient_reads);
  }
  template <class P>
  constexpr void reads(std::string_view name, const P* /*operand*/, OperandShape shape) {
    if (shape.size() == 2) (name == "output_gradient" ? arriving : states) += 1;
  }
  template <class P>
  constexpr void reads_inner(std::string_view name, const P* operand, OperandShape shape) {
    reads(name, operand, shape);
  }
  template <class P>
  constexpr void reads_optional(std::string_view name, const P* operand, OperandShape shape) {
    reads(name, operand, shape);
  }
  template <class P>
  constexpr void updates_inner(std::string_view name, const P* operand, OperandShape shape) {
    if (shape.size() != 2) return;
    ++gradient_reads;
    writes(name, operand, shape);
  }
  template <class P>
  constexpr void writes(std::string_view name, const P* /*operand*/, OperandShape /*shape*/) {
    if (name != "sums") ++gradient_writes;
  }
};

template <template <class> class Op, class T>
requires RowBackward<Op<T>>
constexpr Descriptor descriptor(const Op<T>& op) {
  BackwardRoles roles;
  Op<T>::operands(op, roles);
  Descriptor it = backward_kernel<T>(kOperationName<Op<T>>, op.hidden_size, roles.num_reads());
  it.operands = {{{"hidden_state", roles.states, 0},
                  {"layer_output", roles.arriving, 0},
                  {"gradients", roles.gradient_reads, roles.gradient_writes}}};
  return it;
}

template <class T>
constexpr Descriptor descriptor(const AttnResSinglePassBackward<T>& op) {
  Descriptor it =
      backward_kernel<T>("attnres_single_pass_backward", op.hidden_size, kBackwardScored);
  const double partial_sums = op.partial_sum != nullptr ? 1 : 0;
  const double sources = count(op.num_bank_sources) + partial_sums;
  it.operands = {{{"bank", count(op.num_bank_sources), 0},
                  {"partial_sum", partial_sums, 0},
                  {"layer_output", 1, 0},
                  {"gradients", op.store == GradientStore::add ? sources : 0, sources}}};
  return it;
}

template <class T>
constexpr Descriptor descriptor(const AttnResPhase2Backward<T>& op) {
  Descriptor it = backward_kernel<T>("attnres_phase2_backward", op.hidden_size, 4);
  const double dh_writes = op.norm.gain != nullptr ? 1 : 0;
  it.operands = {{{"partial_sum", 1, 0},
                  {"hidden_state", 1, 0},
                  {"layer_output", 1, 0},
                  {"gradients", 1, 1 + dh_writes}}};
  it.reads_scalars = it.writes_scalars = 1;
  return it;
}

/// Its sums stay in memory, for they are those of S queries.
template <class T>
constexpr Descriptor descriptor(const AttnResPhase1Backward<T>& op) {
  Descriptor it = streamed_kernel<T>("attnres_phase1_backward", op.hidden_size, kBackwardMet);
  const double n = count(op.num_bank_sources);
  const double queries = count(op.num_queries);
  it.operands = {{{"bank", n, 0}, {"layer_output", queries, 0}, {"gradients", n, n}}};
  it.reads_scalars = 2 * queries - 1;
  return it;
}

/// The streams are read again by the product that makes dphi, a launch of its own.
template <class T>
constexpr Descriptor descriptor(const MhcPreBackward<T>& op) {
  Descriptor it = streamed_kernel<T>("mhc_pre_backward", op.hidden_size, kPreBackwardTokens);
  const double m = count(op.num_streams);
  const double rows = count(num_mapping_rows(op.num_streams));
  it.operands = {{{"streams", 2 * m, 0}, {"layer_output", 1, 0}, {"gradients", m, m}}};
  it.reads_scalars = m * m + m + rows;
  it.writes_scalars = rows;
  it.launches = 3;
  return it;
}

/// Threads of a CTA of mhc_boundary_backward.
constexpr unsigned boundary_backward_threads(std::size_t hidden_size, bool is_wide) {
  if (is_wide) return kBoundaryThreads;
  return static_cast<unsigned>(
      std::min<std::size_t>(whole_warps(hidden_size / kBoundaryElements), kBoundaryThreads));
}

/// The streams behind the boundary move as in mhc_pre_backward, those in front as in
/// mhc_post_backward; dX' moves once.
template <class T>
constexpr Descriptor descriptor(const MhcBoundaryBackward<T>& op) {
  const MhcPostBackward<T>& post = op.post;
  const double m = count(post.num_streams);
  const double rows = count(num_mapping_rows(post.num_streams));
  const bool is_wide = post.num_streams > kMixFewStreams || vectors_of<T>(post.hidden_size) == 0;
  return {.operation = "mhc_boundary_backward",
          .variant = is_wide ? "scalar" : "vectors",
          .skeleton = Skeleton::row_reduction,
          .operands = {{{"streams", 3 * m, 0}, {"layer_output", 2, 0}, {"gradients", m, m + 1}}},
          .reads_scalars = 2 * (m * m + m) + rows,
          .writes_scalars = m * m + m + rows,
          .launches = 3,
          .bytes_in_flight_per_cta = boundary_backward_threads(post.hidden_size, is_wide) *
                                     kPreBackwardTokens * sizeof(T) *
                                     (is_wide ? 1 : kBoundaryElements)};
}

template <class T>
constexpr Descriptor descriptor(const MhcPostBackward<T>& op) {
  const double m = count(op.num_streams);
  const bool is_wide = op.num_streams > kMixFewStreams || vectors_of<T>(op.hidden_size) == 0;
  return {.operation = "mhc_post_backward",
          .variant = is_wide ? "scalar" : "vectors",
          .skeleton = Skeleton::row_reduction,
          .operands = {{{"streams", m, 0}, {"layer_output", 1, 0}, {"gradients", m, m + 1}}},
          .reads_scalars = m * m + m,
          .writes_scalars = m * m + m,
          .bytes_in_flight_per_cta =
              kMixThreads * (is_wide ? sizeof(T) : (2 * op.num_streams + 1) * 16)};
}

}  // namespace depthcost::cuda
