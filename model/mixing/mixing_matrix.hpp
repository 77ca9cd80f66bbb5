// A depth mixing matrix: h_l = sum_{i<l} M_{i->l} v_i, where v_0 = h_1 is the embedding and
// v_i = f_i(h_i). [attnres] Sec. 6.2.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "model/base/units.hpp"

namespace depthcost {

/// (L, L), row-major, lower triangular: row l = 1..L, column i = 0..L-1, zero for i >= l.
class MixingMatrix {
 public:
  explicit MixingMatrix(Count num_layers)
      : num_layers_(num_layers), values_(static_cast<std::size_t>(num_layers * num_layers)) {}

  Count num_layers() const { return num_layers_; }
  /// M_{source->layer}.
  double operator()(Count layer, Count source) const { return values_[index(layer, source)]; }
  double& operator()(Count layer, Count source) { return values_[index(layer, source)]; }
  /// M_{0->l} .. M_{l-1->l}.
  std::span<const double> weights(Count layer) const {
    return std::span(values_).subspan(index(layer, 0), static_cast<std::size_t>(layer));
  }
  /// All L * L values.
  std::span<const double> values() const { return values_; }

 private:
  std::size_t index(Count layer, Count source) const {
    return static_cast<std::size_t>((layer - 1) * num_layers_ + source);
  }

  Count num_layers_;
  std::vector<double> values_;
};

}  // namespace depthcost
