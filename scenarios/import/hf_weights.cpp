// Storage: of the residual stream and the weights, of quantised ones, of experts.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "scenarios/import/hf_module_names.hpp"
#include "scenarios/import/hf_parts.hpp"
#include "scenarios/import/hf_spared.hpp"

namespace depthcost {
namespace {

struct DtypeName {
  std::string_view there;
  std::string_view here;
};

constexpr std::array kDtypeNames{
    DtypeName{"bfloat16", "bf16"}, DtypeName{"bf16", "bf16"},   DtypeName{"float16", "f16"},
    DtypeName{"half", "f16"},      DtypeName{"float32", "f32"}, DtypeName{"float", "f32"},
};

/// The dtype of stored weights, and the key that says so.
struct Storage {
  std::string dtype;
  Position position;
  std::string source;
};

/// The dtype that computation and the residual stream have.
Storage read_dtype(const HfModel& model) {
  const auto value = model.config.find({"torch_dtype", "dtype"});
  if (!value) {
    if (model.type.dtype == AbsentDtype::refused)
      model.config.at({"torch_dtype", "dtype"}, "storage of the residual stream");
    return {"bf16", model.config.position(),
            fmt::format("{} has no dtype key: activations taken as bf16", model.config.label())};
  }
  // DeepSeek's inference configs name the dtype of weights here.
  if (value->word() == "fp8")
    return {"bf16", value->position(),
            model.config.cite({value->path()}) + " fp8: weights; activations taken as bf16"};
  std::string_view word = value->word();
  if (word.starts_with("torch.")) word.remove_prefix(6);
  const auto* known = std::find_if(kDtypeNames.begin(), kDtypeNames.end(),
                                   [&](const DtypeName& name) { return name.there == word; });
  if (known == kDtypeNames.end()) value->fail("must be bfloat16, float16 or float32");
  const std::string said =
      fmt::format("{} {}", model.config.cite({value->path()}), printable(value->word()));
  // vLLM's --dtype auto takes 16 bits too.
  if (known->here == "f32")
    return {"bf16", value->position(), said + ": served in 16 bits, as engines do"};
  return {std::string(known->here), value->position(), said};
}

struct WeightStorage {
  Storage weights;
  Storage experts;
};

/// Both methods that quantise only experts list the modules that stay unquantised. Attention must
/// be on the list.
void require_spared_attention(const ConfigValue& list) {
  for (const std::string& module : list.words())
    if (module.find("self_attn") != std::string::npos) return;
  list.fail("self_attn is not on it; only quantised experts are understood");
}

Storage stored(const HfModel& model, std::string dtype, const ConfigValue& named) {
  return {std::move(dtype), named.position(),
          fmt::format("{} {}", model.config.cite({named.path()}), named.word())};
}

/// "dense MLPs of layers 0, 125": where a part has weights that are spared, or others.
std::string part_text(const SparedPart& part, bool is_spared) {
  constexpr std::size_t kMaxListed = 12;
  std::vector<std::size_t> layers;
  bool is_whole = true;
  for (std::size_t i = 0; i < part.weights.size(); ++i) {
    const double chosen = is_spared ? part.spared[i] : part.weights[i] - part.spared[i];
    if (chosen == 0) continue;
    layers.push_back(i);
    is_whole = is_whole && chosen == part.weights[i];
  }
  const auto num_layers = static_cast<std::size_t>(
      std::count_if(part.weights.begin(), part.weights.end(), [](double w) { return w > 0; }));
  std::string text(part.name);
  if (layers.size() < num_layers)
    text +=
        layers.size() > kMaxListed
            ? fmt::format(" of {} layers", layers.size())
            : fmt::format(" of layer{} {}", layers.size() == 1 ? "" : "s", fmt::join(layers, ", "));
  return text + (is_whole ? "" : " in part");
}

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// Whether most weights of the parts that share one key are spared.
bool is_mostly_spared(const std::vector<SparedPart>& parts, bool is_routed) {
  double spared = 0;
  double others = 0;
  for (const SparedPart& part : parts) {
    if (part.is_routed != is_routed) continue;
    spared += sum_of(part.spared);
    others += sum_of(part.weights) - sum_of(part.spared);
  }
  return spared > others;
}

/// Weights that the model file gives another dtype than the checkpoint, and the parts they are of.
struct Miscounted {
  double weights = 0;
  std::vector<std::string> parts;

