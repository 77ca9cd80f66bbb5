// Operations of all heads and of the experts that a token visits, each once.
#include "model/training/throughput.hpp"

#include "model/step/layer_cost.hpp"

namespace depthcost {

Flops model_flops_per_token(const Study& study) {
  const Architecture& architecture = *study.model.architecture;
  const double d = as_double(study.model.hidden_size);
  const double tokens = as_double(study.training->sequence_length);
  Flops forward{2 * as_double(architecture.vocabulary_size) * d +
                2 * num_projections(architecture.tables)};
  for (const AttentionLayers& layers : architecture.attention) {
    const AttentionCost cost =
        attention_cost(layers.attention, d, {.first = 0, .tokens = tokens}, 1);
    forward += (as_double(layers.num_decoder_layers) / tokens) * (cost.flops + cost.core);
  }
  for (const MlpLayers& layers : architecture.mlp) {
    const MlpWeights weights = num_weights(layers.mlp, d);
    const auto* experts = std::get_if<ExpertMlp>(&layers.mlp);
    const double visited = experts == nullptr ? 0 : as_double(experts->num_active);
    forward += Flops{2 * as_double(layers.num_decoder_layers) *
                     (weights.of_all_tokens() + visited * weights.per_expert)};
  }
  return 3 * forward;
}

Throughput throughput(const Study& study, Seconds step) {
  const double tokens = as_double(study.data_parallel_size) * tokens_of_step(*study.training);
  const double devices = as_double(num_devices(study));
  Throughput of{.tokens_per_second = tokens / step.value,
                .tokens_per_second_and_device = tokens / step.value / devices};
  of.model_rate =
      FlopsPerSecond{of.tokens_per_second_and_device * model_flops_per_token(study).value};
  of.utilization = of.model_rate / *study.machine->tensor_rate;
  return of;
}

}  // namespace depthcost
