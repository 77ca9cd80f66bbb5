// MLPs: which decoder layers have experts, and their numbers.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "scenarios/import/hf_parts.hpp"

namespace depthcost {
namespace {

/// How many there are.
const Aliases kActive{"num_experts_per_tok",
                      "num_experts_per_token",
                      "experts_per_token",
                      "n_activated_experts",
                      "moe_k",
                      "moe_topk",
                      "top_k_experts"};
const Aliases kDenseWidth{"intermediate_size", "inter_dim", "ffn_dim"};

/// Where intermediate_size is the width of an expert: Llama 4, MiniMax-M3.
const Aliases kWidthBesideExperts{"intermediate_size_mlp", "dense_intermediate_size"};

enum class Kind : std::uint8_t { dense, experts };

/// The kind of each decoder layer, and the keys that say so.
struct Pattern {
  std::vector<Kind> kinds;
  std::vector<std::string> paths;

  Count num(Kind kind) const { return std::count(kinds.begin(), kinds.end(), kind); }
};

void fail_unlike(const ConfigValue& value, const Pattern& pattern) {
  throw InputError(value.position(), fmt::format("conflicting key '{}' ({} says otherwise)",
                                                 value.path(), pattern.paths.front()));
}

/// Two keys may give the same number. They must agree, and both are cited.
void combine(Pattern& pattern, std::vector<Kind> kinds, const ConfigValue& value) {
  if (!pattern.paths.empty() && kinds != pattern.kinds) fail_unlike(value, pattern);
  pattern.kinds = std::move(kinds);
  pattern.paths.push_back(value.path());
}

/// ERNIE's keys can limit experts to a range of layers. Only a range up to the last layer, -1, is
/// understood.
void refuse_layers_between(const HfModel& model) {
  const auto interval = model.config.find({"moe_layer_interval"});
  if (interval && interval->count() != 1) interval->fail("only 1 is understood");
  const auto last = model.config.find({"moe_layer_end_index"});
  if (last && last->text() != "-1" &&
      last->count(Range::non_negative) != model.num_decoder_layers - 1)
    last->fail(fmt::format("only -1 and {}, the last layer, are understood",
                           model.num_decoder_layers - 1));
}

/// DeepSeek: experts from the first_k_dense_replace-th layer on, in each moe_layer_freq-th layer.
void read_leading_dense(const HfModel& model, Pattern& pattern) {
  refuse_layers_between(model);
  const auto first = model.config.find(kLeadingDenseKeys);
  const auto step = model.config.find({"moe_layer_freq"});
  const bool is_listed = step && step->is_list();
  if (!first) {
    if (step && !is_listed && step->count() != 1)
      step->fail("without first_k_dense_replace it must be 1 or a list");
    return;
  }
  // The list of layers says what the class would else have as its default.
  const bool is_default = first->path().starts_with("transformers'");
  if (is_default && model.config.find({"mlp_layer_types"})) return;
  const Count num_dense = first->count(Range::non_negative);
  if (num_dense > model.num_decoder_layers)
    first->fail(fmt::format("the model has {} decoder layers", model.num_decoder_layers));
  const Count every = step && !is_listed ? step->count() : 1;
  std::vector<Kind> kinds;
  for (Count i = 0; i < model.num_decoder_layers; ++i)
    kinds.push_back(i >= num_dense && i % every == 0 ? Kind::experts : Kind::dense);
  combine(pattern, std::move(kinds), *first);
  if (every != 1) pattern.paths.push_back(step->path());
}

/// MiniMax-M3: 1 for each layer with experts, else 0.
void read_flags(const HfModel& model, Pattern& pattern) {
  const auto flags = model.config.find({"moe_layer_freq"});
  if (!flags || !flags->is_list()) return;
  std::vector<Kind> kinds;
  for (const Count flag : flags->counts(Range::non_negative)) {
    if (flag > 1) flags->fail(fmt::format("holds {}; must be 0 or 1", flag));
    kinds.push_back(flag == 1 ? Kind::experts : Kind::dense);
  }
  require_one_per_layer(*flags, kinds.size(), model.num_decoder_layers);
  combine(pattern, std::move(kinds), *flags);
}

/// GLM-5: a word for each layer.
void read_types(const HfModel& model, Pattern& pattern) {
  const auto types = model.config.find({"mlp_layer_types"});
  if (!types) return;
  std::vector<Kind> kinds;
  for (const std::string& word : types->words()) {
    if (word != "dense" && word != "sparse")
      types->fail(fmt::format("holds '{}'; must be dense or sparse", printable(word)));
    kinds.push_back(word == "sparse" ? Kind::experts : Kind::dense);
  }
  require_one_per_layer(*types, kinds.size(), model.num_decoder_layers);
  combine(pattern, std::move(kinds), *types);
}

/// Llama 4: a list that counts from 0, or each interleave_moe_layer_step-th layer.
void read_interleaved(const HfModel& model, Pattern& pattern) {
  const auto listed = model.config.find({"moe_layers"});
  const auto step = model.config.find({"interleave_moe_layer_step"});
  if (!listed && !step) return;
  std::vector<Kind> kinds(static_cast<std::size_t>(model.num_decoder_layers), Kind::dense);
  if (!listed) {
    const auto every = static_cast<std::size_t>(step->count());
    for (std::size_t i = every - 1; i < kinds.size(); i += every) kinds[i] = Kind::experts;
    combine(pattern, std::move(kinds), *step);
    return;
  }
  for (const Count layer : listed->counts(Range::non_negative)) {
    if (layer >= model.num_decoder_layers)
      listed->fail(fmt::format("holds {}; decoder layers count from 0 to {}", layer,
                               model.num_decoder_layers - 1));
    kinds[static_cast<std::size_t>(layer)] = Kind::experts;
  }
  combine(pattern, std::move(kinds), *listed);
}

/// Qwen: experts in each decoder_sparse_step-th layer but those of a list that counts from 0.
void read_exceptions(const HfModel& model, Pattern& pattern) {
  const auto dense = model.config.find({"mlp_only_layers"});
  const auto step = model.config.find({"decoder_sparse_step"});
  if (!dense && !step) return;
  const Count every = step ? step->count() : 1;
  std::vector<Kind> kinds;
  for (Count i = 0; i < model.num_decoder_layers; ++i)
    kinds.push_back((i + 1) % every == 0 ? Kind::experts : Kind::dense);
  if (dense)
    for (const Count layer : dense->counts(Range::non_negative)) {
      if (layer >= model.num_decoder_layers)
        dense->fail(fmt::format("holds {}; decoder layers count from 0 to {}", layer,
                                model.num_decoder_layers - 1));
      kinds[static_cast<std::size_t>(layer)] = Kind::dense;
    }
  combine(pattern, std::move(kinds), dense ? *dense : *step);
  if (dense && step) pattern.paths.push_back(step->path());
}

Pattern read_pattern(const HfModel& model) {
  Pattern pattern;
  read_leading_dense(model, pattern);
  read_flags(model, pattern);
  read_types(model, pattern);
  read_exceptions(model, pattern);
  read_interleaved(model, pattern);
  if (pattern.kinds.empty())
    pattern.kinds.assign(static_cast<std::size_t>(model.num_decoder_layers), Kind::experts);
  return pattern;
}

/// Meta's params.json: 2/3 of 4 d, times a factor, rounded up; meta-llama/llama-models
/// models/llama3/model.py, FeedForward.
FoundCount meta_width(const HfModel& model, const ConfigValue& multiple_of) {
  constexpr double kMaxFactor = 1024;
  Count width = 2 * (4 * model.hidden_size) / 3;
  std::vector<std::string> paths{multiple_of.path()};
  if (const auto factor = model.config.find({"ffn_dim_multiplier"})) {
    if (factor->number() > kMaxFactor) factor->fail(fmt::format("more than {}", kMaxFactor));
    width = static_cast<Count>(factor->number() * static_cast<double>(width));
    paths.push_back(factor->path());
  }
  const Count step = multiple_of.count();
  width = (width + step - 1) / step * step;
  return {
      width, multiple_of.position(),
      fmt::format("derived: 2/3 of 4 x {}, times ffn_dim_multiplier, rounded up to multiple_of, "
                  "from {}",
                  model.hidden_size, model.config.cite(paths))};
}

/// An MLP with an up and a down projection only, described as a gated MLP of the same bytes and
/// operations.
FoundCount plain_width(const HfModel& model) {
  const auto kind = model.config.find({"mlp_type"});  // StarCoder2
  if (kind && kind->word() != "default") kind->fail("only default is understood");
  const auto written = model.config.find({"n_inner", "ffn_hidden_size", "intermediate_size"});
  if (!written && model.type.plain_width == Absent::refused)
    model.config.at({"intermediate_size"}, "width of an MLP");
  const Count inner = written ? written->count() : 4 * model.hidden_size;
  const std::string found =
      written ? model.config.cite({written->path()})
              : fmt::format("{} gives no width: 4 x {}", model.config.label(), model.hidden_size);
  return {(2 * inner + 2) / 3, written ? written->position() : model.config.position(),
          fmt::format("derived: 2/3 of {}, rounded up, since {} has two projections and the model "
                      "counts three; {}",
                      inner, model.type.name, found)};
}

/// Gemma 3n and Hunyuan give a number for each decoder layer.
Count equal_count(const HfModel& model, const ConfigValue& value, std::string_view what,
                  Range range = Range::positive) {
  if (!value.is_list()) return value.count(range);
  const std::vector<Count> counts = value.counts(range);
  require_one_per_layer(value, counts.size(), model.num_decoder_layers);
  for (const Count other : counts)
    if (other != counts.front())
      value.fail(fmt::format("holds {} and {}; only equal {} are understood", counts.front(), other,
                             what));
  return counts.front();
}

/// Granite 4 H without experts: a number of 0, and the shared MLP is all there is.
bool has_no_experts(const HfModel& model) {
  if (model.type.attention != AttentionForm::mamba) return false;
  const auto number = model.config.find(kExpertKeys);
  return number && number->count(Range::non_negative) == 0;
}

FoundCount dense_width(const HfModel& model) {
  if (model.type.mlp == MlpForm::plain) return plain_width(model);
  if (has_no_experts(model)) {
    model.config.ignore(kDenseWidth);
    const ConfigValue width = model.config.at({"shared_intermediate_size"}, "width of the MLP");
    return {width.count(), width.position(), model.config.cite({width.path()})};
  }
  const auto of_dense = model.config.find(kWidthBesideExperts);
  if (const auto width = of_dense ? of_dense : model.config.find(kDenseWidth))
    return {equal_count(model, *width, "widths"), width->position(),
            model.config.cite({width->path()})};
  if (const auto multiple_of = model.config.find({"multiple_of"}))
    return meta_width(model, *multiple_of);
  model.config.at({"intermediate_size"}, "width of a dense MLP");
  return {};
}

ImportedRecord dense_record(const HfModel& model, const Pattern& pattern) {
  const FoundCount width = dense_width(model);
  std::string source = width.source;
  if (!pattern.paths.empty()) source += fmt::format(", {}", fmt::join(pattern.paths, ", "));
  const Count num_layers = pattern.num(Kind::dense);
  return {{{"kind", "dense", width.position},
           {"decoder_layers", fmt::format("{}", num_layers), width.position},
           {"width", fmt::format("{}", width.count), width.position}},
          source};
}

/// The number of routed experts. Gemma 4 can switch them off.
std::optional<ConfigValue> find_experts(const HfModel& model) {
  if (has_no_experts(model)) {
    model.config.ignore(kActive);
    return std::nullopt;
  }
  const auto is_on = model.config.find({"enable_moe_block"});
  if (!is_on) return model.config.find(kExpertKeys);
  if (is_on->flag()) return model.config.at(kExpertKeys, "enable_moe_block is true");
  model.config.ignore(kExpertKeys);
  model.config.ignore(kActive);
  model.config.ignore(kExpertWidthKeys);
  return std::nullopt;
}

/// Gemma 4: how many layers, which read the keys and values of earlier ones, have an MLP of twice
/// the width.
std::optional<ConfigValue> find_wide_layers(const HfModel& model) {
  const auto is_wide = model.config.find({"use_double_wide_mlp"});
  if (!is_wide || !is_wide->flag()) return std::nullopt;
  const auto shared = model.config.find({"num_kv_shared_layers"});
  if (!shared || shared->count(Range::non_negative) == 0) return std::nullopt;
  if (shared->count() >= model.num_decoder_layers)
    shared->fail(fmt::format("the model has {} decoder layers", model.num_decoder_layers));
  return shared;
}

std::vector<ImportedRecord> dense_and_wide(const HfModel& model, const ConfigValue& wide) {
  const FoundCount width = dense_width(model);
  const auto record = [&](Count num_layers, Count times) {
    return ImportedRecord{{{"kind", "dense", width.position},
                           {"decoder_layers", fmt::format("{}", num_layers), wide.position()},
                           {"width", fmt::format("{}", times * width.count), width.position}},
                          fmt::format("{}, use_double_wide_mlp, {}", width.source, wide.path())};
  };
  return {record(model.num_decoder_layers - wide.count(), 1), record(wide.count(), 2)};
}

/// Kimi K2 gives the number of shared experts, Qwen2-MoE and MiniMax their total width.
std::optional<ImportedValue> shared_experts(const HfModel& model, Count width,
                                            std::vector<std::string>& paths) {
  const auto is_used = model.config.find({"moe_router_enable_shared_expert"});
  if (is_used && !is_used->flag()) is_used->fail("only true is understood");
  if (const auto number = model.config.find(kSharedExpertKeys)) {
    paths.push_back(number->path());
    // Of Ling, and of MiniMax-M3.
    const auto each =
        model.config.find({"moe_shared_expert_intermediate_size", "shared_intermediate_size"});
    if (each && each->count() != width)
      each->fail(fmt::format("only the width of a routed expert, {}, is understood", width));
    const Count count = equal_count(model, *number, "numbers", Range::non_negative);
    if (count == 0) return std::nullopt;
    return ImportedValue{"shared", fmt::format("{}", count), number->position()};
  }
  // Gemma 4 has a dense MLP beside its experts, which is as much as some shared ones.
  const auto together =
      model.type.is_gemma4
          ? model.config.find(kDenseWidth)
          : model.config.find({"shared_expert_intermediate_size", "shared_intermediate_size"});
  if (!together) return std::nullopt;
  const Count all = together->count(Range::non_negative);
  if (all % width != 0)
    together->fail(fmt::format("no multiple of the {} of a routed expert", width));
  paths.push_back(together->path());
  if (all == 0) return std::nullopt;
  return ImportedValue{"shared", fmt::format("{}", all / width), together->position()};
}

/// DeepSeek-V3: a token picks its experts from some of their groups.
void add_groups(const HfModel& model, std::vector<ImportedValue>& members,
                std::vector<std::string>& paths) {
  const auto groups = model.config.find({"n_group", "num_expert_group", "n_expert_groups"});
  const auto chosen = model.config.find({"topk_group", "n_limited_groups"});
  const auto method = model.config.find({"topk_method"});
  const bool is_limited = !method || method->word() != "greedy";
  if (!groups || !chosen || !is_limited || groups->count(Range::non_negative) < 2) return;
  members.push_back({"groups", fmt::format("{}", groups->count()), groups->position()});
  members.push_back({"groups_per_token", fmt::format("{}", chosen->count()), chosen->position()});
  paths.push_back(groups->path());
  paths.push_back(chosen->path());
}

ImportedRecord expert_record(const HfModel& model, const ConfigValue& experts,
                             const Pattern& pattern) {
  HfConfig& config = model.config;
  config.ignore({"num_hash_layers"});  // these layers have experts too; a table picks them
  const ConfigValue active = config.at(kActive, "experts that a token sees");
  const ConfigValue width = model.type.expert_width == ExpertWidth::intermediate_size
                                ? config.at({"intermediate_size"}, "width of an expert")
                                : config.at(kExpertWidthKeys, "width of an expert");
  const Count num_experts = equal_count(model, experts, "numbers");
  const Count num_active = equal_count(model, active, "numbers");
  const Count each = equal_count(model, width, "widths");
  if (num_active > num_experts)
    active.fail(fmt::format("{} has only {}", experts.path(), num_experts));
  std::vector<std::string> paths{experts.path(), active.path()};
  const auto member = [](const std::string& key, const ConfigValue& value, Count count) {
    return ImportedValue{key, fmt::format("{}", count), value.position()};
  };
  ImportedRecord record;
  record.members = {
      {"kind", "experts", experts.position()},
      {"decoder_layers", fmt::format("{}", pattern.num(Kind::experts)), experts.position()},
      member("experts", experts, num_experts),
      member("active", active, num_active)};
  if (const auto shared = shared_experts(model, each, paths)) record.members.push_back(*shared);
  record.members.push_back(member("width", width, each));
  paths.push_back(width.path());
  add_groups(model, record.members, paths);
  if (model.type.is_zaya) {
    const ConfigValue router = config.at({"router_hidden_size"}, "width of the router's layers");
    record.members.push_back(member("router_width", router, router.count()));
    paths.push_back(router.path());
  }
  if (const auto latent = config.find({"routed_expert_hidden_size"})) {
    record.members.push_back(member("latent_width", *latent, latent->count()));
    paths.push_back(latent->path());
  }
  paths.insert(paths.end(), pattern.paths.begin(), pattern.paths.end());
  record.source = config.cite(paths);
  return record;
}

}  // namespace

std::vector<ImportedRecord> import_mlp(const HfModel& model) {
  const auto experts = find_experts(model);
  const auto wide = find_wide_layers(model);
  if (experts && wide) wide->fail("with use_double_wide_mlp no experts are understood");
  if (!experts) {
    if (wide) return dense_and_wide(model, *wide);
    const Pattern all_dense{
        std::vector<Kind>(static_cast<std::size_t>(model.num_decoder_layers), Kind::dense), {}};
    return {dense_record(model, all_dense)};
  }
  const Pattern pattern = read_pattern(model);
  if (pattern.num(Kind::experts) == 0)
    throw InputError(experts->position(),
                     fmt::format("conflicting key '{}' ({} leaves no layer with experts)",
                                 experts->path(), fmt::join(pattern.paths, " with ")));
  // Written even where no layer has a dense MLP (Qwen3-235B), or an expert of that width.
  model.config.ignore(kDenseWidth);
  model.config.ignore(kWidthBesideExperts);
  std::vector<ImportedRecord> records;
  if (pattern.num(Kind::dense) > 0) records.push_back(dense_record(model, pattern));
  records.push_back(expert_record(model, *experts, pattern));
  return records;
}

std::vector<bool> expert_layers(const HfModel& model) {
  const auto num_layers = static_cast<std::size_t>(model.num_decoder_layers);
  std::vector<bool> layers(num_layers, false);
  if (!find_experts(model)) return layers;
  const Pattern pattern = read_pattern(model);
  for (std::size_t i = 0; i < num_layers; ++i) layers[i] = pattern.kinds[i] == Kind::experts;
  return layers;
}

}  // namespace depthcost
