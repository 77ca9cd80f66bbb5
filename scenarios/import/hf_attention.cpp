// Attention: which decoder layers have which kind, and its numbers.
#include <fmt/format.h>

#include <algorithm>

#include "scenarios/import/hf_attention.hpp"
#include "scenarios/import/hf_parts.hpp"
#include "scenarios/import/hf_record.hpp"

namespace depthcost {
namespace {

/// The second name is Megatron's, the third one Tencent's.
const Aliases kHeadDim{"head_dim", "kv_channels", "attention_head_dim"};

FoundCount head_dim_of(const HfModel& model, const ConfigValue& heads) {
  if (const auto value = model.config.find(kHeadDim))
    return {value->count(), value->position(), value->path()};
  if (model.type.head_dim == Absent::refused)
    model.config.at({"head_dim"},
                    fmt::format("{} does not take hidden_size / heads for it", model.type.name));
  if (model.hidden_size % heads.count() != 0)
    heads.fail(fmt::format("does not divide the hidden size of {}; head_dim is not there",
                           model.hidden_size));
  return {model.hidden_size / heads.count(), heads.position(),
          fmt::format("head_dim = hidden size / {}", heads.path())};
}

/// Falcon: num_kv_heads counts in the new architecture alone; before, multi_query means one head.
FoundCount falcon_kv_heads(const HfModel& model, const ConfigValue& heads) {
  HfConfig& config = model.config;
  const auto is_new = config.find({"new_decoder_architecture"});
  if (is_new && is_new->flag()) {
    const ConfigValue value = config.at(kKvHeads, "new_decoder_architecture is true");
    return {value.count(), value.position(), fmt::format("{}, {}", is_new->path(), value.path())};
  }
  config.ignore(kKvHeads);
  const ConfigValue one = config.at({"multi_query"}, "whether all heads share a key and a value");
  return {one.flag() ? 1 : heads.count(), one.position(),
          fmt::format("{} {}", one.path(), one.text())};
}

FoundCount kv_heads_of(const HfModel& model, const ConfigValue& heads) {
  if (model.type.kv_heads == Absent::falcon) return falcon_kv_heads(model, heads);
  if (const auto value = model.config.find(kKvHeads))
    return {value->count(), value->position(), value->path()};
  if (model.type.kv_heads == Absent::refused)
    model.config.at({"num_key_value_heads"}, "heads of keys and values");
  return {heads.count(), heads.position(), fmt::format("kv_heads = {}", heads.path())};
}

}  // namespace

RecordBuilder grouped_record(const HfModel& model, const std::string& pattern, Count num_layers) {
  const ConfigValue heads = model.config.at(kHeads, "query heads");
  const FoundCount kv_heads = kv_heads_of(model, heads);
  const FoundCount head_dim = head_dim_of(model, heads);
  RecordBuilder builder(model.config, "grouped", num_layers, heads.position());
  if (!pattern.empty()) builder.cite(pattern);
  builder.add("heads", heads)
      .add("kv_heads", kv_heads.count, kv_heads.position)
      .cite(kv_heads.source)
      .add("head_dim", head_dim.count, head_dim.position)
      .cite(head_dim.source);
  return builder;
}

void refuse_unless_false(const HfModel& model, std::string_view key) {
  if (const auto value = model.config.find({key}); value && value->flag())
    value->fail("only false is understood");
}

namespace {

/// Gemma 4: layers that see all tokens have longer heads.
RecordBuilder full_record(const HfModel& model, const std::string& pattern, Count num_layers,
                          const ConfigValue& kv_heads) {
  const ConfigValue heads = model.config.at(kHeads, "query heads");
  RecordBuilder builder(model.config, "grouped", num_layers, heads.position());
  builder.cite(pattern)
      .add("heads", heads)
      .add("kv_heads", kv_heads)
      .add("head_dim", model.config.at({"global_head_dim"}, "of layers that see all tokens"));
  return builder;
}

/// Where one projection makes keys and values, they may have fewer heads.
RecordBuilder full_record(const HfModel& model, const std::string& pattern, Count num_layers) {
  HfConfig& config = model.config;
  const ConfigValue kv_heads = config.at(kKvHeads, "heads of keys and values");
  const auto one = config.find({"attention_k_eq_v"});
  const auto fewer = config.find({"num_global_key_value_heads"});
  if (!one || !one->flag()) return full_record(model, pattern, num_layers, kv_heads);
  return full_record(model, pattern, num_layers, fewer.value_or(kv_heads))
      .add("key_values", "one_projection", one->position())
      .cite(one->path());
}

/// The record of layers that see a window, or all tokens.
RecordBuilder windowed_record(const HfModel& model, const std::string& pattern, Count num_layers,
                              const std::optional<ConfigValue>& window) {
  if (!window && model.type.is_gemma4) return full_record(model, pattern, num_layers);
  return grouped_record(model, pattern, num_layers).add("window", window);
}

/// Gemma 4: tokens of an image may see each other, those of text may not see what follows.
void refuse_bidirectional_text(const HfModel& model) {
  if (!model.type.is_gemma4) return refuse_unless_false(model, "use_bidirectional_attention");
  const auto who = model.config.find({"use_bidirectional_attention"});
  if (who && who->word() != "vision") who->fail("only vision is understood");
}

/// Falcon and Cohere add the outputs of attention and MLP in one step.
void remark_on_parallel_layers(const HfModel& model) {
  if (model.type.parallel_key.empty()) return;
  const auto parallel = model.config.find({model.type.parallel_key});
  if (!parallel || !parallel->flag()) return;
  model.remarks.push_back(
      fmt::format("{} true: attention and MLP are added to the stream in one step; the residual "
                  "path is counted as in a model that adds them one after the other.",
                  parallel->path()));
}

/// Tencent's configs have keys of parts that these models lack: layers that share keys and values,
/// a latent attention, a classifier. Layers without experts among those with them
/// (use_mixed_mlp_moe false, moe_layer_num_skipped) would have another width, which no model shows.
void refuse_what_hunyuan_lacks(const HfModel& model) {
  HfConfig& config = model.config;
  for (const std::string_view key : {"use_cla", "use_mla", "add_classification_head"})
    refuse_unless_false(model, key);
  if (config.find({"use_cla"})) config.ignore({"cla_share_factor"});
  if (config.find({"use_mla"}))
    config.ignore(
        {"kv_lora_rank", "q_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"});
  if (const auto mixed = config.find({"use_mixed_mlp_moe"}); mixed && !mixed->flag())
    mixed->fail("only true is understood");
  const auto skipped = config.find({"moe_layer_num_skipped"});
  if (skipped && skipped->count(Range::non_negative) != 0) skipped->fail("only 0 is understood");
}

/// MiniMax: 1 for a layer with full attention. Its linear one, lightning attention, is not known.
void refuse_lightning_layers(const HfModel& model) {
  const auto types = model.config.find({"attn_type_list"});
  if (!types) return;
  for (const Count type : types->counts(Range::non_negative))
    if (type != 1)
      types->fail(fmt::format("holds {}; only 1, full attention, is understood", type));
}

/// ZAYA1's compressed convolutional attention, arXiv:2510.04476: two convolutions mix queries and
/// keys over tokens. The second mixes the elements of a head, too; the first has 1 / head_dim of
/// its weights, and is not counted.
std::optional<ConfigValue> find_convolution(const HfModel& model) {
  if (!model.type.is_zaya) return std::nullopt;
  model.config.ignore({"cca_time0"});
  return model.config.find({"cca_time1"});
}

/// Gemma 3n and 4: the last layers read keys and values of earlier ones, with and without a window.
std::vector<ImportedRecord> sharing(const HfModel& model, const Windows& windows,
                                    const ConfigValue& num_shared) {
  const Count num_layers = model.num_decoder_layers;
  if (num_shared.count() >= num_layers)
    num_shared.fail(fmt::format("the model has {} decoder layers", num_layers));
  if (const auto one = model.config.find({"attention_k_eq_v"}); one && one->flag())
    one->fail("with num_kv_shared_layers only false is understood");
  const Count first_shared = num_layers - num_shared.count();
  std::vector<ImportedRecord> records;
  bool with_window = false;  // whether an earlier layer has keys and values of its own
  bool without_window = false;
  for (const bool is_shared : {false, true})
    for (const bool has_window : {true, false}) {
      Count layers = 0;
      for (Count i = 0; i < num_layers; ++i)
        if ((i >= first_shared) == is_shared &&
            windows.by_layer[static_cast<std::size_t>(i)] == has_window)
          ++layers;
      if (layers == 0) continue;
      bool& has_source = has_window ? with_window : without_window;
      if (is_shared && !has_source)
        num_shared.fail(fmt::format("no earlier layer {} a window has keys and values to share",
                                    has_window ? "with" : "without"));
      has_source = true;
      RecordBuilder builder =
          windowed_record(model, windows.path, layers, has_window ? windows.window : std::nullopt);
      if (is_shared)
        builder.add("key_values", "shared", num_shared.position()).cite(num_shared.path());
      records.push_back(builder.build());
    }
  return records;
}

std::vector<ImportedRecord> grouped(const HfModel& model) {
  if (model.type.indexer == Indexing::present) return import_block_sparse(model);
  refuse_lightning_layers(model);
  refuse_bidirectional_text(model);
  if (model.type.kv_heads == Absent::falcon)
    refuse_unless_false(model, "apply_residual_connection_post_layernorm");
  if (model.type.is_hunyuan) refuse_what_hunyuan_lacks(model);
  remark_on_parallel_layers(model);
  const Windows windows = import_windows(model);
  const auto record = [&](Count num_layers, const std::optional<ConfigValue>& window) {
    return windowed_record(model, windows.path, num_layers, window)
        .add("conv_width", find_convolution(model))
        .build();
  };
  if (model.type.shares_key_values)
    if (const auto shared = model.config.find({"num_kv_shared_layers"}))
      if (shared->count(Range::non_negative) > 0) return sharing(model, windows, *shared);
  std::vector<ImportedRecord> records;
  const Count num_full = model.num_decoder_layers - windows.num_layers;
  if (windows.num_layers > 0) records.push_back(record(windows.num_layers, windows.window));
  if (num_full > 0)
    records.insert(windows.is_first ? records.end() : records.begin(),
                   record(num_full, std::nullopt));
  return records;
}

/// Which layers choose keys anew ("full") and which take the choice of the last that did
/// ("shared").
struct Indexers {
  Count num_full = 0;
  Count num_shared = 0;
  std::string path;
};

/// `is_latent` has an entry for each decoder layer. Only latent ones have use for a choice.
Indexers read_indexers(const HfModel& model, const std::vector<bool>& is_latent) {
  HfConfig& config = model.config;
  config.ignore({"index_share_for_mtp_iteration", "index_skip_topk_offset", "index_topk_pattern"});
  const auto every = config.find({"index_topk_freq"});
  const auto types = config.find({"indexer_types"});
  if (!types) {
    if (every && every->count() != 1)
      config.at({"indexer_types"}, "index_topk_freq: not each layer chooses keys");
    return {.num_full = std::count(is_latent.begin(), is_latent.end(), true),
            .num_shared = 0,
            .path = ""};
  }
  Indexers indexers{.num_full = 0, .num_shared = 0, .path = types->path()};
  const std::vector<std::string> words = types->words();
  require_one_per_layer(*types, words.size(), model.num_decoder_layers);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] != "full" && words[i] != "shared")
      types->fail(fmt::format("holds '{}'; must be full or shared", printable(words[i])));
    if (!is_latent[i]) continue;
    if (words[i] == "shared" && indexers.num_full == 0)
      types->fail("the first layer has no choice to share");
    ++(words[i] == "full" ? indexers.num_full : indexers.num_shared);
  }
  return indexers;
}

