// Presets that the page names, and the importer.
#include "web/engine/choices.hpp"

#include "model/schemes/list.hpp"
#include "reports/formats/json_writer.hpp"
#include "scenarios/import/import.hpp"
#include "scenarios/presets/presets.hpp"
#include "scenarios/presets/reference.hpp"

namespace depthcost::page {
namespace {

void write_model(JsonWriter& json, const Values& model) {
  json.member("name", model.text("name"));
  json.member("num_layers", model.has("decoder_layers") ? 2 * model.count("decoder_layers")
                                                        : model.count("num_layers"));
  json.member("scheme", model.has("residual.scheme") ? model.text("residual.scheme") : "standard");
  json.member("is_whole", model.has_records("attention") && model.has_records("mlp"));
}

void write_models(JsonWriter& json) {
  json.objects("models", preset_ids("models"), [&](const std::string& id) {
    json.member("id", id);
    write_model(json, preset_values(id, model_reference()));
  });
}

void write_gpus(JsonWriter& json) {
  json.array("gpus", [&] {
    for (const std::string& id : preset_ids("hardware")) {
      const Values& part = preset_values(id, hardware_reference());
      if (part.text("kind") != "gpu") continue;
      json.object([&] {
        json.member("id", id);
        json.member("name", part.text("name"));
      });
    }
  });
}

void write_schemes(JsonWriter& json) {
  json.objects("schemes", scheme_rules(), [&](const SchemeRule* rule) {
    json.member("id", rule->id);
    json.member("label", rule->label);
    json.member("has_blocks", rule == &schemes::kBlockAttnRes);
    json.array("schedules", [&] {
      for (const Schedule schedule : rule->schedules) json.value(name(schedule));
    });
    json.array("keys", [&] {
      for (const SchemeKey& key : rule->keys) json.value(key.name);
    });
  });
}

}  // namespace

std::string choices_json() {
  JsonWriter json;
  json.object([&] {
    write_models(json);
    write_gpus(json);
    write_schemes(json);
  });
  return std::move(json).text();
}

std::string imported_json(std::string_view config, const std::string& file) {
  const ImportedModel imported = import_config(config, file);
  JsonWriter json;
  json.object([&] {
    write_model(json, to_values(imported));
    json.member("yaml", to_yaml(imported));
  });
  return std::move(json).text();
}

}  // namespace depthcost::page
