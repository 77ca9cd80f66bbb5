// The ablations of AttnRes in [attnres] Table 4, over blocks of S layers; S = 1 is Full AttnRes.
// They differ from the shipped form in where weights come from, not in which rows are read.
#include <fmt/format.h>

#include <algorithm>

#include "model/base/counted.hpp"
#include "model/operations/attnres_operations.hpp"
#include "model/operations/dense_operations.hpp"
#include "model/operations/eager_operations.hpp"
#include "model/pipeline/pipeline.hpp"
#include "model/schemes/backward_parts.hpp"
#include "model/schemes/cross_layer/attnres.hpp"
#include "model/schemes/list.hpp"

namespace depthcost {
namespace {

using namespace scheme_parts;

constexpr std::string_view kAblationsSource = "[attnres] Table 4, Sec. 5.3";
constexpr std::string_view kReference = "attnres.hpp";
constexpr std::string_view kMoves =
    "unfused: b += f 2 r, 1 w inside a block; stack s r, s w; key norm s r, s w; scores s r; mix s "
    "r, 1 w; norm 1 r, 1 w. "
    "single_pass: as block_attnres, with S = 1 full_attnres";
constexpr SchemeClass kDynamic{StateKind::cross_layer, WeightKind::dynamic};
constexpr SchemeKey kBlocks{"block_size", &SchemeParameters::block_size,
                            "[attnres] Table 4: variants of Full AttnRes, S = 1"};
constexpr std::array kBlocksOnly{kBlocks};
constexpr std::array kBlocksAndHeads{
    kBlocks, SchemeKey{"heads", &SchemeParameters::heads, "[attnres] Table 4: H = 16"}};
constexpr std::array kWindowOnly{
    SchemeKey{"window", &SchemeParameters::window, "[attnres] Table 4: W = 1 + 8"}};

Partition partition_of(const SchemeLayer& at) {
  return partition_by_size(at.num_layers, at.parameters.block_size);
}

bool is_output(const SchemeLayer& at) { return at.layer > at.num_layers; }

/// As the paper ships it, in front of layer `at` or behind the last one.
Launches shipped(const SchemeLayer& at, Schedule schedule) {
  const Partition blocks = partition_of(at);
  if (is_output(at)) return block_attnres_output(blocks, schedule);
  return block_attnres(position_of_layer(blocks, at.layer), schedule);
}

/// Changes every launch of one kind.
template <class Change>
Launches changed(Launches all, OperationId id, const Change& change) {
  for (Operation& operation : all)
    if (operation.id == id) change(operation);
  return all;
}

/// Its row in front of the layer, and behind the last one.
Count num_sources(const SchemeLayer& at) {
  const Partition blocks = partition_of(at);
  if (is_output(at)) return blocks.num_blocks + 1;
  return block_sources(position_of_layer(blocks, at.layer));
}

double sources_d(const SchemeLayer& at) { return static_cast<double>(num_sources(at)); }

/// b_0, the blocks behind layer `at`, and a partial sum where one is unfinished.
double kept_blocks(const SchemeLayer& at) {
  const Count S = at.parameters.block_size;
  const Boundary boundary = boundary_after(at.layer, S);
  return static_cast<double>(naive_transition(boundary, Embedding::sent, PartialSum::sent));
}

double query_and_gain(const SchemeLayer& at) { return 2 * hidden_size(at); }

/// The newest source as a kernel forms it: no kernel before has stored it. In front of the first
/// layer it is the embedding.
Accesses newest_source(const Operation& single_pass) {
  double partial = 0;
  double output = 0;
  for (const Access& access : single_pass.accesses) {
    if (access.operand == Operand::partial_sum) partial += access.reads_d;
    if (access.operand == Operand::layer_output) output += access.reads_d;
  }
  return {reads(Operand::partial_sum, partial), reads(Operand::layer_output, output),
          reads(Operand::bank, partial + output > 0 ? 0 : 1), writes(Operand::recent, 1)};
}

/// q = W_q (newest source), a row per token that the scores read again. Eager mode takes the source
/// from the stack.
Launches input_dependent(const SchemeLayer& at, Schedule schedule) {
  Launches all = shipped(at, schedule);
  const double d = hidden_size(at);
  const auto read_query = [](Operation& operation) {
    operation = operations::with_token_query(operation);
  };
  if (schedule == unfused) {
    all.insert(all.begin() + 1, operations::unfused_projection({Access{Operand::recent, 1, 1}}, d));
    return changed(std::move(all), operations::kUnfusedScores, read_query);
  }
  all.insert(all.begin(), operations::unfused_projection(newest_source(all.front()), d));
  return changed(std::move(all), operations::kAttnresSinglePass, read_query);
}

/// Learned scalars in place of query and key: nothing is scored.
Launches input_independent(const SchemeLayer& at, Schedule schedule) {
  const double s = sources_d(at);
  Launches all = shipped(at, schedule);
  if (schedule == unfused) {
    std::erase_if(all, [](const Operation& op) {
      return op.id == operations::kUnfusedKeyNorm || op.id == operations::kUnfusedScores;
    });
    return changed(std::move(all), operations::kUnfusedMix, [&](Operation& mix) {
      mix.reads_scalars = 0;
      mix.parameters = s;
    });
  }
  return changed(std::move(all), operations::kAttnresSinglePass, [&](Operation& mix) {
    mix.id = operations::kDenseMix;
    mix.flops_d = kFlopsPerPair / 2 * s;
    mix.parameters_d -= operations::kQuery_d;
    mix.parameters = s;
  });
}

Launches raw_keys(const SchemeLayer& at, Schedule schedule) {
  Launches all = shipped(at, schedule);
  std::erase_if(all, [](const Operation& op) { return op.id == operations::kUnfusedKeyNorm; });
  return changed(std::move(all), operations::kAttnresSinglePass,
                 [](Operation& mix) { mix = operations::with_raw_keys(mix); });
}

/// A logit and a weight for each head.
Launches multihead(const SchemeLayer& at, Schedule schedule) {
  const auto heads = static_cast<double>(at.parameters.heads);
  const auto per_head = [heads](Operation& operation) {
    operation.reads_scalars *= heads;
    operation.writes_scalars *= heads;
  };
  return changed(changed(shipped(at, schedule), operations::kUnfusedScores, per_head),
                 operations::kUnfusedMix, per_head);
}

/// The embedding and the W most recent outputs.
Count window_sources(const SchemeLayer& at) { return std::min(at.layer, at.parameters.window + 1); }

Launches sliding_window(const SchemeLayer& at, Schedule schedule) {
  if (schedule == single_pass) return {operations::full_single_pass(window_sources(at))};
  return eager_attnres(window_sources(at));
}

SchemeLayer behind(const SchemeLayer& last) {
  return {last.parameters, last.num_layers + 1, last.num_layers};
}

template <Launches (*kLaunches)(const SchemeLayer&, Schedule)>
Launches output(const SchemeLayer& last, Schedule schedule) {
  return kLaunches(behind(last), schedule);
}

// The backward pass: the same rows as AttnRes, since every gradient of a weight needs the source
// that it is of. [ours]

/// Heads have a sum each; a sigmoid's ds_i = a_i (1 - a_i) <dh, v_i> needs no h, which in
/// `per_block` would save a row of each layer and is not taken off.
BackwardLayer shipped_backward(const SchemeLayer& at, Schedule schedule,
                               GradientAccumulation mode) {
  const Partition blocks = partition_of(at);
  if (is_output(at)) return attnres_output_backward(blocks.num_blocks + 1, schedule);
  return block_attnres_backward(position_of_layer(blocks, at.layer), schedule, mode);
}

/// Eager code without the keys' norm: 2s r, s w.
BackwardLayer raw_keys_backward(const SchemeLayer& at, Schedule schedule,
                                GradientAccumulation mode) {
  const BackwardLayer all = shipped_backward(at, schedule, mode);
  const double s = sources_d(at);
  return schedule == unfused ? all + BackwardLayer{{-s, -s, -s}, -1} : all;
}

/// dv_i = alpha_i dh, dalpha_i = <dh, v_i>. Eager code without keys: norm 2 r, 1 w; mix s + 1 r, s
/// w; unstack s r, s w; additions.
BackwardLayer input_independent_backward(const SchemeLayer& at, Schedule schedule,
                                         GradientAccumulation mode) {
  const double s = sources_d(at);
  if (schedule != unfused) return shipped_backward(at, schedule, mode);
  return norm_backward() + backward_kernel(s + 1, 0, s) + backward_kernel(0, s, s) +
         accumulated(GradientAccumulation::autograd, s);
}

/// q = W_q v of the newest source v: the scan reads q and writes dq = sum_i ds_i k_i, whose product
/// adds to dv. It needs all ds_i at once, so that a block's end is too late: `per_block` is
/// `fused`.
BackwardLayer input_dependent_backward(const SchemeLayer& at, Schedule schedule,
                                       GradientAccumulation mode) {
  const BackwardLayer query{{.activation_reads_d = 1, .gradient_writes_d = 1}, 0};
  if (schedule == unfused)
    return shipped_backward(at, schedule, mode) + query + projection_backward(1, 1) +
           gradient_sum();
  if (mode == GradientAccumulation::per_block) mode = GradientAccumulation::fused;
  return shipped_backward(at, schedule, mode) + query + projection_backward_into(1, 1);
}

/// What adding up gradients costs in a whole pass: as Block AttnRes.
double blocks_accumulation_d(const SchemeLayer& last, GradientAccumulation mode) {
  return accumulation_d(partition_of(last), mode);
}
double each_layer_accumulation_d(const SchemeLayer& last, GradientAccumulation mode) {
  if (mode == GradientAccumulation::per_block) mode = GradientAccumulation::fused;
  return blocks_accumulation_d(last, mode);
}

ChunkActivations shipped_keep(const SchemeLayer& last, const ChunkOfLayers& chunk,
                              const ActivationPlan& plan) {
  return attnres_activations(partition_of(last), chunk, plan);
}

/// A weight for each head, and the row's norm.
ChunkActivations multihead_keep(const SchemeLayer& last, const ChunkOfLayers& chunk,
                                const ActivationPlan& plan) {
  const double heads = static_cast<double>(last.parameters.heads);
  return attnres_activations(partition_of(last), chunk, plan, {.scalars_per_source = heads + 1});
}

/// The stack, and no keys. Weights are the only scalars.
ChunkActivations raw_keys_keep(const SchemeLayer& last, const ChunkOfLayers& chunk,
                               const ActivationPlan& plan) {
  return attnres_activations(partition_of(last), chunk, plan,
                             {.eager_per_source = 1, .scalars_per_source = 1});
}

ChunkActivations input_independent_keep(const SchemeLayer& last, const ChunkOfLayers& chunk,
                                        const ActivationPlan& plan) {
  return attnres_activations(partition_of(last), chunk, plan,
                             {.eager_per_source = 1, .scalars_per_source = 0});
}

ChunkActivations input_dependent_keep(const SchemeLayer& last, const ChunkOfLayers& chunk,
                                      const ActivationPlan& plan) {
  return attnres_activations(partition_of(last), chunk, plan, {.per_mix = 1});
}

/// Sources that the next layer has left a gradient for: all but the oldest, once the window is
/// full. The output aggregation runs first.
double window_sums(const SchemeLayer& at) {
  if (is_output(at)) return 0;
  const auto s = static_cast<double>(window_sources(at));
  return at.layer > at.parameters.window ? s - 1 : s;
}

BackwardLayer sliding_window_backward(const SchemeLayer& at, Schedule schedule,
                                      GradientAccumulation mode) {
  const Count s = window_sources(at);
  if (schedule == unfused) return eager_attnres_backward(s, window_sums(at));
  return BackwardLayer{one_read_backward(s), 1} + accumulated(mode, window_sums(at));
}

/// The newest row; mix and normalised input, weight and norm of each source. Eager code has the
/// stack and its keys.
SavedLayer sliding_window_saved(const SchemeLayer& at, Schedule schedule) {
  const auto s = static_cast<double>(window_sources(at));
  return {.state = d_vectors(1),
          .remade = kNormInput + kNormOutput + loose_scalars(2 * s) +
                    d_vectors(schedule == unfused ? 2 * s : 0),
          .rows = 1,
          .received = s - 1};
}

constexpr BackwardRule kSigmoidBackward{.moves = "as block_attnres",
                                        .layer = shipped_backward,
                                        .activations = shipped_keep,
                                        .accumulation_d = blocks_accumulation_d};
constexpr BackwardRule kMultiheadBackward{.moves = "as block_attnres",
                                          .layer = shipped_backward,
                                          .activations = multihead_keep,
                                          .accumulation_d = blocks_accumulation_d};
constexpr BackwardRule kRawKeysBackward{
    .moves = "as block_attnres; unfused: without the keys' norm, 2s r and s w less",
    .layer = raw_keys_backward,
    .activations = raw_keys_keep,
    .accumulation_d = blocks_accumulation_d};
constexpr BackwardRule kInputIndependentBackward{
    .moves =
        "as block_attnres; unfused: norm 2 r, 1 w; mix s + 1 r, s w; unstack s r, s w; and the sums",
    .layer = input_independent_backward,
    .activations = input_independent_keep,
    .accumulation_d = blocks_accumulation_d};
constexpr BackwardRule kInputDependentBackward{
    .moves = "as block_attnres; of a token's query 5 r, 2 w more",
    .layer = input_dependent_backward,
    .activations = input_dependent_keep,
    .accumulation_d = each_layer_accumulation_d};
constexpr BackwardRule kSlidingWindowBackward{
    .moves = "as full_attnres with at most W + 1 sources",
    .layer = sliding_window_backward,
    .activations = layers_and_output_keep<sliding_window_saved>,
    .accumulation_d = accumulated_d<window_sums>};

std::optional<ParameterProblem> heads_problem(const SchemeLayer& last) {
  const SchemeParameters& p = last.parameters;
  if (p.hidden_size % p.heads != 0)
    return ParameterProblem{"heads", fmt::format("must divide d = {}", p.hidden_size)};
  return blocks_problem(last);
}

std::optional<ParameterProblem> window_problem(const SchemeLayer& last) {
  if (last.parameters.window <= last.num_layers) return std::nullopt;
  return ParameterProblem{"window", "more than " + counted(last.num_layers, "layer", "layers")};
}

}  // namespace

const SchemeRule schemes::kAttnResInputDependent{
    .id = "attnres_input_dependent",
    .label = "AttnRes, input-dependent query",
    .update = "as AttnRes with w_l replaced by W_l v, v the newest source",
    .file = "cross_layer/attnres_ablations.cpp",
    .source = kAblationsSource,
    .moves = "the projection of the newest source and the query: 2 or 3 r, 1 w beside AttnRes",
    .reference = kReference,
    .ablation = "input_dependent",
    .unmixed = "its matrix has the form of full_attnres: ask for that",
    .kind = kDynamic,
    .keys = kBlocksOnly,
    .schedules = kUnfusedAndSinglePass,
    .operations = input_dependent,
    .state_d = kept_blocks,
    .parameters =
        [](const SchemeLayer& at) { return hidden_size(at) * hidden_size(at) + hidden_size(at); },
    .output = output<input_dependent>,
    .problem = blocks_problem,
    .backward = &kInputDependentBackward};

const SchemeRule schemes::kAttnResInputIndependent{
    .id = "attnres_input_independent",
    .label = "AttnRes, input-independent mixing",
    .update = "h_l = sum_i alpha_{i->l} v_i, alpha learned scalars",
    .file = "cross_layer/attnres_ablations.cpp",
    .source = kAblationsSource,
    .moves = "unfused: stack s r, s w; mix s r, 1 w; norm 1 r, 1 w. single_pass: as block_attnres",
    .reference = "dense_mix.hpp",
    .kind = {StateKind::cross_layer, WeightKind::learned_static},
    .keys = kBlocksOnly,
    .schedules = kUnfusedAndSinglePass,
    .operations = input_independent,
    .state_d = kept_blocks,
    .parameters = sources_d,
    .output = output<input_independent>,
    .problem = blocks_problem,
    .backward = &kInputIndependentBackward};

const SchemeRule schemes::kAttnResSigmoid{.id = "attnres_sigmoid",
                                          .label = "AttnRes, sigmoid",
                                          .update = "h_l = sum_i sigmoid(w_l . RMSNorm(v_i)) v_i",
                                          .file = "cross_layer/attnres_ablations.cpp",
                                          .source = kAblationsSource,
                                          .moves = kMoves,
                                          .reference = kReference,
                                          .ablation = "sigmoid",
                                          .kind = kDynamic,
                                          .keys = kBlocksOnly,
                                          .schedules = kUnfusedAndSinglePass,
                                          .operations = shipped,
                                          .state_d = kept_blocks,
                                          .parameters = query_and_gain,
                                          .output = output<shipped>,
                                          .problem = blocks_problem,
                                          .backward = &kSigmoidBackward};

const SchemeRule schemes::kAttnResRawKeys{
    .id = "attnres_raw_keys",
    .label = "AttnRes, no RMSNorm",
    .update = "h_l = sum_i softmax_i(w_l . v_i) v_i",
    .file = "cross_layer/attnres_ablations.cpp",
    .source = kAblationsSource,
    .moves = kMoves,
    .reference = kReference,
    .ablation = "raw_keys",
    .unmixed = "its matrix has the form of full_attnres, with other keys: ask for that",
    .kind = kDynamic,
    .keys = kBlocksOnly,
    .schedules = kUnfusedAndSinglePass,
    .operations = raw_keys,
    .state_d = kept_blocks,
    .parameters = hidden_size,
    .output = output<raw_keys>,
    .problem = blocks_problem,
    .backward = &kRawKeysBackward};

const SchemeRule schemes::kAttnResMultihead{
    .id = "attnres_multihead",
    .label = "AttnRes, multihead",
    .update = "h_l = concat_h sum_i softmax_i(w_l^h . RMSNorm(v_i)^h) v_i^h over H channel groups",
    .file = "cross_layer/attnres_ablations.cpp",
    .source = kAblationsSource,
    .moves = kMoves,
    .reference = kReference,
    .ablation = "multihead",
    .unmixed = "each head has a matrix of the form of full_attnres: ask for that",
    .kind = kDynamic,
    .keys = kBlocksAndHeads,
    .schedules = kUnfusedAndSinglePass,
    .operations = multihead,
    .state_d = kept_blocks,
    .parameters = query_and_gain,
    .output = output<multihead>,
    .problem = heads_problem,
    .backward = &kMultiheadBackward};

const SchemeRule schemes::kAttnResSlidingWindow{
    .id = "attnres_sliding_window",
    .label = "AttnRes, sliding window",
    .update = "h_l = sum over v_0 and v_{l-W} .. v_{l-1} of softmax_i(w_l . RMSNorm(v_i)) v_i",
    .file = "cross_layer/attnres_ablations.cpp",
    .source = kAblationsSource,
    .moves = "as full_attnres with at most W + 1 sources: single_pass W + 1 r, 1 w",
    .reference = kReference,
    .ablation = "sliding_window",
    .kind = kDynamic,
    .keys = kWindowOnly,
    .schedules = kUnfusedAndSinglePass,
    .operations = sliding_window,
    .state_d =
        [](const SchemeLayer& at) {
          return static_cast<double>(window_sources({at.parameters, at.layer + 1, at.num_layers}));
        },
    .parameters = query_and_gain,
    .output = output<sliding_window>,
    .problem = window_problem,
    .backward = &kSlidingWindowBackward};

}  // namespace depthcost