/// Under MLA the number of key-value heads repeats that of the query heads, and head_dim is only a
/// part of a head.
RecordBuilder latent_record(const HfModel& model, Count num_layers, const std::string& pattern) {
  HfConfig& config = model.config;
  config.ignore({"num_key_value_heads", "n_kv_heads", "num_kv_heads", "head_dim", "mla_use_nope"});
  const ConfigValue heads = config.at(kHeads, "query heads");
  const ConfigValue nope = config.at({"qk_nope_head_dim"}, "of a latent attention");
  const ConfigValue rope = config.at({"qk_rope_head_dim"}, "of a latent attention");
  const Count rope_dim = rope.count(Range::non_negative);
  if (const auto both = config.find({"qk_head_dim"}))
    if (both->count() != nope.count() + rope_dim)
      both->fail(fmt::format("{} + {} is {}", nope.path(), rope.path(), nope.count() + rope_dim));
  RecordBuilder builder(config, "latent", num_layers, heads.position());
  if (!pattern.empty()) builder.cite(pattern);
  builder.add("heads", heads)
      .add("q_rank", config.find({"q_lora_rank"}))
      .add("kv_rank", config.at({"kv_lora_rank"}, "of a latent attention"))
      .add("nope_dim", nope)
      .add("rope_dim", rope_dim, rope.position())
      .cite(rope.path())
      .add("value_dim", config.at({"v_head_dim"}, "of a latent attention"));
  if (const auto gate = config.find({"mla_use_output_gate"}); gate && gate->flag())
    builder.add("output_gate", "present", gate->position()).cite(gate->path());
  return builder;
}

