// Makes a study from checked values: adds defaults, follows references, and checks keys against
// each other.
#include "scenarios/read/scenario.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <filesystem>
#include <optional>
#include <set>

#include "model/base/decimal.hpp"
#include "model/base/infeasible.hpp"
#include "model/ledger/path_operations.hpp"
#include "model/machine/few_tokens.hpp"
#include "model/schemes/list.hpp"
#include "model/step/collectives.hpp"
#include "scenarios/device/device.hpp"
#include "scenarios/import/architecture.hpp"
#include "scenarios/keys/limits.hpp"
#include "scenarios/presets/presets.hpp"
#include "scenarios/presets/reference.hpp"
#include "scenarios/read/residual_schemes.hpp"
#include "scenarios/read/resolved_values.hpp"
#include "scenarios/read/usual_workload.hpp"
#include "scenarios/read/workloads.hpp"

namespace depthcost {
namespace {

// The most devices of one kind of parallelism, so that the product of three does not overflow, and
// of all kinds.
constexpr Count kMaxRanks = Count{1} << 20;

// Layers whose queries Full AttnRes puts together. [attnres] Table 1
constexpr Count kUsualGroup = 16;

/// Values of the scenario, its model and its hardware, and what was assumed on the way.
class ScenarioReader {
 public:
  ScenarioReader(const Node& document, const std::string& file, Provenance provenance,
                 const Constants& constants)
      : file_(file), constants_(constants), values_(checked(document, provenance)) {
    const Map& map = root_map(document, "scenario");
    model_ =
        resolve_reference(*required(map, "model", document.position), model_reference(), file_);
    if (const Node* hardware = map.find("hardware"))
      hardware_.emplace(resolve_device(*hardware, file_));
  }

  Scenario read() {
    read_defaults();
    read_model();
    read_residual();
    read_parallelism();
    read_workloads(values_, scenario_.study);
    warn_of_bound(values_, scenario_.study);
    check_attached_collectives();
    check_work(values_, scenario_.study, model_.position());
    read_budgets();
    std::vector<ResolvedValue> fallbacks;
    if (hardware_) read_machine(fallbacks);
    check_baselines(values_, scenario_.study);
    scenario_.values = resolved_values({.study = scenario_.study,
                                        .scenario = values_,
                                        .model = model_,
                                        .device = hardware_,
                                        .model_defaults = model_defaults_,
                                        .fallbacks = fallbacks});
    if (hardware_ && is_profile(*hardware_)) scenario_.profile = std::move(hardware_->values);
    return std::move(scenario_);
  }

 private:
  Values checked(const Node& document, Provenance provenance) {
    const Map& map = root_map(document, "scenario");
    require_schema(map, document.position, scenario_keys());
    return read_values(map, document.position, {scenario_keys(), provenance, file_label(file_)});
  }

  static const Node* required(const Map& map, const std::string& key, const Position& position) {
    const Node* node = map.find(key);
    if (node == nullptr)
      throw InputError(position, fmt::format("missing key '{}' (scenario needs it)", key));
    return node;
  }

  /// Calls a function that may throw Infeasible, and reports the problem at its key.
  template <class Make>
  auto feasible(const Position& position, const Make& make) const {
    try {
      return make();
    } catch (const Infeasible& error) {
      throw InputError(position, error.what());
    }
  }

  /// A default counts only if its section is asked for.
  void read_defaults() {
    for (const Key& key : scenario_keys().keys) {
      const std::string path(key.path);
      if (key.fallback.empty() || values_.has(path) || !is_asked_for(path)) continue;
      Value value{.texts = {std::string(key.fallback)},
                  .position = values_.position(),
                  .origin = fmt::format("default: {}", key.fallback_source)};
      if (key.kind == KeyKind::count) value.numbers = {*decimal_value(key.fallback)};
      values_.set(path, std::move(value));
    }
  }

