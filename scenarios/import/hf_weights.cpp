// Storage: of the residual stream and the weights, of quantised ones, of experts.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "scenarios/import/hf_parts.hpp"

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

/// Whether a module is a projection of the decoder's attention, or a pattern of all of them.
bool is_attention(std::string_view module) {
  for (const std::string_view tower : {"vision", "visual", "audio"})
    if (module.find(tower) != std::string_view::npos) return false;
  constexpr std::string_view kEnds[] = {"self_attn", "self_attn.*", "self_attn.q_proj",
                                        "self_attn.o_proj"};
  while (module.ends_with(".*") && !module.ends_with("self_attn.*")) module.remove_suffix(2);
  return std::any_of(std::begin(kEnds), std::end(kEnds),
                     [&](std::string_view end) { return module.ends_with(end); });
}

/// Whether a list of modules that stay unquantised names attention, as that of GLM-5.3-Flash does.
/// Compressed tensors have another key for it, and patterns.
std::optional<ConfigValue> spares_attention(ConfigSection& section) {
  auto list = section.find({"modules_to_not_convert", "ignore"});
  if (!list) return std::nullopt;
  const std::vector<std::string> modules = list->words();
  if (std::any_of(modules.begin(), modules.end(), is_attention)) return list;
  return std::nullopt;
}

Storage stored(const HfModel& model, std::string dtype, const ConfigValue& named) {
  return {std::move(dtype), named.position(),
          fmt::format("{} {}", model.config.cite({named.path()}), named.word())};
}

/// All matrices in `storage`, or all but those of attention. weight_dtype is that of attention and
/// dense MLPs alike: without experts it is that of the MLPs, which are most of the weights.
WeightStorage quantised_to(const Storage& storage, const HfModel& model, const Storage& plain,
                           ConfigSection& section) {
  const auto spared = spares_attention(section);
  if (!spared) return {storage, storage};
  if (!model.config.find(kExpertKeys)) {
    model.remarks.push_back(fmt::format(
        "Attention is not quantised, and is counted in {} like the MLPs.", storage.dtype));
    return {storage, storage};
  }
  model.remarks.emplace_back(
      "Attention is not quantised. Shared experts and dense MLPs are counted like attention, in "
      "weight_dtype.");
  return {
      {plain.dtype, spared->position(),
       fmt::format("{}; {} names attention", plain.source, model.config.cite({spared->path()}))},
      storage};
}

WeightStorage in_fp8(const HfModel& model, const Storage& plain, ConfigSection& section,
                     const ConfigValue& named) {
  return quantised_to(stored(model, "fp8", named), model, plain, section);
}

/// Whole numbers of 4 bits in groups with a scale. `numbers` says how many bits and weights.
WeightStorage in_int4(const HfModel& model, const Storage& plain, ConfigSection& section,
                      ConfigSection& numbers) {
  const ConfigValue bits = numbers.at({"bits", "num_bits", "w_bit"}, "how weights are stored");
  if (bits.count() != 4) bits.fail("must be 4");
  const ConfigValue group =
      numbers.at({"group_size", "q_group_size"}, "how many weights share a scale");
  // One scale for each output channel: 3 % fewer bytes than groups of 128 have.
  if (group.text() == "-1")
    return quantised_to(
        {"int4_g128", bits.position(),
         fmt::format("{} {}, {} -1: a scale for each channel, counted as groups of 128",
                     model.config.cite({bits.path()}), bits.count(), group.path())},
        model, plain, section);
  constexpr std::array kSizes{"32", "64", "128"};
  if (std::find(kSizes.begin(), kSizes.end(), group.text()) == kSizes.end())
    group.fail("must be 32, 64, 128 or -1");
  const Count size = group.count();
  const Storage storage{
      fmt::format("int4_g{}", size), bits.position(),
      fmt::format("{} {}, {}", model.config.cite({bits.path(), group.path()}), bits.count(), size)};
  return quantised_to(storage, model, plain, section);
}

