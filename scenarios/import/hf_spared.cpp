// The matrices of a decoder layer by the names that checkpoints give them.
#include "scenarios/import/hf_spared.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "model/step/layer_cost.hpp"

namespace depthcost {
namespace {

using ModuleAliases = std::vector<std::string_view>;

/// A matrix and its names: its own, and those of what it is fused into.
struct NamedMatrix {
  ModuleAliases names;
  double weights = 0;
};

using Matrices = std::vector<NamedMatrix>;

/// The projections of an attention, but for its indexer and its output.
struct ProjectionsOf {
  double d;

  Matrices operator()(const GroupedAttention& a) const {
    const double queries = d * as_double(a.num_heads) * as_double(a.head_dim);
    const double gate = a.output_gate == OutputGate::present ? queries : 0;
    const double keys = d * as_double(a.num_kv_heads) * as_double(a.head_dim);
    const double num_keys = a.key_values == KeyValues::shared ? 0 : 1;
    const double num_values = num_projections(a.key_values) - num_keys;
    return {{{"q_proj", "qkv_proj", "query_key_value"}, queries + gate},
            {{"k_proj", "qkv_proj", "query_key_value"}, num_keys * keys},
            {{"v_proj", "qkv_proj", "query_key_value"}, num_values * keys}};
  }

  Matrices operator()(const LatentAttention& a) const {
    const double heads = as_double(a.num_heads);
    const double query = heads * as_double(a.nope_dim + a.rope_dim);
    Matrices matrices{
        {{"kv_a_proj_with_mqa"}, d * as_double(a.kv_rank + a.rope_dim)},
        {{"kv_b_proj"}, as_double(a.kv_rank) * heads * as_double(a.nope_dim + a.value_dim)}};
    if (a.q_rank) {
      matrices.push_back({{"q_a_proj"}, d * as_double(*a.q_rank)});
      matrices.push_back({{"q_b_proj"}, as_double(*a.q_rank) * query});
    } else {
      matrices.push_back({{"q_proj"}, d * query});
    }
    return matrices;
  }

  Matrices operator()(const LinearAttention& a) const {
    const double width = as_double(a.num_heads) * as_double(a.head_dim);
    const double keys = d * as_double(a.key_heads.value_or(a.num_heads)) * as_double(a.key_size());
    const double gate = a.gate_rank ? as_double(*a.gate_rank) * (d + width) : d * width;
    return {{{"q_proj", "in_proj_qkv", "in_proj_qkvz", "in_proj"}, keys},
            {{"k_proj", "in_proj_qkv", "in_proj_qkvz", "in_proj"}, keys},
            {{"v_proj", "in_proj_qkv", "in_proj_qkvz", "in_proj"}, d * width},
            {{"g_proj", "g_b_proj", "in_proj_z", "in_proj_qkvz", "in_proj"}, gate}};
  }