  bool is_asked_for(const std::string& path) const {
    const auto has_any = [&](const std::string& section) {
      const auto& all = values_.all();
      const auto first = all.lower_bound(section);
      return first != all.end() && first->first.starts_with(section);
    };
    if (path.starts_with("workload.decode.")) return has_any("workload.decode.");
    if (path.starts_with("workload.prefill.")) return has_any("workload.prefill.");
    const bool is_of_pipeline = path == "parallelism.virtual_stages" ||
                                path == "workload.training.cache" ||
                                path == "workload.training.sends";
    if (is_of_pipeline && !values_.has("parallelism.pipeline")) return false;
    if (path.starts_with("workload.training.")) return has_any("workload.training.");
    if (model_.has(path)) return false;
    if (path == "residual.remainder") return is_cut_by_count();
    return true;
  }

  /// The scenario's block_size or num_blocks replaces either of the model's.
  bool is_cut_by_count() const {
    return values_.has("residual.num_blocks") ||
           (model_.has("residual.num_blocks") && !values_.has("residual.block_size"));
  }

  void read_model() {
    const auto layers = [&] {
      if (model_.has("num_layers")) return model_.count("num_layers");
      if (model_.has("decoder_layers")) return 2 * model_.count("decoder_layers");
      throw InputError(model_.position(),
                       "missing key 'decoder_layers' (model needs it, or num_layers)");
    }();
    if (layers > kMaxLayers) {
      const std::string key = model_.has("num_layers") ? "num_layers" : "decoder_layers";
      throw InputError(model_.at(key).position, fmt::format("invalid {} '{}' (more than {} layers)",
                                                            key, model_.text(key), kMaxLayers));
    }
    scenario_.study.model = {.name = model_.has("name") ? model_.text("name") : "unnamed model",
                             .num_layers = layers,
                             .hidden_size = model_.count("hidden_size"),
                             .dtype = model_.choice<Dtype>("dtype"),
                             .architecture = architecture_from(model_, layers, model_defaults_)};
    scenario_.study.name = values_.has("name") ? values_.text("name") : file_label(file_);
  }

  const Value* residual(const std::string& name) const {
    return residual_value(values_, model_, name);
  }

  [[noreturn]] void refuse_missing_blocks(const std::string& scheme) const {
    if (values_.position().file.text().starts_with("--"))
      throw InputError({"--block-size", 1, 1},
                       fmt::format("missing option ({} needs the layers of a block, as "
                                   "--block-size 16; sweep compares sizes)",
                                   scheme));
    throw InputError(values_.position(),
                     "missing key 'residual.block_size' (AttnRes needs it, or num_blocks)");
  }

  [[noreturn]] void refuse_missing_scheme() const {
    if (values_.position().file.text().starts_with("--"))
      throw InputError({"--residual", 1, 1},
                       "missing option (the model does not say which residual path it carries; as "
                       "--residual standard)");
    throw InputError(values_.position(),
                     "missing key 'residual.scheme' (the model does not say which it carries)");
  }

  Partition read_partition(const std::string& scheme) const {
    const Count num_layers = scenario_.study.model.num_layers;
    if (is_cut_by_count()) {
      const Value& count = *residual("num_blocks");
      return feasible(count.position, [&] {
        return partition_by_count(num_layers, static_cast<Count>(count.numbers.front()),
                                  scenario_.remainder);
      });
    }
    const Value* size = residual("block_size");
    if (size == nullptr && scheme == schemes::kFullAttnRes.id) return usual_groups();
    if (size == nullptr) refuse_missing_blocks(scheme);
    return feasible(size->position, [&] {
      return partition_by_size(num_layers, static_cast<Count>(size->numbers.front()));
    });
  }

  ResidualPath path_of(const std::string& scheme) const {
    const Study& study = scenario_.study;
    const SchemeRule& rule = *find_scheme(scheme);  // the table of keys admits no other name
    SchemeParameters parameters = study.scheme_parameters;
    if (rule.pattern == DepthPattern::blocks) parameters.blocks = read_partition(scheme);
    return {scheme_of(rule, parameters, study.model.num_layers, values_, model_),
            study.model.num_layers, scenario_.study.attachment.value_or(Attachment::standalone)};
  }

  void read_parameters(const std::vector<std::string>& schemes) {
    SchemeParameters& parameters = scenario_.study.scheme_parameters;
    parameters.hidden_size = scenario_.study.model.hidden_size;
    parameters.kv_size = size_of_values(scenario_.study.model);
    std::optional<Count> block_size;
    if (is_cut_by_count() || values_.has("residual.block_size"))
      block_size = read_partition(schemes.front()).block_size;
    read_scheme_parameters(values_, model_, schemes, block_size, parameters);
  }

