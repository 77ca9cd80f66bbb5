// A weights file: what a trained or measured model mixes its layers with, as JSON.
//
//   {"schema": "depthcost-mixing/1", "scheme": "highway", "num_layers": 4, "gates": [0.8, 0.4,
//   0.7]}
//
// `scheme` and `num_layers` come first in meaning, then what the scheme takes (num_streams,
// block_size, window, dilation, period), then its tables: model/mixing/mixing_*.cpp name them, and
// the command lists them. A table is a list of numbers, a list of rows, or a list of matrices;
// `attention` may also be a list of such tables, one for each token, whose mean counts.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "model/mixing/mixing.hpp"

namespace depthcost {

/// Largest weights file in bytes: Full AttnRes of 1024 layers with six digits a weight has 5 MB.
inline constexpr std::size_t kMaxWeightsBytes = 8'000'000;

struct MixingFile {
  const MixingScheme* scheme = nullptr;
  MixingShape shape;
  MixingWeights weights;
  Count num_tokens = 0;  // whose mean the attention is; 0 if the file holds a mean already
};

/// What the file must agree with: the number of layers, and those parameters that are already
/// decided.
struct ExpectedShape {
  MixingShape shape;
  std::set<MixingParameter> decided;
};

/// What is wrong with the name of a scheme that has no mixing matrix: that it has none, and why, or
/// what was meant.
std::string unknown_mixing_scheme(std::string_view written);

/// Throws InputError: no JSON, an unknown scheme or key, another shape, a number that its table
/// does not allow.
MixingFile parse_mixing_file(std::string_view text, const std::string& file,
                             const ExpectedShape& expected);
MixingFile load_mixing_file(const std::string& path, const ExpectedShape& expected);

}  // namespace depthcost