  /// Its matrices have no names that are known: it is spared as a whole.
  Matrices operator()(const CompressedAttention&) const { return {}; }
};

double indexer_weights(const Attention& attention, double d) {
  Attention without = attention;
  std::visit(
      []([[maybe_unused]] auto& kind) {
        if constexpr (requires { kind.indexer; }) kind.indexer = Indexer{};
      },
      without);
  return num_weights(attention, d) - num_weights(without, d);
}

/// All matrices of an attention. What is small, such as a decay, goes with the output projection.
Matrices attention_matrices(const Attention& attention, double d) {
  Matrices matrices = std::visit(ProjectionsOf{d}, attention);
  matrices.push_back({{"indexer", "indexer.wq_b", "index_q_proj"}, indexer_weights(attention, d)});
  double rest = num_weights(attention, d);
  for (const NamedMatrix& matrix : matrices) rest -= matrix.weights;
  matrices.push_back({{"o_proj", "out_proj", "dense"}, rest});
  return matrices;
}

/// Gate, up and down projection; w1 to w3 are those of Mixtral.
Matrices mlp_matrices(double all_weights) {
  return {{{"gate_proj", "gate_up_proj", "w1"}, all_weights / 3},
          {{"up_proj", "gate_up_proj", "w3"}, all_weights / 3},
          {{"down_proj", "w2"}, all_weights / 3}};
}

/// Without a gate; the second names are those of StarCoder2, the third ones of Falcon.
Matrices plain_matrices(double all_weights) {
  return {{{"up_proj", "c_fc", "dense_h_to_4h"}, all_weights / 2},
          {{"down_proj", "c_proj", "dense_4h_to_h"}, all_weights / 2}};
}

SparedPart empty_part(const HfModel& model, std::string_view name, bool is_routed) {
  const std::vector<double> none(static_cast<std::size_t>(model.num_decoder_layers), 0.0);
  return {.name = name, .is_routed = is_routed, .weights = none, .spared = none};
}

/// Adds matrices that each marked layer has in a block, which has several names.
void add_matrices(SparedPart& part, const Matrices& matrices, const ModuleAliases& blocks,
                  const std::vector<bool>& layers, const ModuleNames& named) {
  for (const NamedMatrix& matrix : matrices) {
    std::vector<bool> is_spared(layers.size(), false);
    for (const std::string_view block : blocks)
      for (const std::string_view name : matrix.names) {
        const std::vector<bool> found = named.layers_with(fmt::format("{}.{}", block, name));
        for (std::size_t i = 0; i < found.size(); ++i)
          if (found[i]) is_spared[i] = true;
      }
    for (std::size_t i = 0; i < layers.size(); ++i) {
      if (!layers[i]) continue;
      part.weights[i] += matrix.weights;
      if (is_spared[i]) part.spared[i] += matrix.weights;
    }
  }
}

/// Linear attention stands in layers of its own. All other records of a model are nearly alike:
/// each of its layers is counted as their mean.
SparedPart attention_part(const HfModel& model, const Architecture& architecture,
                          const ModuleNames& named) {
  SparedPart part = empty_part(model, "attention", false);
  std::vector<bool> layers = linear_attention_layers(model);
  for (const bool is_linear : {true, false}) {
    const auto num_layers = as_double(std::count(layers.begin(), layers.end(), true));
    ModuleAliases blocks{"self_attn", "attn"};
    if (is_linear && model.type.attention == AttentionForm::gated_delta) blocks = {"linear_attn"};
    if (is_linear && model.type.attention == AttentionForm::mamba) blocks = {"mamba"};
    if (!model.type.attention_block.empty()) blocks = {model.type.attention_block};
    for (const AttentionLayers& record : architecture.attention) {
      if (std::holds_alternative<LinearAttention>(record.attention) != is_linear) continue;
      Matrices matrices = attention_matrices(record.attention, as_double(model.hidden_size));
      for (NamedMatrix& matrix : matrices)
        matrix.weights *= as_double(record.num_decoder_layers) / num_layers;
      add_matrices(part, matrices, blocks, layers, named);
    }
    layers.flip();
  }
  return part;
}

/// In layers with experts the dense MLP of Gemma 4 is what others call shared experts.
ModuleAliases shared_names(const HfModelType& type) {
  if (type.is_gemma4) return {"mlp"};
  return {"mlp.shared_experts", "mlp.shared_expert", "mlp.shared_mlp", "feed_forward.shared_expert",
          "block_sparse_moe.shared_experts"};
}

ModuleAliases routed_names(const HfModelType& type) {
  if (type.is_gemma4) return {"experts", "experts.N"};
  return {"mlp.experts",
          "mlp.experts.N",
          "feed_forward.experts",
          "feed_forward.experts.N",
          "block_sparse_moe.experts",
          "block_sparse_moe.experts.N"};
}

}  // namespace

std::vector<SparedPart> spared_parts(const HfModel& model, const Architecture& architecture,
                                     const ModuleNames& named) {
  SparedPart dense = empty_part(model, "dense MLPs", false);
  SparedPart shared = empty_part(model, "shared experts", false);
  SparedPart routed = empty_part(model, "routed experts", true);
  const std::vector<bool> with_experts = expert_layers(model);
  std::vector<bool> without_experts = with_experts;
  without_experts.flip();
  for (const MlpLayers& record : architecture.mlp) {
    const MlpWeights weights = num_weights(record.mlp, as_double(model.hidden_size));
    const auto* experts = std::get_if<ExpertMlp>(&record.mlp);
    if (experts == nullptr) {
      add_matrices(dense,
                   model.type.mlp == MlpForm::plain ? plain_matrices(weights.common)
                                                    : mlp_matrices(weights.common),
                   {"mlp", "feed_forward"}, without_experts, named);
      continue;
    }
    add_matrices(shared, mlp_matrices(weights.common), shared_names(model.type), with_experts,
                 named);
    add_matrices(routed, mlp_matrices(as_double(experts->num_experts) * weights.per_expert),
                 routed_names(model.type), with_experts, named);
  }
  return {attention_part(model, architecture, named), std::move(dense), std::move(shared),
          std::move(routed)};
}

}  // namespace depthcost
