// One call in C. Its target and its enumerations are checked, its struct becomes an operation of
// kernels/operations/operations.hpp, and the backend that it names runs that.
//
// For each struct there is an overload
//   ResidualAdd<T> operation(Type<T>, const depthcost_residual_add_args& args)
// in this namespace, with a Type for each type parameter of the operation.
#pragma once

#include <concepts>
#include <initializer_list>

#include "kernels/c/depthcost_family.h"
#include "kernels/c/guard.hpp"
#include "kernels/cpu/run.hpp"
#include "kernels/cuda/run.hpp"
#include "kernels/operations/bf16.hpp"

namespace depthcost::c {

inline constexpr bool kHasCuda = DEPTHCOST_HAS_CUDA != 0;

/// The error of the last call by this thread.
ErrorText& last_error();

/// Passes a type as an argument.
template <class T>
struct Type {};

/// Names an argument of an operation, such as `dtype` of `residual_add`.
struct ArgumentName {
  const char* operation = nullptr;
  const char* argument = nullptr;
};

[[noreturn]] void refuse(const ArgumentName& name, const std::string& problem);

struct Choice {
  std::int32_t value = 0;
  const char* meaning = nullptr;
};
/// Throws std::invalid_argument unless `value` is one of the choices.
void check_choice(const ArgumentName& name, std::int32_t value,
                  std::initializer_list<Choice> choices);

void check_dtype(const ArgumentName& name, depthcost_dtype dtype);
SumStore sum_store(const char* operation, depthcost_sum_store store);
SinkhornOrder sinkhorn_order(const char* operation, depthcost_sinkhorn_order order);
DepthWeighting depth_weighting(const char* operation, depthcost_depth_weighting weighting);
KeyNorm key_norm(const char* operation, depthcost_key_norm norm);

/// Throws if nothing can be run on `target`.
void check_target(const char* operation, const depthcost_target* target);

inline NextNorm next_norm(const depthcost_norm& norm) { return {norm.gain, norm.eps}; }
MhcMapping mhc_mapping(const char* operation, const depthcost_mhc_mapping& mapping);

template <class T>
T* elements(void* data) {
  return static_cast<T*>(data);
}
template <class T>
const T* elements(const void* data) {
  return static_cast<const T*>(data);
}

/// The dtype of a struct, which is its own field or one of the struct that it begins with.
struct DtypeField {
  const char* name = nullptr;
  depthcost_dtype dtype = 0;
};
template <class Args>
DtypeField dtype_field(const Args& args) {
  if constexpr (requires { args.post.dtype; })
    return {"post.dtype", args.post.dtype};
  else if constexpr (requires { args.single_pass.dtype; })
    return {"single_pass.dtype", args.single_pass.dtype};
  else
    return {"dtype", args.dtype};
}

/// Calls run(operation) with the types that the struct's dtypes name.
template <class Args, class Run>
void with_operation(const char* name, const Args& args, const Run& run) {
  const DtypeField field = dtype_field(args);
  check_dtype({name, field.name}, field.dtype);
  if constexpr (requires { args.phase1_dtype; }) {
    check_dtype({name, "phase1_dtype"}, args.phase1_dtype);
    const bool is_narrow = args.phase1_dtype == DEPTHCOST_BF16;
    if (field.dtype == DEPTHCOST_F32 && is_narrow)
      refuse({name, "phase1_dtype"}, "is bf16 (must be f32, as dtype is)");
    if (field.dtype == DEPTHCOST_F32) return run(operation(Type<float>{}, Type<float>{}, args));
    if (is_narrow) return run(operation(Type<Bf16>{}, Type<Bf16>{}, args));
    run(operation(Type<Bf16>{}, Type<float>{}, args));
  } else {
    if (field.dtype == DEPTHCOST_F32) return run(operation(Type<float>{}, args));
    run(operation(Type<Bf16>{}, args));
  }
}
template <std::same_as<depthcost_sinkhorn_args> Args, class Run>
void with_operation(const char* /*name*/, const Args& args, const Run& run) {
  run(operation(Type<float>{}, args));
}

template <class Op>
void run_on_cuda(const depthcost_target& target, const Op& op) {
  const cuda::LaunchOptions options{.cuda_stream = static_cast<cudaStream_t>(target.cuda_stream),
                                    .overlap = target.overlap == DEPTHCOST_OVERLAP_PROGRAMMATIC
                                                   ? cuda::Overlap::programmatic
                                                   : cuda::Overlap::none};
  try {
    cuda::run(op, options);
  } catch (const std::runtime_error& failed) {
    throw Failure(DEPTHCOST_DEVICE_ERROR, failed.what());
  }
}

template <class Args>
depthcost_status call(const char* name, const depthcost_target* target, const Args* args) noexcept {
  return guarded(last_error(), [&] {
    check_target(name, target);
    if (args == nullptr) refuse({name, "args"}, "is null (must be a struct)");
    with_operation(name, *args, [&](const auto& op) {
      if (target->backend == DEPTHCOST_CPU) return cpu::run(op);
      if constexpr (kHasCuda) run_on_cuda(*target, op);
    });
  });
}

}  // namespace depthcost::c
