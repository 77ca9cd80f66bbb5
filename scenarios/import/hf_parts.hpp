// From a config.json to the parts of a model: attention, MLPs, tables, dtypes, residual scheme.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "model/architecture/architecture.hpp"
#include "scenarios/import/hf_config.hpp"
#include "scenarios/import/hf_model_types.hpp"
#include "scenarios/import/imported_model.hpp"

namespace depthcost {

/// A config and what all of its parts need to know.
struct HfModel {
  HfConfig& config;
  HfModelType type;
  Count num_decoder_layers = 0;
  Count hidden_size = 0;
  std::vector<std::string>& remarks;   // what the model file cannot say, one line each
  std::vector<std::string>& warnings;  // those by which numbers are wrong

  void warn(std::string text) const {
    remarks.push_back(text);
    warnings.push_back(std::move(text));
  }
};

/// A count of the model, where it was found, and the text that says so.
struct FoundCount {
  Count count = 0;
  Position position;
  std::string source;
};

/// Names under which configs count the routed experts of a layer.
inline const Aliases kExpertKeys{"n_routed_experts", "num_experts", "num_local_experts",
                                 "moe_num_experts"};

/// The same of shared experts, of the dense layers in front, and of an expert's width.
inline const Aliases kSharedExpertKeys{"n_shared_experts", "num_shared_experts",
                                       "moe_num_shared_experts", "num_shared_expert"};
inline const Aliases kLeadingDenseKeys{"first_k_dense_replace", "n_dense_layers",
                                       "moe_layer_start_index"};
inline const Aliases kExpertWidthKeys{"moe_intermediate_size", "moe_inter_dim",
                                      "expert_hidden_dim"};

/// Throws InputError unless a list of `length` entries has one for each decoder layer.
inline void require_one_per_layer(const ConfigValue& list, std::size_t length,
                                  Count num_decoder_layers) {
  if (static_cast<Count>(length) != num_decoder_layers)
    list.fail(
        fmt::format("{} entries; the model has {} decoder layers", length, num_decoder_layers));
}

/// Which layers see a window only, which one, and whether the first layer does.
struct Windows {
  Count num_layers = 0;
  std::optional<ConfigValue> window;
  std::string path;  // the key that says which layers
  bool is_first = true;
  std::vector<bool> by_layer;  // where the layers alternate
};

/// These throw InputError for keys that are missing, contradictory or not understood.
Windows import_windows(const HfModel& model);
std::vector<ImportedRecord> import_attention(const HfModel& model);
std::vector<ImportedRecord> import_compressed(const HfModel& model);
std::vector<ImportedRecord> import_shared_compressed(const HfModel& model);
std::vector<ImportedRecord> import_mlp(const HfModel& model);
std::vector<ImportedRecord> import_tables(const HfModel& model);

/// The layers that draft tokens, of which attention and MLP are among those of the model.
std::vector<ImportedRecord> import_draft(const HfModel& model,
                                         const std::vector<ImportedRecord>& attention,
                                         const std::vector<ImportedRecord>& mlp);

/// Which decoder layers have linear attention, and which have experts.
std::vector<bool> linear_attention_layers(const HfModel& model);
std::vector<bool> expert_layers(const HfModel& model);

ImportedKey import_dtype(const HfModel& model);

/// weight_dtype and, where they differ, expert_dtype and kv_dtype. `architecture` is what the other
/// keys say, of which a checkpoint may leave some weights unquantised.
std::vector<ImportedKey> import_weight_dtypes(const HfModel& model,
                                              const Architecture& architecture);

/// scheme, and what it needs.
std::vector<ImportedKey> import_residual(const HfModel& model);

}  // namespace depthcost
