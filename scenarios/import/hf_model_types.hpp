// The families of models whose decoder layers are known, by `model_type`.
#pragma once

#include <cstdint>
#include <string_view>

#include "scenarios/import/hf_config.hpp"

namespace depthcost {

/// What attention its layers have.
enum class AttentionForm : std::uint8_t { grouped, latent, hybrid, compressed };

/// What an absent `head_dim` or `num_key_value_heads` means: a default of the family's code that is
/// not in the file is not guessed.
enum class Absent : std::uint8_t { derived, refused };

/// Which layers see a window only.
enum class WindowRule : std::uint8_t { none, all_layers, upper_layers, by_layer_type };

/// Projections of a dense MLP: gate, up and down, or up and down.
enum class MlpForm : std::uint8_t { gated, plain };

/// Storage where no key names one.
enum class AbsentDtype : std::uint8_t { refused, bf16 };

/// Whether an expert's width stands in `intermediate_size`.
enum class ExpertWidth : std::uint8_t { own_key, intermediate_size };

struct HfFamily {
  std::string_view model_type;
  AttentionForm attention = AttentionForm::grouped;
  Absent head_dim = Absent::refused;
  Absent kv_heads = Absent::refused;
  WindowRule window = WindowRule::none;
  MlpForm mlp = MlpForm::gated;
  ExpertWidth expert_width = ExpertWidth::own_key;
  AbsentDtype dtype = AbsentDtype::refused;
};

/// The config's family. Throws InputError for one that is not known.
HfFamily family_of(HfConfig& config);

}  // namespace depthcost
