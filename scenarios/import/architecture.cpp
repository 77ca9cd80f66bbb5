// One function for each kind of attention and MLP.
#include "scenarios/import/architecture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string>

namespace depthcost {
namespace {

constexpr Count kMaxVocabulary = Count{1} << 28;
constexpr Count kMaxRows = Count{1} << 32;
constexpr Count kMaxProjections = Count{1} << 40;

using KeyNames = std::initializer_list<const char*>;

/// One map of `attention` or `mlp`: "attention[2]".
class Record {
 public:
  Record(const Values& values, std::string list, std::size_t index)
      : values_(values), list_(std::move(list)), path_(fmt::format("{}[{}].", list_, index)) {}

  const std::string& kind() const { return values_.text(path_ + "kind"); }
  bool has(const std::string& name) const { return values_.has(path_ + name); }
  const Value& at(const std::string& name) const { return values_.at(path_ + name); }
  const std::string& text(const std::string& name) const { return at(name).texts.front(); }

  Count count(const std::string& name) const {
    const auto number = static_cast<Count>(at(name).numbers.front());
    if (number > kMaxWidth) fail(name, fmt::format("more than {}", kMaxWidth));
    return number;
  }

  Indexer indexer() const {
    return {.num_heads = optional("index_heads").value_or(0),
            .dim = optional("index_dim").value_or(0),
            .ratio = optional("index_ratio").value_or(1)};
  }

  std::optional<Count> optional(const std::string& name) const {
    return has(name) ? std::optional(count(name)) : std::nullopt;
  }

  template <class Enum>
  Enum choice(const std::string& name, Enum otherwise) const {
    return has(name) ? named<Enum>(text(name)).value() : otherwise;
  }

  /// Throws unless the keys that this kind needs are there, and for keys of other kinds.
  void check_members(KeyNames needed, KeyNames allowed) const {
    for (const char* name : needed)
      if (!has(name))
        throw InputError(
            at("kind").position,
            fmt::format("missing key '{}' ({} of kind {} needs it)", name, list_, kind()));
    const auto is_in = [](const std::string& name, KeyNames names) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    for (const auto& [path, value] : values_.all()) {
      if (!path.starts_with(path_)) continue;
      const std::string name = path.substr(path_.size());
      if (name == "kind" || name == "decoder_layers" || is_in(name, needed) || is_in(name, allowed))
        continue;
      throw InputError(value.position, fmt::format("conflicting key '{}' ({} of kind {} has none)",
                                                   name, list_, kind()));
    }
  }

  /// Refuses the key `name`, which needs the absent key `needed`.
  void check_company(const char* name, const char* needed) const {
    if (has(name) && !has(needed))
      throw InputError(at(name).position,
                       fmt::format("conflicting key '{}' (needs {})", name, needed));
  }

  void check_divides(const char* divisor, const char* whole) const {
    if (count(whole) % count(divisor) != 0)
      fail(divisor, fmt::format("does not divide {} '{}'", whole, text(whole)));
  }

  [[noreturn]] void fail(const std::string& name, const std::string& why) const {
    throw InputError(at(name).position,
                     fmt::format("invalid {}[].{} '{}' ({})", list_, name, text(name), why));
  }

