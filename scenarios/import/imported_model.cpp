// The writer of model files. Values are read back from what is written, so that the two agree.
#include "scenarios/import/imported_model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace depthcost {
namespace {

/// A double-quoted YAML text. What could disturb a terminal is escaped already.
std::string quoted(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return '"' + escaped + '"';
}

std::string line(const std::string& indent, const ImportedKey& key) {
  return fmt::format("{}{}: {{value: {}, source: {}}}\n", indent, key.value.key, key.value.text,
                     quoted(key.source));
}

std::string list(const std::string& name, const std::vector<ImportedRecord>& records) {
  if (records.empty()) return "";
  std::string text = name + ":\n";
  for (const ImportedRecord& record : records) {
    text += "  - {";
    for (const ImportedValue& member : record.members)
      text += fmt::format("{}: {}, ", member.key, member.text);
    text += fmt::format("source: {}}}\n", quoted(record.source));
  }
  return text;
}

/// Moves what was read to where it was found.
void place(Values& values, const std::string& path, const Position& position,
           const std::string& source) {
  Value value = values.at(path);
  value.position = position;
  value.origin = source;
  values.set(path, std::move(value));
}

void place(Values& values, const std::string& name, const std::vector<ImportedRecord>& records) {
  for (std::size_t i = 0; i < records.size(); ++i)
    for (const ImportedValue& member : records[i].members)
      place(values, fmt::format("{}[{}].{}", name, i, member.key), member.position,
            records[i].source);
}

}  // namespace

std::string to_yaml(const ImportedModel& model) {
  std::string text =
      fmt::format("# Imported from {}; keys of that file are named as sources.\n", model.origin);
  for (const std::string& remark : model.remarks) text += fmt::format("# {}\n", remark);
  text += fmt::format("schema: {}\nname: {}\n", model_keys().schema, quoted(model.name));
  for (const ImportedKey& key : model.keys) text += line("", key);
  text += list("attention", model.attention);
  text += list("mlp", model.mlp);
  text += list("tables", model.tables);
  text += list("draft", model.draft);
  text += "residual:\n";
  for (const ImportedKey& key : model.residual) text += line("  ", key);
  return text;
}

Values to_values(const ImportedModel& model) {
  const Node document = parse_document(to_yaml(model), model.position.file);
  const FileReading reading{model_keys(), Provenance::scenario, model.origin};
  Values values = read_values(as_map(document, "model"), model.position, reading);
  for (const ImportedKey& key : model.keys)
    place(values, key.value.key, key.value.position, key.source);
  place(values, "attention", model.attention);
  place(values, "mlp", model.mlp);
  place(values, "tables", model.tables);
  place(values, "draft", model.draft);
  for (const ImportedKey& key : model.residual)
    place(values, "residual." + key.value.key, key.value.position, key.source);
  if (!model.warnings.empty()) {
    Value dtype = values.at("weight_dtype");
    dtype.warning = fmt::format("{}", fmt::join(model.warnings, " "));
    values.set("weight_dtype", std::move(dtype));
  }
  // Whoever reads the config in place of a model file sees no comments of that file.
  if (!model.remarks.empty()) {
    Value scheme = values.at("residual.scheme");
    scheme.origin += fmt::format("; {}", fmt::join(model.remarks, " "));
    values.set("residual.scheme", std::move(scheme));
  }
  return values;
}

}  // namespace depthcost
