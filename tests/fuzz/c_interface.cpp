#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "kernels/c/depthcost.h"
#include "tests/fuzz/choices.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/fuzz/targets.hpp"

namespace depthcost::fuzz {
namespace {

/// Buffers of exactly the bytes that the interface documents. A sanitizer sees each access beside
/// them. A few pointers are null or lie one byte off.
class Buffers {
 public:
  explicit Buffers(Choices& choices) : choices_(choices) {}

  void* elements(depthcost_dtype dtype, std::size_t count) {
    return bytes(count * (dtype == DEPTHCOST_BF16 ? 2 : 4));
  }

  float* floats(std::size_t count) {
    auto* begin = static_cast<float*>(bytes(count * sizeof(float)));
    if (begin == nullptr || is_shifted_) return begin;
    for (std::size_t i = 0; i < count; ++i) begin[i] = 0.25F * static_cast<float>(i % 7) - 0.5F;
    return begin;
  }

 private:
  void* bytes(std::size_t size) {
    is_shifted_ = false;
    if (choices_.happens(6)) return nullptr;
    is_shifted_ = choices_.happens(6);
    const std::size_t shift = is_shifted_ ? 1 : 0;
    buffers_.push_back(std::make_unique<Buffer>(size + shift));
    char* begin = buffers_.back()->begin() + shift;
    // Bits of small bf16 and f32 numbers.
    std::memset(begin, 0x3c, size);
    return begin;
  }

  /// Ends where the allocation ends, and begins at a multiple of 64 bytes.
  class Buffer {
   public:
    explicit Buffer(std::size_t size)
        : memory_(static_cast<char*>(::operator new (size, std::align_val_t{64}))) {}
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() { ::operator delete (memory_, std::align_val_t{64}); }
    char* begin() const { return memory_; }

   private:
    char* memory_;
  };

