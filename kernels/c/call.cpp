// What all calls share, and those that are no operation.
#include "kernels/c/call.hpp"

#include "kernels/cuda/device.hpp"

namespace depthcost::c {

ErrorText& last_error() {
  thread_local ErrorText error;
  return error;
}

void refuse(const ArgumentName& name, const std::string& problem) {
  throw std::invalid_argument(std::string(name.operation) + ": " + name.argument + " " + problem);
}

void check_choice(const ArgumentName& name, std::int32_t value,
                  std::initializer_list<Choice> choices) {
  std::string text;
  for (const Choice& choice : choices) {
    if (choice.value == value) return;
    const bool is_last = &choice == choices.end() - 1;
    text += (text.empty() ? ""
             : is_last    ? " or "
                          : ", ") +
            std::string(choice.meaning) + " = " + std::to_string(choice.value);
  }
  refuse(name, "is " + std::to_string(value) + " (must be " + text + ")");
}

void check_dtype(const ArgumentName& name, depthcost_dtype dtype) {
  check_choice(name, dtype, {{DEPTHCOST_F32, "f32"}, {DEPTHCOST_BF16, "bf16"}});
}

SumStore sum_store(const char* operation, depthcost_sum_store store) {
  check_choice({operation, "store"}, store,
               {{DEPTHCOST_STORE_PARTIAL_SUM, "the partial sum"},
                {DEPTHCOST_STORE_BANK_ROW, "a bank row"},
                {DEPTHCOST_STORE_NOWHERE, "nowhere"}});
  if (store == DEPTHCOST_STORE_PARTIAL_SUM) return SumStore::partial_sum;
  return store == DEPTHCOST_STORE_BANK_ROW ? SumStore::bank_row : SumStore::nowhere;
}

GradientStore gradient_store(const char* operation, depthcost_gradient_store store) {
  check_choice({operation, "store"}, store,
               {{DEPTHCOST_GRADIENT_OVERWRITE, "overwrite"}, {DEPTHCOST_GRADIENT_ADD, "add"}});
  return store == DEPTHCOST_GRADIENT_ADD ? GradientStore::add : GradientStore::overwrite;
}

SinkhornOrder sinkhorn_order(const char* operation, depthcost_sinkhorn_order order) {
  check_choice({operation, "order"}, order,
               {{DEPTHCOST_COL_ROW, "columns first"}, {DEPTHCOST_ROW_COL, "rows first"}});
  return order == DEPTHCOST_COL_ROW ? SinkhornOrder::col_row : SinkhornOrder::row_col;
}

DepthWeighting depth_weighting(const char* operation, depthcost_depth_weighting weighting) {
  check_choice({operation, "weighting"}, weighting,
               {{DEPTHCOST_SOFTMAX, "softmax"}, {DEPTHCOST_SIGMOID, "sigmoid"}});
  return weighting == DEPTHCOST_SOFTMAX ? DepthWeighting::softmax : DepthWeighting::sigmoid;
}

GateFunction gate_function(const char* operation, depthcost_gate_function function) {
  check_choice({operation, "function"}, function,
               {{DEPTHCOST_GATE_SIGMOID, "the sigmoid"},
                {DEPTHCOST_GATE_TWICE_SIGMOID, "twice the sigmoid"},
                {DEPTHCOST_GATE_SILU, "SiLU"}});
  if (function == DEPTHCOST_GATE_SILU) return GateFunction::silu;
  return function == DEPTHCOST_GATE_SIGMOID ? GateFunction::sigmoid : GateFunction::twice_sigmoid;
}

KeyNorm key_norm(const char* operation, depthcost_key_norm norm) {
  check_choice({operation, "key_norm"}, norm,
               {{DEPTHCOST_KEY_ROW, "the row"},
                {DEPTHCOST_KEY_HEAD, "each head"},
                {DEPTHCOST_KEY_NONE, "nothing"}});
  if (norm == DEPTHCOST_KEY_ROW) return KeyNorm::row;
  return norm == DEPTHCOST_KEY_HEAD ? KeyNorm::head : KeyNorm::none;
}

MhcMapping mhc_mapping(const char* operation, const depthcost_mhc_mapping& mapping) {
  const auto& scales = mapping.scales;
  return {.phi = mapping.phi,
          .bias = mapping.bias,
          .scales = {scales[0], scales[1], scales[2]},
          .eps = mapping.eps,
          .iterations = mapping.iterations,
          .order = sinkhorn_order(operation, mapping.order)};
}

void check_target(const char* operation, const depthcost_target* target) {
  if (target == nullptr) refuse({operation, "target"}, "is null (must say where to run)");
  check_choice({operation, "backend"}, target->backend,
               {{DEPTHCOST_CPU, "the CPU"}, {DEPTHCOST_CUDA, "CUDA"}});
  check_choice(
      {operation, "overlap"}, target->overlap,
      {{DEPTHCOST_OVERLAP_NONE, "none"}, {DEPTHCOST_OVERLAP_PROGRAMMATIC, "programmatic"}});
  if (target->backend == DEPTHCOST_CPU) return;
  if constexpr (kHasCuda) {
    if (!cuda::has_device()) throw Failure(DEPTHCOST_NO_DEVICE, "no CUDA device");
  } else {
    throw Failure(DEPTHCOST_NOT_BUILT, "no CUDA backend (this library was built without it)");
  }
}

}  // namespace depthcost::c

using namespace depthcost;

int32_t depthcost_abi_version() { return DEPTHCOST_ABI_VERSION; }

int32_t depthcost_abi_minor_version() { return DEPTHCOST_ABI_MINOR_VERSION; }

const char* depthcost_version() { return DEPTHCOST_VERSION; }

const char* depthcost_kernels_hash(depthcost_backend backend) {
  if (backend == DEPTHCOST_CPU) return DEPTHCOST_CPU_KERNELS_HASH;
  return backend == DEPTHCOST_CUDA ? DEPTHCOST_CUDA_KERNELS_HASH : "";
}

const char* depthcost_last_error() { return c::last_error().text(); }

depthcost_status depthcost_check_target(const depthcost_target* target) {
  return c::guarded(c::last_error(), [&] { c::check_target("check_target", target); });
}
