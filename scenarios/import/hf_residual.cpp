// The residual scheme: `attn_res_block_size` and `hc_mult`, or neither.
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
  return {{{"scheme", "mhc", streams.position()}, cited},
          {{"num_streams", fmt::format("{}", streams.count()), streams.position()}, cited}};
}

}  // namespace

std::vector<ImportedKey> import_residual(const HfModel& model) {
  const auto block_size = model.config.find({"attn_res_block_size"});
  const auto streams = model.config.find({"hc_mult"});
  if (block_size && streams)
    throw InputError(streams->position(), fmt::format("conflicting key '{}' ({} is there too)",
                                                      streams->path(), block_size->path()));
  if (block_size) return block_attnres(model, *block_size);
  if (streams) return hyper_connections(model, *streams);
  if (model.type.attention == AttentionForm::compressed)
    model.config.at({"hc_mult"}, fmt::format("{} carries mHC", model.type.name));
  return {{{"scheme", "standard", model.config.position()},
           fmt::format("no hc_mult and no attn_res_block_size key in {}", model.config.label())}};
}

}  // namespace depthcost
