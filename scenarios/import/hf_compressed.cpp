// Compressed attention: which decoder layers make summaries, of how many tokens, and who reads
// them.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "scenarios/import/architecture.hpp"
#include "scenarios/import/hf_parts.hpp"
#include "scenarios/import/hf_record.hpp"

namespace depthcost {
namespace {

// DeepSeek-V4, arXiv:2606.19348. Ratio 0: no summaries. 4: summaries of 4 tokens, which an indexer
// picks. 128: summaries of 128 tokens, all of them seen.
constexpr Count kWindowOnly = 0;
constexpr Count kChosenRatio = 4;
constexpr Count kDenseRatio = 128;

/// The ratio of each decoder layer. The list goes on with the layers of multi-token prediction,
/// which are not counted.
std::vector<Count> ratios_of_layers(const HfModel& model, const ConfigValue& ratios) {
  std::vector<Count> all = ratios.counts(Range::non_negative);
  const auto predicting = model.config.find({"num_nextn_predict_layers", "mtp_num_layers"});
  const Count num_predicting = predicting ? predicting->count(Range::non_negative) : 0;
  const auto length = static_cast<Count>(all.size());
  if (length != model.num_decoder_layers && length != model.num_decoder_layers + num_predicting)
    ratios.fail(fmt::format("{} entries; {} decoder layers and {} of multi-token prediction",
                            length, model.num_decoder_layers, num_predicting));
  all.resize(static_cast<std::size_t>(model.num_decoder_layers));
  return all;
}

/// Decoder layers by ratio.
std::map<Count, Count> layers_by_ratio(const HfModel& model, const ConfigValue& ratios) {
  std::map<Count, Count> layers;
  for (const Count ratio : ratios_of_layers(model, ratios)) {
    if (ratio != kWindowOnly && ratio != kChosenRatio && ratio != kDenseRatio)
      ratios.fail(fmt::format("holds {}; must be 0, 4 or 128", ratio));
    ++layers[ratio];
  }
  return layers;
}

const char* const kOfCompressed = "of a compressed attention";

/// What all layers of a compressed attention have, and their ratio.
RecordBuilder compressed_record(const HfModel& model, const ConfigValue& ratios, Count ratio,
                                Count num_layers) {
  HfConfig& config = model.config;
  const std::string why = kOfCompressed;
  RecordBuilder builder(config, "compressed", num_layers, ratios.position());
  builder.cite(fmt::format("{} {}", ratios.path(), ratio))
      .add("heads", config.at(kHeads, why))
      .add("head_dim", config.at({"head_dim"}, why))
      .add("q_rank", config.at({"q_lora_rank"}, why))
      .add("output_rank", config.at({"o_lora_rank"}, why))
      .add("output_groups", config.at({"o_groups"}, why))
      .add("window", config.at({"sliding_window"}, why));
  if (ratio != kWindowOnly) builder.add("ratio", ratio, ratios.position());
  return builder;
}

void add_indexer_of_summaries(const HfModel& model, RecordBuilder& builder) {
  builder.add("index_heads", model.config.at({"index_n_heads"}, kOfCompressed))
      .add("index_dim", model.config.at({"index_head_dim"}, kOfCompressed));
}

/// `compress_ratios`, and a check that one vector serves all heads.
ConfigValue read_ratios(const HfModel& model) {
  HfConfig& config = model.config;
  config.ignore({"qk_rope_head_dim"});
  ConfigValue ratios = config.at({"compress_ratios"}, "one for each decoder layer");
  const ConfigValue kv_heads = config.at(kKvHeads, kOfCompressed);
  if (kv_heads.count() != 1) kv_heads.fail("one vector serves all heads");
  return ratios;
}

}  // namespace

std::vector<ImportedRecord> import_compressed(const HfModel& model) {
  HfConfig& config = model.config;
  const ConfigValue ratios = read_ratios(model);
  std::vector<ImportedRecord> records;
  for (const auto& [ratio, num_layers] : layers_by_ratio(model, ratios)) {
    RecordBuilder builder = compressed_record(model, ratios, ratio, num_layers);
    if (ratio == kChosenRatio) {
      builder.add("top_k", config.at({"index_topk"}, kOfCompressed));
      add_indexer_of_summaries(model, builder);
    }
    records.push_back(builder.build());
  }
  config.ignore({"index_topk", "index_n_heads", "index_head_dim"});
  return records;
}

namespace {

/// What one decoder layer of DeepSeek-V4.1 does for its summaries.
struct SummaryRole {
  Count ratio = kWindowOnly;
  bool makes = false;            // its own summaries
  bool chooses = false;          // among them, with an indexer
  bool sees_candidates = false;  // only these are scored

