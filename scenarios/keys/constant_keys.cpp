// The table of files of fitted constants: model/machine/constants.hpp as a user would write it.
#include "model/machine/constants.hpp"
#include "scenarios/keys/key_builders.hpp"

namespace depthcost {
namespace {

using namespace key_builders;

constexpr Key needed(std::string_view path, Dimension dimension, std::string_view meaning) {
  return required(key(quantity, path, dimension, meaning));
}

constexpr Key needed(std::string_view path, std::string_view meaning) {
  return required(key(number, path, meaning));
}

constexpr std::array kConstants{
    required(key(text, "schema", "must be depthcost-constants/1")),
    required(key(text, "name", "name of the constants in lists")),
    key(text, "left_out", "the GPU, architecture or model whose rows were not used; absent: none"),
    required(key(text, "memory", "kind of memory of the parts that kernels were fitted on")),
    key(records, "fitted", "architectures that kernels were fitted on"),
    required(key(choice, "fitted[].architecture", kArchitectures, "of the hardware")),
    needed("fitted[].floor_share", "floors of kernels that loop over those of plain kernels"),
    needed("loop_draw", bytes_per_second, "what one CTA draws that loads a row after the other"),
    needed("coefficient_step", seconds, "reading coefficients before the rows"),
    needed("sinkhorn_step", seconds, "reductions of a row and 20 Sinkhorn iterations"),
    needed("projection_reuse", "uses of a projection's weight for each time the cache serves it"),
    needed("cache_share", "share of the cache's capacity that kernels find their data in"),
    needed("stream_efficiency", "bandwidth of kernels over that of plain streams"),
    needed("projection_efficiency", "the same of kernels that project the streams"),
    needed("projection_wave", "what the second wave of these takes of the first"),
    needed("ring_draw", bytes_per_second, "what a cluster draws with bulk copies"),
    needed("ring_draw_low", bytes_per_second, "low end of its interval"),
    needed("ring_draw_high", bytes_per_second, "high end"),
    needed("folded_call", seconds, "what an all-reduce takes longer with an operation inside it"),
    needed("folded_call_low", seconds, "low end of its interval"),
    needed("folded_call_high", seconds, "high end"),
    needed("folded_call_ahead", seconds, "the same where kernels are launched ahead"),
    needed("folded_call_ahead_low", seconds, "low end of its interval"),
    needed("folded_call_ahead_high", seconds, "high end"),
    key(records, "errors", "measured over predicted of nine of ten kernels that were left out"),
    required(key(choice, "errors[].kinship", kNames<Kinship>, "of the part")),
    needed("errors[].token_low", "kernels of few tokens: low end"),
    needed("errors[].token_high", "high end"),
    needed("errors[].bytes_low", "kernels of many tokens: low end"),
    needed("errors[].bytes_high", "high end"),
    key(records, "stacks", "what a serving stack's mHC kernels take over the fastest published"),
    required(key(choice, "stacks[].stack", kNames<Implementation>, "vllm, sglang or trtllm")),
    needed("stacks[].streams", "of kernels that mix streams"),
    needed("stacks[].streams_low", "low end of its interval"),
    needed("stacks[].streams_high", "high end"),
    needed("stacks[].projection", "of kernels that project the streams"),
    needed("stacks[].projection_low", "low end of its interval"),
    needed("stacks[].projection_high", "high end"),
    needed("attention_floor", seconds, "what a kernel of attention takes beside its bytes"),
    needed("attention_efficiency", "share of the bandwidth of plain reads"),
    needed("mlp_floor", seconds, "what a kernel of an MLP takes beside its bytes"),
    needed("mlp_efficiency", "share of the bandwidth of plain reads"),
    needed("floor_of_launched_ahead", "share of those floors where kernels are launched ahead"),
    needed("dense_step_low",
           "measured over predicted of nine of ten steps of dense models that were left out: low "
           "end"),
    needed("dense_step_high", "high end"),
    needed("expert_step_low", "the same of models with experts: low end"),
    needed("expert_step_high", "high end"),
    needed("sequence_time", seconds,
           "the most that a decode step takes longer with each sequence; an engine may hide it"),
    needed("sustained_rate", "share of the dense rate that matrix products reach"),
    needed("sustained_rate_low", "low end of its interval"),
    needed("sustained_rate_high", "high end"),
    needed("prefill_of_experts", "times what bytes and operations of a prefill's experts say"),
    needed("prefill_of_experts_low", "low end of its interval"),
    needed("prefill_of_experts_high", "high end"),
    needed("training_bf16_products",
           "share of the dense bf16 rate that the products of a training step reach"),
    needed("training_fp8_products", "share of the dense fp8 rate"),
    needed("training_experts",
           "share of the dense bf16 rate that routed experts of a training step reach"),
    needed("dense_training_low",
           "measured over predicted of nine of ten training steps of dense models that were left "
           "out: low end"),
    needed("dense_training_high", "high end"),
    needed("expert_training_low", "the same of models with experts: low end"),
    needed("expert_training_high", "high end"),
};

}  // namespace

const KeyTable& constant_keys() {
  static constexpr KeyTable table{"depthcost-constants/1", "constants file", kConstants};
  return table;
}

}  // namespace depthcost
