// Makes the tree of a scenario file from options. The position of a value is its option.
#include "scenarios/read/scenario_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>
#include <sstream>
#include <vector>

#include "model/schemes/list.hpp"
#include "scenarios/keys/limits.hpp"
#include "scenarios/presets/reference.hpp"
#include "scenarios/read/settings.hpp"
#include "scenarios/read/unasked_batches.hpp"
#include "scenarios/read/usual_workload.hpp"

namespace depthcost {
namespace {

/// In place of a batch or of tokens: that workload is not asked about.
constexpr std::string_view kNoWorkload = "none";

Node scalar(const std::string& option, const std::string& text) {
  return {{option, 1, 1}, ScalarNode{text, false}};
}

/// "1,64,512" as a list.
Node list(const std::string& option, const std::string& text) {
  List items;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    items.items.push_back(scalar(option, text.substr(start, end - start)));
    start = end + 1;
  }
  return {{option, 1, 1}, std::move(items)};
}

/// Builds one section.
class Section {
 public:
  explicit Section(std::string option) : position_{std::move(option), 1, 1} {}

  Section& add(const std::string& key, Node value) {
    map_.members.push_back({key, value.position, std::move(value)});
    return *this;
  }

  /// Adds the value of an option, if it is given.
  Section& add(const std::string& key, const std::string& option, const std::string& text) {
    return text.empty() ? *this : add(key, scalar(option, text));
  }

  /// Adds a value that no option gives, with its reason.
  Section& assume(const std::string& key, Node value, const std::string& source) {
    const Position position = value.position;
    Section cited(position.file);
    cited.add("value", std::move(value)).add("source", scalar(position.file, source));
    return add(key, std::move(cited).node());
  }

  bool is_empty() const { return map_.members.empty(); }
  Node node() && { return {position_, std::move(map_)}; }

 private:
  Position position_;
  Map map_;
};

/// The scheme of the option, or else of the model.
std::string scheme_of(const ScenarioOptions& options) {
  if (!options.scheme.empty()) return options.scheme;
  const Values model = resolve_argument(options.model, model_reference(), "--model");
  return model.has("residual.scheme") ? model.text("residual.scheme") : "standard";
}

/// The schemes that the scheme is compared with, if no option names them.
std::string default_compare(const ScenarioOptions& options) {
  const std::string scheme = scheme_of(options);
  std::vector<std::string> others{"standard", "mhc"};
  if (scheme.ends_with("attnres")) others.emplace_back("full_attnres");
  std::erase(others, scheme);
  return fmt::format("{}", fmt::join(others, ","));
}

Node residual(const ScenarioOptions& options) {
  const std::string scheme = scheme_of(options);
  if (!options.block_size.empty() && !may_have_blocks(scheme) && !may_have_blocks(options.compare))
    throw InputError({"--block-size", 1, 1},
                     fmt::format("unused option (scheme {} has no blocks; try --residual "
                                 "block_attnres)",
                                 scheme));
  Section section("--residual");
  section.add("scheme", "--residual", options.scheme);
  section.add("block_size", "--block-size", options.block_size);
  if (options.compare.empty())
    section.assume("compare", list("--compare", default_compare(options)),
                   "default: what else is shipped");
  else
    section.add("compare", list("--compare", options.compare));
  return std::move(section).node();
}

Node decode(const ScenarioOptions& options) {
  Section section("--decode");
  if (options.decode.empty())
    section.assume("sequences", list("--decode", kUsualBatches), kUsualBatchesSource);
  else
    section.add("sequences", list("--decode", options.decode));
  if (!options.context.empty()) section.add("context", "--context", options.context);
  return std::move(section).node();
}

Node prefill(const ScenarioOptions& options) {
  Section section("--prefill");
  const std::string tokens = options.prefill.empty() ? kUsualPrompt : options.prefill;
  if (options.prefill.empty())
    section.assume("tokens", scalar("--prefill", tokens), kUsualPromptSource);
  else
    section.add("tokens", "--prefill", tokens);
  const Count num_tokens =
      parse_count({tokens, false}, {"--prefill", 1, 1}, "workload.prefill.tokens");
  section.assume("chunk", scalar("--prefill", fmt::format("{}", std::min(num_tokens, kUsualChunk))),
                 kUsualPromptSource);
  return std::move(section).node();
}

/// The stages that an option or else a setting says; 1 where neither does. The reader refuses what
/// is no number of them.
Count stages_of(const ScenarioOptions& options) {
  std::string text = options.pipeline;
  for (const std::string& setting : options.settings)
    if (setting.starts_with("parallelism.pipeline=")) text = setting.substr(setting.find('=') + 1);
  Count stages = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), stages);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  return is_whole && stages <= kMostDevices ? stages : 1;
}

