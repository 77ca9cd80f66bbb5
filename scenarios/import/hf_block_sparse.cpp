// Attention to blocks of keys that an indexer chooses: MiniMax-M3.
#include <fmt/format.h>

#include <algorithm>

#include "scenarios/import/hf_attention.hpp"

namespace depthcost {
namespace {

/// MiniMax-M3's indexer. Its numbers have names of their own in configs that transformers saved;
/// MiniMax's are in a section.
struct BlockIndexer {
  ConfigValue heads;
  ConfigValue dim;
  ConfigValue blocks;
  ConfigValue block_size;
  std::vector<bool> layers;  // that have one
  std::string path;          // the key that says which
};

/// An index value would need one more projection, and a cache for it.
void refuse_index_values(const HfModel& model, ConfigSection& section,
                         const std::vector<bool>& has_indexer) {
  const auto disabled = section.find({"sparse_disable_index_value"});
  if (!disabled) return;
  const std::vector<Count> flags = disabled->counts(Range::non_negative);
  require_one_per_layer(*disabled, flags.size(), model.num_decoder_layers);
  for (std::size_t i = 0; i < flags.size(); ++i)
    if (has_indexer[i] && flags[i] == 0)
      disabled->fail("an indexer that has values is not understood");
}

BlockIndexer section_indexer(const HfModel& model, const ConfigValue& value) {
  ConfigSection section = value.section();
  for (const std::string_view key :
       {"sparse_score_type", "sparse_init_block", "sparse_local_block"})
    section.find({key});
  const auto is_used = section.find({"use_sparse_attention"});
  if (is_used && !is_used->flag()) is_used->fail("only true is understood");
  const std::string why = "of the indexer";
  const ConfigValue flags = section.at({"sparse_attention_freq"}, "which layers have an indexer");
  std::vector<bool> layers;
  for (const Count flag : flags.counts(Range::non_negative)) layers.push_back(flag != 0);
  require_one_per_layer(flags, layers.size(), model.num_decoder_layers);
  refuse_index_values(model, section, layers);
  BlockIndexer indexer{.heads = section.at({"sparse_num_index_heads"}, why),
                       .dim = section.at({"sparse_index_dim"}, why),
                       .blocks = section.at({"sparse_topk_blocks"}, why),
                       .block_size = section.at({"sparse_block_size"}, why),
                       .layers = std::move(layers),
                       .path = flags.path()};
  section.refuse_others();
  return indexer;
}

/// Entries of layer_types.
std::vector<bool> sparse_layers(const HfModel& model, const ConfigValue& types) {
  std::vector<bool> layers;
  for (const std::string& word : types.words()) {
    if (word != "full_attention" && word != "minimax_m3_sparse")
      types.fail(
          fmt::format("holds '{}'; must be full_attention or minimax_m3_sparse", printable(word)));
    layers.push_back(word == "minimax_m3_sparse");
  }
  require_one_per_layer(types, layers.size(), model.num_decoder_layers);
  return layers;
}

BlockIndexer flat_indexer(const HfModel& model, const ConfigValue& types) {
  HfConfig& config = model.config;
  config.ignore({"index_local_blocks"});
  const std::string why = "of the indexer";
  std::vector<bool> layers = sparse_layers(model, types);
  return {.heads = config.at({"index_n_heads"}, why),
          .dim = config.at({"index_head_dim"}, why),
          .blocks = config.at({"index_topk_blocks"}, why),
          .block_size = config.at({"index_block_size"}, why),
          .layers = std::move(layers),
          .path = types.path()};
}

BlockIndexer block_indexer(const HfModel& model) {
  const auto types = model.config.find({"layer_types"});
  if (types && !model.config.find({"sparse_attention_config"})) return flat_indexer(model, *types);
  BlockIndexer indexer = section_indexer(
      model, model.config.at({"sparse_attention_config"}, "which layers have an indexer"));
  if (types && sparse_layers(model, *types) != indexer.layers)
    types->fail(fmt::format("{} says otherwise", indexer.path));
  return indexer;
}

}  // namespace

std::vector<ImportedRecord> import_block_sparse(const HfModel& model) {
  refuse_unless_false(model, "attention_output_gate");
  const auto rewards = model.config.find({"num_reward_heads"});
  if (rewards && rewards->count(Range::non_negative) != 0) rewards->fail("only 0 is understood");
  const BlockIndexer indexer = block_indexer(model);
  const ConfigValue kv_heads = model.config.at(kKvHeads, "heads of keys and values");
  if (indexer.heads.count() != kv_heads.count())
    indexer.heads.fail(fmt::format("{} is {}, and only equal ones are understood", kv_heads.path(),
                                   kv_heads.count()));
  const Count num_sparse = std::count(indexer.layers.begin(), indexer.layers.end(), true);
  const Count num_full = model.num_decoder_layers - num_sparse;
  std::vector<ImportedRecord> records;
  if (num_full > 0) records.push_back(grouped_record(model, indexer.path, num_full).build());
  if (num_sparse > 0)
    records.push_back(
        grouped_record(model, indexer.path, num_sparse)
            .add("top_k", indexer.blocks.count() * indexer.block_size.count(),
                 indexer.blocks.position())
            .cite(fmt::format("top_k = {} x {}", indexer.blocks.path(), indexer.block_size.path()))
            .add("index_heads", indexer.heads)
            .add("index_dim", indexer.dim)
            .build());
  return records;
}

}  // namespace depthcost