  auto operator<=>(const SummaryRole&) const = default;
};

/// Marks the decoder layers that a list names. It counts from 0.
std::vector<bool> layers_in(const HfModel& model, const ConfigValue& list) {
  std::vector<bool> is_in(static_cast<std::size_t>(model.num_decoder_layers), false);
  for (const Count layer : list.counts(Range::non_negative)) {
    if (layer >= model.num_decoder_layers)
      list.fail(fmt::format("holds {}; decoder layers count from 0 to {}", layer,
                            model.num_decoder_layers - 1));
    is_in[static_cast<std::size_t>(layer)] = true;
  }
  return is_in;
}

/// DeepSeek-V4.1: some layers make summaries, and the next ones read them. Some have an indexer,
/// and the next ones see what it has chosen. Behind the layer `candidate_source_layer_id` indexers
/// score only what its own has found best.
std::vector<SummaryRole> summary_roles(const HfModel& model, const ConfigValue& ratios,
                                       const ConfigValue& sources, const ConfigValue& indexers) {
  const std::vector<Count> all = ratios_of_layers(model, ratios);
  const std::vector<bool> makes = layers_in(model, sources);
  const std::vector<bool> chooses = layers_in(model, indexers);
  const auto candidate_source = model.config.find({"candidate_source_layer_id"});
  const Count first_with_candidates = candidate_source
                                          ? candidate_source->count(Range::non_negative) + 1
                                          : model.num_decoder_layers;
  std::vector<SummaryRole> roles;
  bool is_made = false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool has_summaries = all[i] != kWindowOnly;
    if (!has_summaries && (makes[i] || chooses[i]))
      (makes[i] ? sources : indexers)
          .fail(fmt::format("holds {}, which has no summaries by {}", i, ratios.path()));
    if (makes[i] && !chooses[i])
      indexers.fail(fmt::format("lacks {}, which is in {}", i, sources.path()));
    is_made = is_made || makes[i];
    if (has_summaries && !is_made)
      sources.fail(fmt::format("decoder layer {} has no summaries to read", i));
    roles.push_back(
        {.ratio = all[i],
         .makes = makes[i],
         .chooses = chooses[i],
         .sees_candidates = chooses[i] && static_cast<Count>(i) >= first_with_candidates});
  }
  return roles;
}

ImportedRecord with_shared_summaries(const HfModel& model, const ConfigValue& ratios,
                                     const ConfigValue& sources, const ConfigValue& indexers,
                                     const SummaryRole& role, Count num_layers) {
  HfConfig& config = model.config;
  RecordBuilder builder = compressed_record(model, ratios, role.ratio, num_layers);
  if (role.ratio == kWindowOnly) return builder.build();
  builder.cite(sources.path());
  if (!role.makes) builder.add("key_values", "shared", sources.position());
  builder.add("top_k", config.at({"index_topk"}, kOfCompressed)).cite(indexers.path());
  if (role.chooses) add_indexer_of_summaries(model, builder);
  if (!role.sees_candidates) return builder.build();
  const ConfigValue blocks = config.at({"candidate_topk_blocks"}, kOfCompressed);
  const ConfigValue size = config.at({"candidate_block_size"}, kOfCompressed);
  if (blocks.count() > kMaxWidth || size.count() > kMaxWidth)
    blocks.fail(fmt::format("it or {} is more than {}", size.path(), kMaxWidth));
  return builder.add("candidates", blocks.count() * size.count(), blocks.position())
      .cite(fmt::format("{} x {}", blocks.path(), size.path()))
      .build();
}

}  // namespace

std::vector<ImportedRecord> import_shared_compressed(const HfModel& model) {
  HfConfig& config = model.config;
  const ConfigValue ratios = read_ratios(model);
  const ConfigValue sources = config.at({"kv_source_layer_ids"}, kOfCompressed);
  const ConfigValue indexers = config.at({"index_source_layer_ids"}, kOfCompressed);
  const std::vector<SummaryRole> roles = summary_roles(model, ratios, sources, indexers);
  std::vector<SummaryRole> seen;
  std::vector<ImportedRecord> records;
  for (const SummaryRole& role : roles) {
    if (std::find(seen.begin(), seen.end(), role) != seen.end()) continue;
    seen.push_back(role);
    records.push_back(with_shared_summaries(model, ratios, sources, indexers, role,
                                            std::count(roles.begin(), roles.end(), role)));
  }
  config.ignore({"index_topk", "index_n_heads", "index_head_dim", "candidate_topk_blocks",
                 "candidate_block_size"});
  return records;
}

}  // namespace depthcost
