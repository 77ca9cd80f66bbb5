// The table of scenarios. Order is the order of the documentation.
#include "scenarios/keys/key_builders.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "model/step/study.hpp"

namespace depthcost {
namespace {

using namespace key_builders;

constexpr auto kPhase1Dtypes = names_of_some(std::array{Dtype::bf16, Dtype::f32});
constexpr std::array<Names, 1> kFits{"fits"};

/// Zero is a valid measurement: the system does not do it at all.
constexpr Key measured_term(KeyKind kind, Names path) {
  const bool is_training = path.starts_with("step_terms.training.");
  return non_negative(key(
      kind, path, seconds,
      is_training          ? "measured by the user, in place of the modelled term: one forward "
                             "pass of one micro-batch through all layers"
      : kind == quantities ? "measured by the user, in place of the modelled term of the step: "
                             "one for all batches, or one each"
                           : "measured by the user, in place of the modelled term of the step"));
}

const std::array kScenario{
    required(key(text, "schema", "must be depthcost/1")),
    key(text, "name", "title of the report; the file's name if absent"),
    required(key(reference, "model",
                 "a model preset, a path (a config.json of Hugging Face too), or a map")),
    key(reference, "hardware",
        "a hardware preset, a path, or a map; without it no time is predicted"),
    key(choice, "residual.scheme", scheme_names(),
        "how the residual stream is carried; the model's own if absent"),
    key(count, "residual.block_size",
        "layers (sublayers, twice the decoder layers) per AttnRes block"),
    instead_of("residual.block_size",
               key(count, "residual.num_blocks", "how many blocks, without the embedding")),
    with_default(key(choice, "residual.remainder", kNames<Remainder>,
                     "which blocks hold the L mod N layers that num_blocks leaves"),
                 "paper", "[attnres] Sec. 3.2 read with S = L/N"),
    key(choice, "residual.schedule", kNames<Schedule>,
        "the schedule whose numbers the verdict quotes; fused or single_pass if absent"),
    key(choices, "residual.compare", scheme_names(), "schemes to put beside it"),
    with_default(
        key(count, "residual.num_streams",
            "streams of mHC, hyper-connections, gated_residual and wide_residual, copies of altup"),
        "4", "[mhc] n = 4, the value of every released model"),
    key(count, "residual.value_width", "d_v of deep_delta"),
    key(count, "residual.dilation", "of denseformer, in decoder layers"),
    key(count, "residual.period", "of denseformer, in decoder layers"),
    key(count, "residual.ways", "C of muddformer"),
    key(count, "residual.rank", "r of laurel_lr, laurel_pa and altup"),
    key(count, "residual.gate_rank", "r of gated_residual"),
    key(choice, "residual.weights", kNames<WeightPlacement>,
        "whether each tensor rank has all matrices of gated_residual or its share of them, with an "
        "all-reduce and an all-gather at each site; replicated if absent, as engines ship it"),
    key(choice, "residual.weight_dtype", kNames<WeightDtype>,
        "storage of the matrices of gated_residual; the model's dtype if absent"),
    key(choice, "residual.stream_dtype", kNames<Dtype>,
        "storage of the streams of residual_scaling and wide_residual; if absent f32 for the "
        "first, as it ships, and the model's dtype for the second"),
    key(count, "residual.history", "earlier states that laurel_pa reads"),
    key(count, "residual.window",
        "W of attnres_sliding_window: the most recent layer outputs, beside the embedding"),
    key(count, "residual.heads", "H of attnres_multihead"),
    key(count, "residual.kv_size", "elements of a token's values in value_residual"),
    key(choice, "residual.phase1_dtype", kPhase1Dtypes,
        "storage of Phase 1 outputs; the model's dtype if absent"),
    with_default(
        key(choice, "residual.implementation", kNames<Implementation>,
            "whose kernels run the residual operations; eager: a framework's own, unfused"),
        "fastest_published", "[ours] what the fastest stack with published times reaches"),
    key(choice, "residual.attach", kNames<Attachment>,
        "the kernel that the residual operation is fused with; if absent all_reduce at decode for the "
        "standard residual and AttnRes, where tensor ranks all hold the tokens, else standalone"),
    key(choice, "residual.baseline_attach", kNames<Attachment>,
        "the kernel that the standard residual of the baseline is fused with; per cents are of that "
        "step; as attach if absent, else all_reduce at decode where tensor ranks all hold the "
        "tokens, and standalone elsewhere"),
    key(choice, "residual.layout", kNames<Layout>,
        "whether tensor-parallel ranks share the tokens of a decode step and of training; if absent "
        "sequence_sharded in training and in a decode step whose prefill_tokens give each rank 8 MiB "
        "or more, replicated in other decode steps"),
    with_default(key(count, "parallelism.tensor", "tensor-parallel size"), "1",
                 "[ours] one device"),
    key(count, "parallelism.expert",
        "devices that whole experts are dealt out to; 1 if absent: tensor ranks share the width of "
        "each, as engines do unless told otherwise"),
    with_default(key(count, "parallelism.context",
                     "devices that share the keys of a sequence, in training its tokens"),
                 "1", "[ours] none"),
    with_default(key(count, "parallelism.data",
                     "replicas of attention whose tokens meet at the experts; tokens and sequences "
                     "count per replica"),
                 "1", "[ours] one replica"),
    key(choice, "parallelism.tables", kNames<TablePlacement>,
        "where the rows of the model's lookup tables lie, such as those of n-grams: divided over "
        "tensor ranks, or in the host's memory, from which they are fetched ahead and without "
        "cost; device if absent"),
    key(choice, "parallelism.dispatch_dtype", kNames<Dtype>,
        "storage of the rows that go to experts beyond the tensor ranks; fp8 if absent and the "
        "experts are, else the model's dtype, in which they come back"),
    key(count, "parallelism.pipeline", "pipeline stages P"),
    with_default(key(count, "parallelism.virtual_stages", "virtual stages V of each stage"), "1",
                 "[attnres] Sec. 4.1, V = 1: no interleaving"),
    non_negative(key(counts, "parallelism.chunk_layers",
                     "layers of each of the P V chunks, zeros allowed; spread evenly if absent")),
    key(choice, "workload.routing", kNames<Routing>,
        "how tokens choose among experts: all alike, or with popularity that falls as 1/i; a step "
        "waits for the fullest rank. If absent, training is balanced, and serving has a balanced "
        "router's mean rank, in an interval that holds both"),
    key(counts, "workload.decode.sequences",
        "sequences of a decode step, per model replica: one or several batches"),
    with_default(
        key(count, "workload.decode.context", "tokens already in the context of each sequence"),
        "8192", "[ours]"),
    key(count, "workload.decode.speculative.tokens",
        "tokens of each sequence that a step checks, its next one and the drafted ones; drafting "
        "costs what the model's `draft` says"),
    key(number, "workload.decode.speculative.accepted",
        "tokens that a sequence keeps of them in the mean"),
    non_negative(key(count, "workload.decode.prefill_tokens",
                     "tokens of a prompt that each decode step takes along (chunked prefill); none "
                     "if absent")),
    non_negative(key(count, "workload.decode.prefill_context",
                     "tokens of that prompt that lie before the chunk; half of context if absent")),
    key(choice, "workload.decode.phase1", kNames<Phase1Order>,
        "whether Phase 1 runs before a block's first layer, or beside that layer, except for its "
        "first query; "
        "in_order if absent"),
    with_default(key(choice, "workload.decode.launch", kNames<Launch>, "how kernels are launched"),
                 "graph", "what serving engines ship"),
    key(quantity, "workload.decode.layer_bytes", Dimension::bytes,
        "bytes (weights, experts, KV) that one layer streams on one device between two residual "
        "kernels; decides what survives in the cache"),
    key(count, "workload.prefill.tokens", "tokens of one sequence"),
    key(count, "workload.prefill.chunk", "tokens in flight at a time; all if absent"),
    key(count, "workload.prefill.sequence_shards",
        "devices that share one sequence's residual path; at most tensor x context, where one of "
        "these is written; the tensor ranks if absent"),
    with_default(key(choice, "workload.prefill.launch", kNames<Launch>, "how kernels are launched"),
                 "stream", "[ours] shapes vary from chunk to chunk"),
    key(count, "workload.training.sequence_length", "tokens of one sequence"),
    with_default(key(count, "workload.training.micro_batch", "sequences of a micro-batch"), "1",
                 "what most recipes for large models take: NVIDIA-NeMo/Megatron-Bridge @067f987d"),
    key(count, "workload.training.micro_batches",
        "micro-batches M of a step, per replica; a pipeline needs it; if absent, those of a step of "
        "4 Mi tokens over all replicas, at most 512"),
    with_default(key(choice, "workload.training.precision", kNames<Precision>,
                     "type in which the products of the layers are computed"),
                 "bf16", "NVIDIA/Megatron-LM: fp8 is an option"),
    key(choice, "workload.training.schedule", kNames<PipelineSchedule>,
        "order of the pipeline's work; interleaved_1f1b if absent and there are virtual stages, "
        "else 1f1b"),
    with_default(key(choice, "workload.training.activations", kNames<ActivationPolicy>,
                     "whether the residual path's activations are kept, recomputed or "
                     "offloaded until the backward pass"),
                 "recompute", "[mhc] Sec. 4.3.2; Kimi K3 recomputes AttnRes too: arXiv:2607.24653"),
    with_default(
        key(choice, "workload.training.layers", kNames<LayerActivations>,
            "whether the layers keep what their backward passes read, all but what MLA projects up "
            "and products of gates, or nothing, and run their forward passes again"),
        "keep", "NVIDIA/Megatron-LM: recomputation is an option"),
    with_default(
        key(choice, "workload.training.optimizer", kNames<Optimizer>, "whose state lies in memory"),
        "adamw", "NVIDIA/Megatron-LM: adam"),
    with_default(key(choice, "workload.training.sharding", kNames<StateSharding>,
                     "what replicas share out: nothing, the optimiser's state, gradients too, or "
                     "weights too (ZeRO 0 to 3)"),
                 "optimizer",
                 "Kimi K2 and DeepSeek-V3 train with ZeRO-1: arXiv:2412.19437 Sec. 3.2"),
    with_default(key(choice, "workload.training.main_gradients", kNames<Dtype>,
                     "type in which gradients of weights are added up"),
                 "f32", "NVIDIA/Megatron-LM: accumulate_allreduce_grads_in_fp32"),
    with_default(
        key(choice, "workload.training.gradient_accumulation", kNames<GradientAccumulation>,
            "how the gradients of a source that many layers read are added up"),
        "fused",
        "what training kernels ship: NVIDIA/Megatron-LM PR 6840, fla-org/flash-linear-attention"),
    with_default(key(choice, "workload.training.cache", kNames<Cache>,
                     "blocks that a pipeline stage keeps and need not be sent again"),
                 "received", "[attnres] Sec. 4.1"),
    with_default(key(choice, "workload.training.sends", kNames<Sends>,
                     "whether a pipeline stage goes on while its message is on the wire"),
                 "overlapped", "[attnres] Sec. 4.1"),
    key(choice, "workload.training.gradient_dtype", kNames<Dtype>,
        "storage of the gradients of d-vectors; the model's dtype if absent"),
    key(choice, "workload.training.wire_dtype", kNames<Dtype>,
        "storage of what crosses a pipeline boundary; the model's dtype if absent"),
    key(quantities, "baseline_step.decode", seconds,
        "measured step with the fused standard residual: one for all batches, or one each"),
    key(quantity, "baseline_step.prefill", seconds,
        "measured time of the whole prefill with the fused standard residual"),
    key(quantity, "baseline_step.training", seconds,
        "measured training step with the fused standard residual"),
    measured_term(quantities, "step_terms.decode.attention"),
    measured_term(quantities, "step_terms.decode.mlp"),
    measured_term(quantities, "step_terms.decode.head"),
    measured_term(quantities, "step_terms.decode.collectives"),
    measured_term(quantities, "step_terms.decode.launches"),
    measured_term(quantity, "step_terms.prefill.attention"),
    measured_term(quantity, "step_terms.prefill.mlp"),
    measured_term(quantity, "step_terms.prefill.head"),
    measured_term(quantity, "step_terms.prefill.collectives"),
    measured_term(quantity, "step_terms.prefill.launches"),
    measured_term(quantity, "step_terms.training.attention"),
    measured_term(quantity, "step_terms.training.mlp"),
    measured_term(quantity, "step_terms.training.head"),
    measured_term(quantity, "step_terms.training.collectives"),
    measured_term(quantity, "step_terms.training.launches"),
    key(text, "claim",
        "a claim about a cost and its source; budgets that are ratios are its limits, and the report "
        "says whether it holds"),
    key(quantity, "budgets.decode_overhead", ratio,
        "largest (t - t_base) / t_base over the batches"),
    key(quantity, "budgets.prefill_overhead", ratio,
        "largest (t - t_base) / t_base of the prefill"),
    key(quantity, "budgets.training_overhead", ratio,
        "largest (t - t_base) / t_base of a training step"),
    key(quantity, "budgets.exposed_communication", ratio,
        "(t - t_free) / t_free of a training step, where t_free has links between pipeline stages "
        "that take no time; collectives and what replicas exchange take as long in both"),
    key(quantity, "budgets.added_activations", ratio,
        "bytes that the residual path keeps for backward passes over those of the standard "
        "residual, less one: the largest of a stage; without received blocks"),
    key(quantity, "budgets.pipeline_cache", ratio,
        "bytes of blocks received over the pipeline, over those that the standard residual keeps "
        "for backward passes: the largest of a stage"),
    key(quantity, "budgets.prefill_bank", Dimension::bytes,
        "bytes of the bank with b_0 on one device"),
    key(quantity, "budgets.prefill_peak", Dimension::bytes,
        "bytes of bank, b_0 and Phase 1 outputs on one device"),
    key(quantity, "budgets.pipeline_peak", Dimension::bytes,
        "bytes per token at the largest pipeline boundary, everything sent; of training in its "
        "wire_dtype"),
    key(choice, "budgets.device_memory", kFits, "everything fits into what the driver shows"),
};

}  // namespace

const KeyTable& scenario_keys() {
  static const KeyTable table{"depthcost/1", "scenario", kScenario};
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
