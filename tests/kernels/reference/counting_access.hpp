// An accessor that counts what the reference loads and stores, operand by operand.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <stdexcept>
#include <vector>

#include "kernels/reference/accessor.hpp"
#include "model/operations/operation.hpp"

namespace depthcost::test {

/// The traffic of a launch per token, by the operands of the ledger. Operands that moved nothing
/// are left out.
struct Moved {
  std::map<Operand, double> reads_d;
  std::map<Operand, double> writes_d;
  double reads_scalars = 0;
  double writes_scalars = 0;

  friend bool operator==(const Moved&, const Moved&) = default;
};

/// A buffer of d-vectors or scalars. Reading and writing it may count as different operands.
struct Place {
  const void* first = nullptr;
  const void* last = nullptr;
  bool scalars = false;
  Operand read_as = Operand::recent;
  Operand written_as = Operand::recent;
  double d_per_row = 1;  // 2: of four bytes an element, where d-vectors have two
};

/// Counts by place. Elements outside all places must not be touched. If places overlap, the last
/// one counts.
class CountingAccess {
 public:
  std::vector<Place> places;

  template <class T>
  double load(const T* element) {
    ++loads_[place_of(element)];
    return reference::DirectAccess{}.load(element);
  }
  template <class T>
  void store(T* element, double value) {
    ++stores_[place_of(element)];
    reference::DirectAccess{}.store(element, value);
  }

  /// Per token, of `num_tokens` with d-vectors of `hidden_size` elements.
  Moved moved(std::size_t num_tokens, std::size_t hidden_size) const {
    const auto T = static_cast<double>(num_tokens);
    const auto d = static_cast<double>(hidden_size);
    Moved sum;
    for (const auto& [index, count] : loads_) {
      const Place& place = places[index];
      (place.scalars ? sum.reads_scalars : sum.reads_d[place.read_as]) +=
          place.d_per_row * count / (place.scalars ? T : T * d);
    }
    for (const auto& [index, count] : stores_) {
      const Place& place = places[index];
      (place.scalars ? sum.writes_scalars : sum.writes_d[place.written_as]) +=
          place.d_per_row * count / (place.scalars ? T : T * d);
    }
    return sum;
  }

 private:
  std::map<std::size_t, double> loads_;  // by index of the place
  std::map<std::size_t, double> stores_;

  std::size_t place_of(const void* element) const {
    for (std::size_t i = places.size(); i-- > 0;)
      if (!std::less<>{}(element, places[i].first) && std::less<>{}(element, places[i].last))
        return i;
    throw std::logic_error("an element outside all operands was touched");
  }
};

}  // namespace depthcost::test
