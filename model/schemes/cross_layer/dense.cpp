// DenseNet, DenseFormer, MUDDFormer and MRLA: every layer, or every Transformer block, reads all
// that came before, with weights that are static or computed from the token.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/operations/dense_operations.hpp"
#include "model/schemes/list.hpp"
#include "model/schemes/states.hpp"

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
    .state_d = all_outputs};

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
    .problem = dilation_problem};

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
    .problem = ways_problem};

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
    .state_d = all_outputs};

}  // namespace depthcost
