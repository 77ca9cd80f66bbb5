// The residual schemes that have a depth mixing matrix, each a row of one list: what it takes, its
// matrix, its entries as text, and what is said of its rank. [attnres] Sec. 6.2, Fig. 9, Table 5.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/partition.hpp"
#include "model/mixing/mixing_matrix.hpp"
#include "model/mixing/mixing_weights.hpp"

namespace depthcost {

/// The numbers that schemes take beside L.
enum class MixingParameter { num_streams, block_size, window, dilation, period };

/// A scheme reads those that it lists.
struct MixingShape {
  Count num_layers = 0;
  Count num_streams = 4;  // m
  Partition blocks;
  Count window = 1;  // W, layer outputs beside the embedding
  Count dilation = 1;
  Count period = 1;
};

Count value_of(const MixingShape& shape, MixingParameter parameter);
/// Throws Infeasible for what layers or streams cannot be.
void set_parameter(MixingShape& shape, MixingParameter parameter, Count value);

/// The paper's words on a scheme's rank, and the numbers that they allow.
struct RankClaim {
  std::string_view words;
  Count low = 0;
  Count high = 0;
  std::string_view if_inside = "holds";  // what a rank between them says of the words
};

struct MixingScheme {
  std::string_view name;
  std::string_view equation;  // of M
  std::string_view source;    // of the equation
  std::string_view function;  // what computes it
  std::span<const MixingParameter> parameters;
  std::vector<WeightTable> (*tables)(const MixingShape& shape);
  MixingMatrix (*matrix)(const MixingShape& shape, const MixingWeights& weights);
  /// M_{source->layer} for source < layer: "(1-g3)g2", "0" where it is none.
  std::string (*entry)(const MixingShape& shape, Count layer, Count source);
  /// The semiseparable rank of almost all weights; none where we know no formula.
  std::optional<Count> (*generic_rank)(const MixingShape& shape);
  /// None where the paper says nothing.
  std::optional<RankClaim> (*claim)(const MixingShape& shape);
  std::string_view remark;   // on that claim
  std::string_view points;   // where it is explained: of REFERENCES.md, "mixing"
  Count layers_per_row = 1;  // 2: a row is a Transformer block
  /// The i of the v_i that the weight at `position` belongs to; null where i is the position.
  Count (*source_of)(const MixingShape& shape, Count layer, Count position) = nullptr;
};

/// All of them, in the order of Table 5.
std::span<const MixingScheme> mixing_schemes();

/// The shape of the scheme's matrix in a model whose layers `model` counts.
MixingShape shape_of_rows(const MixingScheme& scheme, const MixingShape& model);

/// The scheme of that name, or nullptr.
const MixingScheme* find_mixing_scheme(std::string_view name);

/// Most layers that a matrix is made for, of 34 MB: all schemes take eight seconds of CPU. [ours]
inline constexpr Count kMaxMixingLayers = 2048;

/// Most streams of a matrix: coefficients are m * m numbers a layer. [ours]
inline constexpr Count kMaxMixingStreams = 64;

/// Throws Infeasible for what the scheme cannot take: streams, window, dilation or period out of
/// range, or no blocks.
void require_parameter(const MixingScheme& scheme, const MixingShape& shape,
                       MixingParameter parameter);
void require_shape(const MixingScheme& scheme, const MixingShape& shape);

}  // namespace depthcost
