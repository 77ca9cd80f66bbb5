// Reads an input as a sequence of choices. Where it ends, every further choice is the first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace depthcost::fuzz {

class Choices {
 public:
  explicit Choices(std::string_view bytes) : bytes_(bytes) {}

  bool is_at_end() const { return bytes_.empty(); }

  std::uint8_t byte() {
    if (bytes_.empty()) return 0;
    const auto first = static_cast<std::uint8_t>(bytes_.front());
    bytes_.remove_prefix(1);
    return first;
  }

  /// A number below `count`, which is at least 1.
  std::size_t below(std::size_t count) {
    std::size_t number = byte();
    if (count > 256) number = number * 256 + byte();
    return number % count;
  }

  /// True for `share` of 256 bytes.
  bool happens(int share) { return byte() >= 256 - share; }

  template <class T>
  const T& one_of(std::span<const T> items) {
    return items[below(items.size())];
  }

 private:
  std::string_view bytes_;
};

}  // namespace depthcost::fuzz
