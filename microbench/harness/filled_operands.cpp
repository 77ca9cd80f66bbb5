// Random numbers are made once for each range, and copied.
#include "microbench/harness/filled_operands.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>

namespace depthcost::bench {
namespace {

constexpr std::size_t kPatternElements = (std::size_t{4} << 20) + 37;  // rows never repeat in step

/// SplitMix64: Steele, Lea, Flood, OOPSLA 2014.
std::uint64_t hash(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31U);
}

template <class T>
std::vector<std::byte> pattern(Range range) {
  std::vector<std::byte> bytes(kPatternElements * sizeof(T));
  auto* numbers = reinterpret_cast<T*>(bytes.data());
  for (std::size_t i = 0; i < kPatternElements; ++i) {
    const float unit = static_cast<float>(hash(i) >> 40U) * 0x1p-24F;
    numbers[i] = T(range.low + (range.high - range.low) * unit);
  }
  return bytes;
}

const std::vector<std::byte>& pattern_of(Element element, Range range) {
  static std::map<std::tuple<Element, float, float>, std::vector<std::byte>> patterns;
  std::vector<std::byte>& bytes = patterns[{element, range.low, range.high}];
  if (bytes.empty()) bytes = element == Element::f32 ? pattern<float>(range) : pattern<Bf16>(range);
  return bytes;
}

}  // namespace

std::byte* Operands::add(Tensor tensor, Range range) {
  tensor.data = arena_->allocate(tensor.bytes());
  const std::vector<std::byte>& source = pattern_of(tensor.element, range);
  // Tensors copy from different places on, so that no two of them are equal.
  std::size_t at = hash(tensors_.size()) % kPatternElements * size_of(tensor.element);
  for (std::size_t done = 0; done < tensor.bytes();) {
    const std::size_t piece = std::min(tensor.bytes() - done, source.size() - at);
    arena_->copy_in(tensor.data + done, source.data() + at, piece);
    done += piece;
    at = 0;
  }
  tensors_.push_back(tensor);
  return tensor.data;
}

std::size_t Operands::bytes() const {
  std::size_t sum = 0;
  for (const Tensor& tensor : tensors_) sum += tensor.bytes();
  return sum;
}

}  // namespace depthcost::bench