/// Latent attention whose keys an indexer chooses, in the layers that have an entry in `is_latent`.
std::vector<ImportedRecord> indexed_latent(const HfModel& model, const std::vector<bool>& is_latent,
                                           const std::string& pattern) {
  HfConfig& config = model.config;
  const std::string why = "of the indexer";
  const Indexers indexers = read_indexers(model, is_latent);
  const ConfigValue top_k = config.at({"index_topk"}, why);
  config.ignore({"index_kpool_always_select_tail"});  // three tokens at most
  if (const auto learned = config.find({"index_kpool_compress"}); learned && !learned->flag())
    learned->fail("only true is understood");
  const auto record = [&](Count num_layers) {
    RecordBuilder builder = latent_record(model, num_layers, pattern);
    if (!indexers.path.empty()) builder.cite(indexers.path);
    return builder.add("top_k", top_k);
  };
  std::vector<ImportedRecord> records{record(indexers.num_full)
                                          .add("index_heads", config.at({"index_n_heads"}, why))
                                          .add("index_dim", config.at({"index_head_dim"}, why))
                                          .add("index_ratio", config.find({"index_kpool"}))
                                          .build()};
  if (indexers.num_shared > 0) records.push_back(record(indexers.num_shared).build());
  return records;
}

std::vector<ImportedRecord> latent(const HfModel& model) {
  if (model.type.indexer == Indexing::absent)
    return {latent_record(model, model.num_decoder_layers, "").build()};
  return indexed_latent(
      model, std::vector<bool>(static_cast<std::size_t>(model.num_decoder_layers), true), "");
}

