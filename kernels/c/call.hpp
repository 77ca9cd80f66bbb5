// One call in C. Its target and its enumerations are checked, its struct becomes an operation of
// kernels/operations/operations.hpp, member by member, and the backend that it names runs that.
#pragma once

#include <initializer_list>

#include "kernels/c/depthcost_family.h"
#include "kernels/c/depthcost_unfused.h"
#include "kernels/c/guard.hpp"
#include "kernels/c/members.hpp"
#include "kernels/cpu/run.hpp"
#include "kernels/cuda/run.hpp"
#include "kernels/operations/backward/operations.hpp"
#include "kernels/operations/bf16.hpp"

namespace depthcost::c {

inline constexpr bool kHasCuda = DEPTHCOST_HAS_CUDA != 0;

/// The error of the last call by this thread.
ErrorText& last_error();

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
GradientStore gradient_store(const char* operation, depthcost_gradient_store store);
SinkhornOrder sinkhorn_order(const char* operation, depthcost_sinkhorn_order order);
DepthWeighting depth_weighting(const char* operation, depthcost_depth_weighting weighting);
GateFunction gate_function(const char* operation, depthcost_gate_function function);
KeyNorm key_norm(const char* operation, depthcost_key_norm norm);
MhcMapping mhc_mapping(const char* operation, const depthcost_mhc_mapping& mapping);

/// Throws if nothing can be run on `target`.
void check_target(const char* operation, const depthcost_target* target);

/// Sets a member of an operation to what the struct's member of that name holds. `operation` is for
/// errors.
template <class T>
void set(const char* /*operation*/, T*& member, void* from) {
  member = static_cast<T*>(from);
}
template <class T>
void set(const char* /*operation*/, const T*& member, const void* from) {
  member = static_cast<const T*>(from);
}
inline void set(const char* /*operation*/, std::size_t& member, std::size_t from) { member = from; }
inline void set(const char* /*operation*/, float& member, float from) { member = from; }
inline void set(const char* /*operation*/, NextNorm& member, const depthcost_norm& from) {
  member = {from.gain, from.eps};
}
inline void set(const char* /*operation*/, BasicAltupRouter<float>& member,
                const depthcost_altup_router& from) {
  member = {from.matrix, {from.norm.gain, from.norm.eps}};
}
inline void set(const char* operation, SumStore& member, depthcost_sum_store from) {
  member = sum_store(operation, from);
}
inline void set(const char* operation, GradientStore& member, depthcost_gradient_store from) {
  member = gradient_store(operation, from);
}
inline void set(const char* /*operation*/, TokenSlices& member,
                const depthcost_token_slices& from) {
  member = {from.count, from.sums};
}
inline void set(const char* /*operation*/, MhcMappingGradients<float>& member,
                const depthcost_mhc_mapping_gradients& from) {
  member = {from.phi, from.bias, from.scales};
}
inline void set(const char* operation, GateFunction& member, depthcost_gate_function from) {
  member = gate_function(operation, from);
}
inline void set(const char* operation, SinkhornOrder& member, depthcost_sinkhorn_order from) {
  member = sinkhorn_order(operation, from);
}
inline void set(const char* operation, MhcMapping& member, const depthcost_mhc_mapping& from) {
  member = mhc_mapping(operation, from);
}
template <class T>
void set(const char* name, MhcPost<T>& member, const depthcost_mhc_post_args& from);
template <class T>
void set(const char* name, MhcPostBackward<T>& member,
         const depthcost_mhc_post_backward_args& from);

/// The operation that the members of a struct describe.
template <class Op, class Args>
Op operation(const char* name, const Args& args) {
  Op op;
#define DEPTHCOST_SET_MEMBER(member) \
  if constexpr (requires { op.member, args.member; }) set(name, op.member, args.member);
  DEPTHCOST_MEMBERS(DEPTHCOST_SET_MEMBER)
#undef DEPTHCOST_SET_MEMBER
  return op;
}

template <class T>
void set(const char* name, MhcPost<T>& member, const depthcost_mhc_post_args& from) {
  member = operation<MhcPost<T>>(name, from);
}
template <class T>
void set(const char* name, MhcPostBackward<T>& member,
         const depthcost_mhc_post_backward_args& from) {
  member = operation<MhcPostBackward<T>>(name, from);
}

/// An ablation: another struct, and what is another there.
template <class Op>
Op operation(const char* name, const depthcost_attnres_variant_args& args) {
  Op op = operation<Op>("attnres_single_pass", args.single_pass);
  op.variant.weighting = depth_weighting(name, args.weighting);
  op.variant.key_norm = key_norm(name, args.key_norm);
  op.variant.num_heads = args.num_heads;
  op.variant.first_recent_row = args.first_recent_row;
  set(name, op.variant.token_queries, args.token_queries);
  return op;
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
template <template <class> class Op, class Args, class Run>
void with_operation(const char* name, const Args& args, const Run& run) {
  const DtypeField field = dtype_field(args);
  check_dtype({name, field.name}, field.dtype);
  if (field.dtype == DEPTHCOST_F32) return run(operation<Op<float>>(name, args));
  run(operation<Op<Bf16>>(name, args));
}
template <template <class, class> class Op, class Args, class Run>
void with_operation(const char* name, const Args& args, const Run& run) {
  check_dtype({name, "dtype"}, args.dtype);
  check_dtype({name, "phase1_dtype"}, args.phase1_dtype);
  const bool is_narrow = args.phase1_dtype == DEPTHCOST_BF16;
  if (args.dtype == DEPTHCOST_F32 && is_narrow)
    refuse({name, "phase1_dtype"}, "is bf16 (must be f32, as dtype is)");
  if (args.dtype == DEPTHCOST_F32) return run(operation<Op<float, float>>(name, args));
  if (is_narrow) return run(operation<Op<Bf16, Bf16>>(name, args));
  run(operation<Op<Bf16, float>>(name, args));
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

/// Runs what with_args(args, run) makes of the struct, by run(operation).
template <class Args, class WithArgs>
depthcost_status call(const char* name, const depthcost_target* target, const Args* args,
                      const WithArgs& with_args) noexcept {
  return guarded(last_error(), [&] {
    check_target(name, target);
    if (args == nullptr) refuse({name, "args"}, "is null (must be a struct)");
    with_args(*args, [&](const auto& op) {
      if (target->backend == DEPTHCOST_CPU) return cpu::run(op);
      if constexpr (kHasCuda) run_on_cuda(*target, op);
    });
  });
}

}  // namespace depthcost::c