  Choices& choices_;
  bool is_shifted_ = false;
  std::vector<std::unique_ptr<Buffer>> buffers_;
};

/// Sizes of one call. Small, since shapes decide which code runs.
struct Sizes {
  depthcost_dtype dtype;
  std::size_t T, d, B, n, S, m;
};

constexpr std::array<std::size_t, 12> kHiddenSizes{64, 1, 2, 7, 8, 16, 31, 65, 128, 136, 0, 300};

Sizes sizes_of(Choices& choices) {
  return {.dtype = choices.happens(8)     ? 7
                   : choices.happens(128) ? DEPTHCOST_BF16
                                          : DEPTHCOST_F32,
          .T = choices.below(6),
          .d = choices.one_of<std::size_t>(kHiddenSizes),
          .B = choices.below(5),
          .n = choices.below(6),
          .S = choices.below(5),
          .m = choices.below(6)};
}

depthcost_norm norm_of(Choices& choices, Buffers& buffers, std::size_t d) {
  return {choices.happens(64) ? nullptr : buffers.floats(d), 1e-6F};
}

depthcost_mhc_mapping mapping_of(Buffers& buffers, const Sizes& size) {
  const std::size_t rows = size.m * size.m + 2 * size.m;
  return {.phi = buffers.floats(rows * size.m * size.d),
          .bias = buffers.floats(rows),
          .scales = {0.5F, 0.5F, 0.5F},
          .eps = 1e-6F,
          .iterations = 3,
          .order = DEPTHCOST_COL_ROW};
}

depthcost_mhc_post_args post_of(Buffers& buffers, const Sizes& size) {
  const std::size_t streams = size.T * size.m * size.d;
  return {.dtype = size.dtype,
          .num_tokens = size.T,
          .hidden_size = size.d,
          .num_streams = size.m,
          .streams = buffers.elements(size.dtype, streams),
          .layer_output = buffers.elements(size.dtype, size.T * size.d),
          .post = buffers.floats(size.T * size.m),
          .residual = buffers.floats(size.T * size.m * size.m),
          .next_streams = buffers.elements(size.dtype, streams)};
}

using Call = depthcost_status (*)(const depthcost_target&, Choices&, Buffers&, const Sizes&);

depthcost_status add(const depthcost_target& target, Choices&, Buffers& buffers,
                     const Sizes& size) {
  const depthcost_residual_add_args args{
      .dtype = size.dtype,
      .num_tokens = size.T,
      .hidden_size = size.d,
      .hidden_state = buffers.elements(size.dtype, size.T * size.d),
      .layer_output = buffers.elements(size.dtype, size.T * size.d)};
  return depthcost_residual_add(&target, &args);
}

depthcost_status add_norm(const depthcost_target& target, Choices& choices, Buffers& buffers,
                          const Sizes& size) {
  const depthcost_residual_add_rmsnorm_args args{
      .dtype = size.dtype,
      .num_tokens = size.T,
      .hidden_size = size.d,
      .hidden_state = buffers.elements(size.dtype, size.T * size.d),
      .layer_output = buffers.elements(size.dtype, size.T * size.d),
      .norm = norm_of(choices, buffers, size.d),
      .output = buffers.elements(size.dtype, size.T * size.d)};
  return depthcost_residual_add_rmsnorm(&target, &args);
}

depthcost_status single_pass(const depthcost_target& target, Choices& choices, Buffers& buffers,
                             const Sizes& size) {
  const std::size_t row = size.T * size.d;
  const depthcost_attnres_single_pass_args args{
      .dtype = size.dtype,
      .store = static_cast<depthcost_sum_store>(choices.below(4)),
      .num_tokens = size.T,
      .hidden_size = size.d,
      .num_bank_rows = size.B,
      .num_bank_sources = size.n,
      .bank_row = choices.below(6),
      .bank = buffers.elements(size.dtype, size.B * row),
      .partial_sum = buffers.elements(size.dtype, row),
      .layer_output = buffers.elements(size.dtype, row),
      .query = buffers.floats(size.d),
      .key_eps = 1e-6F,
      .norm = norm_of(choices, buffers, size.d),
      .output = buffers.elements(size.dtype, row)};
  return depthcost_attnres_single_pass(&target, &args);
}

depthcost_status phase1(const depthcost_target& target, Choices& choices, Buffers& buffers,
                        const Sizes& size) {
  const std::size_t row = size.T * size.d, later = size.S == 0 ? 0 : size.S - 1;
  const depthcost_dtype wide = choices.happens(128) ? DEPTHCOST_F32 : size.dtype;
  const depthcost_attnres_phase1_args args{.dtype = size.dtype,
                                           .phase1_dtype = wide,
                                           .num_tokens = size.T,
                                           .hidden_size = size.d,
                                           .num_bank_rows = size.B,
                                           .num_bank_sources = size.n,
                                           .num_queries = size.S,
                                           .bank_row = choices.below(6),
                                           .bank = buffers.elements(size.dtype, size.B * row),
                                           .partial_sum = buffers.elements(size.dtype, row),
                                           .layer_output = buffers.elements(size.dtype, row),
                                           .queries = buffers.floats(size.S * size.d),
                                           .key_eps = 1e-6F,
                                           .norm = norm_of(choices, buffers, size.d),
                                           .output = buffers.elements(size.dtype, row),
                                           .outputs = buffers.elements(wide, later * row),
                                           .maxima = buffers.floats(later * size.T),
                                           .sums = buffers.floats(later * size.T)};
  return depthcost_attnres_phase1(&target, &args);
}

depthcost_status phase2(const depthcost_target& target, Choices& choices, Buffers& buffers,
                        const Sizes& size) {
  const std::size_t row = size.T * size.d;
  const depthcost_dtype wide = choices.happens(128) ? DEPTHCOST_F32 : size.dtype;
  const depthcost_attnres_phase2_args args{
      .dtype = size.dtype,
      .phase1_dtype = wide,
      .num_tokens = size.T,
      .hidden_size = size.d,
      .num_further_sources = size.n,
      .further_sources = buffers.elements(size.dtype, size.n * row),
      .partial_sum = buffers.elements(size.dtype, row),
      .layer_output = buffers.elements(size.dtype, row),
      .phase1_output = buffers.elements(wide, row),
      .maximum = buffers.floats(size.T),
      .sum = buffers.floats(size.T),
      .query = buffers.floats(size.d),
      .key_eps = 1e-6F,
      .norm = norm_of(choices, buffers, size.d),
      .output = buffers.elements(size.dtype, row)};
  return depthcost_attnres_phase2(&target, &args);
}

depthcost_status pre(const depthcost_target& target, Choices& choices, Buffers& buffers,
                     const Sizes& size) {
  const depthcost_mhc_pre_args args{
      .dtype = size.dtype,
      .num_tokens = size.T,
      .hidden_size = size.d,
      .num_streams = size.m,
      .streams = buffers.elements(size.dtype, size.T * size.m * size.d),
      .mapping = mapping_of(buffers, size),
      .norm = norm_of(choices, buffers, size.d),
      .output = buffers.elements(size.dtype, size.T * size.d),
      .post = buffers.floats(size.T * size.m),
      .residual = buffers.floats(size.T * size.m * size.m)};
  return depthcost_mhc_pre(&target, &args);
}

depthcost_status post(const depthcost_target& target, Choices&, Buffers& buffers,
                      const Sizes& size) {
  const depthcost_mhc_post_args args = post_of(buffers, size);
  return depthcost_mhc_post(&target, &args);
}

depthcost_status boundary(const depthcost_target& target, Choices& choices, Buffers& buffers,
                          const Sizes& size) {
  const depthcost_mhc_boundary_args args{.post = post_of(buffers, size),
                                         .mapping = mapping_of(buffers, size),
                                         .norm = norm_of(choices, buffers, size.d),
                                         .output = buffers.elements(size.dtype, size.T * size.d),
                                         .next_post = buffers.floats(size.T * size.m),
                                         .next_residual = buffers.floats(size.T * size.m * size.m)};
  return depthcost_mhc_boundary(&target, &args);
}

constexpr std::array<Call, 8> kCalls{add,    add_norm, single_pass, phase1,
                                     phase2, pre,      post,        boundary};

}  // namespace

bool call_c_interface(std::string_view bytes) {
  Choices choices(bytes);
  Buffers buffers(choices);
  const depthcost_target target{choices.happens(4) ? 9 : DEPTHCOST_CPU, DEPTHCOST_OVERLAP_NONE,
                                nullptr};
  const Call call = choices.one_of<Call>(kCalls);
  const Sizes size = sizes_of(choices);
  const depthcost_status status = call(target, choices, buffers, size);
  const std::string_view reason = depthcost_last_error();
  require((status == DEPTHCOST_OK) == reason.empty(), "a status disagrees with its reason");
  require(status != DEPTHCOST_INTERNAL_ERROR, reason);
  require(is_printable(reason), "a reason is not one printable line");
  return status == DEPTHCOST_OK;
}

}  // namespace depthcost::fuzz
