// Mechanisms that circulate under the name of Attention Residuals and are not the paper's:
// attention over depth at block boundaries alone, and attention over the history beside a residual,
// behind every layer or at block boundaries.
// What each choice costs; REFERENCES.md, "family".
#include "model/schemes/backward_parts.hpp"
#include "model/schemes/cross_layer/attnres.hpp"
#include "model/schemes/list.hpp"

namespace depthcost {
namespace {

using namespace scheme_parts;

constexpr std::array kAttentionKeys{
    SchemeKey{"block_size", &SchemeParameters::block_size, "[ours] attention behind every layer"}};

bool ends_block(const SchemeLayer& at) { return at.layer % at.parameters.block_size == 0; }

/// Checkpoints on entry: the embedding and one for each earlier boundary.
double checkpoints(const SchemeLayer& at) {
  return static_cast<double>((at.layer - 1) / at.parameters.block_size + 1);
}

/// Rows normalised once are keys and values. The result is the new state and the next checkpoint,
/// which share a buffer; with one layer a block, the state that f is added to is the last
/// checkpoint.
Launches at_boundaries(const SchemeLayer& at, Schedule schedule) {
  if (!ends_block(at)) {
    if (schedule == single_pass) return {operations::residual_add_rmsnorm()};
    return {operations::residual_add(), operations::rmsnorm()};
  }
  const double s = checkpoints(at) + 1;
  const Access own_state = reads(Operand::hidden_state, at.parameters.block_size == 1 ? 0 : 1);
  if (schedule == single_pass)
    return {operations::row_update({reads(Operand::bank, s - 1), own_state, kReadsOutput,
                                    writes(Operand::bank, 1), kWritesInput},
                                   1 + (kFlopsPerPair + kFlopsPerKey) * s,
                                   operations::kQuery_d + operations::kGain_d)};
  return {operations::residual_add(),      operations::unfused_stack(s),
          operations::unfused_key_norm(s), operations::unfused_scores(s),
          operations::unfused_mix(s),      operations::rmsnorm()};
}

double kept_checkpoints(const SchemeLayer& at) {
  const Count S = at.parameters.block_size;
  return static_cast<double>(at.layer / S + 1 + (at.layer % S > 0 ? 1 : 0));
}

/// Keys and values of the state in `from`, kept for all layers to come.
Operation kept_projection(Operand from, double d) {
  return operations::unfused_projection({reads(from, 1), writes(Operand::bank, 2)}, 2 * d);
}

/// Eager attention of one query over s states: a copy of all of them, keys and values of each,
/// scores against the query's row, and the mix.
Launches eager_history(double s, double d) {
  Operation rows = operations::unfused_projection({Access{Operand::recent, s, s}}, d);
  rows.flops_d *= s;
  Operation scores = operations::unfused_scores(s);
  scores.parameters_d = 0;
  scores.accesses[0].reads_d += 1;
  return {operations::unfused_stack(s), rows, rows, scores, operations::unfused_mix(s)};
}

/// y_l = f_l + softmax(Q K^T / sqrt(d)) V over y_0 .. y_{l-1}, W_q, W_k and W_v shared by all
/// layers. Eager mode projects all of them at every layer; a kernel keeps their keys and values.
Launches over_history(const SchemeLayer& at, Schedule schedule) {
  const auto s = static_cast<double>(at.layer);
  const double d = hidden_size(at);
  const Operation query =
      operations::unfused_projection({kReadsOutput, writes(Operand::recent, 1)}, d);
  if (schedule == single_pass) {
    return {query, kept_projection(Operand::hidden_state, d),
            operations::row_update({reads(Operand::recent, 1), reads(Operand::bank, 2 * s),
                                    kReadsOutput, writes(Operand::hidden_state, 1), kWritesInput},
                                   kFlopsPerPair * s + 1)};
  }
  Launches all = eager_history(s, d);
  all.insert(all.begin(), query);
  all.insert(all.end(),
             {operations::unfused_elementwise(
                  {kReadsOutput, reads(Operand::recent, 1), writes(Operand::hidden_state, 1)}, 1),
              operations::rmsnorm()});
  return all;
}

/// h += f; at a boundary h += softmax(Q K^T / sqrt(d)) V, Q = h W_q, over the states of earlier
/// boundaries and the embedding. A kernel projects each state once.
Launches history_at_boundaries(const SchemeLayer& at, Schedule schedule) {
  const double d = hidden_size(at);
  Launches all;
  if (schedule == single_pass && at.layer == 1)
    all.push_back(kept_projection(Operand::recent, d));  // of the embedding
  if (!ends_block(at)) {
    if (schedule == single_pass)
      all.push_back(operations::residual_add_rmsnorm());
    else
      all = {operations::residual_add(), operations::rmsnorm()};
    return all;
  }
  const double s = checkpoints(at);
  const Operation query =
      operations::unfused_projection({kReadsHidden, writes(Operand::recent, 1)}, d);
  all.insert(all.end(), {operations::residual_add(), query});
  if (schedule == single_pass) {
    const Operation scan = operations::row_update(
        {reads(Operand::recent, 1), reads(Operand::bank, 2 * s), kUpdatesHidden, kWritesInput},
        kFlopsPerPair * s + 1);
    all.insert(all.end(), {scan, kept_projection(Operand::hidden_state, d)});
    return all;
  }
  for (Operation& piece : eager_history(s, d)) all.push_back(std::move(piece));
  all.insert(all.end(),
             {operations::unfused_elementwise({reads(Operand::recent, 1), kUpdatesHidden}, 1),
              operations::rmsnorm()});
  return all;
}

// The backward pass. [ours]

bool has_later_boundary(const SchemeLayer& at) {
  const Count S = at.parameters.block_size;
  return (at.layer / S + 1) * S <= at.num_layers;
}

/// Checkpoints that a later boundary has left a gradient for, and the new one, where layers in
/// between have one for the state beside it.
double boundary_sums(const SchemeLayer& at) {
  if (!ends_block(at) || !has_later_boundary(at)) return 0;
  return checkpoints(at) + (at.parameters.block_size > 1 ? 1 : 0);
}

/// A boundary over s states, of which h + f is the newest, with g the gradient of the new state:
///   single_pass  s - 1 checkpoints, h, f, dx, dh' r, the new state made again; s gradients w, the
///                newest that of h and f. With one layer a block h is a checkpoint
///   unfused      as AttnRes; g = dn + dh' 2 r, 1 w; and, with one layer a block, h's two parts
/// and adding to the sums; elsewhere as add and norm.
BackwardLayer at_boundaries_backward(const SchemeLayer& at, Schedule schedule,
                                     GradientAccumulation mode) {
  if (!ends_block(at)) return add_and_norm_backward(schedule);
  const double s = checkpoints(at) + 1;
  const bool is_each_layer = at.parameters.block_size == 1;
  if (schedule == single_pass)
    return backward_kernel(s + (is_each_layer ? 1 : 2), 1, s) +
           accumulated(mode, boundary_sums(at));
  const BackwardLayer all =
      eager_attnres_backward(static_cast<Count>(s), boundary_sums(at)) + gradient_sum();
  return is_each_layer ? all + gradient_sum() : all;
}

/// The new state and, for a kernel that has not stored h + f, f. Eager code has the stack and its
/// normalised rows.
SavedLayer at_boundaries_saved(const SchemeLayer& at, Schedule schedule) {
  SavedLayer saved = add_and_norm_saved(at, schedule);
  saved.received = checkpoints(at);
  if (!ends_block(at)) return saved;
  const double s = checkpoints(at) + 1;
  saved.rows = 1;
  saved.remade = saved.remade + loose_scalars(2 * s);
  if (schedule == unfused)
    saved.remade = saved.remade + d_vectors(2 * s);
  else
    saved.state = saved.state + d_vectors(1);
  return saved;
}

/// Attention with a query and s keys and values of their own, all of them rows, and the norm
/// behind it: q, K, V, its result, dx r; dq, dK, dV and the gradient of the result w.
BackwardLayer attention_backward(double s, double result_gradients) {
  return backward_kernel(2 * s + 3, result_gradients, 2 * s + 2);
}

/// The same in eager mode, with the projections of all s rows: mix V, dh r, s w; scores q, K r, dq,
/// dK w; keys and values s r, s w and 2s r each; their sum 2s r, s w; unstack s r, s w; query.
BackwardLayer eager_history_backward(double s) {
  return backward_kernel(s, 1, s) + backward_kernel(s + 1, 0, s + 1) + projection_backward(s, s) +
         projection_backward(s, s) + gradient_sum(s) + backward_kernel(0, s, s) +
         projection_backward(1, 1) + gradient_sum();
}

/// Keys and values with a sum: those of every state, which all later layers read.
double history_kv_sums(const SchemeLayer& at) {
  return is_last_layer(at) ? 0 : 2 * static_cast<double>(at.layer);
}

/// y = f + attention over y_0 .. y_{l-1}, s = l of them; x = norm(y).
///   single_pass  attention, whose dh' the projection of y behind the next layer has left;
///                the query adds to df; keys and values of the newest 2 r, 1 w, and 3 r for
///                their weights
///   unfused      norm 2 r, 1 w; sum 2 r, 1 w; eager_history_backward()
/// and adding to the sums, eager code to those of the s states.
BackwardLayer over_history_backward(const SchemeLayer& at, Schedule schedule,
                                    GradientAccumulation mode) {
  const auto s = static_cast<double>(at.layer);
  const double is_read_later = is_last_layer(at) ? 0 : 1;
  if (schedule == single_pass)
    return attention_backward(s, is_read_later) + accumulated(mode, history_kv_sums(at)) +
           projection_backward_into(1, 1) + projection_backward(1, 2);
  const BackwardLayer all = norm_backward() + eager_history_backward(s) +
                            accumulated(GradientAccumulation::autograd, history_kv_sums(at) / 2);
  return is_read_later > 0 ? all + gradient_sum() : all;
}

/// What attention over s states keeps beside the norm's input and output: q and a weight for each;
/// a kernel the new key and value, eager code the stack and all of them.
SavedVectors attention_saved(double s, Schedule schedule) {
  return d_vectors(1 + (schedule == unfused ? 3 * s : 2)) + loose_scalars(s);
}

/// y and f; the rest is made again. Keys and values of earlier states are handed over.
SavedLayer over_history_saved(const SchemeLayer& at, Schedule schedule) {
  const auto s = static_cast<double>(at.layer);
  return {.state = d_vectors(2),
          .remade = kNormOutput + attention_saved(s, schedule),
          .received = 2 * (s - 1) + 1};
}

double history_block_sums(const SchemeLayer& at) {
  return ends_block(at) && has_later_boundary(at) ? 2 * checkpoints(at) : 0;
}

/// h += f; at a boundary h' = h + attention over s states; x = norm(h').
///   single_pass  keys and values of h', if a boundary follows: 2 r into dh', and 3 r for their
///                weights; attention; the query into dh
///   unfused      norm 2 r, 1 w; sum 2 r, 1 w; eager_history_backward(); the state is a source of
///                later boundaries too: 2 r, 1 w
/// The embedding is a source as well: its projection, or its sum, is at the first layer.
BackwardLayer history_at_boundaries_backward(const SchemeLayer& at, Schedule schedule,
                                             GradientAccumulation mode) {
  BackwardLayer all;
  if (at.layer == 1) all = schedule == unfused ? gradient_sum() : projection_backward_into(1, 2);
  if (!ends_block(at)) return all + add_and_norm_backward(schedule);
  const double s = checkpoints(at);
  const bool is_read_later = has_later_boundary(at);
  if (schedule == single_pass) {
    all = all + attention_backward(s, 1) + accumulated(mode, history_block_sums(at)) +
          projection_backward_into(1, 1);
    return is_read_later ? all + projection_backward_into(1, 2) : all;
  }
  all = all + norm_backward() + gradient_sum() + eager_history_backward(s) +
        accumulated(GradientAccumulation::autograd, history_block_sums(at) / 2);
  return is_read_later ? all + gradient_sum() : all;
}

/// As add and norm; at a boundary also h in front of it, which the query is made of.
SavedLayer history_at_boundaries_saved(const SchemeLayer& at, Schedule schedule) {
  SavedLayer saved = add_and_norm_saved(at, schedule);
  saved.received = 2 * checkpoints(at) - (at.layer == 1 ? 1 : 0);
  if (!ends_block(at)) return saved;
  saved.state = saved.state + d_vectors(1);
  saved.remade = saved.remade + attention_saved(checkpoints(at), schedule);
  return saved;
}

constexpr BackwardRule kBoundaryBackward{
    .moves =
        "single_pass: s + 3 r, s w and the sums. unfused: as block_attnres, and the sum of both parts 2 r, 1 w",
    .layer = at_boundaries_backward,
    .activations = layers_keep<at_boundaries_saved>,
    .accumulation_d = accumulated_d<boundary_sums>};
constexpr BackwardRule kOverHistoryBackward{
    .moves =
        "single_pass: 2s + 4 r, 2s + 2 w and the sums; projections 9 r, 2 w. unfused: each eager kernel's own",
    .layer = over_history_backward,
    .activations = layers_keep<over_history_saved>,
    .accumulation_d = accumulated_d<history_kv_sums>};
constexpr BackwardRule kHistoryBlockBackward{
    .moves =
        "single_pass: 2s + 4 r, 2s + 2 w and the sums at a boundary; projections 9 r, 2 w. unfused: each eager kernel's own",
    .layer = history_at_boundaries_backward,
    .activations = layers_keep<history_at_boundaries_saved>,
    .accumulation_d = accumulated_d<history_block_sums>};

/// W_q, W_k and W_v, which all layers share.
double shared_projections(const SchemeLayer& at) {
  const double d = hidden_size(at);
  return at.layer == 1 ? 3 * d * d : 0.0;
}

}  // namespace

const SchemeRule schemes::kBoundaryAttention{
    .id = "boundary_attention",
    .label = "Boundary attention (not the paper's)",
    .update =
        "h <- sum_i softmax_i(w . u_i / sqrt(d)) u_i, u_i = RMSNorm(h_i), at block boundaries; "
        "h_l = h_{l-1} + f_{l-1} inside",
    .file = "cross_layer/other_attention.cpp",
    .source = "\"from residual connections to attention residuals\", its class DepthAttention",
    .moves =
        "a boundary with s states, unfused: add 2 r, 1 w; stack s r, s w; norms s r, s w; "
        "scores s r; mix s r, 1 w; norm 1 r, 1 w. single_pass: s + 1 r, 2 w, s r if every layer is "
        "one; other layers as standard",
    .reference = "without_kernels/other_depth_attention.hpp",
    .unmixed = kNormOnStream,
    .kind = {StateKind::cross_layer, WeightKind::dynamic},
    .keys = kAttentionKeys,
    .schedules = kUnfusedAndSinglePass,
    .operations = at_boundaries,
    .state_d = kept_checkpoints,
    .parameters = [](const SchemeLayer& at) { return ends_block(at) ? 2 * hidden_size(at) : 0.0; },
    .problem = blocks_problem,
    .backward = &kBoundaryBackward};

const SchemeRule schemes::kHistoryAttention{
    .id = "history_attention",
    .label = "History attention (not the paper's)",
    .update =
        "y_l = f_l(y_{l-1}) + softmax(Q K^T / sqrt(d)) V, Q = f_l W_q, K, V = [y_0 .. y_{l-1}] "
        "W_k, W_v",
    .file = "cross_layer/other_attention.cpp",
    .source =
        "lab diary entry \"Attention Residuals: the paper I mostly did not understand but completely "
        "believe\", its attn_res_forward",
    .moves =
        "unfused: query 1 r, 1 w; stack, keys, values s r, s w each; scores s + 1 r; mix s r, 1 "
        "w; add 2 r, 1 w; norm 1 r, 1 w, s = l. single_pass: query 1 r, 1 w; keys and values 1 "
        "r, 2 w; scan 2s + 2 r, 2 w",
    .reference = "without_kernels/other_depth_attention.hpp",
    .unmixed = "W_v acts on the features: an entry would be a d x d matrix",
    .kind = {StateKind::cross_layer, WeightKind::dynamic},
    .keys = {},
    .schedules = kUnfusedAndSinglePass,
    .operations = over_history,
    // The newest has no key and no value yet.
    .state_d = [](const SchemeLayer& at) { return 2 * static_cast<double>(at.layer) + 1; },
    .parameters = shared_projections,
    .backward = &kOverHistoryBackward};

const SchemeRule schemes::kHistoryAttentionBlock{
    .id = "history_attention_block",
    .label = "History attention, block form (not the paper's)",
    .update =
        "h_l = h_{l-1} + f_{l-1}; at block boundaries h += softmax(Q K^T / sqrt(d)) V, Q = h W_q, "
        "K, V = [h of earlier boundaries, h_0] W_k, W_v",
    .file = "cross_layer/other_attention.cpp",
    .source =
        "lab diary entry \"Attention Residuals: the paper I mostly did not understand but completely "
        "believe\", its block_attn_res_forward",
    .moves =
        "a boundary with s states, unfused: add 2 r, 1 w; query 1 r, 1 w; stack, keys, values s r, "
        "s w each; scores s + 1 r; mix s r, 1 w; add 2 r, 1 w; norm 1 r, 1 w. single_pass: add 2 r, "
        "1 w; query 1 r, 1 w; scan 2s + 2 r, 2 w; keys and values 1 r, 2 w; other layers as standard",
    .reference = "without_kernels/other_depth_attention.hpp",
    .unmixed = "W_v acts on the features: an entry would be a d x d matrix",
    .kind = {StateKind::cross_layer, WeightKind::dynamic},
    .keys = kAttentionKeys,
    .schedules = kUnfusedAndSinglePass,
    .operations = history_at_boundaries,
    // Keys and values of the embedding and of every boundary, and h.
    .state_d =
        [](const SchemeLayer& at) { return 2 * (checkpoints(at) + (ends_block(at) ? 1 : 0)) + 1; },
    .parameters = shared_projections,
    .problem = blocks_problem,
    .backward = &kHistoryBlockBackward};

}  // namespace depthcost
