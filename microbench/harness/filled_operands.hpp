// The operands of one call, filled with numbers that no memory compresses. Their shapes are kept,
// so that the reference can repeat a few tokens.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/operations/bf16.hpp"
#include "microbench/harness/arena.hpp"

namespace depthcost::bench {

enum class Element { f32, bf16 };

template <class T>
inline constexpr Element kElementOf = Element::f32;
template <>
inline constexpr Element kElementOf<Bf16> = Element::bf16;

constexpr std::size_t size_of(Element element) { return element == Element::f32 ? 4 : 2; }

/// Shape (rows, tokens, per_token), or (rows, per_token) without tokens.
struct Tensor {
  std::byte* data = nullptr;
  Element element = Element::f32;
  std::size_t rows = 1;
  std::size_t tokens = 1;  // 1 for parameters
  std::size_t per_token = 0;
  bool has_tokens = true;
  bool is_compared = true;  // with the reference on a few tokens

  std::size_t bytes_per_token() const { return per_token * size_of(element); }
  std::size_t bytes() const { return rows * tokens * bytes_per_token(); }
};

/// Numbers are uniform in [low, high).
struct Range {
  float low = -1;
  float high = 1;
};

class Operands {
 public:
  Operands(Arena& arena, std::size_t num_tokens) : arena_(&arena), num_tokens_(num_tokens) {}
  // A call holds addresses that a copy would not own.
  Operands(const Operands&) = delete;
  Operands& operator=(const Operands&) = delete;
  Operands(Operands&&) = default;
  Operands& operator=(Operands&&) = default;

  /// A tensor (rows, T, per_token).
  template <class T>
  T* tensor(std::size_t rows, std::size_t per_token, Range range = {}) {
    return reinterpret_cast<T*>(
        add({.element = kElementOf<T>, .rows = rows, .tokens = num_tokens_, .per_token = per_token},
            range));
  }

  /// A tensor (count), the same for all tokens.
  float* parameters(std::size_t count, Range range) {
    return reinterpret_cast<float*>(add({.per_token = count, .has_tokens = false}, range));
  }

  /// The same, stored as T.
  template <class T>
  T* weights(std::size_t count, Range range) {
    return reinterpret_cast<T*>(
        add({.element = kElementOf<T>, .per_token = count, .has_tokens = false}, range));
  }

  /// Sums over all tokens, (count), which a call makes or adds to.
  float* token_sums(std::size_t count) {
    return reinterpret_cast<float*>(
        add({.per_token = count, .has_tokens = false, .is_compared = false}, {}));
  }

  /// As tensor(), (T) numbers whose terms cancel, so that no digit of them can be compared.
  float* cancelled() {
    return reinterpret_cast<float*>(
        add({.tokens = num_tokens_, .per_token = 1, .is_compared = false}, {}));
  }

  /// Pointers to the rows of (rows, T, per_token).
  template <class T>
  const T* const* row_pointers(const T* first, std::size_t rows, std::size_t per_token) {
    std::vector<const void*>& pointers = pointers_.emplace_back();
    for (std::size_t i = 0; i < rows; ++i) pointers.push_back(first + i * num_tokens_ * per_token);
    return reinterpret_cast<const T* const*>(pointers.data());
  }

  std::size_t num_tokens() const { return num_tokens_; }
  Arena& arena() const { return *arena_; }
  std::span<const Tensor> tensors() const { return tensors_; }
  std::size_t bytes() const;

 private:
  std::byte* add(Tensor tensor, Range range);

  Arena* arena_;
  std::size_t num_tokens_;
  std::vector<Tensor> tensors_;
  std::vector<std::vector<const void*>> pointers_;
};

}  // namespace depthcost::bench
