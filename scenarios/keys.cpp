// The tables. Order is the order of the documentation.
#include "scenarios/keys.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace depthcost {
namespace {

using enum KeyKind;
using Names = std::string_view;

constexpr std::array<Names, 4> kSchemes{"standard", "mhc", "full_attnres", "block_attnres"};
constexpr std::array<Names, 6> kSchedules{"unfused",  "fused",       "two_pass",
                                          "one_pass", "single_pass", "two_phase"};
constexpr std::array<Names, 4> kRemainders{"paper", "ceil", "strict", "literal"};
constexpr std::array<Names, 4> kDtypes{"bf16", "f16", "f32", "fp8"};
constexpr std::array<Names, 2> kPhase1Dtypes{"bf16", "f32"};
constexpr std::array<Names, 4> kAttachments{"standalone", "all_reduce", "reduce_scatter",
                                            "gemm_epilogue"};
constexpr std::array<Names, 2> kLayouts{"replicated", "sequence_sharded"};
constexpr std::array<Names, 3> kLaunches{"stream", "graph", "graph_pdl"};
constexpr std::array<Names, 1> kFits{"fits"};
constexpr std::array<Names, 2> kKinds{"gpu", "cpu"};
constexpr std::array<Names, 4> kVendors{"nvidia", "amd", "intel", "arm"};
constexpr std::array<Names, 9> kMemories{"hbm2",   "hbm2e", "hbm3", "hbm3e",  "gddr6",
                                         "gddr6x", "gddr7", "ddr5", "lpddr5x"};
constexpr std::array<Names, 2> kLevels{"cache", "memory"};
constexpr std::array<Names, 2> kSkeletons{"elementwise", "row_reduction"};

constexpr Need kRequired = Need::required;

constexpr std::array kScenario{
    Key{"schema", text, "must be depthcost/1", kRequired},
    Key{"name", text, "title of the report; the file's name if absent"},
    Key{"model", reference, "a model preset, a path, or a map", kRequired},
    Key{"hardware", reference,
        "a hardware preset, a path, or a map; without it no time is predicted"},

    Key{.path = "residual.scheme",
        .kind = choice,
        .meaning = "how the residual stream is carried; the model's own if absent",
        .choices = kSchemes},
    Key{.path = "residual.block_size",
        .kind = count,
        .meaning = "layers (sublayers, twice the decoder layers) per AttnRes block"},
    Key{.path = "residual.num_blocks",
        .kind = count,
        .meaning = "how many blocks, without the embedding",
        .instead_of = "residual.block_size"},
    Key{.path = "residual.remainder",
        .kind = choice,
        .meaning = "what happens to L mod N when num_blocks is given",
        .choices = kRemainders,
        .fallback = "paper",
        .fallback_source = "[attnres] Sec. 3.2 read with S = L/N"},
    Key{.path = "residual.schedule",
        .kind = choice,
        .meaning = "whose numbers the verdict quotes; fused or single_pass if absent",
        .choices = kSchedules},
    Key{.path = "residual.compare",
        .kind = choices,
        .meaning = "schemes to put beside it",
        .choices = kSchemes},
    Key{.path = "residual.num_streams",
        .kind = count,
        .meaning = "residual streams m of mHC",
        .fallback = "4",
        .fallback_source = "[mhc] n = 4, the value of every released model"},
    Key{.path = "residual.phase1_dtype",
        .kind = choice,
        .meaning = "storage of Phase 1 outputs; the model's dtype if absent",
        .choices = kPhase1Dtypes},
    Key{.path = "residual.attach",
        .kind = choice,
        .meaning = "the kernel that the residual operation is folded into",
        .choices = kAttachments,
        .fallback = "standalone",
        .fallback_source = "[ours] a kernel of its own"},
    Key{.path = "residual.layout",
        .kind = choice,
        .meaning = "whether tensor-parallel ranks share the tokens of a decode step",
        .choices = kLayouts,
        .fallback = "replicated",
        .fallback_source =
            "what serving engines ship: every tensor-parallel rank holds all tokens"},

    Key{.path = "parallelism.tensor",
        .kind = count,
        .meaning = "tensor-parallel size",
        .fallback = "1",
        .fallback_source = "[ours] one device"},
    Key{.path = "parallelism.expert",
        .kind = count,
        .meaning = "expert-parallel size; as tensor if absent"},
    Key{.path = "parallelism.context",
        .kind = count,
        .meaning = "context-parallel size",
        .fallback = "1",
        .fallback_source = "[ours] none"},
    Key{.path = "parallelism.data",
        .kind = count,
        .meaning = "replicas; tokens and sequences count per replica",
        .fallback = "1",
        .fallback_source = "[ours] one replica"},
    Key{.path = "parallelism.pipeline", .kind = count, .meaning = "pipeline stages P"},
    Key{.path = "parallelism.virtual_stages",
        .kind = count,
        .meaning = "virtual stages V of each stage",
        .fallback = "1",
        .fallback_source = "[attnres] Sec. 4.1, V = 1: no interleaving"},
    Key{.path = "parallelism.chunk_layers",
        .kind = counts,
        .meaning = "layers of each of the P V chunks, zeros allowed; spread evenly if absent",
        .range = Range::non_negative},

    Key{.path = "workload.decode.sequences",
        .kind = counts,
        .meaning = "sequences of a decode step, per model replica: one or several batches"},
    Key{.path = "workload.decode.context",
        .kind = count,
        .meaning = "tokens already in the context of each sequence"},
    Key{.path = "workload.decode.launch",
        .kind = choice,
        .meaning = "how kernels are launched",
        .choices = kLaunches,
        .fallback = "graph",
        .fallback_source = "what serving engines ship"},
    Key{.path = "workload.decode.layer_bytes",
        .kind = quantity,
        .meaning = "bytes (weights, experts, KV) that one layer streams on one device between two "
                   "residual kernels; decides what survives in the cache"},
    Key{.path = "workload.prefill.tokens", .kind = count, .meaning = "tokens of one sequence"},
    Key{.path = "workload.prefill.chunk",
        .kind = count,
        .meaning = "tokens in flight at a time; all if absent"},
    Key{.path = "workload.prefill.sequence_shards",
        .kind = count,
        .meaning = "devices that share one sequence's residual path",
        .fallback = "1",
        .fallback_source = "[ours] not sharded"},
    Key{.path = "workload.prefill.launch",
        .kind = choice,
        .meaning = "how kernels are launched",
        .choices = kLaunches,
        .fallback = "stream",
        .fallback_source = "[ours] shapes vary from chunk to chunk"},

    Key{.path = "baseline_step.decode",
        .kind = quantities,
        .meaning =
            "measured step with the fused standard residual: one for all batches, or one each",
        .dimension = Dimension::seconds},
    Key{.path = "baseline_step.prefill",
        .kind = quantity,
        .meaning = "measured time of the whole prefill with the fused standard residual",
        .dimension = Dimension::seconds},

    Key{.path = "budgets.decode_overhead",
        .kind = quantity,
        .meaning = "largest (t - t_base) / t_base over the batches",
        .dimension = Dimension::ratio},
    Key{.path = "budgets.prefill_overhead",
        .kind = quantity,
        .meaning = "largest (t - t_base) / t_base of the prefill",
        .dimension = Dimension::ratio},
    Key{.path = "budgets.training_overhead",
        .kind = quantity,
        .meaning = "largest (t - t_base) / t_base of a training step",
        .dimension = Dimension::ratio},
    Key{.path = "budgets.prefill_bank",
        .kind = quantity,
        .meaning = "bytes of the bank with b_0 on one device"},
    Key{.path = "budgets.prefill_peak",
        .kind = quantity,
        .meaning = "bytes of bank, b_0 and Phase 1 outputs on one device"},
    Key{.path = "budgets.pipeline_peak",
        .kind = quantity,
        .meaning = "bytes per token at the largest pipeline boundary, everything sent"},
    Key{.path = "budgets.device_memory",
        .kind = choice,
        .meaning = "everything fits into what the driver shows",
        .choices = kFits},
};

constexpr std::array kModel{
    Key{"schema", text, "must be depthcost-model/1; needed in files, not in inline maps"},
    Key{"name", text, "as in reports"},
    Key{"base", text, "a model preset or path whose values stand where none is written here"},
    Key{"decoder_layers", count, "decoder layers; each has two layers, attention and MLP"},
    Key{.path = "num_layers",
        .kind = count,
        .meaning = "layers (sublayers) L",
        .instead_of = "decoder_layers"},
    Key{"hidden_size", count, "elements d of one token's residual vector", kRequired},
    Key{.path = "dtype",
        .kind = choice,
        .meaning = "storage of the residual stream",
        .need = kRequired,
        .choices = kDtypes},
    Key{"total_parameters", number, "of the whole model"},
    Key{"active_parameters", number, "per token"},
    Key{.path = "residual.scheme",
        .kind = choice,
        .meaning = "the scheme of the released model",
        .choices = kSchemes},
    Key{"residual.block_size", count, "layers (sublayers) per AttnRes block"},
    Key{.path = "residual.num_blocks",
        .kind = count,
        .meaning = "how many blocks, without the embedding",
        .instead_of = "residual.block_size"},
    Key{.path = "residual.remainder",
        .kind = choice,
        .meaning = "what happens to L mod N when num_blocks is given",
        .choices = kRemainders},
    Key{"residual.num_streams", count, "residual streams m of mHC"},
};

constexpr auto rate_records(std::string_view path, std::string_view meaning) {
  return Key{.path = path, .kind = records, .meaning = meaning};
}

constexpr std::array kHardware{
    Key{"schema", text, "must be depthcost-hardware/1; needed in files, not in inline maps"},
    Key{"name", text, "as in reports"},
    Key{"base", text, "a hardware preset or path whose values stand where none is written here"},
    Key{.path = "kind",
        .kind = choice,
        .meaning = "what runs the kernels",
        .need = kRequired,
        .choices = kKinds},
    Key{.path = "vendor",
        .kind = choice,
        .meaning = "where a missing launch floor is taken from",
        .choices = kVendors},
    Key{.path = "memory_technology",
        .kind = choice,
        .meaning = "where a missing sustained fraction is taken from",
        .choices = kMemories},
    Key{"memory_capacity", quantity, "as sold"},
    Key{"visible_memory", quantity, "what the driver shows: decides what fits"},
    Key{.path = "memory_bandwidth",
        .kind = quantity,
        .meaning = "datasheet; no kernel is faster",
        .need = kRequired,
        .dimension = Dimension::bytes_per_second},
    rate_records("sustained_bandwidth", "measured by plain streaming kernels, by read:write mix"),
    Key{.path = "sustained_bandwidth[].reads",
        .kind = count,
        .meaning = "streams read",
        .need = kRequired,
        .range = Range::non_negative},
    Key{.path = "sustained_bandwidth[].writes",
        .kind = count,
        .meaning = "streams written",
        .need = kRequired,
        .range = Range::non_negative},
    Key{.path = "sustained_bandwidth[].value",
        .kind = quantity,
        .meaning = "reads and writes together",
        .need = kRequired,
        .dimension = Dimension::bytes_per_second},
    Key{"cache_capacity", quantity, "the last level that all cores share"},
    rate_records("cache_bandwidth", "of that level, by read:write mix"),
    Key{.path = "cache_bandwidth[].reads",
        .kind = count,
        .meaning = "streams read",
        .need = kRequired,
        .range = Range::non_negative},
    Key{.path = "cache_bandwidth[].writes",
        .kind = count,
        .meaning = "streams written",
        .need = kRequired,
        .range = Range::non_negative},
    Key{.path = "cache_bandwidth[].value",
        .kind = quantity,
        .meaning = "reads and writes together",
        .need = kRequired,
        .dimension = Dimension::bytes_per_second},
    rate_records("cache_transition", "share of the traffic that memory serves, by footprint"),
    Key{.path = "cache_transition[].footprint",
        .kind = quantity,
        .meaning = "bytes between two uses",
        .need = kRequired},
    Key{.path = "cache_transition[].memory_weight",
        .kind = quantity,
        .meaning = "0 % to 100 %",
        .need = kRequired,
        .dimension = Dimension::ratio,
        .range = Range::non_negative},
    rate_records("launch_floor", "what a kernel costs before its first byte and after its last"),
    Key{.path = "launch_floor[].launch",
        .kind = choice,
        .meaning = "launch mode",
        .need = kRequired,
        .choices = kLaunches},
    Key{.path = "launch_floor[].level",
        .kind = choice,
        .meaning = "where its data is",
        .need = kRequired,
        .choices = kLevels},
    Key{.path = "launch_floor[].skeleton",
        .kind = choice,
        .meaning = "how its threads cooperate",
        .need = kRequired,
        .choices = kSkeletons},
    Key{.path = "launch_floor[].value",
        .kind = quantity,
        .meaning = "seconds per kernel",
        .need = kRequired,
        .dimension = Dimension::seconds},
    Key{.path = "saturation_latency",
        .kind = quantity,
        .meaning = "h / B of bandwidth = min(cap, B n / (n + h)), n bytes in flight",
        .dimension = Dimension::seconds},
    Key{"num_multiprocessors", count, "SMs or CUs; cores on a CPU"},
    Key{.path = "bf16_rate",
        .kind = quantity,
        .meaning = "dense tensor rate",
        .dimension = Dimension::flops_per_second},
    Key{.path = "fp8_rate",
        .kind = quantity,
        .meaning = "dense tensor rate",
        .dimension = Dimension::flops_per_second},
    Key{.path = "f32_rate",
        .kind = quantity,
        .meaning = "fp32 lanes",
        .dimension = Dimension::flops_per_second},
    Key{.path = "link_bandwidth",
        .kind = quantity,
        .meaning = "scale-up link per device, one direction",
        .dimension = Dimension::bytes_per_second},
    Key{.path = "network_bandwidth",
        .kind = quantity,
        .meaning = "network per device, one direction",
        .dimension = Dimension::bytes_per_second},
};

}  // namespace