Node training(const ScenarioOptions& options) {
  Section section("--training");
  section.add("sequence_length", "--training", options.training);
  const Count stages = stages_of(options);
  if (stages > 1)
    section.assume("micro_batches",
                   scalar("--training", fmt::format("{}", kMicroBatchesOfAStage * stages)),
                   kMicroBatchesSource);
  return std::move(section).node();
}

/// Whether a step of inference is asked about, of which an option says `text`.
bool asks_for(const std::string& text, const ScenarioOptions& options) {
  return text.empty() ? options.training.empty() : text != kNoWorkload;
}

/// "decode_overhead=2%" becomes `decode_overhead: 2%`.
Node budgets(const std::vector<std::string>& texts) {
  Section section("--budget");
  std::set<std::string> names;
  for (const std::string& text : texts) {
    const std::size_t sign = text.find('=');
    if (sign == std::string::npos || sign == 0)
      throw InputError({"--budget", 1, 1},
                       fmt::format("invalid budget '{}' (must be NAME=LIMIT, as "
                                   "decode_overhead=2%)",
                                   printable(text)));
    const std::string name = text.substr(0, sign);
    if (!names.insert(name).second)
      throw InputError({"--budget", 1, 1},
                       fmt::format("duplicate budget '{}' (already there)", printable(name)));
    section.add(name, scalar("--budget", text.substr(sign + 1)));
  }
  return std::move(section).node();
}

std::string stem(const std::string& path) { return std::filesystem::path(path).stem().string(); }

/// What the options and settings say of ranks that multiply, the last one of each key; nothing
/// where a setting has a map.
std::optional<std::vector<std::string>> said_ranks(const ScenarioOptions& options) {
  std::vector<std::string> said;
  for (auto [key, text] : {std::pair("parallelism.tensor", options.tensor),
                           std::pair("parallelism.data", options.data),
                           std::pair("parallelism.pipeline", options.pipeline),
                           std::pair("parallelism.context", std::string())}) {
    for (const std::string& setting : options.settings) {
      const std::string name = setting.substr(0, setting.find('='));
      if (name == "parallelism" || name.starts_with(fmt::format("{}.", key))) return {};
      if (name == key) text = setting.substr(std::min(name.size() + 1, setting.size()));
    }
    if (!text.empty()) said.push_back(text);
  }
  return said;
}

/// Devices that the options place the model on; nothing where they do not say.
std::optional<Count> counted_devices(const ScenarioOptions& options) {
  const auto said = said_ranks(options);
  if (!said) return {};
  Count devices = 1;
  for (const std::string& text : *said) {
    Count ranks = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ranks);
    const bool is_whole = error == std::errc() && end == text.data() + text.size();
    // The reader refuses what is no number of devices.
    if (!is_whole || ranks < 1 || ranks > kMostDevices / devices) return {};
    devices *= ranks;
  }
  return said->empty() ? std::nullopt : std::optional(devices);
}

std::string title(const ScenarioOptions& options) {
  std::string text = file_label(options.model);
  if (options.hardware.empty()) return text;
  const std::optional<Count> devices = counted_devices(options);
  return fmt::format("{} on {}{}", text, devices ? fmt::format("{} x ", *devices) : "",
                     stem(options.hardware));
}

/// An option, and the keys of a scenario that say the same.
struct SaidBy {
  const std::string& value;
  std::string key;
  std::string_view option;
};

std::vector<SaidBy> said_by(const ScenarioOptions& options) {
  return {{options.model, "model.base", "--model"},
          {options.hardware, "hardware.base", "--hardware"},
          {options.block_size, "residual.num_blocks", "--block-size"},
          {options.tensor, "parallelism.tensor", "--tensor"},
          {options.data, "parallelism.data", "--data"},
          {options.expert, "parallelism.expert", "--expert"},
          {options.pipeline, "parallelism.pipeline", "--pipeline"},
          {options.scheme, "residual.scheme", "--residual"},
          {options.block_size, "residual.block_size", "--block-size"},
          {options.compare, "residual.compare", "--compare"},
          {options.decode, "workload.decode.sequences", "--decode"},
          {options.context, "workload.decode.context", "--context"},
          {options.prefill, "workload.prefill.tokens", "--prefill"},
          {options.training, "workload.training.sequence_length", "--training"}};
}

}  // namespace

