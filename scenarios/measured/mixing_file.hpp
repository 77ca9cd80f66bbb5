// A weights file is JSON with the weights by which a trained model mixes its layers.
//
//   {"schema": "depthcost-mixing/1", "scheme": "highway", "num_layers": 4, "gates": [0.8, 0.4,
//   0.7]}
//
// It has `scheme`, `num_layers`, the parameters of the scheme (num_streams, block_size, window,
// dilation, period), and the tables of the scheme, which model/mixing/mixing_recurrences.cpp and
// mixing_attention.cpp name and the command lists. A table is a list of numbers, a list of rows, or
// a list of matrices; `attention` may also be a list of such tables, one for each token; their mean
// is used.
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
  Count num_tokens = 0;  // the attention is their mean; 0 if the file has one table
};

/// The file must agree with the number of layers and with the parameters that are already known.
struct ExpectedShape {
  MixingShape shape;
  std::set<MixingParameter> decided;
};

/// The message for a name without a mixing matrix: why that scheme has none, or which name was
/// probably meant.
std::string unknown_mixing_scheme(std::string_view written);

/// Throws InputError for a file that is no JSON, an unknown scheme or key, a wrong shape, and a
/// number that its table does not allow.
MixingFile parse_mixing_file(std::string_view text, const std::string& file,
                             const ExpectedShape& expected);
MixingFile load_mixing_file(const std::string& path, const ExpectedShape& expected);

}  // namespace depthcost
