// Buffers for kernel tests: poisoned, guarded, filled with tokens that repeat.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/operations/bf16.hpp"
#include "tests/kernels/tensors/guarded_memory.hpp"

namespace depthcost::test {

/// Tokens beyond this many repeat the first ones: the reference computes only these, and the rest
/// must equal them bit by bit. A prime, so that no tile's size hides a mix-up of rows.
inline constexpr std::size_t kDistinctTokens = 17;

/// (num_rows, num_tokens, size) elements, row-major, each a NaN until it is written.
template <class T>
class Tensor {
 public:
  Tensor() = default;
  Tensor(std::size_t num_rows, std::size_t num_tokens, std::size_t size)
      : num_rows_(num_rows), num_tokens_(num_tokens), size_(size), memory_(bytes()) {
    std::memset(memory_.begin(), 0xFF, bytes());
  }

  T* data() const { return static_cast<T*>(memory_.begin()); }
  std::size_t num_rows() const { return num_rows_; }
  std::size_t num_tokens() const { return num_tokens_; }
  std::size_t size() const { return size_; }
  std::size_t count() const { return num_rows_ * num_tokens_ * size_; }
  std::size_t bytes() const { return count() * sizeof(T); }
  T* at(std::size_t row, std::size_t token) const {
    return data() + (row * num_tokens_ + token) * size_;
  }

  bool same_bits(const Tensor& other) const {
    return bytes() == other.bytes() &&
           (bytes() == 0 || std::memcmp(data(), other.data(), bytes()) == 0);
  }

 private:
  std::size_t num_rows_ = 0;
  std::size_t num_tokens_ = 0;
  std::size_t size_ = 0;
  GuardedMemory memory_;
};

/// xorshift64*, uniform in [-1, 1).
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15U + 0x632BE59BD9B4E019U) {}
  float next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    const auto bits = static_cast<std::int32_t>((state_ * 0x2545F4914F6CDD1DU) >> 32);
    return static_cast<float>(bits) * 0x1p-31F;
  }

 private:
  std::uint64_t state_;
};

/// Rows 0..num_rows-1: noise of one size, the same for a token whatever the number of tokens.
template <class T>
void fill(const Tensor<T>& tensor, std::uint64_t seed, float scale, std::size_t num_rows) {
  for (std::size_t row = 0; row < num_rows; ++row)
    for (std::size_t token = 0; token < tensor.num_tokens(); ++token) {
      T* elements = tensor.at(row, token);
      if (token >= kDistinctTokens) {
        std::copy_n(tensor.at(row, token % kDistinctTokens), tensor.size(), elements);
        continue;
      }
      Noise noise((seed << 32) ^ (row << 16) ^ token);
      for (std::size_t i = 0; i < tensor.size(); ++i)
        elements[i] = static_cast<T>(scale * noise.next());
    }
}
template <class T>
void fill(const Tensor<T>& tensor, std::uint64_t seed, float scale) {
  fill(tensor, seed, scale, tensor.num_rows());
}

/// Standard deviation of the logits; none of them is five times as large.
inline constexpr float kLogitScale = 2;
inline constexpr double kLargestLogit = 5 * kLogitScale;

inline void fill_query(const Tensor<float>& query) {
  fill(query, 4, kLogitScale * std::sqrt(3.0F / static_cast<float>(query.size())));
}

}  // namespace depthcost::test