  /// Full AttnRes has no blocks, but its two-phase schedule groups queries.
  Partition usual_groups() const {
    const Count num_layers = scenario_.study.model.num_layers;
    return partition_by_size(num_layers, std::min(kUsualGroup, num_layers));
  }

  void note_usual_groups(const std::vector<std::string>& schemes) {
    const bool has_full =
        std::find(schemes.begin(), schemes.end(), schemes::kFullAttnRes.id) != schemes.end();
    if (has_full && residual("block_size") == nullptr && !is_cut_by_count())
      model_defaults_.push_back({"residual.block_size", std::to_string(usual_groups().block_size),
                                 "default: queries of a group of full_attnres, [attnres] Table 1"});
  }

  void read_residual() {
    Study& study = scenario_.study;
    const Value* scheme = residual("scheme");
    if (scheme == nullptr) refuse_missing_scheme();
    if (values_.has("residual.remainder") && !is_cut_by_count())
      refuse_orphans(values_, "residual.remainder", "residual.num_blocks");
    std::vector<std::string> schemes = scheme->texts;
    if (const Value* compare = values_.find("residual.compare"))
      schemes.insert(schemes.end(), compare->texts.begin(), compare->texts.end());
    if (const Value* rule = residual("remainder"))
      scenario_.remainder = named<Remainder>(rule->texts.front()).value();
    note_usual_groups(schemes);
    read_parameters(schemes);
    read_scheme_weights(values_, schemes, study);
    read_stream_type(values_, model_, schemes, study);
    if (values_.has("residual.attach"))
      study.attachment = values_.choice<Attachment>("residual.attach");
    study.path = path_of(scheme->texts.front());
    study.implementation = values_.choice<Implementation>("residual.implementation");
    read_schedule();
    read_compare();
    read_eager();
    if (values_.has("residual.baseline_attach"))
      study.baseline_attachment = values_.choice<Attachment>("residual.baseline_attach");
    if (values_.has("residual.layout")) study.layout = values_.choice<Layout>("residual.layout");
    study.phase1_dtype = values_.has("residual.phase1_dtype")
                             ? values_.choice<Dtype>("residual.phase1_dtype")
                             : study.model.dtype;
  }

  /// A framework's own kernels are not fused.
  void read_eager() {
    Study& study = scenario_.study;
    if (study.implementation != Implementation::eager) return;
    const Value* written = values_.find("residual.schedule");
    if (written != nullptr && study.schedule != Schedule::unfused)
      throw InputError(written->position,
                       fmt::format("conflicting residual.schedule '{}' (residual.implementation is "
                                   "eager, which runs unfused)",
                                   name(study.schedule)));
    const auto is_fused_alone = [](const ResidualPath& path) {
      const auto schedules = path.scheme.rule->schedules;
      return std::find(schedules.begin(), schedules.end(), Schedule::unfused) == schedules.end();
    };
    for (const ResidualPath& path : paths_of(study))
      if (is_fused_alone(path))
        throw InputError(values_.find("residual.implementation")->position,
                         fmt::format("invalid residual.implementation 'eager' (scheme {} has no "
                                     "schedule unfused)",
                                     name(path.scheme)));
    study.schedule = Schedule::unfused;
  }

  void read_schedule() {
    Study& study = scenario_.study;
    study.schedule = shipped_schedule(study.path.scheme);
    const Value* written = values_.find("residual.schedule");
    if (written == nullptr) return;
    study.schedule = named<Schedule>(written->texts.front()).value();
    const std::string problem = schedule_problem(study.path.scheme, study.schedule);
    if (!problem.empty())
      throw InputError(written->position, fmt::format("invalid residual.schedule '{}' ({})",
                                                      written->texts.front(), problem));
  }

  void read_compare() {
    const Value* compare = values_.find("residual.compare");
    if (compare == nullptr) return;
    std::vector<std::string> seen{std::string(name(scenario_.study.path.scheme))};
    for (std::size_t i = 0; i < compare->texts.size(); ++i) {
      const std::string& scheme = compare->texts[i];
      // It stands beside every scheme anyway.
      if (scheme == seen.front() && is_standard(scenario_.study.path.scheme)) continue;
      if (std::find(seen.begin(), seen.end(), scheme) != seen.end())
        throw InputError(
            compare->position_of(i),
            fmt::format("invalid residual.compare '{}' ({})", scheme,
                        scheme == seen.front()
                            ? "the scenario's own scheme; residual.scheme says which that is"
                            : "already there"));
      seen.push_back(scheme);
      scenario_.study.compare.push_back(path_of(scheme));
    }
  }

