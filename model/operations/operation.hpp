// The operations that kernels run, operand by operand: convention `kernel`. Every scheme ends at
// the normalised input of the next layer. Rows are d-vectors per token. REFERENCES.md,
// "operations".
#pragma once

#include <array>
#include <compare>
#include <cstdint>

#include "model/base/partition.hpp"
#include "model/base/traffic.hpp"

namespace depthcost {

enum class OperationId : std::uint8_t {
  residual_add,
  residual_add_rmsnorm,
  attnres_single_pass,
  attnres_phase1,
  attnres_phase2,
  mhc_pre,
  mhc_post,
  mhc_boundary,
  unfused_rmsnorm,
  unfused_stack,
  unfused_key_norm,
  unfused_scores,
  unfused_mix,
  unfused_mhc_coefficients,
  unfused_mhc_pre,
  unfused_mhc_post,
  unfused_mhc_residual,
  unfused_mhc_merge,
  scaled_add_rmsnorm,
  highway_rmsnorm,
  hc_boundary,
  single_pass_mhc,
  dense_mix,
  row_update,
  unfused_elementwise,
  unfused_projection,
};

/// Where a d-vector lives; its reuse distance decides which memory level serves it.
enum class Operand : std::uint8_t {
  layer_output,   // f: written by the kernel before
  layer_input,    // x: read by the kernel behind
  hidden_state,   // h of the standard residual
  partial_sum,    // b_n^i, one layer old
  bank,           // b_0 .. b_{n-1}, up to a block old; for Full the layer outputs
  phase1_output,  // o^(1), up to a block old, in its own storage type
  streams,        // X, m rows
  recent,         // rows that the kernel before has written
};

struct Access {
  Operand operand = Operand::layer_output;
  double reads_d = 0;
  double writes_d = 0;

  friend constexpr auto operator<=>(const Access&, const Access&) = default;
};

/// What a kernel's time adds to launch and bytes: how its threads cooperate.
enum class Skeleton : std::uint8_t { elementwise, row_reduction };

enum class ExecutionUnit : std::uint8_t { vector_lanes, tensor_cores };

/// One kernel launch on T tokens; everything is per token but the parameters, which serve them all.
struct Operation {
  OperationId id = OperationId::residual_add;
  Skeleton skeleton = Skeleton::row_reduction;
  ExecutionUnit unit = ExecutionUnit::vector_lanes;
  Count sources = 0;  // vectors over depth that it attends to; 0 where there is no such thing
  std::array<Access, 5> accesses{};
  double reads_scalars = 0;
  double writes_scalars = 0;
  double flops_d = 0;            // operations, in units of d
  double hoistable_queries = 0;  // of Phase 1: their outputs are for later layers, which wait
  double launches = 1;           // 0 where it is folded into another kernel
  double parameters_d = 0;       // elements of parameters that one call reads, in units of d
  double parameters = 0;         // and those beside them that do not grow with d
  double weights_d = 0;  // of a matrix that it multiplies, in units of d: of the model's type

  friend constexpr auto operator<=>(const Operation&, const Operation&) = default;
};

/// What the residual operation is folded into: the operand that the host kernel has on chip, and
/// the launch, drop out. The standard residual gets the same right.
enum class Attachment : std::uint8_t { standalone, all_reduce, reduce_scatter, gemm_epilogue };

constexpr Operation attached(Operation operation, Attachment attachment) {
  if (attachment == Attachment::standalone) return operation;
  for (Access& access : operation.accesses) {
    if (access.operand != Operand::layer_output || access.reads_d == 0) continue;
    access.reads_d = 0;
    operation.launches = 0;
  }
  return operation;
}

constexpr Traffic traffic(const Operation& operation) {
  Traffic sum{.reads_scalars = operation.reads_scalars, .writes_scalars = operation.writes_scalars};
  for (const Access& access : operation.accesses) {
    sum.reads_d += access.reads_d;
    sum.writes_d += access.writes_d;
    if (access.operand == Operand::phase1_output) sum.phase1_d += access.reads_d + access.writes_d;
  }
  return sum;
}

/// The launches of one layer, attached: the first that reads the host's operand finds it on chip, a
/// second one in memory.
class Folding {
 public:
  explicit constexpr Folding(Attachment attachment) : attachment_(attachment) {}