/// The one group of modules that compressed-tensors quantises alike.
ConfigSection weights_of_group(ConfigSection& section) {
  const ConfigValue groups = section.at({"config_groups"}, "how weights are stored");
  ConfigSection all = groups.section();
  if (all.members().size() != 1) groups.fail("must be one group");
  const std::string name = all.members().front().key;
  return all.at({name}, "how weights are stored")
      .section()
      .at({"weights"}, "how weights are stored")
      .section();
}

/// Formats of the library compressed-tensors.
WeightStorage compressed(const HfModel& model, const Storage& plain, ConfigSection& section) {
  const ConfigValue format = section.at({"format"}, "how weights are stored");
  if (format.word() == "float-quantized") return in_fp8(model, plain, section, format);
  if (format.word() == "pack-quantized") {
    ConfigSection weights = weights_of_group(section);
    return in_int4(model, plain, section, weights);
  }
  if (format.word() != "mxfp4-pack-quantized")
    format.fail(
        "must be float-quantized, pack-quantized or mxfp4-pack-quantized; in a file without "
        "quantization_config the weights have the dtype of the model, which may be four times as "
        "large");
  require_spared_attention(section.at({"ignore"}, "what is not quantised"));
  return {plain, stored(model, "mxfp4", format)};
}

WeightStorage quantised(const HfModel& model, const Storage& plain, const ConfigValue& value) {
  ConfigSection section = value.section();
  const ConfigValue method = section.at({"quant_method"}, "how weights are stored");
  if (method.word() == "fp8" || method.word() == "fbgemm_fp8")
    return in_fp8(model, plain, section, method);
  if (method.word() == "mxfp4") {
    require_spared_attention(section.at({"modules_to_not_convert"}, "what is not quantised"));
    return {plain, stored(model, "mxfp4", method)};
  }
  if (method.word() == "compressed-tensors") return compressed(model, plain, section);
  if (method.word() == "awq" || method.word() == "gptq")
    return in_int4(model, plain, section, section);
  method.fail(
      "must be fp8, fbgemm_fp8, mxfp4, awq, gptq or compressed-tensors; in a file without "
      "quantization_config the weights have the dtype of the model, which may be four times as "
      "large");
}

/// The cache's own dtype, where the file names one: 8 bits of compressed-tensors are fp8.
std::optional<Storage> quantised_cache(const HfModel& model) {
  const auto quantisation = model.config.find({"quantization_config"});
  if (!quantisation) return std::nullopt;
  const auto scheme = quantisation->section().find({"kv_cache_scheme"});
  if (!scheme) return std::nullopt;
  ConfigSection section = scheme->section();
  const ConfigValue type = section.at({"type"}, "how keys and values are stored");
  if (type.word() != "float") type.fail("must be float");
  const ConfigValue bits = section.at({"num_bits"}, "how keys and values are stored");
  if (bits.count() != 8) bits.fail("must be 8");
  return Storage{"fp8", bits.position(),
                 fmt::format("{} {}", model.config.cite({bits.path()}), bits.count())};
}

WeightStorage read_weights(const HfModel& model, const Storage& plain) {
  const auto written = model.config.find({"torch_dtype", "dtype"});
  if (written && written->word() == "fp8") {
    const Storage storage{"fp8", written->position(),
                          model.config.cite({written->path()}) + " fp8"};
    return {storage, storage};
  }
  const auto quantisation = model.config.find({"quantization_config"});
  return quantisation ? quantised(model, plain, *quantisation) : WeightStorage{plain, plain};
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

std::vector<ImportedKey> import_dtypes(const HfModel& model) {
  const Storage plain = read_dtype(model);
  WeightStorage storage = read_weights(model, plain);
  read_expert_dtype(model, storage);
  std::vector<ImportedKey> keys{entry("dtype", plain), entry("weight_dtype", storage.weights)};
  if (storage.experts.dtype != storage.weights.dtype)
    keys.push_back(entry("expert_dtype", storage.experts));
  if (const auto cache = quantised_cache(model)) keys.push_back(entry("kv_dtype", *cache));
  return keys;
}

}  // namespace depthcost
