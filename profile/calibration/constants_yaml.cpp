// Writes constants with as many digits as they mean.
#include <fmt/format.h>

#include "profile/calibration/fold.hpp"

namespace depthcost::calibration {
namespace {

std::string rate(BytesPerSecond value) { return fmt::format("{:.4g} GB/s", 1e-9 * value.value); }
std::string time(Seconds value) { return fmt::format("{:.4g} us", 1e6 * value.value); }
std::string plain(double value) { return fmt::format("{:.4g}", value); }

template <class Q, class Text>
std::string with_ends(const std::string& key, const Estimate<Q>& estimate, const Text& text) {
  return fmt::format("{0}: {1}\n{0}_low: {2}\n{0}_high: {3}\n", key, text(estimate.value),
                     text(estimate.low), text(estimate.high));
}

std::string errors_of(const KernelConstants& kernels) {
  std::string text = "errors:\n";
  for (const Kinship kinship : kEnumerators<Kinship>) {
    const KernelErrors& errors = kernels.errors[static_cast<std::size_t>(kinship)];
    text += fmt::format(
        "  - {{kinship: {}, token_low: {}, token_high: {}, bytes_low: {}, bytes_high: {}}}\n",
        name(kinship), plain(errors.token.low), plain(errors.token.high), plain(errors.bytes.low),
        plain(errors.bytes.high));
  }
  return text;
}

std::string stacks_of(const KernelConstants& kernels) {
  std::string text = "stacks:\n";
  const auto factor = [](const char* key, const Estimate<double>& of) {
    return fmt::format("{0}: {1}, {0}_low: {2}, {0}_high: {3}", key, plain(of.value), plain(of.low),
                       plain(of.high));
  };
  for (const Implementation stack : kEnumerators<Implementation>) {
    if (!is_stack(stack)) continue;
    const StackFactors& factors = kernels.stacks[static_cast<std::size_t>(stack)];
    text +=
        fmt::format("  - {{stack: {}, {}, {}}}\n", name(stack), factor("streams", factors.streams),
                    factor("projection", factors.projection));
  }
  return text;
}

/// "dense_step_low: 0.7\ndense_step_high: 1.4\n".
std::string step_error(const char* key, const Estimate<double>& error) {
  return fmt::format("{0}_low: {1}\n{0}_high: {2}\n", key, plain(error.low), plain(error.high));
}

}  // namespace

std::string to_yaml(const Constants& constants) {
  const KernelConstants& kernels = constants.kernels;
  const EngineConstants& engine = constants.engine;
  std::string text =
      "# Written by scripts/calibrate. Do not edit. model/REFERENCES.md, \"constants\", says what each "
      "means, and\n"
      "# profile/calibration/start.yaml where those come from that it does not fit.\n"
      "schema: depthcost-constants/1\n";
  text += fmt::format("name: {}\n", constants.name);
  if (!constants.left_out.empty()) text += fmt::format("left_out: {}\n", constants.left_out);
  text += fmt::format("memory: {}\nfitted:\n", constants.memory);
  for (const FittedArchitecture& fitted : constants.architectures)
    text += fmt::format("  - {{architecture: {}, floor_share: {}}}\n", fitted.name,
                        plain(fitted.floor_share));
  text += fmt::format("loop_draw: {}\ncoefficient_step: {}\nsinkhorn_step: {}\n",
                      rate(kernels.loop_draw), time(kernels.coefficient_step),
                      time(kernels.sinkhorn_step));
  text += fmt::format("projection_reuse: {}\ncache_share: {}\n", plain(kernels.projection_reuse),
                      plain(kernels.cache_share));
  text += fmt::format("stream_efficiency: {}\nprojection_efficiency: {}\nprojection_wave: {}\n",
                      plain(kernels.stream_efficiency), plain(kernels.projection_efficiency),
                      plain(kernels.projection_wave));
  text += with_ends("ring_draw", kernels.ring_draw, rate);
  text += with_ends("folded_call", kernels.folded_call, time);
  text += with_ends("folded_call_ahead", kernels.folded_call_ahead, time);
  text += errors_of(kernels);
  text += stacks_of(kernels);
  text += fmt::format("attention_floor: {}\nattention_efficiency: {}\n",
                      time(engine.attention.floor), plain(engine.attention.efficiency));
  text += fmt::format("mlp_floor: {}\nmlp_efficiency: {}\n", time(engine.mlp.floor),
                      plain(engine.mlp.efficiency));
  text += fmt::format("floor_of_launched_ahead: {}\n", plain(engine.floor_of_launched_ahead));
  const auto [dense, experts] = engine.errors;
  text += step_error("dense_step", dense) + step_error("expert_step", experts);
  text += fmt::format("sequence_time: {}\n", time(engine.sequence_time));
  text += with_ends("sustained_rate", engine.sustained_rate, plain);
  text += with_ends("prefill_of_experts", engine.prefill_of_experts, plain);
  const TrainingConstants& training = engine.training;
  text += fmt::format(
      "training_bf16_products: {}\ntraining_fp8_products: {}\ntraining_experts: {}\n",
      plain(training.bf16_products), plain(training.fp8_products), plain(training.experts));
  const auto [dense_training, expert_training] = training.errors;
  text +=
      step_error("dense_training", dense_training) + step_error("expert_training", expert_training);
  return text;
}

}  // namespace depthcost::calibration
