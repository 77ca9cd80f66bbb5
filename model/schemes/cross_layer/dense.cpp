// DenseNet, DenseFormer, MUDDFormer and MRLA: every layer, or every Transformer block, reads all
// that came before, with weights that are static or computed from the token.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/operations/dense_operations.hpp"
#include "model/schemes/backward_parts.hpp"
#include "model/schemes/list.hpp"

namespace depthcost {
namespace {

using namespace scheme_parts;

Launches plain_layer(Schedule schedule) {
  if (schedule == fused) return {operations::residual_add_rmsnorm()};
  return {operations::residual_add(), operations::rmsnorm()};
}

/// Convolutions are counted as one pass over the rows, without their operations.
Launches dense_net(const SchemeLayer& at, Schedule) {
  const double sources = all_outputs(at);
  return {operations::unfused_stack(sources),
          operations::unfused_elementwise(
              {reads(Operand::recent, sources), writes(Operand::recent, 1)}, 0),
          operations::rmsnorm()};
}

/// V_l = Conv(f_l) joins the bank; gates are scalars of a pooled row.
Launches mrla(const SchemeLayer& at, Schedule) {
  const auto sources = static_cast<double>(at.layer);
  return {operations::unfused_elementwise({kReadsOutput, writes(Operand::bank, 1)}, 0),
          operations::unfused_elementwise(
              {reads(Operand::bank, sources), writes(Operand::recent, 1)}, 2 * sources),
          operations::rmsnorm()};
}

/// Sources of a row's gradient that later layers have left: all of them, but not at the last layer.
double dense_net_sums(const SchemeLayer& at) { return is_last_layer(at) ? 0 : all_outputs(at); }
double mrla_sums(const SchemeLayer& at) {
  return is_last_layer(at) ? 0 : static_cast<double>(at.layer);
}

/// The backward pass of one convolution over s sources: norm 2 r, 1 w; convolution dy r, s w, and
/// s, dy r for its weights; unstack s r, s w; and the sums. As forward, a convolution is one pass
/// over the rows. [ours]
BackwardLayer dense_net_backward(const SchemeLayer& at, Schedule, GradientAccumulation) {
  const double s = all_outputs(at);
  return norm_backward() + projection_backward(s, 1) + backward_kernel(0, s, s) +
         accumulated(GradientAccumulation::autograd, dense_net_sums(at));
}

/// The backward pass of the sum of s values: norm 2 r, 1 w; V, dy r, s w; the sums; then the
/// convolution of the newest. What the gates hand back is scalars of a pooled row, which the
/// convolution's kernel adds as it writes df: an assumption, the paper has no kernel. [ours]
BackwardLayer mrla_backward(const SchemeLayer& at, Schedule, GradientAccumulation) {
  const auto s = static_cast<double>(at.layer);
  return norm_backward() + backward_kernel(s, 1, s) +
         accumulated(GradientAccumulation::autograd, mrla_sums(at)) + projection_backward(1, 1);
}

/// The row itself; torch.cat's copy of all sources, the norm's input and output.
SavedLayer dense_net_saved(const SchemeLayer& at, Schedule) {
  return {.state = d_vectors(1),
          .remade = d_vectors(all_outputs(at)) + kNormInput + kNormOutput,
          .rows = 1,
          .received = all_outputs(at) - 1};
}

/// f, and from it V; the norm's input and output, and a gate for each source.
SavedLayer mrla_saved(const SchemeLayer& at, Schedule) {
  return {.state = d_vectors(2),
          .remade = kNormInput + kNormOutput + loose_scalars(static_cast<double>(at.layer)),
          .rows = 1,
          .received = static_cast<double>(at.layer) - 1};
}

constexpr BackwardRule kDenseNetBackward{
    .moves =
        "norm 2 r, 1 w; convolution 1 r, s w, and s + 1 r for its weights; unstack s r, s w; and the sums",
    .layer = dense_net_backward,
    .activations = layers_keep<dense_net_saved>,
    .accumulation_d = accumulated_d<dense_net_sums>};
constexpr BackwardRule kMrlaBackward{
    .moves = "norm 2 r, 1 w; s + 1 r, s w; the sums; the convolution of the newest",
    .layer = mrla_backward,
    .activations = layers_keep<mrla_saved>,
    .accumulation_d = accumulated_d<mrla_sums>};

constexpr std::string_view kDenseFormerDefault =
    "arXiv:2402.02622: 4 x 5, its best trade-off at 48 blocks";
constexpr std::array kDenseFormerKeys{
    SchemeKey{"dilation", &SchemeParameters::dilation, kDenseFormerDefault},
    SchemeKey{"period", &SchemeParameters::period, kDenseFormerDefault}};

bool is_mixed(Count block, const SchemeParameters& p) { return block % p.period == 0; }

/// Rows j <= i with j = i (mod k), X_0 being the embedding and X_i the newest.
Count dilated_sources(Count block, const SchemeParameters& p) { return block / p.dilation + 1; }

bool is_mixing_layer(const SchemeLayer& at) {
  return ends_decoder_layer(at) && is_mixed(decoder_layers(at), at.parameters);
}

/// In front of an unmixed layer the state is X_i itself, in its own row: nothing is copied.
Launches dense_former(const SchemeLayer& at, Schedule schedule) {
  if (!is_mixing_layer(at)) return plain_layer(schedule);
  const Count sources = dilated_sources(decoder_layers(at), at.parameters);
  if (schedule == fused) return {operations::denseformer_mix(sources - 1)};
  Operation mix = operations::unfused_bank_mix(static_cast<double>(sources));
  mix.reads_scalars = 0;
  mix.parameters = static_cast<double>(sources);
  return {operations::residual_add(), mix, operations::rmsnorm()};
}

/// Whether a later mix reads X_i of the Transformer block that ends at layer `at`, and so has left
/// a gradient for it: one of the next blocks that are multiples of p and lie a multiple of k
/// behind.
bool is_mixed_later(const SchemeLayer& at) {
  const SchemeParameters& p = at.parameters;
  const Count block = decoder_layers(at);
  const Count last = at.num_layers / 2;
  Count later = (block / p.period + 1) * p.period;
  for (Count tried = 0; tried < p.dilation && later <= last; ++tried, later += p.period)
    if ((later - block) % p.dilation == 0) return true;
  return false;
}

/// All sources of a mix are sources of the next mix that has one of them.
double dense_former_sums(const SchemeLayer& at) {
  if (!ends_decoder_layer(at) || !is_mixed_later(at)) return 0;
  if (!is_mixing_layer(at)) return 1;
  return static_cast<double>(dilated_sources(decoder_layers(at), at.parameters));
}

/// Backward of X_i = h + f; y = sum_j alpha_j X_j; x = norm(y), over s sources.
///   fused     the sources, dx, dy r, y made again; s gradients w, that of X_i being
///             those of h and f
///   unfused   norm 2 r, 1 w; sum 2 r, 1 w; mix: the sources, dy r, s w
/// and adding to what later mixes have left; elsewhere as add and norm, and once more where a later
/// mix reads the state. [ours]
BackwardLayer dense_former_backward(const SchemeLayer& at, Schedule schedule,
                                    GradientAccumulation mode) {
  const BackwardLayer sums = accumulated(
      schedule == unfused ? GradientAccumulation::autograd : mode, dense_former_sums(at));
  if (!is_mixing_layer(at)) return add_and_norm_backward(schedule) + sums;
  const auto s = static_cast<double>(dilated_sources(decoder_layers(at), at.parameters));
  if (schedule == fused) return backward_kernel(s + 1, 1, s) + sums;
  return norm_backward() + gradient_sum() + backward_kernel(s, 1, s) + sums;
}

/// Transformer blocks' outputs that lie in front of this layer's.
double rows_before(const SchemeLayer& at) { return static_cast<double>((at.layer - 1) / 2 + 1); }

/// X_i; behind a mix also y, which is made again from the sources. A chunk is handed all X_j, of
/// which a mix reads those a multiple of k away.
SavedLayer dense_former_saved(const SchemeLayer& at, Schedule schedule) {
  SavedLayer saved = add_and_norm_saved(at, schedule);
  if (is_mixing_layer(at)) saved.remade = saved.remade + kNormInput;
  saved.rows = ends_decoder_layer(at) ? 1 : 0;
  saved.received = rows_before(at);
  return saved;
}

constexpr BackwardRule kDenseFormerBackward{
    .moves =
        "fused: s + 2 r, s w and the sums. unfused: norm 2 r, 1 w; sum 2 r, 1 w; mix s + 1 r, s w",
    .layer = dense_former_backward,
    .activations = layers_keep<dense_former_saved>,
    .accumulation_d = accumulated_d<dense_former_sums>};

/// The outputs of all Transformer blocks and, inside one, the running state.
double all_blocks(const SchemeLayer& at) {
  return static_cast<double>(decoder_layers(at) + 1 + at.layer % 2);
}

/// Where L is odd half a block follows, which asks for all ways.
bool is_last_block(const SchemeLayer& at) { return at.layer == at.num_layers; }

/// Behind the last block nothing asks for a query, a key or a value.
double ways_of(const SchemeLayer& at) {
  return is_last_block(at) ? 1 : static_cast<double>(at.parameters.ways);
}

/// l weights for each of C ways.
double mudd_weights(const SchemeLayer& at) {
  return static_cast<double>(decoder_layers(at) + 1) * ways_of(at);
}

/// Width of the layer that makes l C weights: those, fourfold in the last block, up to the next
/// multiple of 64. github.com/Caiyun-AI/MUDDFormer, modeling_muddformer.py.
double mudd_width(const SchemeLayer& at) {
  const double hidden = mudd_weights(at) * (is_last_block(at) ? 4 : 1);
  return (std::floor(hidden / 64) + 1) * 64;
}

/// The last way is the state, the others are normalised; one way alone is both, and behind the last
/// block an input only.
Launches mudd_former(const SchemeLayer& at, Schedule schedule) {
  if (!ends_decoder_layer(at)) return plain_layer(schedule);
  const auto sources = static_cast<double>(decoder_layers(at) + 1);
  const double ways = ways_of(at);
  const double weights = mudd_weights(at);
  const double columns = mudd_width(at) * (1 + weights / hidden_size(at));
  const double inputs = std::max(ways - 1, 1.0);
  if (schedule == fused) {
    Operation coefficients = operations::unfused_narrow_projection(
        {kReadsOutput, kReadsHidden, writes(Operand::bank, 1)}, columns, weights);
    coefficients.flops_d += 1;  // the state, h + f
    coefficients.parameters = weights;
    Operation scan =
        operations::row_update({reads(Operand::bank, sources - 1), reads(Operand::recent, 1),
                                writes(Operand::hidden_state, is_last_block(at) ? 0 : 1),
                                writes(Operand::layer_input, inputs)},
                               2 * weights);
    scan.reads_scalars = weights;
    return {coefficients, scan};
  }
  Operation coefficients =
      operations::unfused_narrow_projection({reads(Operand::recent, 1)}, columns, weights);
  coefficients.parameters = weights;
  Launches all{operations::residual_add(), coefficients};
  for (double way = 0; way < ways; ++way) all.push_back(operations::unfused_bank_mix(sources));
  for (double way = 0; way < inputs; ++way) all.push_back(operations::rmsnorm());
  return all;
}

/// Every block to come reads all states.
double mudd_sums(const SchemeLayer& at) {
  if (!ends_decoder_layer(at) || decoder_layers(at) == at.num_layers / 2) return 0;
  return static_cast<double>(decoder_layers(at) + 1);
}

/// Backward of C mixes of s states, of which the last is the next state and the others, or it
/// alone, inputs; then of the weights dw, W_2 GELU(W_1 Norm(X_i)), whose gradients are scalars of a
/// token.
///   fused     a scan: the states, dx of each input, the gradient of the next state r, mixes made
///             again; s gradients w. Weights: X_i, dX_i r, dX_i w
///   unfused   norms 2 r, 1 w; mixes: the states, a gradient r, s w; their C - 1 sums of s rows;
///             weights 1 w, and X_i r for theirs; the sum of both parts of dX_i
/// and adding to what later blocks have left. [ours]
BackwardLayer mudd_backward(const SchemeLayer& at, Schedule schedule, GradientAccumulation mode) {
  if (!ends_decoder_layer(at)) return add_and_norm_backward(schedule);
  const auto s = static_cast<double>(decoder_layers(at) + 1);
  const double ways = ways_of(at);
  const double inputs = std::max(ways - 1, 1.0);
  const double next_state = is_last_block(at) ? 0 : 1;
  if (schedule == fused)
    return backward_kernel(s + inputs, next_state, s) + accumulated(mode, mudd_sums(at)) +
           backward_kernel(1, 1, 1);
  const auto autograd = GradientAccumulation::autograd;
  BackwardLayer all = accumulated(autograd, (ways - 1) * s + mudd_sums(at)) +
                      backward_kernel(1, 0, 1) + backward_kernel(1, 0, 0) + gradient_sum();
  for (double i = 0; i < inputs; ++i) all = all + norm_backward();
  for (double way = 0; way < ways; ++way) all = all + backward_kernel(s, 1, s);
  // One way alone is the state and, normalised, the input.
  return ways == 1 && next_state == 1 ? all + gradient_sum() : all;
}

/// X_i; the inputs and, in eager code, the mixes that they are norms of, and the next state; the
/// weights and what they are made of.
SavedLayer mudd_saved(const SchemeLayer& at, Schedule schedule) {
  SavedLayer saved = add_and_norm_saved(at, schedule);
  saved.received = rows_before(at);
  if (!ends_decoder_layer(at)) return saved;
  const double inputs = std::max(ways_of(at) - 1, 1.0);
  saved.rows = 1;
  saved.inputs = static_cast<Count>(inputs);
  saved.remade = inputs * kNormOutput + loose_scalars(mudd_weights(at) + mudd_width(at));
  if (schedule == unfused) saved.remade = saved.remade + inputs * kNormInput;
  return saved;
}

constexpr BackwardRule kMuddBackward{
    .moves = "fused: s + C r, s w and the sums; weights 2 r, 1 w. unfused: each eager kernel's own",
    .layer = mudd_backward,
    .activations = layers_keep<mudd_saved>,
    .accumulation_d = accumulated_d<mudd_sums>};

constexpr std::array kMuddKeys{
    SchemeKey{"ways", &SchemeParameters::ways, "arXiv:2502.12170: query, key, value, residual"}};

std::optional<ParameterProblem> dilation_problem(const SchemeLayer& last) {
  const Count blocks = decoder_layers(last);
  for (const SchemeKey& key : kDenseFormerKeys)
    if (last.parameters.*key.member > blocks)
      return ParameterProblem{key.name, fmt::format("more than {} decoder layers", blocks)};
  return std::nullopt;
}

/// Each is a launch in eager mode.
std::optional<ParameterProblem> ways_problem(const SchemeLayer& last) {
  if (last.parameters.ways <= kMaxStreams) return std::nullopt;
  return ParameterProblem{"ways", fmt::format("more than {} ways", kMaxStreams)};
}

}  // namespace

const SchemeRule schemes::kDenseNet{
    .id = "densenet",
    .label = "DenseNet",
    .update = "h_l = ConvPool([h_1; f_1(h_1); ...; f_{l-1}(h_{l-1})])",
    .file = "cross_layer/dense.cpp",
    .source = "[attnres] Table 5; Huang et al., arXiv:1608.06993",
    .moves =
        "unfused: stack l + 1 r, l + 1 w; convolution l + 1 r, 1 w; norm 1 r, 1 w; operations and "
        "parameters of the convolution are not counted",
    .reference = "",
    .unmixed = "convolutions over concatenated outputs act on the features",
    .kind = {StateKind::cross_layer, WeightKind::learned_static},
    .keys = {},
    .schedules = kUnfusedOnly,
    .operations = dense_net,
    .state_d = all_outputs,
    .backward = &kDenseNetBackward};

const SchemeRule schemes::kDenseFormer{
    .id = "denseformer",
    .label = "DenseFormer",
    .update = "Y_i = sum_{j <= i, j = i mod k} alpha_ij X_j behind every p-th Transformer block",
    .file = "cross_layer/dense.cpp",
    .source = "[attnres] Table 5; Pagliardini et al., arXiv:2402.02622",
    .moves =
        "a mix over s sources, unfused: add 2 r, 1 w; mix s r, 1 w; norm 1 r, 1 w. fused: s + "
        "1 r, 3 w; other layers as standard",
    .reference = "dense_mix.hpp",
    .kind = {StateKind::cross_layer, WeightKind::learned_static},
    .keys = kDenseFormerKeys,
    .schedules = kUnfusedAndFused,
    .operations = dense_former,
    .state_d = all_blocks,
    .parameters =
        [](const SchemeLayer& at) {
          return is_mixing_layer(at)
                     ? static_cast<double>(dilated_sources(decoder_layers(at), at.parameters))
                     : 0;
        },
    .problem = dilation_problem,
    .backward = &kDenseFormerBackward};

const SchemeRule schemes::kMuddFormer{
    .id = "muddformer",
    .label = "MUDDFormer",
    .update = "X^c_i = sum_j dw^c_ij X_j for c of C ways, dw = W_2 GELU(W_1 Norm(X_i)) + a_i",
    .file = "cross_layer/dense.cpp",
    .source = "Xiao et al., arXiv:2502.12170",
    .moves =
        "behind a Transformer block with s states, unfused: add 2 r, 1 w; weights 1 r; C mixes s "
        "r, 1 w; C - 1 norms 1 r, 1 w. fused: weights 2 r, 1 w; one scan s r, C w; C = 1 behind "
        "the last, with a norm",
    .reference = "without_kernels/muddformer.hpp",
    .unmixed = "four matrices a token, for queries, keys, values and the residual",
    .kind = {StateKind::cross_layer, WeightKind::dynamic},
    .keys = kMuddKeys,
    .schedules = kUnfusedAndFused,
    .operations = mudd_former,
    .state_d = all_blocks,
    .parameters =
        [](const SchemeLayer& at) {
          if (!ends_decoder_layer(at)) return 0.0;
          return mudd_width(at) * (hidden_size(at) + mudd_weights(at)) + mudd_weights(at);
        },
    .problem = ways_problem,
    .backward = &kMuddBackward};

const SchemeRule schemes::kMrla{
    .id = "mrla",
    .label = "MRLA",
    .update = "h_l = sum_i sigma(ConvPool(f_{l-1})) sigma(ConvPool(f_i)) Conv(f_i)",
    .file = "cross_layer/dense.cpp",
    .source = "[attnres] Table 5; Fang et al., arXiv:2302.03985",
    .moves =
        "unfused: convolution 1 r, 1 w; sum l r, 1 w; norm 1 r, 1 w; operations and parameters "
        "of the convolutions are not counted",
    .reference = "",
    .unmixed = "weights differ by channel, and convolutions act on the values",
    .kind = {StateKind::cross_layer, WeightKind::dynamic},
    .keys = {},
    .schedules = kUnfusedOnly,
    .operations = mrla,
    .state_d = all_outputs,
    .backward = &kMrlaBackward};

}  // namespace depthcost