  Count ranks(const std::string& key) const {
    const std::string path = "parallelism." + key;
    const Count count = values_.count(path);
    if (count > kMaxRanks)
      throw InputError(
          values_.at(path).position,
          fmt::format("invalid {} '{}' (more than {} devices)", path, count, kMaxRanks));
    return count;
  }

  void read_ranks() {
    Study& study = scenario_.study;
    study.tensor_parallel_size = ranks("tensor");
    study.context_parallel_size = ranks("context");
    study.data_parallel_size = ranks("data");
    const Value* expert = values_.find("parallelism.expert");
    study.expert_parallel_size = expert == nullptr ? 1 : ranks("expert");
    const Count all = ranks_per_stage(study);
    if (all % study.expert_parallel_size != 0)
      throw InputError(expert->position,
                       fmt::format("invalid parallelism.expert '{}' (must divide tensor x context "
                                   "x data = {})",
                                   study.expert_parallel_size, all));
    check_experts();
    check_heads();
    read_dispatch();
    read_tables();
  }

  /// In training their gradients and their optimiser's state would have to lie somewhere, too.
  void read_tables() {
    const Value* written = values_.find("parallelism.tables");
    if (written == nullptr) return;
    Study& study = scenario_.study;
    study.tables = values_.choice<TablePlacement>("parallelism.tables");
    const auto refuse = [&](std::string_view reason) {
      throw InputError(written->position, fmt::format("conflicting parallelism.tables '{}' ({})",
                                                      written->texts.front(), reason));
    };
    if (!study.model.architecture || study.model.architecture->tables.empty())
      refuse("the model has no lookup tables");
    if (study.tables == TablePlacement::host && values_.has("workload.training.sequence_length"))
      refuse("training keeps them on the devices");
  }

  void read_dispatch() {
    const Value* written = values_.find("parallelism.dispatch_dtype");
    if (written == nullptr) return;
    if (!experts_are_spread(scenario_.study))
      throw InputError(written->position,
                       fmt::format("conflicting parallelism.dispatch_dtype '{}' (nothing is "
                                   "dispatched: no experts lie beyond the tensor ranks)",
                                   written->texts.front()));
    scenario_.study.dispatch_dtype = values_.choice<Dtype>("parallelism.dispatch_dtype");
  }

  /// Refuses ranks that would hold unlike numbers of heads, as engines do.
  void check_heads() const {
    const Study& study = scenario_.study;
    if (!study.model.architecture) return;
    const Count heads = heads_to_share(*study.model.architecture);
    if (heads % study.tensor_parallel_size == 0) return;
    std::vector<Count> divisors;
    for (Count ranks = 1; ranks <= heads; ++ranks)
      if (heads % ranks == 0) divisors.push_back(ranks);
    throw InputError(
        values_.at("parallelism.tensor").position,
        fmt::format("invalid parallelism.tensor '{}' (must divide the {} attention heads: {})",
                    study.tensor_parallel_size, heads, fmt::join(divisors, ", ")));
  }

  /// Refuses more expert ranks than experts: a rank without one would do nothing.
  void check_experts() const {
    const Study& study = scenario_.study;
    if (!study.model.architecture) return;
    std::vector<Mlp> mlps;
    for (const MlpLayers& layers : study.model.architecture->mlp) mlps.push_back(layers.mlp);
    if (study.model.architecture->draft) mlps.push_back(study.model.architecture->draft->mlp);
    for (const Mlp& mlp : mlps) {
      const auto* experts = std::get_if<ExpertMlp>(&mlp);
      if (experts == nullptr || study.expert_parallel_size <= experts->num_experts) continue;
      throw InputError(
          values_.at("parallelism.expert").position,
          fmt::format("invalid parallelism.expert '{}' (more than the {} experts of the model)",
                      study.expert_parallel_size, experts->num_experts));
    }
  }

