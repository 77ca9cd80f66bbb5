// Appends the values of each file, then defaults and fallbacks.
#include "scenarios/read/resolved_values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "model/step/collectives.hpp"
#include "model/training/rest_of_training.hpp"
#include "scenarios/device/transfers.hpp"

namespace depthcost {
namespace {

bool is_of_links(const std::string& key) {
  return key.starts_with("hardware.transfers") || key == "hardware.node_devices";
}

class Listing {
 public:
  explicit Listing(const StudySources& sources) : sources_(sources) {}

  std::vector<ResolvedValue> list() && {
    list("", sources_.scenario, scenario_keys());
    list_choices();
    list("model.", sources_.model, model_keys());
    append(sources_.model_defaults);
    if (sources_.device) {
      list("hardware.", sources_.device->values, sources_.device->kind.table);
      append(listed_transfers(sources_.device->values));
    }
    append(sources_.fallbacks);
    number_repeated_keys();
    return std::move(rows_);
  }

 private:
  /// Transfers of one kind may have several sources, but in JSON they are members of one object.
  void number_repeated_keys() {
    std::map<std::string, int> num_seen;
    for (ResolvedValue& row : rows_)
      if (const int number = ++num_seen[row.key]; number > 1)
        row.key += fmt::format(" #{}", number);
  }

  void list(const std::string& prefix, const Values& values, const KeyTable& table) {
    for (const auto& [path, value] : values.all()) {
      if (path == "schema" || path == "name") continue;
      // A profile has hundreds of measured records. They stay in its file.
      if (&table == &profile_keys() && path.find('[') != std::string::npos) continue;
      if (path.starts_with("transfers[")) continue;
      const Key* key = find_key(table, path);
      const bool is_used = key == nullptr || key->use == Use::now;
      rows_.push_back({prefix + path, fmt::format("{}", fmt::join(value.texts, ", ")),
                       value.origin + (is_used ? "" : "; no result rests on it yet"),
                       value.warning});
    }
  }

  /// Leaves out links if there is one device, since no result depends on them.
  void append(const std::vector<ResolvedValue>& values) {
    for (const ResolvedValue& value : values)
      if (has_peers(sources_.study) || !is_of_links(value.key)) rows_.push_back(value);
  }

  /// Appends a default that depends on other values and is therefore not in the table of keys.
  void list_chosen(const std::string& path, std::string_view value, std::string_view why) {
    if (!sources_.scenario.has(path))
      rows_.push_back({path, std::string(value), fmt::format("default: {}", why)});
  }

  void list_choices() {
    const Study& study = sources_.study;
    list_chosen("residual.schedule", name(study.schedule), "what engines ship");
    list_chosen("residual.phase1_dtype", name(study.phase1_dtype), "the model's dtype");
    list_chosen("parallelism.expert", fmt::format("{}", study.expert_parallel_size),
                "what engines do: tensor ranks share each expert");
    if (experts_are_spread(study)) list_dispatch();
    list_attachment();
    list_layout();
    if (study.prefill)
      list_chosen("workload.prefill.sequence_shards",
                  fmt::format("{}", study.prefill->sequence_shards),
                  "the tensor-parallel ranks: [attnres] Sec. 4.2");
    if (study.training) list_training(*study.training);
  }

  void list_dispatch() {
    const Study& study = sources_.study;
    const std::string_view served = name(dispatch_dtype(study));
    const std::string_view trained = name(dispatch_dtype(as_trained(study)));
    const bool is_trained_alone = study.training && !study.decode && !study.prefill;
    std::string dtype(is_trained_alone ? trained : served);
    if (study.training && !is_trained_alone && served != trained)
      dtype += fmt::format(", in training {}", trained);
    list_chosen("parallelism.dispatch_dtype", dtype,
                "fp8 where the experts are, else the model's dtype");
  }

  void list_attachment() {
    const Study& study = sources_.study;
    const Attachment at_decode =
        attached_path(study, study.path, study.schedule, WorkloadKind::decode).attachment;
    if (study.decode && at_decode == Attachment::all_reduce)
      list_chosen("residual.attach", "all_reduce at decode, else standalone",
                  "what serving engines ship: [all_reduce_fusion]");
    else
      list_chosen("residual.attach", name(Attachment::standalone),
                  study.decode && has_all_reduce(study)
                      ? "no engine fuses this scheme, run so, with an all-reduce"
                      : "there is no all-reduce to fuse it with");
  }

  void list_layout() {
    const Study& study = sources_.study;
    const std::string_view decode = name(token_layout(study, WorkloadKind::decode));
    const std::string_view training = name(token_layout(study, WorkloadKind::training));
    if (token_layout(study, WorkloadKind::decode) == Layout::sequence_sharded)
      list_chosen("residual.layout", decode,
                  "the chunk of a prompt gives each rank 8 MiB or more: [vllm_sp]");
    else if (!study.training)
      list_chosen("residual.layout", decode,
                  "what serving engines ship: every tensor-parallel rank holds all tokens");
    else if (!study.decode)
      list_chosen("residual.layout", training,
                  "sequence parallelism comes with tensor ranks: arXiv:2205.05198 Sec. 4.2.2");
    else
      list_chosen("residual.layout", fmt::format("{}, in training {}", decode, training),
                  "what serving engines ship; arXiv:2205.05198 Sec. 4.2.2");
  }

  void list_training(const Training& training) {
    const std::string section = "workload.training.";
    list_chosen(section + "gradient_dtype", name(training.gradient_dtype), "the model's dtype");
    list_chosen(
        section + "micro_batches", fmt::format("{}", training.num_micro_batches),
        "a step of 4 Mi tokens over all replicas, at most 512: arXiv:2407.21783 Sec. 3.4.1");
    const auto& pipeline = sources_.study.pipeline;
    if (!pipeline) return;
    list_chosen(section + "wire_dtype", name(training.wire_dtype), "the model's dtype");
    list_chosen(section + "schedule", name(training.schedule),
                pipeline->num_virtual_stages > 1 ? "there are virtual stages"
                                                 : "there are no virtual stages");
  }

  const StudySources& sources_;
  std::vector<ResolvedValue> rows_;
};

}  // namespace

bool has_peers(const Study& study) {
  return ranks_per_stage(study) > 1 || (study.pipeline && study.pipeline->num_stages > 1);
}

std::vector<ResolvedValue> resolved_values(const StudySources& sources) {
  return Listing(sources).list();
}

}  // namespace depthcost
