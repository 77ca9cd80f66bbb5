// Names of measured steps.
#include "microbench/cases/decode_step.hpp"

#include <fmt/format.h>

namespace depthcost::bench {

std::string step_name(const StepShape& step, const StepKind& kind) {
  return fmt::format("step/{}/{}/bf16/T:{}/d:{}/L:{}/S:{}/W:{}", kind.scheme,
                     name(kind.schedule, kind.phase1), step.num_tokens, step.hidden_size,
                     step.num_layers, step.block_size, step.weight_bytes);
}

}  // namespace depthcost::bench