  constexpr Operation folded(const Operation& operation) {
    if (is_done_) return operation;
    Operation with_host = attached(operation, attachment_);
    is_done_ = with_host != operation;
    return with_host;
  }

  /// Without copying one that stands alone.
  constexpr Traffic traffic_of(const Operation& operation) {
    return attachment_ == Attachment::standalone ? traffic(operation) : traffic(folded(operation));
  }

 private:
  Attachment attachment_;
  bool is_done_ = false;
};

// Attention over depth costs 4 d per (query, source) pair, d multiply-adds for the score and d for
// the mix, and 3 d per normalised key (square, sum, scale). [ours] REFERENCES.md, "operations".
inline constexpr double kFlopsPerPair = 4;
inline constexpr double kFlopsPerKey = 3;

/// Of the queries, gains, phi and biases, whatever the d-vectors are: Scalar<T> of
/// kernels/operations.hpp.
inline constexpr Dtype kParameterDtype = Dtype::f32;

/// Elements of parameters that one call reads.
constexpr double parameter_elements(const Operation& operation, double hidden_size) {
  return operation.parameters_d * hidden_size + operation.parameters;
}

namespace operations {

constexpr double d_vectors(Count count) { return static_cast<double>(count); }

// Parameters in units of d. The gain of the key norm is folded into the query.
inline constexpr double kGain_d = 1;
inline constexpr double kQuery_d = 1;

/// h += f. 2 r, 1 w.
constexpr Operation residual_add() {
  return {.id = OperationId::residual_add,
          .skeleton = Skeleton::elementwise,
          .accesses = {Access{Operand::layer_output, 1, 0}, Access{Operand::hidden_state, 1, 1}},
          .flops_d = 1};
}

/// h += f; x = norm(h). 2 r, 2 w; the norm's gain.
constexpr Operation residual_add_rmsnorm() {
  return {.id = OperationId::residual_add_rmsnorm,
          .accesses = {Access{Operand::layer_output, 1, 0}, Access{Operand::hidden_state, 1, 1},
                       Access{Operand::layer_input, 0, 1}},
          .flops_d = 1,
          .parameters_d = kGain_d};
}

/// x = norm(h) as a kernel of its own. 1 r, 1 w; the gain.
constexpr Operation rmsnorm() {
  return {.id = OperationId::unfused_rmsnorm,
          .accesses = {Access{Operand::recent, 1, 0}, Access{Operand::layer_input, 0, 1}},
          .parameters_d = kGain_d};
}

/// What a kernel reads and writes to have b_n^{i-1} at hand before layer i.
struct PartialSumAccess {
  double partial_reads = 0;
  double output_reads = 0;
  double partial_writes = 0;
};

/// Before the second layer b is f's own buffer; later b += f is folded into the reading kernel.
constexpr PartialSumAccess partial_sum_access(const LayerPosition& at) {
  if (at.index == 1) return {};
  if (at.index == 2) return {.output_reads = 1};
  return {.partial_reads = 1, .output_reads = 1, .partial_writes = 1};
}

/// Before the first layer of block n >= 2 the previous block is closed: b + f goes to the bank. A
/// block of one layer is f itself, which the layer has left in the bank already.
struct ClosingAccess {
  double partial_reads = 0;
  double output_reads = 0;
  double bank_writes = 0;
};

constexpr ClosingAccess closing_access(Count closed_block_size) {
  if (closed_block_size == 0) return {};
  if (closed_block_size == 1) return {.output_reads = 1};
  return {.partial_reads = 1, .output_reads = 1, .bank_writes = 1};
}

/// Softmax-mix of the bank and the partial sum behind it; `written` is where the sum is stored. The
/// query, and the gain of the next norm.
constexpr Operation single_pass(Count sources, double bank_rows, double partial_reads,
                                double output_reads, Access written) {
  return {.id = OperationId::attnres_single_pass,
          .sources = sources,
          .accesses = {Access{Operand::bank, bank_rows, 0},
                       Access{Operand::partial_sum, partial_reads, 0},
                       Access{Operand::layer_output, output_reads, 0}, written,
                       Access{Operand::layer_input, 0, 1}},
          .flops_d = (kFlopsPerPair + kFlopsPerKey) * d_vectors(sources),
          .parameters_d = kQuery_d + kGain_d};
}

/// attnres_single_pass before layer l of Block AttnRes.
constexpr Operation block_single_pass(const LayerPosition& at) {
  if (at.index == 1) {
    const ClosingAccess closing = closing_access(at.previous_size);
    const double bank_rows = d_vectors(at.block) - (at.block == 1 ? 0 : 1);
    return single_pass(at.block, bank_rows, closing.partial_reads, closing.output_reads,
                       {Operand::bank, 0, closing.bank_writes});
  }
  const PartialSumAccess b = partial_sum_access(at);
  return single_pass(at.block + 1, d_vectors(at.block), b.partial_reads, b.output_reads,
                     {Operand::partial_sum, 0, b.partial_writes});
}

/// attnres_single_pass behind the last layer: closes block N on chip, mixes b_0 .. b_N.
constexpr Operation block_output(const Partition& blocks) {
  const ClosingAccess closing = closing_access(blocks.last_size);
  return single_pass(blocks.num_blocks + 1, d_vectors(blocks.num_blocks), closing.partial_reads,
                     closing.output_reads, {Operand::bank, 0, 0});
}

/// attnres_single_pass with n = l sources; the newest is the output of the layer before.
constexpr Operation full_single_pass(Count sources) {
  const double newest = sources == 1 ? 0 : 1;
  return single_pass(sources, d_vectors(sources) - newest, 0, newest, {Operand::bank, 0, 0});
}

/// Phase 1: `queries` queries over `sources` rows. The first query's result is the layer input, the
/// others leave (o, m, l). Only the first query is waited for: n r, 1 w and the closing write. S
/// queries, and the gain of the first layer's norm.
constexpr Operation phase1(Count sources, Count queries, double bank_rows,
                           const ClosingAccess& closing) {
  const double stored = d_vectors(queries) - 1;
  return {
      .id = OperationId::attnres_phase1,
      .unit = ExecutionUnit::tensor_cores,
      .sources = sources,
      .accesses = {Access{Operand::bank, bank_rows, closing.bank_writes},
                   Access{Operand::partial_sum, closing.partial_reads, 0},
                   Access{Operand::layer_output, closing.output_reads, 0},
                   Access{Operand::layer_input, 0, 1}, Access{Operand::phase1_output, 0, stored}},
      .writes_scalars = 2 * stored,
      .flops_d = d_vectors(sources) * (kFlopsPerPair * d_vectors(queries) + kFlopsPerKey),
      .hoistable_queries = stored,
      .parameters_d = kQuery_d * d_vectors(queries) + kGain_d};
}

constexpr Operation block_phase1(const LayerPosition& at) {
  const double newest = at.block == 1 ? 0 : 1;
  return phase1(at.block, at.size, d_vectors(at.block) - newest, closing_access(at.previous_size));
}

constexpr Operation full_phase1(const LayerPosition& at) {
  const double newest = at.layer == 1 ? 0 : 1;
  return phase1(at.layer, at.size, d_vectors(at.layer) - newest, {.output_reads = newest});
}

/// Phase 2: own sources are scored, then merged with (o, m, l) by online softmax. Algorithm 1,
/// lines 10-12. The layer's query and the gain of its norm.
constexpr Operation phase2(Count own_sources, double bank_rows, const PartialSumAccess& b) {
  return {.id = OperationId::attnres_phase2,
          .sources = own_sources,
          .accesses = {Access{Operand::phase1_output, 1, 0}, Access{Operand::bank, bank_rows, 0},
                       Access{Operand::partial_sum, b.partial_reads, b.partial_writes},
                       Access{Operand::layer_output, b.output_reads, 0},
                       Access{Operand::layer_input, 0, 1}},
          .reads_scalars = 2,
          .flops_d = (kFlopsPerPair + kFlopsPerKey) * d_vectors(own_sources),
          .parameters_d = kQuery_d + kGain_d};
}

constexpr Operation block_phase2(const LayerPosition& at) {
  return phase2(1, 0, partial_sum_access(at));
}

/// The i - 1 layers of the group that came before are sources, each in its own buffer.
constexpr Operation full_phase2(const LayerPosition& at) {
  return phase2(at.index - 1, d_vectors(at.index) - 2, {.output_reads = 1});
}

// mHC: phi, m^2 + 2m rows of m d, is 2 m d (m^2 + 2m) operations a token, the three mixes
// 2 (m^2 + 2m) d. The coefficients that the next post needs, H_post and H_res, wait in memory
// between the two kernels. Each has a bias; their three scales are arguments of the call.
constexpr double mhc_coefficients(double m) { return m * m + 2 * m; }
constexpr double mhc_stored_coefficients(double m) { return m * m + m; }
constexpr double mhc_phi_d(double m) { return m * mhc_coefficients(m); }
constexpr double mhc_projection_flops_d(double m) { return 2 * mhc_phi_d(m); }

/// X_i = sum_j H_res[i][j] X_j + H_post[i] f. m + 1 r, m w.
constexpr Operation mhc_post(double m) {
  return {.id = OperationId::mhc_post,
          .skeleton = Skeleton::elementwise,
          .accesses = {Access{Operand::layer_output, 1, 0}, Access{Operand::streams, m, m}},
          .reads_scalars = mhc_stored_coefficients(m),
          .flops_d = 2 * (m * m + m)};
}

/// Coefficients, x = sum_j H_pre[j] X_j, norm. The row is read for phi and for the mix:
/// `second_reads` is m, or 0 where it stays on chip.
constexpr Operation mhc_pre(double m, double second_reads) {
  return {.id = OperationId::mhc_pre,
          .unit = ExecutionUnit::tensor_cores,
          .accesses = {Access{Operand::recent, m + second_reads, 0},
                       Access{Operand::layer_input, 0, 1}},
          .writes_scalars = mhc_stored_coefficients(m),
          .flops_d = mhc_projection_flops_d(m) + 2 * m,
          .parameters_d = mhc_phi_d(m) + kGain_d,
          .parameters = mhc_coefficients(m)};
}

/// Schedule `fused`: 2m r, 1 w.
constexpr Operation mhc_pre(double m) { return mhc_pre(m, m); }

/// Post, the next pre and its norm. `second_reads` is m where the row is read again for the mix, 0
/// where it stays on chip.
constexpr Operation mhc_boundary(double m, double second_reads) {
  return {
      .id = OperationId::mhc_boundary,
      .unit = ExecutionUnit::tensor_cores,
      .accesses = {Access{Operand::layer_output, 1, 0}, Access{Operand::streams, m, m},
                   Access{Operand::recent, second_reads, 0}, Access{Operand::layer_input, 0, 1}},
      .reads_scalars = mhc_stored_coefficients(m),
      .writes_scalars = mhc_stored_coefficients(m),
      .flops_d = mhc_projection_flops_d(m) + 2 * (m * m + 2 * m),
      .parameters_d = mhc_phi_d(m) + kGain_d,
      .parameters = mhc_coefficients(m)};
}

}  // namespace operations
}  // namespace depthcost
