// The residual scheme: `attn_res_block_size`, `hc_mult`, `hc_count` or `altup_num_inputs`, or none
// of them.
#include <fmt/format.h>

#include "scenarios/import/hf_parts.hpp"

namespace depthcost {
namespace {

std::vector<ImportedKey> block_attnres(const HfModel& model, const ConfigValue& block_size) {
  const Count decoder_layers = block_size.count();
  if (decoder_layers > model.num_decoder_layers)
    block_size.fail(fmt::format("the model has {} decoder layers", model.num_decoder_layers));
  const std::string cited = model.config.cite({block_size.path()});
  return {
      {{"scheme", "block_attnres", block_size.position()}, cited},
      {{"block_size", fmt::format("{}", 2 * decoder_layers), block_size.position()},
       fmt::format("derived: {} decoder layers x 2 layers each, from {}", decoder_layers, cited)}};
}

std::vector<ImportedKey> hyper_connections(const HfModel& model, const ConfigValue& streams) {
  model.config.ignore({"hc_sinkhorn_iters", "hc_eps"});
  const auto is_mhc = model.config.find({"mhc"});
  if (is_mhc && !is_mhc->flag())
    throw InputError(is_mhc->position(), fmt::format("conflicting key '{}' ({} says otherwise)",
                                                     is_mhc->path(), streams.path()));
  const std::string cited = model.config.cite({streams.path()});
  return {{{"scheme", std::string(model.type.streams), streams.position()}, cited},
          {{"num_streams", fmt::format("{}", streams.count()), streams.position()}, cited}};
}

/// `scheme` with two of its numbers, each from a value of the config.
struct Number {
  std::string key;
  const ConfigValue& value;
};

std::vector<ImportedKey> with_numbers(const HfModel& model, const std::string& scheme,
                                      const std::vector<Number>& numbers) {
  const auto entry = [&](const std::string& key, std::string text, const ConfigValue& value) {
    return ImportedKey{{key, std::move(text), value.position()}, model.config.cite({value.path()})};
  };
  std::vector<ImportedKey> keys{entry("scheme", scheme, numbers.front().value)};
  for (const Number& number : numbers)
    keys.push_back(entry(number.key, fmt::format("{}", number.value.count()), number.value));
  return keys;
}

std::vector<ImportedKey> gated_residual(const HfModel& model, const ConfigValue& streams) {
  const ConfigValue rank = model.config.at({"hc_lowrank"}, "rank of the gates of the streams");
  return with_numbers(model, "gated_residual", {{"num_streams", streams}, {"gate_rank", rank}});
}

/// Gemma 3n.
std::vector<ImportedKey> altup(const HfModel& model, const ConfigValue& copies) {
  model.config.ignore(
      {"altup_active_idx", "altup_coef_clip", "altup_correct_scale", "altup_lr_multiplier"});
  const ConfigValue rank = model.config.at({"laurel_rank"}, "rank of the path beside attention");
  return with_numbers(model, "altup", {{"num_streams", copies}, {"rank", rank}});
}

}  // namespace

std::vector<ImportedKey> import_residual(const HfModel& model) {
  if (model.type.tables == Tables::per_layer)
    if (const auto copies = model.config.find({"altup_num_inputs"})) return altup(model, *copies);
  if (const auto streams = model.config.find({"hc_count"})) return gated_residual(model, *streams);
  const auto block_size = model.config.find({"attn_res_block_size"});
  const auto streams = model.config.find({"hc_mult"});
  if (block_size && streams)
    throw InputError(streams->position(), fmt::format("conflicting key '{}' ({} is there too)",
                                                      streams->path(), block_size->path()));
  if (block_size) return block_attnres(model, *block_size);
  if (streams) return hyper_connections(model, *streams);
  if (model.type.attention == AttentionForm::compressed ||
      model.type.attention == AttentionForm::shared_compressed)
    model.config.at({"hc_mult"}, fmt::format("{} carries mHC", model.type.name));
  const std::string source =
      model.type.scheme == "standard"
          ? fmt::format("no hc_mult and no attn_res_block_size key in {}", model.config.label())
          : fmt::format("{}: as in transformers' {}", model.config.label(), model.type.name);
  return {{{"scheme", std::string(model.type.scheme), model.config.position()}, source}};
}

}  // namespace depthcost
