// Windows: which decoder layers see only the last tokens, or the tokens of their own chunk.
#include <fmt/format.h>

#include <algorithm>

#include "scenarios/import/hf_parts.hpp"

namespace depthcost {
namespace {

const Aliases kSlidingWindow{"sliding_window", "sliding_window_size"};
const Aliases kWindow{"sliding_window", "sliding_window_size", "attention_chunk_size"};
const Aliases kFullEvery{"sliding_window_pattern", "_sliding_window_pattern",
                         "no_rope_layer_interval", "layer_switch"};

/// `sees_window` has an entry for each layer.
Windows windows_of(const HfModel& model, const std::vector<bool>& sees_window, std::string path,
                   std::string_view why) {
  Windows windows{.num_layers = std::count(sees_window.begin(), sees_window.end(), true),
                  .window = std::nullopt,
                  .path = std::move(path),
                  .is_first = sees_window.front(),
                  .by_layer = sees_window};
  const Aliases key =
      model.type.window == WindowRule::chunks ? Aliases{"attention_chunk_size"} : kSlidingWindow;
  if (windows.num_layers == 0)
    model.config.ignore(key);  // configs have it even where every layer sees all tokens
  else
    windows.window = model.config.at(key, why);
  return windows;
}

Windows windows_by_type(const HfModel& model, const ConfigValue& types) {
  const std::vector<std::string> words = types.words();
  require_one_per_layer(types, words.size(), model.num_decoder_layers);
  const std::string_view full = model.type.is_zaya ? "hybrid" : "full_attention";
  const std::string_view narrow = model.type.is_zaya                        ? "hybrid_sliding"
                                  : model.type.window == WindowRule::chunks ? "chunked_attention"
                                                                            : "sliding_attention";
  std::vector<bool> sees_window;
  for (const std::string& word : words) {
    if (word != full && word != narrow)
      types.fail(fmt::format("holds '{}'; must be {} or {}", printable(word), full, narrow));
    sees_window.push_back(word == narrow);
  }
  if (model.type.is_gemma4 && sees_window.back()) types.fail("the last layer must see all tokens");
  return windows_of(model, sees_window, types.path(), fmt::format("layer_types has {}", narrow));
}

/// In transformers the layers from max_window_layers on have a window.
Windows upper_windows(const HfModel& model) {
  const bool is_always = model.type.window == WindowRule::upper_always;
  const auto is_used = model.config.find({"use_sliding_window"});
  model.config.ignore({"sliding_window", "max_window_layers"});
  if (is_always ? !model.config.find({"sliding_window"}) : !is_used || !is_used->flag()) return {};
  const std::string_view why = is_always ? "sliding_window is there" : "use_sliding_window is true";
  const ConfigValue window = model.config.at({"sliding_window"}, why);
  const ConfigValue first = model.config.at({"max_window_layers"}, why);
  const Count num_full = std::min(first.count(Range::non_negative), model.num_decoder_layers);
  return {.num_layers = model.num_decoder_layers - num_full,
          .window = window,
          .path = first.path(),
          .is_first = num_full == 0};
}

/// Which layers have a window does not follow from other keys than layer_types.
Windows listed_windows(const HfModel& model) {
  if (const auto is_used = model.config.find({"use_sliding_window"}); is_used && is_used->flag())
    is_used->fail("without layer_types only false is understood");
  return {};
}

/// EXAONE writes the layers up to one that sees all tokens: "LLLG" for 4.
bool has_letters(const ConfigValue& every) { return every.text().starts_with('L'); }

Count full_step(const ConfigValue& every) {
  if (!has_letters(every)) return every.count();
  const std::string text = every.text();
  if (text.find_first_not_of('L') + 1 != text.size() || !text.ends_with('G'))
    every.fail("must be local layers (L) and then one global layer (G)");
  return static_cast<Count>(text.size());
}

/// Gemma and Llama 4: each n-th layer sees all tokens, and those between see a window.
Windows windows_between(const HfModel& model) {
  // Llama 4: 0 for a layer that sees all tokens.
  const auto listed = model.config.find({"no_rope_layers"});
  const auto every = model.config.find(kFullEvery);
  const Count step = every ? full_step(*every) : model.type.full_every;
  std::vector<bool> sees_window;
  for (Count i = 0; i < model.num_decoder_layers; ++i) sees_window.push_back((i + 1) % step != 0);
  // In transformers the last layer of such a model sees all tokens.
  if (model.type.is_gemma4 || (every && has_letters(*every))) sees_window.back() = false;
  std::string path =
      every ? every->path()
            : fmt::format("1 of {} layers full as in transformers' {}", step, model.type.name);
  if (listed && !listed->counts(Range::non_negative).empty()) {
    sees_window.clear();
    for (const Count is_narrow : listed->counts(Range::non_negative))
      sees_window.push_back(is_narrow != 0);
    require_one_per_layer(*listed, sees_window.size(), model.num_decoder_layers);
    path = listed->path();
  }
  return windows_of(model, sees_window, path, "of the layers that do not see all tokens");
}

Windows read_windows(const HfModel& model) {
  const WindowRule rule = model.type.window;
  if (rule == WindowRule::between) {
    const auto order = model.config.find({"order_of_interleaved_layers"});  // Cohere
    if (order && order->word() != "local_attn_first")
      order->fail("only local_attn_first is understood");
  }
  // SmolLM3 has layers without positions: their shapes are those of the others.
  if (rule == WindowRule::listed)
    model.config.ignore(
        {"sliding_window", "max_window_layers", "no_rope_layers", "no_rope_layer_interval"});
  if (const auto types = model.config.find({"layer_types"})) {
    if (rule != WindowRule::none) model.config.ignore({"sliding_window"});
    if (rule == WindowRule::upper_layers || rule == WindowRule::upper_always ||
        rule == WindowRule::listed)
      model.config.ignore({"use_sliding_window", "max_window_layers"});
    if (rule == WindowRule::between || rule == WindowRule::chunks) {
      model.config.ignore(kFullEvery);
      model.config.ignore({"no_rope_layers"});
      model.config.ignore(kWindow);
    }
    return windows_by_type(model, *types);
  }
  switch (rule) {
    case WindowRule::none:
      return {};
    case WindowRule::by_layer_type:
      model.config.at({"layer_types"}, "which layers see a window only");
      return {};
    case WindowRule::upper_layers:
    case WindowRule::upper_always:
      return upper_windows(model);
    case WindowRule::listed:
      return listed_windows(model);
    case WindowRule::between:
    case WindowRule::chunks:
      return windows_between(model);
    case WindowRule::all_layers:
      break;
  }
  // Phi-4-mini: each n-th layer sees all tokens.
  const auto every = model.config.find({"full_attn_mod"});
  if (every && every->count() != 1) every->fail("only 1 is understood");
  const auto window = model.config.find({"sliding_window"});
  if (!window) return {};
  return {.num_layers = model.num_decoder_layers, .window = window, .path = "", .is_first = true};
}

}  // namespace

Windows import_windows(const HfModel& model) {
  Windows windows = read_windows(model);
  if (model.type.window == WindowRule::chunks && windows.window)
    model.remarks.push_back(
        fmt::format("{} {}: a token sees its own chunk only, half of it on average; counted as the "
                    "last {} tokens.",
                    windows.window->path(), windows.window->count(), windows.window->count()));
  return windows;
}

}  // namespace depthcost
