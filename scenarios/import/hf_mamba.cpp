// Mamba-2, arXiv:2405.21060, in most layers: Granite 4 H and Bamba.
#include <fmt/format.h>

#include <algorithm>

#include "scenarios/import/hf_attention.hpp"

namespace depthcost {
namespace {

/// Which layers have Mamba-2, and the key that says so.
struct MambaLayers {
  std::vector<bool> is_mamba;
  ConfigValue key;

  Count count() const { return std::count(is_mamba.begin(), is_mamba.end(), true); }
};

MambaLayers by_layer_type(const HfModel& model, const ConfigValue& types) {
  MambaLayers layers{.is_mamba = {}, .key = types};
  for (const std::string& word : types.words()) {
    if (word != "mamba" && word != "attention")
      types.fail(fmt::format("holds '{}'; must be mamba or attention", printable(word)));
    layers.is_mamba.push_back(word == "mamba");
  }
  require_one_per_layer(types, layers.is_mamba.size(), model.num_decoder_layers);
  return layers;
}

/// Bamba lists the layers with attention, from 0 on.
MambaLayers by_index(const HfModel& model, const ConfigValue& indices) {
  MambaLayers layers{
      .is_mamba = std::vector<bool>(static_cast<std::size_t>(model.num_decoder_layers), true),
      .key = indices};
  for (const Count index : indices.counts(Range::non_negative)) {
    if (index >= model.num_decoder_layers)
      indices.fail(fmt::format("holds {}; the model has {} decoder layers, from 0 on", index,
                               model.num_decoder_layers));
    layers.is_mamba[static_cast<std::size_t>(index)] = false;
  }
  return layers;
}

MambaLayers find_layers(const HfModel& model) {
  if (const auto types = model.config.find({"layer_types", "layers_block_type"}))
    return by_layer_type(model, *types);
  return by_index(model, model.config.at({"attn_layer_indices"}, "which layers have attention"));
}

/// Some configs give the width of all heads a second time.
void check_width(const HfModel& model, const ConfigValue& heads, const ConfigValue& head_dim) {
  const auto expand = model.config.find({"mamba_expand"});
  if (!expand || expand->count() * model.hidden_size == heads.count() * head_dim.count()) return;
  expand->fail(fmt::format("{} x {} are {}, not {} times the hidden size of {}", heads.path(),
                           head_dim.path(), heads.count() * head_dim.count(), expand->count(),
                           model.hidden_size));
}

ImportedRecord mamba_record(const HfModel& model, const MambaLayers& layers) {
  HfConfig& config = model.config;
  const std::string why = "of Mamba-2";
  const ConfigValue heads = config.at({"mamba_n_heads"}, why);
  const ConfigValue head_dim = config.at({"mamba_d_head"}, why);
  check_width(model, heads, head_dim);
  return RecordBuilder(config, "linear", layers.count(), layers.key.position())
      .cite(layers.key.path())
      .add("heads", heads)
      .add("head_dim", head_dim)
      .add("key_dim", config.at({"mamba_d_state"}, why))
      .add("conv_width", config.at({"mamba_d_conv"}, why))
      .add("key_heads", config.at({"mamba_n_groups"}, why))
      .add("decay", "step", layers.key.position())
      .build();
}

}  // namespace

std::vector<bool> mamba_layers(const HfModel& model) { return find_layers(model).is_mamba; }

std::vector<ImportedRecord> import_mamba(const HfModel& model) {
  for (const std::string_view key : {"mamba_chunk_size", "mamba_conv_bias", "mamba_dt_rank",
                                     "mamba_proj_bias", "use_mamba_kernels", "attn_rotary_emb"})
    model.config.ignore({key});
  const MambaLayers layers = find_layers(model);
  std::vector<ImportedRecord> records;
  if (layers.count() > 0) {
    records.push_back(mamba_record(model, layers));
  } else {
    for (const std::string_view key : {"mamba_n_heads", "mamba_d_head", "mamba_d_state",
                                       "mamba_d_conv", "mamba_n_groups", "mamba_expand"})
      model.config.ignore({key});
  }
  const Count num_full = model.num_decoder_layers - layers.count();
  if (num_full > 0) records.push_back(grouped_record(model, layers.key.path(), num_full).build());
  return records;
}

}  // namespace depthcost
