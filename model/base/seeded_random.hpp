// Random numbers that are the same on every machine: the standard fixes the generator, but neither
// its distributions nor the last bit of log and cos.
#pragma once

#include <cstdint>
#include <random>

#include "model/base/units.hpp"

namespace depthcost {

class SeededRandom {
 public:
  explicit SeededRandom(std::uint64_t seed) : generator_(seed) {}

  /// In [0, 1), a multiple of 2^-53.
  double uniform() { return static_cast<double>(generator_() >> 11) * 0x1p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// In 0..bound-1; its bias of bound / 2^64 is not seen here.
  Count below(Count bound) {
    return static_cast<Count>(generator_() % static_cast<std::uint64_t>(bound));
  }
  /// Nearly normal, mean 0 and variance 1: twelve uniform numbers have variance 12 / 12.
  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
  }

 private:
  std::mt19937_64 generator_;
};

}  // namespace depthcost
