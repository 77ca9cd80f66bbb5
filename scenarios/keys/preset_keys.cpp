// The tables of models and of hardware.
#include "model/step/study.hpp"
#include "scenarios/keys/key_builders.hpp"

namespace depthcost {
namespace {

using namespace key_builders;

constexpr std::array<Names, 4> kVendors{"nvidia", "amd", "intel", "arm"};
constexpr std::array<Names, 9> kMemories{"hbm2",   "hbm2e", "hbm3", "hbm3e",  "gddr6",
                                         "gddr6x", "gddr7", "ddr5", "lpddr5x"};

const std::array kModel{
    key(text, "schema", "must be depthcost-model/1; needed in files, not in inline maps"),
    key(text, "name", "as in reports"),
    key(text, "base", "a model preset or path whose values stand where none is written here"),
    key(count, "decoder_layers", "decoder layers; each has two layers, attention and MLP"),
    instead_of("decoder_layers", key(count, "num_layers", "layers (sublayers) L")),
    required(key(count, "hidden_size", "elements d of one token's residual vector")),
    required(key(choice, "dtype", kNames<Dtype>, "storage of the residual stream")),
    later(key(number, "total_parameters", "of the whole model")),
    later(key(number, "active_parameters", "per token")),
    key(count, "vocabulary_size", "rows of the embedding and of the output projection"),
    key(choice, "output_head", kNames<OutputHead>,
        "tied: the output projection is the embedding's table; own if absent"),
    key(choice, "weight_dtype", kNames<WeightDtype>, "storage of weights; as dtype if absent"),
    key(choice, "expert_dtype", kNames<WeightDtype>,
        "storage of the weights of routed experts; as weight_dtype if absent"),
    with_default(key(choice, "kv_dtype", kNames<Dtype>,
                     "storage of the KV cache; fp8 if absent with compressed attention"),
                 "bf16", "[ours] what serving engines keep unless told otherwise"),
    key(records, "attention", "of the decoder layers, equal ones together"),
    required(key(choice, "attention[].kind", kAttentionNames,
                 "grouped: keys and values of each KV head; latent: MLA; linear: a state (KDA); "
                 "compressed: summaries along the sequence (DeepSeek-V4)")),
    required(key(count, "attention[].decoder_layers", "how many have it")),
    required(key(count, "attention[].heads", "query heads; linear: heads of values")),
    key(count, "attention[].kv_heads", "grouped: heads of keys and values"),
    key(count, "attention[].head_dim", "grouped, linear, compressed: elements of a head"),
    key(count, "attention[].window",
        "tokens that a token sees: grouped (all if absent), compressed"),
    key(count, "attention[].q_rank",
        "rank of compressed queries: of kind latent (not compressed if absent) and compressed"),
    key(count, "attention[].kv_rank", "latent: elements of the compressed key-value vector"),
    key(count, "attention[].nope_dim", "latent: of a head's query and key, without rotation"),
    non_negative(
        key(count, "attention[].rope_dim", "latent: with rotation, one key for all heads")),
    key(count, "attention[].value_dim", "latent: of a head's value"),
    key(choice, "attention[].output_gate", kNames<OutputGate>,
        "grouped, latent: absent if not written"),
    key(choice, "attention[].key_values", kNames<KeyValues>,
        "grouped: shared layers read the keys and values of an earlier one, and have neither "
        "projections nor cache for them; with one_projection, one projection makes keys and "
        "values; compressed: own or shared summaries; own if absent"),
    key(count, "attention[].conv_width",
        "linear: of the short convolutions on q, k and v; grouped: of one on q and k, which mixes the "
        "elements of a head"),
    key(count, "attention[].key_heads", "linear: heads of queries and keys; heads if absent"),
    key(count, "attention[].key_dim",
        "linear: of a query and a key, the state size of Mamba-2; head_dim if absent"),
    key(count, "attention[].gate_rank", "linear: of the output gate; full if absent"),
    key(choice, "attention[].decay", kNames<Decay>,
        "linear: per_channel if absent; step: by the step size, as in Mamba-2"),
    key(count, "attention[].output_rank", "compressed: of each group of the output projection"),
    key(count, "attention[].output_groups", "compressed: groups of the output projection"),
    key(count, "attention[].ratio", "compressed: tokens of a summary; the window alone if absent"),
    key(count, "attention[].top_k",
        "compressed: summaries that the indexer picks; grouped, latent: keys; all if absent"),
    key(count, "attention[].index_heads",
        "compressed, grouped, latent: heads of the indexer; without: keys of the last indexer"),
    key(count, "attention[].index_dim", "compressed, grouped, latent: elements of each"),
    key(count, "attention[].index_ratio",
        "grouped, latent: tokens that share one key of the indexer; 1 if absent"),
    key(count, "attention[].candidates",
        "compressed: summaries that the indexer scores at most; all if absent"),
    key(records, "mlp", "of the decoder layers, equal ones together"),
    required(
        key(choice, "mlp[].kind", kMlpNames, "gate, up and down projection; or a router of them")),
    required(key(count, "mlp[].decoder_layers", "how many have it")),
    required(key(count, "mlp[].width", "width of the MLP, or of one expert")),
    key(count, "mlp[].experts", "experts: routed ones"),
    key(count, "mlp[].active", "experts: routed ones that a token sees"),
    non_negative(key(count, "mlp[].shared", "experts: that all tokens see; 0 if absent")),
    key(count, "mlp[].groups", "experts: groups of equal size that they lie in; 1 if absent"),
    key(count, "mlp[].groups_per_token",
        "experts: groups from which a token's are picked, so that it travels to fewer nodes"),
    key(count, "mlp[].router_width",
        "experts: of two hidden layers of the router; it has none if absent"),
    key(count, "mlp[].latent_width", "experts: what routed ones work on; hidden_size if absent"),
    key(records, "tables",
        "tables beside the embedding in which a token looks up rows: of n-grams, or for each layer"),
    required(key(count, "tables[].rows", "rows, which weigh on memory and hardly on a step")),
    required(key(count, "tables[].width", "elements of a row")),
    key(count, "tables[].projections",
        "weights that take in what is looked up, of all layers; a step reads them; none if absent"),
    key(choice, "tables[].dtype", kNames<WeightDtype>,
        "storage of the rows; weight_dtype if absent"),
    key(records, "draft",
        "one record: layers behind the model that draft tokens for speculative decoding"),
    required(key(count, "draft[].layers",
                 "how many; each pass of one drafts one token, unless there is a `block`")),
    required(key(count, "draft[].attention", "the record of `attention` that they have, from 1")),
    required(key(count, "draft[].mlp", "the record of `mlp` that they have, from 1")),
    key(count, "draft[].experts", "experts where that record has another number"),
    key(count, "draft[].active", "experts that a token sees where that record has another number"),
    key(count, "draft[].projections",
        "weights of all of them that take in what they start from; none if absent"),
    key(count, "draft[].block", "tokens that all of them draft in one pass"),
    key(choice, "residual.scheme", scheme_names(), "the scheme of the released model"),
    key(count, "residual.block_size", "layers (sublayers) per AttnRes block"),
    instead_of("residual.block_size",
               key(count, "residual.num_blocks", "how many blocks, without the embedding")),
    key(choice, "residual.remainder", kNames<Remainder>,
        "which blocks hold the L mod N layers that num_blocks leaves"),
    key(count, "residual.num_streams", "residual streams m of mHC"),
    key(count, "residual.gate_rank", "r of gated_residual"),
    key(count, "residual.rank", "r of altup"),
};

constexpr std::array kHardware{
    key(text, "schema", "must be depthcost-hardware/1; needed in files, not in inline maps"),
    key(text, "name", "as in reports"),
    key(text, "base", "a hardware preset or path whose values stand where none is written here"),
    required(key(choice, "kind", kKinds, "what runs the kernels")),
    key(choice, "vendor", kVendors,
        "chooses the parts that missing transfers are taken from, and without "
        "`architecture` other values"),
    key(choice, "architecture", kArchitectures,
        "decides which kernels run; missing values are taken from parts of the nearest architecture"),
    key(choice, "memory_technology", kMemories,
        "chooses the parts that a missing sustained fraction is taken from"),
    key(quantity, "memory_capacity", Dimension::bytes, "as sold"),
    belonging_to(
        key(quantity, "visible_memory", Dimension::bytes,
            "memory that the driver shows, which decides what fits; memory_capacity if absent"),
        "memory_capacity"),
    required(key(quantity, "memory_bandwidth", bytes_per_second, "datasheet; no kernel is faster")),
    key(records, "sustained_bandwidth", "measured by plain streaming kernels, by read:write mix"),
    required(non_negative(key(count, "sustained_bandwidth[].reads", "streams read"))),
    required(non_negative(key(count, "sustained_bandwidth[].writes", "streams written"))),
    required(key(quantity, "sustained_bandwidth[].value", bytes_per_second,
                 "reads and writes together")),
    key(quantity, "cache_capacity", Dimension::bytes, "the last level that all cores share"),
    key(records, "cache_bandwidth", "of that level, by read:write mix"),
    required(non_negative(key(count, "cache_bandwidth[].reads", "streams read"))),
    required(non_negative(key(count, "cache_bandwidth[].writes", "streams written"))),
    required(
        key(quantity, "cache_bandwidth[].value", bytes_per_second, "reads and writes together")),
    key(records, "cache_transition", "share of the traffic that memory serves, by footprint"),
    required(
        key(quantity, "cache_transition[].footprint", Dimension::bytes, "bytes between two uses")),
    required(
        non_negative(key(quantity, "cache_transition[].memory_weight", ratio, "0 % to 100 %"))),
    key(records, "launch_floor", "what a kernel costs before its first byte and after its last"),
    required(key(choice, "launch_floor[].launch", kNames<Launch>, "launch mode")),
    required(key(choice, "launch_floor[].level", kNames<Level>, "where its data is")),
    required(key(choice, "launch_floor[].skeleton", kNames<Skeleton>, "how its threads cooperate")),
    required(key(quantity, "launch_floor[].value", seconds, "seconds per kernel")),
    key(quantity, "saturation_latency", seconds,
        "h / B of bandwidth = min(cap, B n / (n + h)), n bytes in flight"),
    key(count, "num_multiprocessors", "SMs or CUs; cores on a CPU"),
    key(quantity, "bf16_rate", flops_per_second, "dense tensor rate"),
    key(quantity, "fp8_rate", flops_per_second, "dense tensor rate"),
    key(quantity, "f32_rate", flops_per_second, "fp32 lanes"),
    key(quantity, "link_bandwidth", bytes_per_second, "scale-up link per device, one direction"),
    key(quantity, "network_bandwidth", bytes_per_second, "network per device, one direction"),
    key(quantity, "host_bandwidth", bytes_per_second,
        "between a device and the memory of its host, one direction"),
    with_default(key(count, "node_devices", "devices that scale-up links join"), "8",
                 "[ours] the size of most nodes of accelerators"),
    key(records, "transfers", "measured sends and collectives"),
    required(key(choice, "transfers[].kind", kNames<TransferKind>, "what is done")),
    required(
        key(choice, "transfers[].scope", kNames<TransferScope>, "inside a node, or between nodes")),
    required(key(count, "transfers[].ranks", "devices that take part")),
    required(key(quantity, "transfers[].size", Dimension::bytes,
                 "the whole vector that is reduced, gathered or scattered, on one device; of a "
                 "send the message")),
    required(key(quantity, "transfers[].time", seconds, "until all have it")),
};

}  // namespace

const KeyTable& model_keys() {
  static const KeyTable table{"depthcost-model/1", "model", kModel};
  return table;
}

const KeyTable& hardware_keys() {
  static constexpr KeyTable table{"depthcost-hardware/1", "hardware", kHardware};
  return table;
}

}  // namespace depthcost
