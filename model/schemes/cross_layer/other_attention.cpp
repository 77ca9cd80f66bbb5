// Mechanisms that circulate under the name of Attention Residuals and are not the paper's:
// attention over depth at block boundaries alone, and attention over the history beside a residual,
// behind every layer or at block boundaries.
// What each choice costs; REFERENCES.md, "family".
#include "model/schemes/list.hpp"
#include "model/schemes/states.hpp"

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
                                   (kFlopsPerPair + kFlopsPerKey) * s,
                                   operations::kQuery_d + operations::kGain_d)};
  return {operations::residual_add(),      operations::unfused_stack(s),
          operations::unfused_key_norm(s), operations::unfused_scores(s),
          operations::unfused_mix(s),      operations::rmsnorm()};
}

double kept_checkpoints(const SchemeLayer& at) {
  const Count S = at.parameters.block_size;
  return static_cast<double>(at.layer / S + 1 + (at.layer % S > 0 ? 1 : 0));
}

/// y_l = f_l + softmax(Q K^T / sqrt(d)) V over y_0 .. y_{l-1}, W_q, W_k and W_v shared by all
/// layers. Eager mode projects all of them at every layer; a kernel keeps their keys and values.
Launches over_history(const SchemeLayer& at, Schedule schedule) {
  const auto s = static_cast<double>(at.layer);
  const double d = hidden_size(at);
  const Operation query =
      operations::unfused_projection({kReadsOutput, writes(Operand::recent, 1)}, d);
  if (schedule == single_pass) {
    Operation keys = operations::unfused_projection(
        {reads(Operand::hidden_state, 1), writes(Operand::bank, 2)}, 2 * d);
    return {query, keys,
            operations::row_update({reads(Operand::recent, 1), reads(Operand::bank, 2 * s),
                                    kReadsOutput, writes(Operand::hidden_state, 1), kWritesInput},
                                   kFlopsPerPair * s + 1)};
  }
  Operation rows = operations::unfused_projection({Access{Operand::recent, s, s}}, d);
  rows.flops_d *= s;
  Operation scores = operations::unfused_scores(s);
  scores.parameters_d = 0;
  scores.accesses[0].reads_d += 1;
  return {query,
          operations::unfused_stack(s),
          rows,
          rows,
          scores,
          operations::unfused_mix(s),
          operations::unfused_elementwise(
              {kReadsOutput, reads(Operand::recent, 1), writes(Operand::hidden_state, 1)}, 1),
          operations::rmsnorm()};
}

/// Keys and values of the state in `from`, kept for all boundaries to come.
Operation kept_projection(Operand from, double d) {
  return operations::unfused_projection({reads(from, 1), writes(Operand::bank, 2)}, 2 * d);
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
  Operation rows = operations::unfused_projection({Access{Operand::recent, s, s}}, d);
  rows.flops_d *= s;
  Operation scores = operations::unfused_scores(s);
  scores.parameters_d = 0;
  scores.accesses[0].reads_d += 1;
  all.insert(all.end(),
             {operations::unfused_stack(s), rows, rows, scores, operations::unfused_mix(s),
              operations::unfused_elementwise({reads(Operand::recent, 1), kUpdatesHidden}, 1),
              operations::rmsnorm()});
  return all;
}

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
    .problem = blocks_problem};

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
    .parameters = shared_projections};

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
    .problem = blocks_problem};

}  // namespace depthcost
