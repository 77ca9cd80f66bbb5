// Follows references and bases.
#include "scenarios/presets/reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "scenarios/import/import.hpp"
#include "scenarios/presets/presets.hpp"
#include "scenarios/text/suggest.hpp"

namespace depthcost {
namespace {

// The longest chain of files by `base`.
constexpr std::size_t kMaxBases = 8;

bool is_path(std::string_view text) {
  return text.find('/') != std::string_view::npos || text.ends_with(".yaml") ||
         text.ends_with(".yml") || is_config_path(text);
}

/// Presets that have been parsed. Each is parsed once, by the first thread that asks for it.
class ParsedPresets {
 public:
  const Values* find(std::string_view folder, const std::string& id) {
    const std::lock_guard lock(mutex_);
    const auto found = values_.find({std::string(folder), id});
    return found == values_.end() ? nullptr : &found->second;
  }

  const Values& keep(std::string_view folder, const std::string& id, Values values) {
    const std::lock_guard lock(mutex_);
    return values_.emplace(std::pair{std::string(folder), id}, std::move(values)).first->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, Values> values_;  // none is ever erased
};

ParsedPresets& parsed_presets() {
  static ParsedPresets parsed;
  return parsed;
}

/// Blank lines in place of every list and section but `list`, so that places in the file stay. A
/// text with a base is left whole: what it drops of the base depends on all that it has.
std::string excerpt(std::string_view text, std::string_view list) {
  if (text.find("\nbase: ") != std::string_view::npos) return std::string(text);
  std::string kept;
  bool is_kept = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    const bool is_inside = line.starts_with(' ') || line.starts_with('#') || line == "\n";
    if (!is_inside) is_kept = !line.ends_with(":\n") || line.substr(0, line.size() - 2) == list;
    kept += is_kept ? line : "\n";
    text.remove_prefix(end);
  }
  return kept;
}

/// Follows `base` from file to file; `chain_` has the files so far.
class Resolver {
 public:
  explicit Resolver(const ReferenceKind& kind) : kind_(kind) {}

  Values from_node(const Node& node, const std::string& file) {
    const auto* map = std::get_if<Map>(&node.content);
    if (map == nullptr) return from_name(as_text(node, kind_.table.what), node.position, file);
    if (map->find("schema") != nullptr) require_schema(*map, node.position, kind_.table);
    return complete(
        read_values(*map, node.position, {kind_.table, Provenance::scenario, file_label(file)}),
        file);
  }

  Values from_name(const std::string& name, const Position& position, const std::string& file) {
    return is_path(name) ? from_file(name, position, file) : from_preset(name, position);
  }

  const Values& from_preset(const std::string& id, const Position& position) {
    const Preset* preset = find_preset(kind_.folder, id);
    if (preset == nullptr) {
      const auto ids = preset_ids(kind_.folder);
      const std::string hint = did_you_mean(id, ids);
      throw InputError(
          position,
          fmt::format(
              "unknown {} '{}'{}", kind_.table.what, printable(id),
              hint.empty()
                  ? " (neither a preset nor a path; 'depthcost presets list' shows the presets)"
                  : hint));
    }
    enter(id, position);
    if (const Values* known = parsed_presets().find(kind_.folder, id)) return *known;
    return parsed_presets().keep(kind_.folder, id, from_text(preset->text, id));
  }

  const Values& from_excerpt(const std::string& id, std::string_view list) {
    const std::string key = fmt::format("{}, {}", id, list);
    if (const Values* known = parsed_presets().find(kind_.folder, key)) return *known;
    return parsed_presets().keep(kind_.folder, key,
                                 from_text(excerpt(find_preset(kind_.folder, id)->text, list), id));
  }

 private:
  Values from_text(std::string_view text, const std::string& id) {
    const std::string file = fmt::format("{}/{}.yaml", kind_.folder, id);
    return from_document(parse_document(text, file), file, {kind_.table, Provenance::preset, id});
  }

  Values from_file(const std::string& name, const Position& position, const std::string& file) {
    const auto folder = std::filesystem::path(file).parent_path();
    const std::string path = (folder / name).lexically_normal().string();
    enter(path, position);
    try {
      if (&kind_.table == &model_keys() && is_config_path(path))
        return to_values(load_config(path));
      return from_document(load_document(path), path,
                           {kind_.table, Provenance::scenario, file_label(path)});
    } catch (const InputError& error) {
      // A file that cannot be read is reported where it was named.
      std::error_code ignored;
      if (std::filesystem::is_regular_file(path, ignored)) throw;
      throw InputError(position, fmt::format("invalid {} '{}': {}", kind_.table.what,
                                             printable(name), error.message()));
    }
  }

  Values from_document(const Node& document, const std::string& file, const FileReading& reading) {
    const Map& map = root_map(document, kind_.table.what);
    require_schema(map, document.position, kind_.table);
    return complete(read_values(map, document.position, reading), file);
  }

  Values complete(Values values, const std::string& file) {
    if (values.has("base")) {
      const Value base = values.at("base");
      values.erase("base");
      Values inherited = from_name(base.texts.front(), base.position, file);
      drop_what_rests_on(inherited, values);
      values.fill_from(inherited, kind_.table);
    }
    require_keys(values, kind_.table);
    return values;
  }