const KeyTable& scenario_keys() {
  static constexpr KeyTable table{"depthcost/1", "scenario", kScenario};
  return table;
}

const KeyTable& model_keys() {
  static constexpr KeyTable table{"depthcost-model/1", "model", kModel};
  return table;
}

const KeyTable& hardware_keys() {
  static constexpr KeyTable table{"depthcost-hardware/1", "hardware", kHardware};
  return table;
}

const Key* find_key(const KeyTable& table, std::string_view path) {
  const auto found = std::find_if(table.keys.begin(), table.keys.end(),
                                  [&](const Key& key) { return key.path == path; });
  return found == table.keys.end() ? nullptr : &*found;
}

bool is_section(const KeyTable& table, std::string_view path) {
  return std::any_of(table.keys.begin(), table.keys.end(), [&](const Key& key) {
    return key.path.size() > path.size() && key.path.starts_with(path) &&
           key.path[path.size()] == '.';
  });
}

std::vector<std::string> names_inside(const KeyTable& table, std::string_view section) {
  const std::string prefix = section.empty() ? "" : std::string(section) + ".";
  std::vector<std::string> names;
  for (const Key& key : table.keys) {
    if (!key.path.starts_with(prefix)) continue;
    const std::string_view rest = key.path.substr(prefix.size());
    const std::string name(rest.substr(0, rest.find_first_of(".[")));
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

}  // namespace depthcost