  void add(const SparedPart& part, bool is_spared) {
    const double spared = sum_of(part.spared);
    const double more = is_spared ? spared : sum_of(part.weights) - spared;
    if (more == 0) return;
    weights += more;
    parts.push_back(part_text(part, is_spared));
  }
};

std::string gigabytes(double bytes) {
  const double number = bytes / 1e9;
  return number < 100 ? fmt::format("{:.3g} GB", number) : fmt::format("{:.0f} GB", number);
}

/// The model and its architecture, by which a checkpoint's keys of quantisation are read.
struct Checkpoint {
  const HfModel& model;
  const Architecture& architecture;
  Storage plain;  // of what is not quantised
};

double bytes_of(const Storage& storage) {
  return bytes_per_weight(named<WeightDtype>(storage.dtype).value());
}

void remark_on_miscounts(const Checkpoint& file, const Storage& quantised, std::string_view list,
                         const Miscounted& too_small, const Miscounted& too_large) {
  const double each = bytes_of(file.plain) - bytes_of(quantised);
  const std::string& plain = file.plain.dtype;
  if (too_small.weights > 0)
    file.model.warn(fmt::format(
        "{} of weights are missing. {} leaves these in {}, and they are counted in {}: {}.",
        gigabytes(too_small.weights * each), list, plain, quantised.dtype,
        fmt::join(too_small.parts, "; ")));
  if (too_large.weights > 0)
    file.model.warn(fmt::format(
        "{} of weights are too many. These are {}, and they are counted in {} like those "
        "that {} names: {}.",
        gigabytes(too_large.weights * each), quantised.dtype, plain, list,
        fmt::join(too_large.parts, "; ")));
}

void remark_on_unread(const Checkpoint& file, std::string_view list,
                      std::vector<std::string> unread) {
  constexpr std::size_t kMaxShown = 3;
  if (unread.empty()) return;
  const std::string more =
      unread.size() > kMaxShown ? fmt::format(" and {} more", unread.size() - kMaxShown) : "";
  unread.resize(std::min(unread.size(), kMaxShown));
  for (std::string& expression : unread) expression = fmt::format("'{}'", printable(expression));
  file.model.warn(
      fmt::format("What {} means by {}{} is not understood, and is counted as if it named nothing.",
                  list, fmt::join(unread, ", "), more));
}

/// AWQ looks for parts of names, so that "layers.1" is in "layers.12".
NameRule rule_of(ConfigSection& section) {
  const auto method = section.find({"quant_method"});
  return method && method->word() == "awq" ? NameRule::part : NameRule::whole;
}

/// All matrices in `storage`, but for those that a list leaves as they are. One key has the dtype
/// of attention, dense MLPs and shared experts, another that of routed experts: each says what most
/// of its weights have, and a remark says how many bytes the others are.
WeightStorage quantised_to(const Storage& storage, const Checkpoint& file, ConfigSection& section) {
  const auto list =
      section.find({"modules_to_not_convert", "ignore", "ignored_layers", "exclude_modules"});
  if (!list) return {storage, storage};
  const ModuleNames named(*list, file.model.num_decoder_layers, rule_of(section));
  const std::vector<SparedPart> parts = spared_parts(file.model, file.architecture, named);
  const bool is_plain = is_mostly_spared(parts, false);
  const bool has_plain_experts =
      has_experts(file.architecture) ? is_mostly_spared(parts, true) : is_plain;
  Miscounted too_small;
  Miscounted too_large;
  for (const SparedPart& part : parts) {
    if (part.is_routed ? has_plain_experts : is_plain)
      too_large.add(part, false);
    else
      too_small.add(part, true);
  }
  remark_on_miscounts(file, storage, list->path(), too_small, too_large);
  remark_on_unread(file, list->path(), named.unread());
  const Storage spared{file.plain.dtype, list->position(),
                       fmt::format("{}; {} spares most of these weights", file.plain.source,
                                   file.model.config.cite({list->path()}))};
  return {is_plain ? spared : storage, has_plain_experts ? spared : storage};
}

WeightStorage in_fp8(const Checkpoint& file, ConfigSection& section, const ConfigValue& named) {
  return quantised_to(stored(file.model, "fp8", named), file, section);
}

/// Floats of 4 bits, of which 16 share a scale of 8 bits.
WeightStorage in_nvfp4(const Checkpoint& file, ConfigSection& section, const ConfigValue& named) {
  return quantised_to(stored(file.model, "nvfp4", named), file, section);
}

/// Whole numbers of 4 bits in groups with a scale. `numbers` says how many bits and weights.
WeightStorage in_int4(const Checkpoint& file, ConfigSection& section, ConfigSection& numbers) {
  const HfConfig& config = file.model.config;
  const ConfigValue bits = numbers.at({"bits", "num_bits", "w_bit"}, "how weights are stored");
  if (bits.count() != 4) bits.fail("must be 4");
  const ConfigValue group =
      numbers.at({"group_size", "q_group_size"}, "how many weights share a scale");
  // One scale for each output channel: 3 % fewer bytes than groups of 128 have.
  if (group.text() == "-1")
    return quantised_to(
        {"int4_g128", bits.position(),
         fmt::format("{} {}, {} -1: a scale for each channel, counted as groups of 128",
                     config.cite({bits.path()}), bits.count(), group.path())},
        file, section);
  constexpr std::array kSizes{"32", "64", "128"};
  if (std::find(kSizes.begin(), kSizes.end(), group.text()) == kSizes.end())
    group.fail("must be 32, 64, 128 or -1");
  const Count size = group.count();
  const Storage storage{
      fmt::format("int4_g{}", size), bits.position(),
      fmt::format("{} {}, {}", config.cite({bits.path(), group.path()}), bits.count(), size)};
  return quantised_to(storage, file, section);
}

/// The one group of modules that compressed-tensors quantises alike.
ConfigSection group_of(ConfigSection& section) {
  const ConfigValue groups = section.at({"config_groups"}, "how weights are stored");
  ConfigSection all = groups.section();
  if (all.members().size() != 1) groups.fail("must be one group");
  const std::string name = all.members().front().key;
  return all.at({name}, "how weights are stored").section();
}

/// A group is of all linear layers, unless it names modules.
void warn_of_targets(const Checkpoint& file, ConfigSection& section) {
  const auto groups = section.find({"config_groups"});
  if (!groups) return;
  ConfigSection all = groups->section();
  for (const Member& member : all.members()) {
    ConfigSection group = all.at({member.key}, "how weights are stored").section();
    const auto targets = group.find({"targets"});
    if (!targets) continue;
    const std::vector<std::string> words = targets->words();
    const bool is_all = std::any_of(words.begin(), words.end(), [](const std::string& word) {
      return word == "Linear" || word == "re:.*";
    });
    if (!is_all)
      file.model.warn(fmt::format(
          "{} names only some modules, and is not read: the others are counted as quantised, too.",
          targets->path()));
  }
}

void warn_of_wide_activations(const Checkpoint& file, const ConfigValue& format) {
  file.model.warn(fmt::format(
      "{} {} keeps activations in 16 bits. Engines widen such weights to bf16; products "
      "are counted at the rate of nvfp4, which is too fast.",
      format.path(), format.word()));
}

/// Formats of the library compressed-tensors.
WeightStorage compressed(const Checkpoint& file, ConfigSection& section) {
  const ConfigValue format = section.at({"format"}, "how weights are stored");
  warn_of_targets(file, section);
  if (format.word() == "float-quantized") return in_fp8(file, section, format);
  if (format.word() == "pack-quantized") {
    ConfigSection group = group_of(section);
    ConfigSection weights = group.at({"weights"}, "how weights are stored").section();
    return in_int4(file, section, weights);
  }
  if (format.word() == "nvfp4-pack-quantized") {
    ConfigSection group = group_of(section);
    ConfigSection weights = group.at({"weights"}, "how weights are stored").section();
    if (const auto bits = weights.find({"num_bits"}); bits && bits->count() != 4)
      bits->fail("must be 4");
    if (const auto size = weights.find({"group_size"}); size && size->count() != 16)
      size->fail("must be 16");
    if (!group.find({"input_activations"})) warn_of_wide_activations(file, format);
    return in_nvfp4(file, section, format);
  }
  if (format.word() != "mxfp4-pack-quantized")
    format.fail(
        "must be float-quantized, pack-quantized, nvfp4-pack-quantized or mxfp4-pack-quantized; in "
        "a file without quantization_config the weights have the dtype of the model, which may be "
        "four times as large");
  require_spared_attention(section.at({"ignore"}, "what is not quantised"));
  return {file.plain, stored(file.model, "mxfp4", format)};
}

/// NVIDIA's Model Optimizer: one dtype for all, or in quantized_layers one for each module.
WeightStorage optimised(const Checkpoint& file, ConfigSection& section) {
  const ConfigValue algorithm = section.at({"quant_algo"}, "how weights are stored");
  if (algorithm.word() == "MIXED_PRECISION")
    algorithm.fail("quantized_layers gives each module a dtype of its own, and is not read");
  warn_of_targets(file, section);
  if (algorithm.word() == "FP8") return in_fp8(file, section, algorithm);
  if (algorithm.word() != "NVFP4" && algorithm.word() != "W4A16_NVFP4")
    algorithm.fail("must be NVFP4, W4A16_NVFP4 or FP8");
  const auto group = section.find({"group_size"});
  if (group && group->count() != 16) group->fail("must be 16");
  if (algorithm.word() == "W4A16_NVFP4") warn_of_wide_activations(file, algorithm);
  return in_nvfp4(file, section, algorithm);
}

WeightStorage quantised(const Checkpoint& file, const ConfigValue& value) {
  ConfigSection section = value.section();
  const ConfigValue method = section.at({"quant_method"}, "how weights are stored");
  // mxfp8 has a scale for 32 weights, 3 % more bytes than fp8 is counted with.
  if (method.word() == "fp8" || method.word() == "fbgemm_fp8" || method.word() == "mxfp8")
    return in_fp8(file, section, method);
  if (method.word() == "mxfp4") {
    require_spared_attention(section.at({"modules_to_not_convert"}, "what is not quantised"));
    return {file.plain, stored(file.model, "mxfp4", method)};
  }
  if (method.word() == "compressed-tensors") return compressed(file, section);
  if (method.word() == "modelopt" || method.word() == "modelopt_fp4")
    return optimised(file, section);
  if (method.word() == "gptq" && section.find({"dynamic"}))
    file.model.warn(
        fmt::format("{}.dynamic gives modules bits of their own. It is not read.", value.path()));
  if (method.word() == "awq" || method.word() == "gptq") return in_int4(file, section, section);
  method.fail(
      "must be fp8, fbgemm_fp8, mxfp8, mxfp4, awq, gptq, modelopt or compressed-tensors; in a file "
      "without quantization_config the weights have the dtype of the model, which may be four "
      "times as large");
}

/// The cache's own dtype, where the file names one: 8 bits of compressed-tensors are fp8.
std::optional<Storage> quantised_cache(const HfModel& model) {
  const auto quantisation = model.config.find({"quantization_config"});
  if (!quantisation) return std::nullopt;
  ConfigSection whole = quantisation->section();
  const auto scheme = whole.find({"kv_cache_scheme"});
  if (!scheme) {
    const auto algorithm = whole.find({"kv_cache_quant_algo"});  // of Model Optimizer
    if (!algorithm) return std::nullopt;
    if (algorithm->word() != "FP8") algorithm->fail("must be FP8");
    return stored(model, "fp8", *algorithm);
  }
  ConfigSection section = scheme->section();
  const ConfigValue type = section.at({"type"}, "how keys and values are stored");
  if (type.word() != "float") type.fail("must be float");
  const ConfigValue bits = section.at({"num_bits"}, "how keys and values are stored");
  if (bits.count() != 8) bits.fail("must be 8");
  return Storage{"fp8", bits.position(),
                 fmt::format("{} {}", model.config.cite({bits.path()}), bits.count())};
}

WeightStorage read_weights(const Checkpoint& file) {
  HfConfig& config = file.model.config;
  const auto written = config.find({"torch_dtype", "dtype"});
  if (written && written->word() == "fp8") {
    const Storage storage{"fp8", written->position(), config.cite({written->path()}) + " fp8"};
    return {storage, storage};
  }
  const auto quantisation = config.find({"quantization_config"});
  return quantisation ? quantised(file, *quantisation) : WeightStorage{file.plain, file.plain};
}

/// DeepSeek-V4 names the experts' own; fp4 is stored as MXFP4 (E2M1, E8M0 scales): comment in
/// ai-dynamo/aiconfigurator @095f58a5 aic-core/src/aiconfigurator_core/sdk/common.py.
void read_expert_dtype(const HfModel& model, WeightStorage& storage) {
  auto value = model.config.find({"expert_dtype"});
  if (const auto quantisation = model.config.find({"quantization_config"}); quantisation && !value)
    value = quantisation->section().find({"expert_dtype"});  // DeepSeek-V4.1
  if (!value) return;
  const std::string& word = value->word();
  if (word != "fp4" && word != "mxfp4" && word != "fp8") value->fail("must be fp4 or fp8");
  storage.experts = {word == "fp8" ? "fp8" : "mxfp4", value->position(),
                     fmt::format("{} {}", model.config.cite({value->path()}), word)};
}

ImportedKey entry(const std::string& key, const Storage& storage) {
  return {{key, storage.dtype, storage.position}, storage.source};
}

}  // namespace

ImportedKey import_dtype(const HfModel& model) { return entry("dtype", read_dtype(model)); }

std::vector<ImportedKey> import_weight_dtypes(const HfModel& model,
                                              const Architecture& architecture) {
  WeightStorage storage = read_weights({model, architecture, read_dtype(model)});
  read_expert_dtype(model, storage);
  std::vector<ImportedKey> keys{entry("weight_dtype", storage.weights)};
  if (storage.experts.dtype != storage.weights.dtype)
    keys.push_back(entry("expert_dtype", storage.experts));
  if (const auto cache = quantised_cache(model)) keys.push_back(entry("kv_dtype", *cache));
  return keys;
}

}  // namespace depthcost
