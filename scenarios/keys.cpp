// The tables. Order is the order of the documentation.
#include "scenarios/key_builders.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace depthcost {
namespace {

using namespace key_builders;

constexpr std::array<Names, 4> kSchemes{"standard", "mhc", "full_attnres", "block_attnres"};
constexpr std::array<Names, 6> kSchedules{"unfused",  "fused",       "two_pass",
                                          "one_pass", "single_pass", "two_phase"};
constexpr std::array<Names, 4> kRemainders{"paper", "ceil", "strict", "literal"};
constexpr std::array<Names, 2> kPhase1Dtypes{"bf16", "f32"};
constexpr std::array<Names, 4> kAttachments{"standalone", "all_reduce", "reduce_scatter",
                                            "gemm_epilogue"};
constexpr std::array<Names, 2> kLayouts{"replicated", "sequence_sharded"};
constexpr std::array<Names, 1> kFits{"fits"};
constexpr std::array<Names, 4> kVendors{"nvidia", "amd", "intel", "arm"};
constexpr std::array<Names, 9> kMemories{"hbm2",   "hbm2e", "hbm3", "hbm3e",  "gddr6",
                                         "gddr6x", "gddr7", "ddr5", "lpddr5x"};

constexpr std::array kScenario{
    required(key(text, "schema", "must be depthcost/1")),
    key(text, "name", "title of the report; the file's name if absent"),
    required(key(reference, "model", "a model preset, a path, or a map")),
    key(reference, "hardware",
        "a hardware preset, a path, or a map; without it no time is predicted"),
    key(choice, "residual.scheme", kSchemes,
        "how the residual stream is carried; the model's own if absent"),
    key(count, "residual.block_size",
        "layers (sublayers, twice the decoder layers) per AttnRes block"),
    instead_of("residual.block_size",
               key(count, "residual.num_blocks", "how many blocks, without the embedding")),
    with_default(key(choice, "residual.remainder", kRemainders,
                     "what happens to L mod N when num_blocks is given"),
                 "paper", "[attnres] Sec. 3.2 read with S = L/N"),
    key(choice, "residual.schedule", kSchedules,
        "whose numbers the verdict quotes; fused or single_pass if absent"),
    key(choices, "residual.compare", kSchemes, "schemes to put beside it"),
    with_default(key(count, "residual.num_streams", "residual streams m of mHC"), "4",
                 "[mhc] n = 4, the value of every released model"),
    key(choice, "residual.phase1_dtype", kPhase1Dtypes,
        "storage of Phase 1 outputs; the model's dtype if absent"),
    with_default(key(choice, "residual.attach", kAttachments,
                     "the kernel that the residual operation is folded into"),
                 "standalone", "[ours] a kernel of its own"),
    with_default(key(choice, "residual.layout", kLayouts,
                     "whether tensor-parallel ranks share the tokens of a decode step"),
                 "replicated",
                 "what serving engines ship: every tensor-parallel rank holds all tokens"),
    with_default(key(count, "parallelism.tensor", "tensor-parallel size"), "1",
                 "[ours] one device"),
    later(key(count, "parallelism.expert", "expert-parallel size; as tensor if absent")),
    later(with_default(key(count, "parallelism.context", "context-parallel size"), "1",
                       "[ours] none")),
    later(with_default(
        key(count, "parallelism.data", "replicas; tokens and sequences count per replica"), "1",
        "[ours] one replica")),
    key(count, "parallelism.pipeline", "pipeline stages P"),
    with_default(key(count, "parallelism.virtual_stages", "virtual stages V of each stage"), "1",
                 "[attnres] Sec. 4.1, V = 1: no interleaving"),
    non_negative(key(counts, "parallelism.chunk_layers",
                     "layers of each of the P V chunks, zeros allowed; spread evenly if absent")),
    key(counts, "workload.decode.sequences",
        "sequences of a decode step, per model replica: one or several batches"),
    later(key(count, "workload.decode.context", "tokens already in the context of each sequence")),
    with_default(key(choice, "workload.decode.launch", kLaunches, "how kernels are launched"),
                 "graph", "what serving engines ship"),
    key(quantity, "workload.decode.layer_bytes", bytes,
        "bytes (weights, experts, KV) that one layer streams on one device between two residual "
        "kernels; decides what survives in the cache"),
    key(count, "workload.prefill.tokens", "tokens of one sequence"),
    key(count, "workload.prefill.chunk", "tokens in flight at a time; all if absent"),
    with_default(key(count, "workload.prefill.sequence_shards",
                     "devices that share one sequence's residual path"),
                 "1", "[ours] not sharded"),
    with_default(key(choice, "workload.prefill.launch", kLaunches, "how kernels are launched"),
                 "stream", "[ours] shapes vary from chunk to chunk"),
    key(quantities, "baseline_step.decode", seconds,
        "measured step with the fused standard residual: one for all batches, or one each"),
    key(quantity, "baseline_step.prefill", seconds,
        "measured time of the whole prefill with the fused standard residual"),
    key(quantity, "budgets.decode_overhead", ratio,
        "largest (t - t_base) / t_base over the batches"),
    key(quantity, "budgets.prefill_overhead", ratio,
        "largest (t - t_base) / t_base of the prefill"),
    key(quantity, "budgets.training_overhead", ratio,
        "largest (t - t_base) / t_base of a training step"),
    key(quantity, "budgets.prefill_bank", bytes, "bytes of the bank with b_0 on one device"),
    key(quantity, "budgets.prefill_peak", bytes,
        "bytes of bank, b_0 and Phase 1 outputs on one device"),
    key(quantity, "budgets.pipeline_peak", bytes,
        "bytes per token at the largest pipeline boundary, everything sent"),
    key(choice, "budgets.device_memory", kFits, "everything fits into what the driver shows"),
};

constexpr std::array kModel{
    key(text, "schema", "must be depthcost-model/1; needed in files, not in inline maps"),
    key(text, "name", "as in reports"),
    key(text, "base", "a model preset or path whose values stand where none is written here"),
    key(count, "decoder_layers", "decoder layers; each has two layers, attention and MLP"),
    instead_of("decoder_layers", key(count, "num_layers", "layers (sublayers) L")),
    required(key(count, "hidden_size", "elements d of one token's residual vector")),
    required(key(choice, "dtype", kDtypes, "storage of the residual stream")),
    later(key(number, "total_parameters", "of the whole model")),
    later(key(number, "active_parameters", "per token")),
    key(choice, "residual.scheme", kSchemes, "the scheme of the released model"),
    key(count, "residual.block_size", "layers (sublayers) per AttnRes block"),
    instead_of("residual.block_size",
               key(count, "residual.num_blocks", "how many blocks, without the embedding")),
    key(choice, "residual.remainder", kRemainders,
        "what happens to L mod N when num_blocks is given"),
    key(count, "residual.num_streams", "residual streams m of mHC"),
};

constexpr std::array kHardware{
    key(text, "schema", "must be depthcost-hardware/1; needed in files, not in inline maps"),
    key(text, "name", "as in reports"),
    key(text, "base", "a hardware preset or path whose values stand where none is written here"),
    required(key(choice, "kind", kKinds, "what runs the kernels")),
    key(choice, "vendor", kVendors, "where a missing launch floor is taken from"),
    key(choice, "memory_technology", kMemories, "where a missing sustained fraction is taken from"),
    key(quantity, "memory_capacity", bytes, "as sold"),
    key(quantity, "visible_memory", bytes, "what the driver shows: decides what fits"),
    required(key(quantity, "memory_bandwidth", bytes_per_second, "datasheet; no kernel is faster")),
    key(records, "sustained_bandwidth", "measured by plain streaming kernels, by read:write mix"),
    required(non_negative(key(count, "sustained_bandwidth[].reads", "streams read"))),
    required(non_negative(key(count, "sustained_bandwidth[].writes", "streams written"))),
    required(key(quantity, "sustained_bandwidth[].value", bytes_per_second,
                 "reads and writes together")),
    key(quantity, "cache_capacity", bytes, "the last level that all cores share"),
    key(records, "cache_bandwidth", "of that level, by read:write mix"),
    required(non_negative(key(count, "cache_bandwidth[].reads", "streams read"))),
    required(non_negative(key(count, "cache_bandwidth[].writes", "streams written"))),
    required(
        key(quantity, "cache_bandwidth[].value", bytes_per_second, "reads and writes together")),
    key(records, "cache_transition", "share of the traffic that memory serves, by footprint"),
    required(key(quantity, "cache_transition[].footprint", bytes, "bytes between two uses")),
    required(
        non_negative(key(quantity, "cache_transition[].memory_weight", ratio, "0 % to 100 %"))),
    key(records, "launch_floor", "what a kernel costs before its first byte and after its last"),
    required(key(choice, "launch_floor[].launch", kLaunches, "launch mode")),
    required(key(choice, "launch_floor[].level", kLevels, "where its data is")),
    required(key(choice, "launch_floor[].skeleton", kSkeletons, "how its threads cooperate")),
    required(key(quantity, "launch_floor[].value", seconds, "seconds per kernel")),
    key(quantity, "saturation_latency", seconds,
        "h / B of bandwidth = min(cap, B n / (n + h)), n bytes in flight"),
    later(key(count, "num_multiprocessors", "SMs or CUs; cores on a CPU")),
    key(quantity, "bf16_rate", flops_per_second, "dense tensor rate"),
    later(key(quantity, "fp8_rate", flops_per_second, "dense tensor rate")),
    key(quantity, "f32_rate", flops_per_second, "fp32 lanes"),
    later(key(quantity, "link_bandwidth", bytes_per_second,
              "scale-up link per device, one direction")),
    later(
        key(quantity, "network_bandwidth", bytes_per_second, "network per device, one direction")),
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
