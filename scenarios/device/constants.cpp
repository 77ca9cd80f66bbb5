// From keys to constants.
#include "scenarios/device/constants.hpp"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <string_view>

#include "scenarios/keys/values.hpp"
#include "scenarios/presets/presets.hpp"

namespace depthcost {
namespace {

/// A value and the ends of its interval, which stand beside it.
template <class Q>
Estimate<Q> with_ends(const Values& values, const std::string& key) {
  const auto at = [&](const char* end) { return Q{values.number(key + end)}; };
  const Estimate<Q> estimate{at("_low"), at(""), at("_high"), Evidence::published};
  if (estimate.low > estimate.value || estimate.value > estimate.high)
    throw InputError(
        values.at(key).position,
        fmt::format("invalid {} (it does not lie between {}_low and {}_high)", key, key, key));
  return estimate;
}

/// What measurements are over predictions: 1 lies inside.
Estimate<double> error_of(const Values& values, const std::string& key) {
  const Estimate<double> error{values.number(key + "_low"), 1, values.number(key + "_high"),
                               Evidence::published};
  if (error.low > 1 || error.high < 1)
    throw InputError(values.at(key + "_low").position,
                     fmt::format("invalid {} (1 does not lie between low and high)", key));
  return error;
}

KernelConstants kernel_constants(const Values& values) {
  KernelConstants kernels{.loop_draw = {values.number("loop_draw")},
                          .coefficient_step = {values.number("coefficient_step")},
                          .sinkhorn_step = {values.number("sinkhorn_step")},
                          .projection_reuse = values.number("projection_reuse"),
                          .ring_draw = with_ends<BytesPerSecond>(values, "ring_draw"),
                          .folded_call = with_ends<Seconds>(values, "folded_call"),
                          .folded_call_ahead = with_ends<Seconds>(values, "folded_call_ahead"),
                          .cache_share = values.number("cache_share"),
                          .stream_efficiency = values.number("stream_efficiency"),
                          .projection_efficiency = values.number("projection_efficiency"),
                          .projection_wave = values.number("projection_wave")};
  for (std::size_t i = 0; i < values.num_records("errors"); ++i) {
    const std::string record = fmt::format("errors[{}].", i);
    kernels.errors[static_cast<std::size_t>(values.choice<Kinship>(record + "kinship"))] = {
        error_of(values, record + "token"), error_of(values, record + "bytes")};
  }
  for (std::size_t i = 0; i < values.num_records("stacks"); ++i) {
    const std::string record = fmt::format("stacks[{}].", i);
    const auto stack = values.choice<Implementation>(record + "stack");
    if (!is_stack(stack))
      throw InputError(values.at(record + "stack").position,
                       fmt::format("invalid stacks[].stack '{}' (no serving stack)", name(stack)));
    kernels.stacks[static_cast<std::size_t>(stack)] = {
        with_ends<double>(values, record + "streams"),
        with_ends<double>(values, record + "projection")};
  }
  return kernels;
}

TrainingConstants training_constants(const Values& values) {
  return {.bf16_products = values.number("training_bf16_products"),
          .fp8_products = values.number("training_fp8_products"),
          .experts = values.number("training_experts"),
          .errors = {error_of(values, "dense_training"), error_of(values, "expert_training")}};
}

EngineConstants engine_constants(const Values& values) {
  const auto kernels = [&](const std::string& kind) {
    return EngineKernels{Seconds{values.number(kind + "_floor")},
                         values.number(kind + "_efficiency")};
  };
  return {.attention = kernels("attention"),
          .mlp = kernels("mlp"),
          .errors = {error_of(values, "dense_step"), error_of(values, "expert_step")},
          .floor_of_launched_ahead = values.number("floor_of_launched_ahead"),
          .sequence_time = Seconds{values.number("sequence_time")},
          .sustained_rate = with_ends<double>(values, "sustained_rate"),
          .prefill_of_experts = with_ends<double>(values, "prefill_of_experts"),
          .training = training_constants(values)};
}

Constants constants_of(const Node& document, const std::string& file) {
  const KeyTable& table = constant_keys();
  const Map& map = root_map(document, table.what);
  require_schema(map, document.position, table);
  const Values values =
      read_values(map, document.position, {table, Provenance::scenario, file_label(file)});
  require_keys(values, table);
  Constants constants{.name = values.text("name"),
                      .left_out = values.has("left_out") ? values.text("left_out") : "",
                      .architectures = {},
                      .memory = values.text("memory"),
                      .kernels = kernel_constants(values),
                      .engine = engine_constants(values)};
  for (std::size_t i = 0; i < values.num_records("fitted"); ++i) {
    const std::string record = fmt::format("fitted[{}].", i);
    constants.architectures.push_back(
        {values.text(record + "architecture"), values.number(record + "floor_share")});
  }
  return constants;
}

/// A shipped file of this name, or nullptr. Each is read when it is first asked for.
const Constants* shipped(const std::string& name) {
  static std::mutex mutex;
  static std::map<std::string, Constants, std::less<>> read;
  const std::lock_guard lock(mutex);
  const auto known = read.find(name);
  if (known != read.end()) return &known->second;
  for (const Preset& preset : shipped_data()) {
    if (preset.kind != "constants" || preset.id != name) continue;
    const std::string file = fmt::format("scenarios/constants/{}.yaml", name);
    return &read.emplace(name, constants_of(parse_document(preset.text, file), file)).first->second;
  }
  return nullptr;
}

}  // namespace

const Constants& shipped_constants() { return *shipped("all"); }

const Constants* shipped_fold(const std::string& left_out) { return shipped(left_out); }

Constants load_constants(const std::string& path) {
  return constants_of(load_document(path), path);
}

Constants constants_of_option(const std::string& path) {
  return path.empty() ? shipped_constants() : load_constants(path);
}

}  // namespace depthcost