  void check_attachment(const std::string& path, Attachment attachment) const {
    const bool joins_ranks =
        attachment == Attachment::all_reduce || attachment == Attachment::reduce_scatter;
    if (joins_ranks && scenario_.study.tensor_parallel_size == 1)
      throw InputError(values_.at(path).position,
                       fmt::format("conflicting {} '{}' (needs parallelism.tensor of at least 2)",
                                   path, name(attachment)));
    if (joins_ranks && experts_are_spread(scenario_.study))
      throw InputError(
          values_.at(path).position,
          fmt::format("conflicting {} '{}' (experts over {} ranks hand tokens back by all-to-all, "
                      "not by {}; needs parallelism.expert of at most tensor = {})",
                      path, name(attachment), scenario_.study.expert_parallel_size,
                      name(attachment), scenario_.study.tensor_parallel_size));
  }

  /// Throws where no workload runs the collective that a path is attached to.
  void check_attached_collective(const std::string& path,
                                 std::optional<Attachment> attachment) const {
    const Study& study = scenario_.study;
    const bool is_joined_whole = attachment == Attachment::all_reduce;
    if (!is_joined_whole && attachment != Attachment::reduce_scatter) return;
    bool runs = false;
    bool has_workload = false;
    for (const auto& [kind, is_asked] :
         {std::pair{WorkloadKind::decode, study.decode.has_value()},
          std::pair{WorkloadKind::prefill, study.prefill.has_value()},
          std::pair{WorkloadKind::training, study.training.has_value()}}) {
      has_workload |= is_asked;
      runs |= is_asked && (residual_shards(study, kind) == 1) == is_joined_whole;
    }
    if (runs || !has_workload) return;
    throw InputError(
        values_.at(path).position,
        fmt::format("conflicting {} '{}' (no workload has one: tensor ranks {} the tokens)", path,
                    name(*attachment), is_joined_whole ? "share out" : "all hold"));
  }

  void check_attached_collectives() const {
    check_attached_collective("residual.attach", scenario_.study.attachment);
    check_attached_collective("residual.baseline_attach", scenario_.study.baseline_attachment);
  }

  void check_devices(const Value* pipeline) const {
    const Study& study = scenario_.study;
    const double stages = pipeline == nullptr ? 1 : pipeline->numbers.front();
    const double all = stages * as_double(ranks_per_stage(study));
    if (all > as_double(kMostDevices))
      throw InputError(
          values_.at("parallelism.tensor").position,
          fmt::format("invalid parallelism (tensor x context x data x pipeline is {:.0f}; "
                      "at most {} devices)",
                      all, kMostDevices));
  }

  void read_parallelism() {
    Study& study = scenario_.study;
    read_ranks();
    if (study.attachment) check_attachment("residual.attach", *study.attachment);
    if (study.baseline_attachment)
      check_attachment("residual.baseline_attach", *study.baseline_attachment);
    const Value* pipeline = values_.find("parallelism.pipeline");
    check_devices(pipeline);
    if (pipeline == nullptr) {
      refuse_orphans(values_, "parallelism.virtual_stages", "parallelism.pipeline");
      refuse_orphans(values_, "parallelism.chunk_layers", "parallelism.pipeline");
      return;
    }
    const auto P = static_cast<Count>(pipeline->numbers.front());
    const Count V = values_.count("parallelism.virtual_stages");
    if (const Value* chunks = values_.find("parallelism.chunk_layers")) {
      study.pipeline = written_layout(P, V, *chunks);
      return;
    }
    const bool in_layers = model_.has("num_layers");
    study.pipeline = feasible(pipeline->position, [&] {
      return even_layout(P, V, in_layers ? study.model.num_layers : study.model.num_layers / 2,
                         in_layers ? 1 : 2);
    });
  }

  PipelineLayout written_layout(Count num_stages, Count num_virtual_stages,
                                const Value& chunks) const {
    PipelineLayout layout{num_stages, num_virtual_stages, {}};
    for (const double layers : chunks.numbers)
      layout.chunk_layers.push_back(static_cast<Count>(layers));
    return feasible(chunks.position, [&] {
      check_layout(layout, scenario_.study.model.num_layers);
      return layout;
    });
  }

