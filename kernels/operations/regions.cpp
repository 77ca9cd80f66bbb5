#include "kernels/operations/regions.hpp"

#include <limits>
#include <stdexcept>
#include <utility>

namespace depthcost {

void Regions::fail(const std::string& problem) const {
  throw std::invalid_argument(std::string(operation_) + ": " + problem);
}

void Regions::at_least_one(const char* name, std::size_t value) const {
  if (value == 0) fail(std::string(name) + " is 0 (must be at least 1)");
}

void Regions::one_or(const char* name, std::size_t value, const char* of_other,
                     std::size_t other) const {
  if (value != 1 && value != other)
    fail(std::string(name) + " is " + std::to_string(value) + " (must be 1 or " + of_other + ", " +
         std::to_string(other) + ")");
}

void Regions::both_or_none(const char* name, const void* data, const char* of_other,
                           const void* other) const {
  if ((data == nullptr) != (other == nullptr))
    fail(std::string(name) + " and " + of_other + " are not both null (must be both or none)");
}

std::size_t Regions::bytes_of(const char* name, std::size_t element_bytes, Shape shape) const {
  for (const std::size_t extent : shape)
    if (extent == 0) return 0;
  std::size_t bytes = element_bytes;
  for (const std::size_t extent : shape) {
    // Half the address space, so that pointer differences fit as well.
    if (bytes > std::numeric_limits<std::size_t>::max() / 2 / extent)
      fail(std::string(name) + " does not fit into the address space (must be below 2^63 bytes)");
    bytes *= extent;
  }
  return bytes;
}

void Regions::add(Label label, const void* data, std::size_t element_bytes, Shape shape,
                  std::size_t alignment) {
  const std::size_t bytes = bytes_of(label.name, element_bytes, shape);
  if (bytes == 0) return;
  if (data == nullptr)
    fail(std::string(label.name) + " is null (must be " + std::to_string(bytes) + " bytes)");
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  if (begin % alignment != 0)
    fail(std::string(label.name) + " is misaligned (must be at a multiple of " +
         std::to_string(alignment) + " bytes)");
  regions_.at(num_regions_++) = {label, begin, begin + bytes};
}

void Regions::finish() const {
  for (std::size_t i = 0; i < num_regions_; ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const Region* output = &regions_[i];
      const Region* other = &regions_[j];
      if (output->label.access == Access::read) std::swap(output, other);
      const bool disjoint = output->end <= other->begin || other->end <= output->begin;
      if (output->label.access == Access::read || disjoint) continue;
      fail(std::string(output->label.name) + " overlaps " + other->label.name +
           " (must be distinct)");
    }
}

}  // namespace depthcost