/// Marks the decoder layers of a list. The lists of Kimi Linear count from 1, those of GLM from 0.
void mark(const HfModel& model, const ConfigValue& list, std::vector<std::string>& owners) {
  const Count first = model.type.first_layer;
  const Count last = static_cast<Count>(owners.size()) - 1 + first;
  for (const Count layer : list.counts(Range::non_negative)) {
    if (layer < first || layer > last)
      list.fail(fmt::format("holds {}; decoder layers count from {} to {}", layer, first, last));
    std::string& known = owners[static_cast<std::size_t>(layer - first)];
    if (!known.empty()) list.fail(fmt::format("holds {}, which is in {} already", layer, known));
    known = list.path();
  }
}

/// GLM says a second time which layers are linear.
void check_layer_types(const HfModel& model, const std::vector<bool>& is_latent) {
  const auto types = model.config.find({"layer_types"});
  if (!types) return;
  const std::vector<std::string> words = types->words();
  require_one_per_layer(*types, words.size(), model.num_decoder_layers);
  for (std::size_t i = 0; i < words.size(); ++i)
    if ((words[i] != "linear_attention") != is_latent[i])
      types->fail(fmt::format("holds '{}' as entry {}; linear_attn_config says otherwise",
                              printable(words[i]), i + 1));
}

