// Depth, width and vocabulary; the parts have files of their own.
#include "scenarios/import/import.hpp"

#include <fmt/format.h>

#include "scenarios/import/architecture.hpp"
#include "scenarios/import/hf_parts.hpp"
#include "scenarios/text/input_text.hpp"
#include "scenarios/text/json_document.hpp"

namespace depthcost {
namespace {

// Checked before any list of that length is made.
constexpr Count kMaxDecoderLayers = kMaxLayers / 2;

ImportedKey entry(const HfConfig& config, const std::string& key, const ConfigValue& value) {
  return {{key, fmt::format("{}", value.count()), value.position()}, config.cite({value.path()})};
}

ConfigValue bounded(ConfigValue value, Count most) {
  if (value.count() > most) value.fail(fmt::format("more than {}", most));
  return value;
}

/// The name that transformers loaded the model by, else the type of the whole model, else the name
/// of the file.
std::string name_of(HfConfig& config) {
  const auto path = config.find({"_name_or_path"});
  const std::string name = path ? file_label(path->text()) : "";
  if (!name.empty()) return name;
  const auto type = config.find_at_top({"model_type"});
  return type ? printable(type->text()) : config.label();
}

/// The size of the vocabulary and, if it is tied, the output head.
std::vector<ImportedKey> vocabulary(HfConfig& config) {
  std::vector<ImportedKey> keys{
      entry(config, "vocabulary_size",
            config.at({"vocab_size"}, "rows of the embedding and the output"))};
  const auto tied = config.find({"tie_word_embeddings"});
  if (tied && tied->flag())
    keys.push_back({{"output_head", "tied", tied->position()},
                    fmt::format("{} true", config.cite({tied->path()}))});
  return keys;
}

/// The keys that speak of layers for multi-token prediction, or of another drafter. import_draft()
/// reads them for some model types; for others they are not counted.
const Aliases kMultiTokenPrediction{"num_nextn_predict_layers",
                                    "mtp_num_layers",
                                    "mtp_num_hidden_layers",
                                    "mtp_transformer_layers",
                                    "mtp_use_dedicated_embeddings",
                                    "num_mtp_modules",
                                    "use_mtp",
                                    "dspark_block_size",
                                    "dspark_target_layer_ids",
                                    "dspark_markov_rank",
                                    "dspark_n_routed_experts",
                                    "dspark_num_experts_per_tok"};

bool is_read_as_another(HfConfig& config, std::string_view family) {
  const auto written = config.find({"model_type"});
  return !family.empty() && (!written || written->text() != family);
}

/// The defaults of the type that the config names count before those of the one it is read as.
void add_class_defaults(HfConfig& config, const HfModelType& type, std::string_view family) {
  if (is_read_as_another(config, family))
    if (const auto written = config.find({"model_type"}))
      if (const auto defaults = defaults_of(written->text()))
        config.add_defaults(written->text(), *defaults);
  config.add_defaults(type.name, type.defaults);
}

/// That another model type was asked for than the config names.
void remark_on_family(HfConfig& config, std::string_view family,
                      std::vector<std::string>& remarks) {
  const auto written = config.find({"model_type"});
  if (!written) {
    remarks.push_back(
        fmt::format("Read as {}, as was asked for; the config names no model_type.", family));
    return;
  }
  const std::string type = printable(written->text());
  remarks.push_back(fmt::format("Read as {}, as was asked for; the config says {} '{}'.", family,
                                written->path(), type));
  if (defaults_of(written->text()) || config.find({"tie_word_embeddings"})) return;
  remarks.push_back(
      fmt::format("The config leaves out tie_word_embeddings, and what '{}' has as its default is "
                  "not known: the output projection is counted as one of its own.",
                  type));
}

/// What the model file cannot say, and that another model type was asked for.
std::vector<std::string> remarks_of(HfConfig& config, const HfModelType& type,
                                    std::string_view family) {
  std::vector<std::string> remarks;
  if (is_read_as_another(config, family)) remark_on_family(config, family, remarks);
  if (!type.remark.empty()) remarks.emplace_back(type.remark);
  return remarks;
}

/// Refuses models that have another decoder or an encoder beside the decoder.
void refuse_second_stack(HfConfig& config) {
  for (const std::string_view key : {"is_encoder_decoder", "add_cross_attention"})
    if (const auto value = config.find({key}); value && value->flag())
      value->fail("only decoders are understood");
}

}  // namespace

bool is_config_path(std::string_view path) { return path.ends_with(".json"); }

ImportedModel import_config(std::string_view text, const std::string& file,
                            std::string_view family) {
  const Node document = parse_json(text, file);
  HfConfig config(document, printable(file_label(file)));
  const HfModelType type = model_type_of(config, family);
  add_class_defaults(config, type, family);
  refuse_second_stack(config);
  const ConfigValue layers =
      bounded(config.at({"num_hidden_layers", "n_layer", "n_layers", "num_layers"},
                        "the number of decoder layers"),
              kMaxDecoderLayers);
  const ConfigValue width =
      bounded(config.at({"hidden_size", "n_embd", "n_embed", "dim", "d_model"},
                        "elements of one token's residual vector"),
              kMaxWidth);
  config.ignore(kMultiTokenPrediction);
  if (type.has_mtp_map) config.ignore({"mtp"});
  std::vector<std::string> remarks = remarks_of(config, type, family);
  std::vector<std::string> warnings;
  const HfModel model{config, type, layers.count(), width.count(), remarks, warnings};
  ImportedModel imported{
      .origin = config.label(),
      .name = name_of(config),
      .remarks = {},
      .warnings = {},
      .position = config.position(),
      .keys = {entry(config, "decoder_layers", layers), entry(config, "hidden_size", width)},
      .attention = import_attention(model),
      .mlp = import_mlp(model),
      .tables = import_tables(model),
      .draft = {},
      .residual = import_residual(model)};
  imported.draft = import_draft(model, imported.attention, imported.mlp);
  imported.keys.push_back(import_dtype(model));
  for (ImportedKey& key : vocabulary(config)) imported.keys.push_back(std::move(key));
  // Refuses what the reader of model files would refuse.
  std::vector<ResolvedValue> notes;
  const auto architecture = architecture_from(to_values(imported), 2 * layers.count(), notes);
  for (ImportedKey& key : import_weight_dtypes(model, architecture.value()))
    imported.keys.push_back(std::move(key));
  if (config.has_used_defaults())
    remarks.emplace_back(
        "What the config leaves out is as in its class in transformers, named "
        "\"transformers' ...\".");
  imported.remarks = std::move(remarks);
  imported.warnings = std::move(warnings);
  config.refuse_unknown_structure(type.name);
  return imported;
}

ImportedModel load_config(const std::string& path, std::string_view family) {
  return import_config(load_text(path), path, family);
}

}  // namespace depthcost
