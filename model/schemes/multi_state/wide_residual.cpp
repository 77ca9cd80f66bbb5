// Streams that are read and written with static weights, and never mixed: the wide residual of
// Megatron-LM, [wide_residual], and hyper-connections whose A_r is the identity.
#include "model/operations/hyper_connection_operations.hpp"
#include "model/schemes/list.hpp"
#include "model/schemes/multi_state/streams.hpp"

namespace depthcost {
namespace {

using namespace scheme_parts;

/// d-vectors of all streams: K rows, of the model's type as far as is known.
double stream_rows(const SchemeLayer& at) {
  return num_streams(at) * at.parameters.stream_row_d.value_or(1);
}

/// X_k += 2 sigmoid(beta_k) f; x = norm(sum_k sigmoid(alpha_k) X_k), with X in `rows` d-vectors.
/// The weights are parameters, so that one scan can update and read.
///   fused     K + 1 r, K + 1 w
///   unfused   write K + 1 r, K w; read K r, 1 w; norm 1 r, 1 w: the kernels of the pull requests
Launches update_and_read(double K, double rows, Schedule schedule) {
  if (schedule == fused) {
    Operation scan = operations::row_update(
        {kReadsOutput, Access{Operand::streams, rows, rows}, kWritesInput}, 4 * K);
    scan.parameters = 2 * K;
    return {scan};
  }
  Operation write =
      operations::unfused_elementwise({kReadsOutput, Access{Operand::streams, rows, rows}}, 2 * K);
  write.parameters = K;
  Operation read = operations::unfused_elementwise(
      {reads(Operand::streams, rows), writes(Operand::recent, 1)}, 2 * K);
  read.parameters = K;
  return {write, read, operations::rmsnorm()};
}

Launches wide_launches(const SchemeLayer& at, Schedule schedule) {
  return update_and_read(num_streams(at), stream_rows(at), schedule);
}

/// The kernel of hc_static, with the identity as A_r; apart, as above.
Launches identity_boundary(const SchemeLayer& at, Schedule schedule) {
  const double m = num_streams(at);
  if (schedule == fused) return {operations::hc_boundary(m)};
  return update_and_read(m, m, schedule);
}

/// Backward of X_k += b_k f; x = norm(sum_k a_k X_k).
///   fused     static_streams_scan()
///   unfused   norm 2 r, 1 w; read K + 1 r, K w; sum with dX' 2K r, K w; write f, dX r, df w: the
///             gradient of X_k in front of the update is that behind it. The 12 d at K = 3 of the
///             pull requests' two kernels, the norm's 3 d and the sum's 9 d
/// Behind the last read there is no dX'. [ours]
BackwardLayer read_and_write_backward(const SchemeLayer& at, double K, Schedule schedule) {
  if (schedule == fused)
    return is_behind_last(at) ? backward_kernel(K + 2, 0, K + 1) : static_streams_scan(K);
  const BackwardLayer all = norm_backward() + backward_kernel(K, 1, K) + backward_kernel(1, K, 1);
  return is_behind_last(at) ? all : all + gradient_sum(K);
}

BackwardLayer identity_backward(const SchemeLayer& at, Schedule schedule, GradientAccumulation) {
  return read_and_write_backward(at, num_streams(at), schedule);
}

/// Gradients of streams are stored as the streams are.
BackwardLayer wide_backward(const SchemeLayer& at, Schedule schedule, GradientAccumulation) {
  return read_and_write_backward(at, stream_rows(at), schedule);
}

/// As static_streams_saved().
SavedLayer wide_saved(const SchemeLayer& at, Schedule schedule) {
  SavedLayer saved = static_streams_saved(at, schedule);
  saved.state = d_vectors(stream_rows(at) + 1);
  return saved;
}

constexpr BackwardRule kIdentityBackward{
    .moves = "fused: 2m + 2 r, m + 1 w. unfused: each eager kernel's own",
    .layer = identity_backward,
    .activations = layers_keep<static_streams_saved>};
constexpr BackwardRule kWideBackward{
    .moves =
        "fused: 2K + 2 r, K + 1 w. unfused: norm 2 r, 1 w; read K + 1 r, K w; sum 2K r, K w; write 2 r, 1 w",
    .layer = wide_backward,
    .activations = layers_and_output_keep<wide_saved>};

double two_a_stream(const SchemeLayer& at) { return 2 * num_streams(at); }

}  // namespace

const SchemeRule schemes::kHcIdentity{
    .id = "hc_identity",
    .label = "HC, identity A",
    .update = "H_l = H_{l-1} + f_{l-1}(H_{l-1} a_m) beta^T, a_m and beta learned",
    .file = "multi_state/wide_residual.cpp",
    .source = "[mhc] Sec. 3: H_res = I; Zhu et al., arXiv:2409.19606",
    .moves =
        "unfused: write m + 1 r, m w; read m r, 1 w; norm 1 r, 1 w. fused: m + 1 r, m + 1 w in one "
        "scan",
    .reference = "hyper_connections.hpp",
    .unmixed = "its matrix is that of hc_static with the identity as A_r: ask for that",
    .kind = {StateKind::multi_state, WeightKind::learned_static},
    .keys = kStreamsOnly,
    .schedules = kUnfusedAndFused,
    .operations = identity_boundary,
    .state_d = stream_states,
    .parameters = two_a_stream,
    .problem = streams_problem,
    .backward = &kIdentityBackward};

const SchemeRule schemes::kWideResidual{
    .id = "wide_residual",
    .label = "Wide residual",
    .update = "X_k += 2 sigmoid(beta_k) f(sum_j sigmoid(alpha_j) X_j), k = 1..K",
    .file = "multi_state/wide_residual.cpp",
    .source = "[wide_residual]",
    .moves =
        "unfused: write K + 1 r, K w; read K r, 1 w; norm 1 r, 1 w. fused: K + 1 r, K + 1 w in one "
        "scan",
    .reference = "without_kernels/wide_residual.hpp",
    .unmixed = "its matrix is that of hc_static with the identity as A_r: ask for that",
    .kind = {StateKind::multi_state, WeightKind::learned_static},
    .keys = kStreamsOnly,
    .schedules = kUnfusedAndFused,
    .shipped = unfused,
    .operations = wide_launches,
    .state_d = stream_rows,
    .parameters = two_a_stream,
    .output =
        [](const SchemeLayer& last, Schedule schedule) {
          return wide_launches({last.parameters, last.num_layers + 1, last.num_layers}, schedule);
        },
    .problem = streams_problem,
    .has_stream_type = true,
    .backward = &kWideBackward};

}  // namespace depthcost