ImportedRecord linear(const HfModel& model, ConfigSection& section, const ConfigValue& layers,
                      Count num_layers) {
  section.find({"gate_lower_bound"});
  const ConfigValue head_dim = section.at({"head_dim"}, "of the linear attention");
  RecordBuilder builder(model.config, "linear", num_layers, layers.position());
  builder.cite(layers.path())
      .add("heads", section.at({"num_heads"}, "of the linear attention"))
      .add("head_dim", head_dim)
      .add("conv_width", section.at({"short_conv_kernel_size"}, "of the linear attention"));
  const auto full_rank = section.find({"use_full_rank_gate"});
  if (full_rank && full_rank->flag()) return builder.cite(full_rank->path()).build();
  return builder.add("gate_rank", head_dim.count(), head_dim.position())
      .cite(
          "gate_rank = head_dim as in fla-org/flash-linear-attention @0812a88c "
          "fla/layers/kda.py: g_proj")
      .build();
}

/// Kimi Linear and GLM name the layers of each kind.
struct HybridLayers {
  ConfigSection section;
  ConfigValue linear;
  ConfigValue full;
};

HybridLayers hybrid_layers(const HfModel& model) {
  ConfigSection section =
      model.config.at({"linear_attn_config"}, "which layers have linear attention").section();
  const ConfigValue linear_layers = section.at({"kda_layers"}, "layers, counted from 1");
  const ConfigValue full_layers = section.at({"full_attn_layers"}, "layers, counted from 1");
  return {section, linear_layers, full_layers};
}

/// Whether each decoder layer of a hybrid has latent attention.
std::vector<bool> latent_layers(const HfModel& model, const ConfigValue& linear_layers,
                                const ConfigValue& full_layers) {
  std::vector<std::string> owners(static_cast<std::size_t>(model.num_decoder_layers));
  mark(model, linear_layers, owners);
  mark(model, full_layers, owners);
  std::vector<bool> is_latent;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    if (owners[i].empty())
      full_layers.fail(fmt::format("decoder layer {} is in neither list",
                                   static_cast<Count>(i) + model.type.first_layer));
    is_latent.push_back(owners[i] == full_layers.path());
  }
  return is_latent;
}

std::vector<ImportedRecord> hybrid(const HfModel& model) {
  auto [section, linear_layers, full_layers] = hybrid_layers(model);
  const std::vector<bool> is_latent = latent_layers(model, linear_layers, full_layers);
  check_layer_types(model, is_latent);
  std::vector<ImportedRecord> records;
  const Count num_latent = std::count(is_latent.begin(), is_latent.end(), true);
  const Count num_linear = model.num_decoder_layers - num_latent;
  if (num_linear > 0) records.push_back(linear(model, section, linear_layers, num_linear));
  section.refuse_others();
  if (num_latent == 0) return records;
  if (model.type.indexer == Indexing::absent) {
    records.push_back(latent_record(model, num_latent, full_layers.path()).build());
    return records;
  }
  for (ImportedRecord& record : indexed_latent(model, is_latent, full_layers.path()))
    records.push_back(std::move(record));
  return records;
}

/// Qwen3-Next: which layers have linear attention, and the key that says so.
struct LinearLayers {
  std::vector<bool> is_linear;
  Position position;
  std::string source;

  Count count() const { return std::count(is_linear.begin(), is_linear.end(), true); }
};

LinearLayers linear_layers(const HfModel& model) {
  std::vector<bool> is_linear;
  const auto every = model.config.find({"full_attention_interval"});
  if (const auto types = model.config.find({"layer_types"})) {
    const std::vector<std::string> words = types->words();
    require_one_per_layer(*types, words.size(), model.num_decoder_layers);
    for (const std::string& word : words) {
      const bool is_indexed = word == "deepseek_sparse_attention" || word == "hybrid_indexed";
      if (word != "full_attention" && word != "linear_attention" &&
          (!is_indexed || model.type.indexer == Indexing::absent))
        types->fail(
            fmt::format("holds '{}'; must be full_attention or linear_attention", printable(word)));
      is_linear.push_back(word == "linear_attention");
    }
    return {is_linear, types->position(), types->path()};
  }
  const ConfigValue step =
      model.config.at({"full_attention_interval"}, "which layers have linear attention");
  for (Count i = 1; i <= model.num_decoder_layers; ++i) is_linear.push_back(i % step.count() != 0);
  return {is_linear, step.position(), step.path()};
}

