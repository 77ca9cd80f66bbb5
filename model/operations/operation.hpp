// One kernel launch, operand by operand: convention `kernel`. Each group of operations has a file
// beside this one. Every scheme ends at the normalised input of the next layer. Rows are d-vectors
// per token. REFERENCES.md, "operations".
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string_view>

#include "model/base/traffic.hpp"
#include "model/base/transfer_kind.hpp"

namespace depthcost {

/// Which operation a launch is, by the name that it has in kernels/, in the catalogue and in
/// reports. Each stands beside its row.
struct OperationId {
  std::string_view text;

  // Its type is named because texts of clang's library have < but no <=>.
  friend constexpr std::strong_ordering operator<=>(const OperationId&,
                                                    const OperationId&) = default;
};

constexpr std::string_view name(OperationId id) { return id.text; }

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
  gradients,      // of rows, which later layers have left; in a backward pass
};

struct Access {
  Operand operand = Operand::layer_output;
  double reads_d = 0;
  double writes_d = 0;

  friend constexpr auto operator<=>(const Access&, const Access&) = default;
};

/// Operands that an operation does not have move nothing.
using Accesses = std::array<Access, 5>;

/// What a kernel's time adds to launch and bytes: how its threads cooperate.
enum class Skeleton : std::uint8_t { elementwise, row_reduction };

enum class ExecutionUnit : std::uint8_t { vector_lanes, tensor_cores };

/// Results of a matrix product of one token: outputs_d d + outputs. 0: none, or a product whose
/// shape does not matter.
struct ProductShape {
  double outputs_d = 0;
  double outputs = 0;

  friend constexpr std::partial_ordering operator<=>(const ProductShape&,
                                                     const ProductShape&) = default;
};

/// What tensor ranks send each other in one collective: elements of the whole result per token.
struct Exchange {
  TransferKind kind = TransferKind::all_reduce;
  Count num_ranks = 1;  // 1: none
  double vectors_d = 0;
  double scalars = 0;

  friend constexpr std::partial_ordering operator<=>(const Exchange&, const Exchange&) = default;
};

/// One kernel launch on T tokens; everything is per token but the parameters, which serve them all.
struct Operation {
  OperationId id;
  Skeleton skeleton = Skeleton::row_reduction;
  ExecutionUnit unit = ExecutionUnit::vector_lanes;
  Count sources = 0;  // vectors over depth that it mixes; 0 if it mixes none
  Count queries = 0;  // that attend to them; 0 if the weights come from elsewhere
  Count streams = 0;  // m residual streams; 0 if it knows none
  Accesses accesses{};
  double reads_scalars = 0;
  double writes_scalars = 0;
  double flops_d = 0;       // operations, in units of d
  double launches = 1;      // 0 where it is folded into another kernel
  double parameters_d = 0;  // elements of parameters that one call reads, in units of d
  double parameters = 0;    // further elements, which do not grow with d
  double weights_d = 0;     // elements of a weight matrix in the model's type, in units of d
  ProductShape product = {};
  Exchange exchange = {};  // where ranks meet; it moves no bytes of the device's own memory

  // Its type is named because arrays of clang's library have < but no <=>.
  friend constexpr std::partial_ordering operator<=>(const Operation&, const Operation&) = default;
};

/// What the residual operation is folded into: the operand that the host kernel has on chip, and
/// the launch, drop out. The standard residual gets the same right.
enum class Attachment : std::uint8_t { standalone, all_reduce, reduce_scatter, gemm_epilogue };

constexpr bool is_exchange(const Operation& operation) { return operation.exchange.num_ranks > 1; }

constexpr Operation attached(Operation operation, Attachment attachment) {
  if (attachment == Attachment::standalone) return operation;
  for (Access& access : operation.accesses) {
    if (access.operand != Operand::layer_output || access.reads_d == 0) continue;
    access.reads_d = 0;
    operation.launches = 0;
  }
  return operation;
}

/// Queries whose answers wait for later layers: all but the first of Phase 1.
constexpr double hoistable_queries(const Operation& operation) {
  return operation.queries > 1 ? as_double(operation.queries - 1) : 0;
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

/// Folds one launch of a layer into the host kernel: the first that reads the host's operand. A
/// second one reads it from memory.
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

/// Queries, gains, phi and biases are stored so, whatever the type of the d-vectors: Scalar<T> of
/// kernels/operations/operations.hpp.
inline constexpr Dtype kParameterDtype = Dtype::f32;

/// Elements of parameters that one call reads.
constexpr double parameter_elements(const Operation& operation, double hidden_size) {
  return operation.parameters_d * hidden_size + operation.parameters;
}

namespace operations {

/// Elements of the next norm's gain, in units of d.
inline constexpr double kGain_d = 1;

}  // namespace operations
}  // namespace depthcost