  /// A CPU's profile measures our kernels. No stack has others there.
  void read_kernels(Machine& machine, std::vector<ResolvedValue>& fallbacks) const {
    const Study& study = scenario_.study;
    const Implementation implementation = study.implementation;
    if (!machine.few_tokens) {
      if (is_stack(implementation))
        throw InputError(values_.at("residual.implementation").position,
                         fmt::format("conflicting residual.implementation '{}' (the hardware is no "
                                     "GPU)",
                                     name(implementation)));
      return;
    }
    machine.few_tokens = with_kernels_of(implementation, *machine.few_tokens, constants_);
    for (const ResidualPath& path : paths_of(study))
      if (is_stack(implementation) && !is_standard(path.scheme)) note_unmeasured(path, fallbacks);
  }

  /// Says which kernels of a stack nobody has measured.
  void note_unmeasured(const ResidualPath& path, std::vector<ResolvedValue>& fallbacks) const {
    std::set<std::string_view> measured;
    std::set<std::string_view> unmeasured;
    for (const CountedOperation& it : distinct_operations(path, shipped_schedule(path.scheme)))
      (is_measured_by_stack(it.operation.id) ? measured : unmeasured).insert(name(it.operation.id));
    if (unmeasured.empty()) return;
    const std::string_view stack = name(scenario_.study.implementation);
    const std::string_view scheme = name(path.scheme);
    if (measured.empty())
      fallbacks.push_back(
          {"residual.implementation", "as fastest_published",
           fmt::format("fallback: no measurement of {}'s kernels of {} is known", stack, scheme)});
    else
      fallbacks.push_back({"residual.implementation", "in part as fastest_published",
                           fmt::format("fallback: of {}'s kernels of {} only {} is measured", stack,
                                       scheme, fmt::join(measured, ", "))});
  }

  void read_machine(std::vector<ResolvedValue>& fallbacks) {
    Machine machine = machine_from(*hardware_, fallbacks, constants_);
    read_kernels(machine, fallbacks);
    if (has_peers(scenario_.study)) borrow_transfers(*hardware_, machine, fallbacks);
    scenario_.study.machine = std::move(machine);
    check_exchanges(values_, scenario_.study);
  }

  void read_claim(const Value& claim) {
    std::vector<std::string_view> limits;
    for (const BudgetKind kind : kEnumerators<BudgetKind>)
      if (is_ratio(kind)) limits.push_back(name(kind));
    for (const std::string_view limit : limits)
      if (values_.has(fmt::format("budgets.{}", limit))) {
        scenario_.study.claim = claim.texts.front();
        return;
      }
    throw InputError(
        claim.position,
        fmt::format("missing key 'budgets' (a claim needs a limit: {})", fmt::join(limits, " | ")));
  }

  void read_budgets() {
    if (const Value* claim = values_.find("claim")) read_claim(*claim);
    for (const BudgetKind kind : kEnumerators<BudgetKind>) {
      const std::string path = fmt::format("budgets.{}", name(kind));
      const Value* value = values_.find(path);
      if (value == nullptr) continue;
      scenario_.study.budgets.push_back(
          {kind, value->numbers.empty() ? 0 : value->numbers.front(), value->position.line});
    }
  }

  std::string file_;
  const Constants& constants_;
  Values values_;
  Values model_{Position{}};
  std::optional<DeviceValues> hardware_;
  std::vector<ResolvedValue> model_defaults_;
  Scenario scenario_;
};

}  // namespace

UnreadScenario unread_scenario(const std::string& path) {
  std::error_code ignored;
  if (find_preset("models", path) != nullptr && !std::filesystem::exists(path, ignored))
    throw InputError(
        {path, 1, 1},
        fmt::format("cannot read the file (no such file; did you mean --model {}?)", path));
  return {load_document(path), path, Provenance::scenario};
}

Scenario read_scenario(const std::string& path, const Constants& constants) {
  const UnreadScenario scenario = unread_scenario(path);
  return scenario_of(scenario.document, scenario.file, scenario.provenance, constants);
}

Scenario scenario_of(const Node& document, const std::string& file, Provenance provenance,
                     const Constants& constants) {
  const Node written_out = with_usual_workload(document);
  return ScenarioReader(written_out, file, provenance, constants).read();
}

}  // namespace depthcost