 private:
  const Values& values_;
  std::string list_;
  std::string path_;
};

/// An indexer chooses `top_k` keys, and has heads and their size.
void check_indexer(const Record& record) {
  record.check_company("index_heads", "index_dim");
  record.check_company("index_dim", "index_heads");
  record.check_company("index_heads", "top_k");
  record.check_company("index_ratio", "index_heads");
}

Attention grouped(const Record& record) {
  record.check_members({"heads", "kv_heads", "head_dim"},
                       {"window", "output_gate", "key_values", "top_k", "index_heads", "index_dim",
                        "index_ratio", "conv_width"});
  record.check_divides("kv_heads", "heads");
  check_indexer(record);
  return GroupedAttention{.num_heads = record.count("heads"),
                          .num_kv_heads = record.count("kv_heads"),
                          .head_dim = record.count("head_dim"),
                          .window = record.optional("window"),
                          .output_gate = record.choice("output_gate", OutputGate::absent),
                          .key_values = record.choice("key_values", KeyValues::own),
                          .top_k = record.optional("top_k"),
                          .indexer = record.indexer(),
                          .conv_width = record.optional("conv_width")};
}

Attention latent(const Record& record) {
  record.check_members(
      {"heads", "kv_rank", "nope_dim", "rope_dim", "value_dim"},
      {"q_rank", "output_gate", "top_k", "index_heads", "index_dim", "index_ratio"});
  check_indexer(record);
  return LatentAttention{.num_heads = record.count("heads"),
                         .q_rank = record.optional("q_rank"),
                         .kv_rank = record.count("kv_rank"),
                         .nope_dim = record.count("nope_dim"),
                         .rope_dim = record.count("rope_dim"),
                         .value_dim = record.count("value_dim"),
                         .output_gate = record.choice("output_gate", OutputGate::absent),
                         .top_k = record.optional("top_k"),
                         .indexer = record.indexer()};
}

Attention linear(const Record& record) {
  record.check_members({"heads", "head_dim", "conv_width"},
                       {"key_heads", "key_dim", "gate_rank", "decay"});
  if (record.has("key_heads")) record.check_divides("key_heads", "heads");
  return LinearAttention{.num_heads = record.count("heads"),
                         .key_heads = record.optional("key_heads"),
                         .head_dim = record.count("head_dim"),
                         .key_dim = record.optional("key_dim"),
                         .conv_width = record.count("conv_width"),
                         .gate_rank = record.optional("gate_rank"),
                         .decay = record.choice("decay", Decay::per_channel)};
}

bool shares_key_values(const Record& record) {
  return record.choice("key_values", KeyValues::own) == KeyValues::shared;
}

Attention compressed(const Record& record) {
  record.check_members({"heads", "head_dim", "q_rank", "output_rank", "output_groups", "window"},
                       {"ratio", "key_values", "top_k", "index_heads", "index_dim", "candidates"});
  record.check_divides("output_groups", "heads");
  record.check_company("top_k", "ratio");
  record.check_company("key_values", "ratio");
  if (record.choice("key_values", KeyValues::own) == KeyValues::one_projection)
    record.fail("key_values", "attention of kind compressed has one projection in any case");
  // Only where summaries are another layer's can the choice be that layer's, too.
  if (!shares_key_values(record)) record.check_company("top_k", "index_heads");
  record.check_company("index_heads", "index_dim");
  record.check_company("index_dim", "top_k");
  record.check_company("index_heads", "top_k");
  record.check_company("candidates", "index_heads");
  return CompressedAttention{.num_heads = record.count("heads"),
                             .head_dim = record.count("head_dim"),
                             .q_rank = record.count("q_rank"),
                             .output_rank = record.count("output_rank"),
                             .output_groups = record.count("output_groups"),
                             .window = record.count("window"),
                             .ratio = record.optional("ratio"),
                             .key_values = record.choice("key_values", KeyValues::own),
                             .top_k = record.optional("top_k"),
                             .indexer = record.indexer(),
                             .candidates = record.optional("candidates")};
}

Attention attention_of(const Record& record) {
  if (record.kind() == "grouped") return grouped(record);
  if (record.kind() == "latent") return latent(record);
  return record.kind() == "linear" ? linear(record) : compressed(record);
}

/// A record may change the experts of another: what it does not say, it has from there.
void check_experts(const Record& record, const ExpertMlp& mlp) {
  const char* active = record.has("active") ? "active" : "experts";
  if (mlp.num_experts > kMaxExperts)
    record.fail("experts", fmt::format("more than {}", kMaxExperts));
  if (mlp.num_active > mlp.num_experts)
    record.fail(active, fmt::format("{} active of {} experts", mlp.num_active, mlp.num_experts));
  if (mlp.num_experts % mlp.num_groups != 0)
    record.fail("experts", fmt::format("{} groups must divide it", mlp.num_groups));
  const Count reachable = mlp.num_experts / mlp.num_groups * mlp.groups_of_token;
  if (mlp.num_active > reachable)
    record.fail(active, fmt::format("more than the {} experts of a token's groups", reachable));
}

Mlp mlp_of(const Record& record) {
  if (record.kind() == "dense") {
    record.check_members({"width"}, {});
    return DenseMlp{.width = record.count("width")};
  }
  record.check_members({"experts", "active", "width"},
                       {"shared", "latent_width", "router_width", "groups", "groups_per_token"});
  record.check_company("groups", "groups_per_token");
  record.check_company("groups_per_token", "groups");
  const ExpertMlp mlp{.num_experts = record.count("experts"),
                      .num_active = record.count("active"),
                      .num_shared = record.optional("shared").value_or(0),
                      .width = record.count("width"),
                      .latent_width = record.optional("latent_width"),
                      .router_width = record.optional("router_width"),
                      .num_groups = record.optional("groups").value_or(1),
                      .groups_of_token = record.optional("groups_per_token").value_or(1)};
  if (mlp.num_groups > 1) record.check_divides("groups", "experts");
  if (mlp.groups_of_token > mlp.num_groups)
    record.fail("groups_per_token", fmt::format("more than the {} groups", mlp.num_groups));
  check_experts(record, mlp);
  return mlp;
}

/// A number that is larger than those of matrices may be; 0 if absent.
Count large_count(const Values& values, const std::string& list, std::size_t index,
                  const std::string& name, Count most) {
  const std::string path = fmt::format("{}[{}].{}", list, index, name);
  if (!values.has(path)) return 0;
  const Value& value = values.at(path);
  const auto number = static_cast<Count>(value.numbers.front());
  if (number > most)
    throw InputError(value.position, fmt::format("invalid {}[].{} '{}' (more than {})", list, name,
                                                 value.texts.front(), most));
  return number;
}

/// One map of `tables`.
LookupTable table_of(const Values& values, std::size_t index) {
  const auto member = [&](const std::string& name, Count most) {
    return large_count(values, "tables", index, name, most);
  };
  const std::string dtype = fmt::format("tables[{}].dtype", index);
  return {
      .rows = member("rows", kMaxRows),
      .width = member("width", kMaxWidth),
      .projections = member("projections", kMaxProjections),
      .dtype = values.has(dtype) ? std::optional(values.choice<WeightDtype>(dtype)) : std::nullopt};
}

/// The layer of `all` that the record names, from 1.
template <class Layers>
const auto& named_layers(const Record& record, const std::string& list,
                         const std::vector<Layers>& all) {
  const Count number = record.count(list);
  if (number > static_cast<Count>(all.size()))
    record.fail(list, fmt::format("{} has {}", list, all.size()));
  return all[static_cast<std::size_t>(number - 1)];
}

DraftLayers draft_of(const Values& values, const Architecture& architecture) {
  const Record record(values, "draft", 0);
  if (values.num_records("draft") > 1)
    throw InputError(values.at("draft[1].layers").position,
                     "conflicting key 'draft' (one record at most)");
  DraftLayers draft{
      .attention = named_layers(record, "attention", architecture.attention).attention,
      .mlp = named_layers(record, "mlp", architecture.mlp).mlp,
      .num_layers = record.count("layers"),
      .projections = large_count(values, "draft", 0, "projections", kMaxProjections),
      .block = record.optional("block")};
  auto* experts = std::get_if<ExpertMlp>(&draft.mlp);
  for (const char* name : {"experts", "active"})
    if (record.has(name) && experts == nullptr) record.fail(name, "its mlp has no experts");
  if (experts == nullptr) return draft;
  experts->num_experts = record.optional("experts").value_or(experts->num_experts);
  experts->num_active = record.optional("active").value_or(experts->num_active);
  check_experts(record, *experts);
  return draft;
}

void check_sum(const Values& values, const std::string& list, Count have, Count need) {
  if (have == need) return;
  throw InputError(
      values.at(list + "[0].decoder_layers").position,
      fmt::format("invalid {} ({} decoder layers; the model has {})", list, have, need));
}

/// Keys that need `attention` and `mlp`, which are absent.
void refuse_lone_keys(const Values& values) {
  if (values.has_records("tables"))
    throw InputError(values.at("tables[0].rows").position,
                     "conflicting key 'tables' (needs attention and mlp)");
  if (values.has_records("draft"))
    throw InputError(values.at("draft[0].layers").position,
                     "conflicting key 'draft' (needs attention and mlp)");
  for (const std::string key :
       {"vocabulary_size", "output_head", "weight_dtype", "expert_dtype", "kv_dtype"})
    if (const Value* value = values.find(key))
      throw InputError(value->position,
                       fmt::format("conflicting key '{}' (needs attention and mlp)", key));
}

WeightDtype weight_dtype(const Values& values, const std::string& key, std::string_view fallback,
                         std::string_view why, std::vector<ResolvedValue>& notes) {
  if (values.has(key)) return values.choice<WeightDtype>(key);
  notes.push_back({"model." + key, std::string(fallback), fmt::format("default: {}", why)});
  return named<WeightDtype>(fallback).value();
}

constexpr std::string_view kCompressedCacheSource =
    "fp8 is DeepSeek's serving format of compressed attention (vllm-project/vllm PR 55134, "
    "2026-09-03)";

void read_dtypes(const Values& values, Architecture& architecture,
                 std::vector<ResolvedValue>& notes) {
  architecture.weight_dtype =
      weight_dtype(values, "weight_dtype", values.text("dtype"), "the model's dtype", notes);
  architecture.expert_dtype = weight_dtype(values, "expert_dtype", name(architecture.weight_dtype),
                                           "as weight_dtype", notes);
  if (values.has("kv_dtype")) {
    architecture.kv_dtype = values.choice<Dtype>("kv_dtype");
    return;
  }
  const Key& key = *find_key(model_keys(), "kv_dtype");
  const bool is_compressed =
      std::any_of(architecture.attention.begin(), architecture.attention.end(),
                  [](const AttentionLayers& layers) {
                    return std::holds_alternative<CompressedAttention>(layers.attention);
                  });
  architecture.kv_dtype = is_compressed ? Dtype::fp8 : named<Dtype>(key.fallback).value();
  notes.push_back(
      {"model.kv_dtype", std::string(name(architecture.kv_dtype)),
       fmt::format("default: {}", is_compressed ? kCompressedCacheSource : key.fallback_source)});
}

/// The number of decoder layers that both lists must add up to.
Count decoder_layers_of(const Values& values, Count num_layers) {
  if (num_layers % 2 != 0)
    throw InputError(values.at("num_layers").position,
                     fmt::format("invalid num_layers '{}' (odd; with attention and mlp a decoder "
                                 "layer has two)",
                                 num_layers));
  return num_layers / 2;
}

Count vocabulary_size_of(const Values& values) {
  if (!values.has("vocabulary_size"))
    throw InputError(values.position(),
                     "missing key 'vocabulary_size' (attention and mlp need it)");
  const Count size = values.count("vocabulary_size");
  if (size > kMaxVocabulary)
    throw InputError(
        values.at("vocabulary_size").position,
        fmt::format("invalid vocabulary_size '{}' (more than {})", size, kMaxVocabulary));
  return size;
}

}  // namespace

std::optional<Architecture> architecture_from(const Values& values, Count num_layers,
                                              std::vector<ResolvedValue>& notes) {
  const std::size_t num_attentions = values.num_records("attention");
  const std::size_t num_mlps = values.num_records("mlp");
  if (num_attentions == 0 && num_mlps == 0) {
    refuse_lone_keys(values);
    return std::nullopt;
  }
  for (const auto& [list, records, other] :
       {std::tuple{"attention", num_attentions, "mlp"}, {"mlp", num_mlps, "attention"}})
    if (records == 0)
      throw InputError(values.position(),
                       fmt::format("missing key '{}' ({} needs it)", list, other));
  Architecture architecture;
  Count attention_layers = 0;
  for (std::size_t i = 0; i < num_attentions; ++i) {
    const Record record(values, "attention", i);
    architecture.attention.push_back({attention_of(record), record.count("decoder_layers")});
    attention_layers += architecture.attention.back().num_decoder_layers;
  }
  Count mlp_layers = 0;
  for (std::size_t i = 0; i < num_mlps; ++i) {
    const Record record(values, "mlp", i);
    architecture.mlp.push_back({mlp_of(record), record.count("decoder_layers")});
    mlp_layers += architecture.mlp.back().num_decoder_layers;
  }
  const Count decoder_layers = decoder_layers_of(values, num_layers);
  check_sum(values, "attention", attention_layers, decoder_layers);
  check_sum(values, "mlp", mlp_layers, decoder_layers);
  for (std::size_t i = 0; i < values.num_records("tables"); ++i)
    architecture.tables.push_back(table_of(values, i));
  if (values.num_records("draft") > 0) architecture.draft = draft_of(values, architecture);
  architecture.vocabulary_size = vocabulary_size_of(values);
  if (values.has("output_head"))
    architecture.output_head = values.choice<OutputHead>("output_head");
  read_dtypes(values, architecture, notes);
  return architecture;
}

}  // namespace depthcost