bool may_have_blocks(const std::string& schemes) {
  std::istringstream names(schemes);
  for (std::string name; std::getline(names, name, ',');) {
    const SchemeRule* rule = find_scheme(name);
    if (rule == nullptr || has_block_size(Scheme{*rule})) return true;
  }
  return false;
}

void refuse_conflicting_settings(const ScenarioOptions& options) {
  std::vector<SaidBy> said = said_by(options);
  for (const std::string& budget : options.budgets)
    said.push_back({budget, "budgets." + budget.substr(0, budget.find('=')), "--budget"});
  for (const std::string& setting : options.settings) {
    const std::string key = setting.substr(0, setting.find('='));
    for (const SaidBy& it : said)
      if (!it.value.empty() && (it.key == key || it.key.starts_with(key + ".")))
        throw InputError({"--set", 1, 1}, fmt::format("conflicting setting '{}' ({} says it, too)",
                                                      printable(setting), it.option));
  }
}

Node document_from_options(const ScenarioOptions& options) {
  Section parallelism("--tensor");
  parallelism.add("tensor", "--tensor", options.tensor);
  parallelism.add("data", "--data", options.data);
  parallelism.add("expert", "--expert", options.expert);
  parallelism.add("pipeline", "--pipeline", options.pipeline);
  if (options.decode == kNoWorkload && options.prefill == kNoWorkload && options.training.empty())
    throw InputError({"--prefill", 1, 1},
                     "conflicting option 'none' (--decode none leaves nothing else to predict)");
  if (!options.context.empty() && !asks_for(options.decode, options))
    throw InputError({"--context", 1, 1}, "unused option (it goes with --decode)");
  Section workload("--decode");
  if (asks_for(options.decode, options)) workload.add("decode", decode(options));
  if (asks_for(options.prefill, options)) workload.add("prefill", prefill(options));
  if (!options.training.empty()) workload.add("training", training(options));
  Section scenario("--model");
  scenario.add("schema", scalar("--model", std::string(scenario_keys().schema)))
      .add("name", scalar("--model", printable(title(options))))
      .add("model", scalar("--model", options.model))
      .add("hardware", "--hardware", options.hardware)
      .add("residual", residual(options));
  if (!parallelism.is_empty()) scenario.add("parallelism", std::move(parallelism).node());
  scenario.add("workload", std::move(workload).node());
  if (!options.budgets.empty()) scenario.add("budgets", budgets(options.budgets));
  return std::move(scenario).node();
}

/// "llama_3_1_70b_8xh100_sxm_mhc": two schemes or placements have two reports.
std::string stem_of(const ScenarioOptions& options) {
  std::string text = stem(options.model);
  const std::optional<Count> devices = counted_devices(options);
  if (!options.hardware.empty())
    text +=
        fmt::format("_{}{}", devices ? fmt::format("{}x", *devices) : "", stem(options.hardware));
  return options.scheme.empty() ? text : fmt::format("{}_{}", text, options.scheme);
}

UnreadScenario asked_document(const std::string& path, const ScenarioOptions& options) {
  refuse_conflicting_settings(options);
  return composed_document(path, options);
}

UnreadScenario composed_document(const std::string& path, const ScenarioOptions& options) {
  UnreadScenario asked = options.document        ? *options.document
                         : options.model.empty() ? unread_scenario(path)
                                                 : UnreadScenario{document_from_options(options),
                                                                  "", Provenance::options};
  apply_settings(options.settings, asked.document);
  return asked;
}

Scenario asked_scenario(const std::string& path, const ScenarioOptions& options,
                        const Constants& constants) {
  const UnreadScenario asked = asked_document(path, options);
  Scenario scenario = scenario_of(asked.document, asked.file, asked.provenance, constants);
  leave_out_unasked_batches(scenario);
  return scenario;
}

std::string stem_of(const std::string& path, const ScenarioOptions& options) {
  return options.model.empty() ? std::filesystem::path(path).stem().string() : stem_of(options);
}

}  // namespace depthcost