  /// Nothing where a model's layers are an odd number, or where nobody says how many there are.
  static std::optional<double> decoder_layers(const Values& model) {
    if (model.has("decoder_layers")) return model.number("decoder_layers");
    if (!model.has("num_layers")) return std::nullopt;
    const double half = model.number("num_layers") / 2;
    return half == std::floor(half) ? std::optional(half) : std::nullopt;
  }

  static bool has_equal_layers(const Values& model) {
    return model.num_records("attention") == 1 && model.num_records("mlp") == 1 &&
           !model.has_records("tables");
  }

  /// The lists of a base hold for as many layers as it has. Equal layers may be more or fewer; of
  /// others nobody knows which remain.
  static void fit_lists(Values& inherited, const Values& written) {
    const auto layers = decoder_layers(written);
    if (layers && layers == decoder_layers(inherited)) return;
    if (layers && has_equal_layers(inherited)) {
      Value count =
          written.has("decoder_layers") ? written.at("decoder_layers") : written.at("num_layers");
      count.texts = {fmt::format("{}", static_cast<Count>(*layers))};
      count.numbers = {*layers};
      for (const char* list : {"attention", "mlp"})
        inherited.set(fmt::format("{}[0].decoder_layers", list), count);
      return;
    }
    for (const char* list : {"attention", "mlp", "draft", "tables"}) inherited.erase_records(list);
    for (const char* key :
         {"vocabulary_size", "output_head", "weight_dtype", "expert_dtype", "kv_dtype"})
      inherited.erase(key);
  }

  /// Rates and times that were measured at another datasheet bandwidth do not hold at the new one;
  /// without them the fallback scales what parts reach.
  static void drop_what_rests_on(Values& inherited, const Values& written) {
    const bool has_layers = written.has("decoder_layers") || written.has("num_layers");
    const bool has_lists = written.has_records("attention") || written.has_records("mlp");
    if (has_layers && !has_lists) fit_lists(inherited, written);
    const auto is_other = [&](const char* key) {
      return written.has(key) &&
             (!inherited.has(key) || written.number(key) != inherited.number(key));
    };
    if (is_other("link_bandwidth")) inherited.erase_records("transfers", "scope", "node");
    if (is_other("network_bandwidth")) inherited.erase_records("transfers", "scope", "network");
    if (is_other("memory_bandwidth")) inherited.erase_records("sustained_bandwidth");
    if (is_other("cache_capacity")) inherited.erase_records("cache_transition");
  }

  void enter(const std::string& name, const Position& position) {
    const auto seen = std::find(chain_.begin(), chain_.end(), name);
    const bool is_cyclic = seen != chain_.end();
    if (is_cyclic) throw InputError(position, cycle(seen, name));
    if (chain_.size() > kMaxBases)
      throw InputError(position,
                       fmt::format("invalid base '{}' (more than {} files on one another)",
                                   printable(file_label(name)), kMaxBases + 1));
    chain_.push_back(name);
  }

  /// "cyclic base 'a.yaml' (a.yaml -> b.yaml -> a.yaml)".
  std::string cycle(std::vector<std::string>::const_iterator first, const std::string& name) const {
    std::string files;
    for (auto file = first; file != chain_.end(); ++file) files += file_label(*file) + " -> ";
    return fmt::format("cyclic base '{0}' ({1}{0})", printable(file_label(name)),
                       printable(files, 200));
  }

  const ReferenceKind& kind_;
  std::vector<std::string> chain_;
};

}  // namespace

ReferenceKind model_reference() { return {model_keys(), "models"}; }
ReferenceKind hardware_reference() { return {hardware_keys(), "hardware"}; }
ReferenceKind published_reference() { return {published_keys(), "published"}; }
ReferenceKind profile_reference() { return {profile_keys(), "profiles"}; }
ReferenceKind tolerances_reference() { return {tolerance_keys(), "tolerances"}; }

ReferenceKind reference_of_folder(std::string_view folder) {
  for (const ReferenceKind& kind :
       {model_reference(), hardware_reference(), published_reference(), profile_reference()})
    if (kind.folder == folder) return kind;
  return tolerances_reference();
}

Values resolve_reference(const Node& node, const ReferenceKind& kind, const std::string& file) {
  return Resolver(kind).from_node(node, file);
}

Values resolve_argument(const std::string& name, const ReferenceKind& kind,
                        const std::string& option) {
  return Resolver(kind).from_name(name, {option, 1, 1}, "");
}

void take_as_base(Node& reference) {
  const auto* named = std::get_if<ScalarNode>(&reference.content);
  if (named == nullptr || named->is_null()) return;
  const Node base = reference;
  reference.content = Map{{{"base", base.position, base}}};
}

const Values& preset_values(std::string_view id, const ReferenceKind& kind) {
  return Resolver(kind).from_preset(std::string(id), {});
}

const Values& preset_excerpt(std::string_view id, const ReferenceKind& kind,
                             std::string_view list) {
  return Resolver(kind).from_excerpt(std::string(id), list);
}

}  // namespace depthcost