/// Qwen4-Exp: an indexer with one key for several tokens, the mean of theirs.
void add_indexer(const HfModel& model, RecordBuilder& full) {
  HfConfig& config = model.config;
  const std::string why = "of the indexer";
  const ConfigValue keys = config.at({"indexer_kv_heads"}, why);
  if (keys.count() != 1) keys.fail("one key serves all heads");
  full.add("top_k", config.at({"indexer_budget"}, why))
      .add("index_heads", config.at({"indexer_n_heads"}, why))
      .add("index_dim", config.at({"indexer_head_dim"}, why))
      .add("index_ratio", config.at({"indexer_compress_ratio"}, why));
}

/// Gated DeltaNet, arXiv:2412.06464, and in each n-th layer a grouped attention with a gate.
std::vector<ImportedRecord> gated_delta(const HfModel& model) {
  HfConfig& config = model.config;
  const std::string why = "of the linear attention";
  const auto state = config.find({"mamba_ssm_dtype"});
  if (state && state->word() != "float32") state->fail("states are counted as float32");
  refuse_unless_false(model, "use_sliding_window");
  const ConfigValue key_dim = config.at({"linear_key_head_dim"}, why);
  const ConfigValue value_dim = config.at({"linear_value_head_dim"}, why);
  if (key_dim.count() != value_dim.count())
    value_dim.fail(
        fmt::format("{} is {}; only equal ones are understood", key_dim.path(), key_dim.count()));
  const LinearLayers layers = linear_layers(model);
  const auto gate = config.find({"attn_output_gate"});
  std::vector<ImportedRecord> records;
  if (layers.count() > 0)
    records.push_back(RecordBuilder(config, "linear", layers.count(), layers.position)
                          .cite(layers.source)
                          .add("heads", config.at({"linear_num_value_heads"}, why))
                          .add("head_dim", key_dim)
                          .add("conv_width", config.at({"linear_conv_kernel_dim"}, why))
                          .add("key_heads", config.at({"linear_num_key_heads"}, why))
                          .add("decay", "per_head", layers.position)
                          .build());
  const Count num_full = model.num_decoder_layers - layers.count();
  if (num_full == 0) return records;
  RecordBuilder full = grouped_record(model, layers.source, num_full);
  if (!gate || gate->flag()) {
    full.add("output_gate", "present", gate ? gate->position() : layers.position);
    full.cite(gate ? gate->path() : fmt::format("gated as in transformers' {}", model.type.name));
  }
  if (model.type.indexer == Indexing::present) add_indexer(model, full);
  records.push_back(full.build());
  return records;
}

}  // namespace

std::vector<ImportedRecord> import_attention(const HfModel& model) {
  switch (model.type.attention) {
    case AttentionForm::grouped:
      return grouped(model);
    case AttentionForm::latent:
      return latent(model);
    case AttentionForm::hybrid:
      return hybrid(model);
    case AttentionForm::compressed:
      return import_compressed(model);
    case AttentionForm::shared_compressed:
      return import_shared_compressed(model);
    case AttentionForm::gated_delta:
      return gated_delta(model);
    case AttentionForm::mamba:
      return import_mamba(model);
  }
  return {};
}

std::vector<bool> linear_attention_layers(const HfModel& model) {
  if (model.type.attention == AttentionForm::gated_delta) return linear_layers(model).is_linear;
  if (model.type.attention == AttentionForm::mamba) return mamba_layers(model);
  std::vector<bool> is_linear(static_cast<std::size_t>(model.num_decoder_layers), false);
  if (model.type.attention != AttentionForm::hybrid) return is_linear;
  const HybridLayers layers = hybrid_layers(model);
  is_linear = latent_layers(model, layers.linear, layers.full);
  is_linear.flip();
  return is_linear;
}

}  // namespace depthcost
