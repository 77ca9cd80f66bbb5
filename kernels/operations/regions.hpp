// The memory that one call of an operation reads and writes: it must be there, aligned, and written
// regions must overlap nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

namespace depthcost {

/// Bytes to which the base pointer of a buffer of d-vectors is aligned.
inline constexpr std::size_t kBaseAlignment = 16;

/// Collects named regions. `finish` compares each region that is written with all others. A region
/// without elements may be null.
class Regions {
 public:
  explicit Regions(const char* operation) : operation_(operation) {}

  /// Throws std::invalid_argument.
  [[noreturn]] void fail(const std::string& problem) const;

  void at_least_one(const char* name, std::size_t value) const;
  /// Refuses what is neither 1 nor `other`, a size that is named, too.
  void one_or(const char* name, std::size_t value, const char* of_other, std::size_t other) const;
  /// Refuses two of which one alone is null.
  void both_or_none(const char* name, const void* data, const char* of_other,
                    const void* other) const;
  /// Any will do.
  template <class P>
  void number(const char* /*name*/, P /*value*/) const {}

  using Shape = std::initializer_list<std::size_t>;

  template <class T>
  void reads(const char* name, const T* data, Shape shape) {
    add({name, Access::read}, data, sizeof(T), shape, kBaseAlignment);
  }
  template <class T>
  void writes(const char* name, T* data, Shape shape) {
    add({name, Access::write}, data, sizeof(T), shape, kBaseAlignment);
  }
  /// As `reads`, for a region that may begin anywhere inside a larger buffer.
  template <class T>
  void reads_inner(const char* name, const T* data, Shape shape) {
    add({name, Access::read}, data, sizeof(T), shape, alignof(T));
  }
  template <class T>
  void writes_inner(const char* name, T* data, Shape shape) {
    add({name, Access::write}, data, sizeof(T), shape, alignof(T));
  }

  /// As `writes_inner`, for one that is read before it is written.
  template <class T>
  void updates_inner(const char* name, T* data, Shape shape) {
    writes_inner(name, data, shape);
  }

  /// As `reads_inner`, for a region that may be absent, which null says.
  template <class T>
  void reads_optional(const char* name, const T* data, Shape shape) {
    if (data != nullptr) reads_inner(name, data, shape);
  }

  void finish() const;

 private:
  enum class Access { read, write };
  struct Label {
    const char* name = nullptr;
    Access access = Access::read;
  };
  struct Region {
    Label label;
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
  };

  void add(Label label, const void* data, std::size_t element_bytes, Shape shape,
           std::size_t alignment);
  std::size_t bytes_of(const char* name, std::size_t element_bytes, Shape shape) const;

  const char* operation_;
  std::array<Region, 24> regions_{};  // no operation has more
  std::size_t num_regions_ = 0;
};

}  // namespace depthcost
