// Matrices of schemes whose layers reach earlier outputs one by one: attention over depth and
// DenseFormer.
#include <algorithm>
#include <array>

#include "model/mixing/mixing_schemes.hpp"

namespace depthcost::mixing {
namespace {

std::size_t at(Count index) { return static_cast<std::size_t>(index); }

/// Row sizes for layers 1..L.
template <class SizeOf>
std::vector<Count> row_sizes(Count num_layers, const SizeOf& size_of) {
  std::vector<Count> sizes;
  for (Count l = 1; l <= num_layers; ++l) sizes.push_back(size_of(l));
  return sizes;
}

std::vector<WeightTable> attention_table(std::string_view meaning, WeightRule rule,
                                         std::vector<Count> sizes) {
  return {{.name = "attention",
           .meaning = meaning,
           .rule = rule,
           .row_sizes = std::move(sizes),
           .per_token = true}};
}

std::vector<Count> every_output(const MixingShape& shape) {
  return row_sizes(shape.num_layers, [](Count l) { return l; });
}

/// M_{i->l} = alpha_{i->l}: a row holds its weights as they are.
MixingMatrix dense(const MixingShape& shape, const MixingWeights& weights) {
  MixingMatrix M(shape.num_layers);
  for (Count l = 1; l <= shape.num_layers; ++l)
    for (Count i = 0; i < l; ++i) M(l, i) = weights.rows("attention")[at(l - 1)][at(i)];
  return M;
}

std::vector<WeightTable> full_tables(const MixingShape& shape) {
  return attention_table("alpha_{i->l} of layers 1 .. L over v_0 .. v_{l-1}",
                         WeightRule::distribution, every_output(shape));
}
std::string full_entry(const MixingShape&, Count l, Count i) {
  return l == 1 ? "1" : fmt::format("phi(w{0},v{1})/Z{0}", l, i);
}

/// b_0 .. b_{n-1}, and from the second layer of block n the partial sum: Eq. 6.
Count block_sources(const MixingShape& shape, Count l) {
  const LayerPosition place = position_of_layer(shape.blocks, l);
  return place.index == 1 ? place.block : place.block + 1;
}

/// Which source of a layer holds v_i: 0 the embedding, n block n.
Count block_of_output(const MixingShape& shape, Count i) {
  return i == 0 ? 0 : position_of_layer(shape.blocks, i).block;
}

std::vector<Count> every_block(const MixingShape& shape) {
  return row_sizes(shape.num_layers, [&](Count l) { return block_sources(shape, l); });
}

std::vector<WeightTable> block_tables(const MixingShape& shape) {
  return attention_table(
      "weights of layers 1 .. L over b_0 .. b_{n-1} and, from a block's second layer, b_n^{i-1}",
      WeightRule::distribution, every_block(shape));
}
std::vector<WeightTable> sigmoid_tables(const MixingShape& shape) {
  return attention_table(
      "sigmoid(w_l . RMSNorm(b)) of layers 1 .. L over the blocks of block_attnres",
      WeightRule::share, every_block(shape));
}
std::vector<WeightTable> static_tables(const MixingShape& shape) {
  std::vector<WeightTable> tables =
      attention_table("one number of each layer for each block of block_attnres", WeightRule::any,
                      every_block(shape));
  tables.front().per_token = false;
  return tables;
}

/// M_{i->l} = alpha_{n->l} for i in B_n, that of the partial sum for i in l's own block. [attnres]
/// Sec. 6.2.
MixingMatrix block(const MixingShape& shape, const MixingWeights& weights) {
  MixingMatrix M(shape.num_layers);
  for (Count l = 1; l <= shape.num_layers; ++l)
    for (Count i = 0; i < l; ++i)
      M(l, i) = weights.rows("attention")[at(l - 1)][at(block_of_output(shape, i))];
  return M;
}

/// "b2", or "b2^1" for a partial sum.
std::string block_text(const MixingShape& shape, Count l, Count i) {
  const Count n = block_of_output(shape, i);
  const LayerPosition place = position_of_layer(shape.blocks, l);
  return n < place.block ? fmt::format("b{}", n) : fmt::format("b{}^{}", n, place.index - 1);
}

std::string block_entry(const MixingShape& shape, Count l, Count i) {
  return l == 1 ? "1" : fmt::format("phi(w{0},{1})/Z{0}", l, block_text(shape, l, i));
}
std::string sigmoid_entry(const MixingShape& shape, Count l, Count i) {
  return fmt::format("sigmoid(w{},{})", l, block_text(shape, l, i));
}
std::string static_entry(const MixingShape& shape, Count l, Count i) {
  return fmt::format("a({}->{})", block_text(shape, l, i), l);
}

/// max_k min(L - k + 1, 1 + blocks touched by v_1 .. v_{k-1}): rows of the cut, and columns that
/// differ. [ours] G3
std::optional<Count> block_rank(const MixingShape& shape) {
  Count rank = 0;
  for (Count k = 1; k <= shape.num_layers; ++k)
    rank = std::max(rank, std::min(shape.num_layers - k + 1, 1 + block_of_output(shape, k - 1)));
  return rank;
}

/// The first layer output in the window of layer l.
Count window_start(const MixingShape& shape, Count l) {
  return std::max(Count{1}, l - shape.window);
}

std::vector<WeightTable> window_tables(const MixingShape& shape) {
  return attention_table(
      "weights of layers 1 .. L over v_0 and the last W layer outputs", WeightRule::distribution,
      row_sizes(shape.num_layers, [&](Count l) { return 1 + l - window_start(shape, l); }));
}

/// M_{0->l} is the first weight of a row, the window follows. [attnres] Sec. 5.3.
MixingMatrix sliding_window(const MixingShape& shape, const MixingWeights& weights) {
  MixingMatrix M(shape.num_layers);
  for (Count l = 1; l <= shape.num_layers; ++l) {
    const WeightRow& row = weights.rows("attention")[at(l - 1)];
    const Count start = window_start(shape, l);
    M(l, 0) = row.front();
    for (Count i = start; i < l; ++i) M(l, i) = row[at(i - start + 1)];
  }
  return M;
}
Count window_source(const MixingShape& shape, Count l, Count position) {
  return position == 0 ? 0 : window_start(shape, l) + position - 1;
}
std::string window_entry(const MixingShape& shape, Count l, Count i) {
  return i > 0 && i < window_start(shape, l) ? "0" : full_entry(shape, l, i);
}

/// A cut has W columns of the window in front of it, and the embedding's.
std::optional<Count> window_rank(const MixingShape& shape) {
  return std::min(shape.window + 1, largest_rank(shape));
}

/// Whether layer l's input is a weighted average: behind every p-th layer.
bool is_averaged(const MixingShape& shape, Count l) { return l > 1 && (l - 1) % shape.period == 0; }

/// X_i is seen from layer l where l - 1 - i is a multiple of the dilation.
bool is_dilated(const MixingShape& shape, Count l, Count i) {
  return (l - 1 - i) % shape.dilation == 0;
}

std::vector<WeightTable> denseformer_tables(const MixingShape& shape) {
  const auto size = [&](Count l) {
    return is_averaged(shape, l) ? 1 + (l - 1) / shape.dilation : Count{0};
  };
  return {{.name = "alpha",
           .meaning = "alpha_{i->l} of layers 1 .. L over those X_i that l sees; no numbers where "
                      "l takes X_{l-1} as it is",
           .row_sizes = row_sizes(shape.num_layers, size),
           .low = -1}};
}

/// M_{i->l} = alpha_{i->l} where layer l averages and l - 1 - i is a multiple of the dilation; the
/// layers between take X_{l-1}. Here v_i = X_i, an output with its own residual inside.
/// [denseformer] Sec. 3.
MixingMatrix denseformer(const MixingShape& shape, const MixingWeights& weights) {
  MixingMatrix M(shape.num_layers);
  for (Count l = 1; l <= shape.num_layers; ++l) {
    if (!is_averaged(shape, l)) M(l, l - 1) = 1;
    Count seen = 0;
    for (Count i = 0; i < l && is_averaged(shape, l); ++i)
      if (is_dilated(shape, l, i)) M(l, i) = weights.rows("alpha")[at(l - 1)][at(seen++)];
  }
  return M;
}
std::string denseformer_entry(const MixingShape& shape, Count l, Count i) {
  if (!is_averaged(shape, l)) return i == l - 1 ? "1" : "0";
  return is_dilated(shape, l, i) ? fmt::format("alpha({}->{})", i, l) : "0";
}
std::optional<Count> denseformer_rank(const MixingShape& shape) {
  if (shape.dilation == 1 && shape.period == 1) return largest_rank(shape);
  return std::nullopt;
}

std::optional<RankClaim> full_claim(const MixingShape& shape) {
  return RankClaim{"\"dense, rank-L\"", shape.num_layers, shape.num_layers};
}
std::optional<RankClaim> block_claim(const MixingShape& shape) {
  return RankClaim{"\"between N and N+S\"", shape.blocks.num_blocks,
                   shape.blocks.num_blocks + shape.blocks.block_size, "holds here"};
}

constexpr std::array kDenseParameters{MixingParameter::dilation, MixingParameter::period};
constexpr std::array kBlockParameters{MixingParameter::block_size};
constexpr std::array kWindowParameters{MixingParameter::window};

constexpr std::array kCrossLayer{
    MixingScheme{"denseformer",
                 "M_{i->l} = alpha_{i->l} on every dilation-th X_i, behind every period-th layer",
                 "[attnres] Table 5, [denseformer] Sec. 3",
                 "model/mixing/mixing_attention.cpp: denseformer", kDenseParameters,
                 denseformer_tables, denseformer, denseformer_entry, denseformer_rank, no_claim,
                 "a row is a Transformer block of two layers", "", 2},
    MixingScheme{
        "full_attnres",
        "M_{i->l} = phi(w_l, v_i) / Z_l, Z_l = sum_j phi(w_l, v_j)",
        "[attnres] Eq. 2-4, Sec. 6.2",
        "model/mixing/mixing_attention.cpp: dense",
        {},
        full_tables,
        dense,
        full_entry,
        full_rank,
        full_claim,
        "L is the ordinary rank, every scheme's; no sub-matrix here exceeds floor((L+1)/2)",
        "G1, G2"},
    MixingScheme{"block_attnres",
                 "M_{i->l} = phi(w_l, b_n) / Z_l for i in block n, phi(w_l, b_n^{i-1}) / Z_l in "
                 "l's own",
                 "[attnres] Eq. 6, Sec. 6.2", "model/mixing/mixing_attention.cpp: block",
                 kBlockParameters, block_tables, block, block_entry, block_rank, block_claim,
                 "at most N+1 columns of a cut differ; N+S counts source vectors", "G3"},
    MixingScheme{"attnres_sliding_window",
                 "M_{i->l} = phi(w_l, v_i) / Z_l for i = 0 and the last W outputs",
                 "[attnres] Sec. 5.3", "model/mixing/mixing_attention.cpp: sliding_window",
                 kWindowParameters, window_tables, sliding_window, window_entry, window_rank,
                 no_claim, "", "", 1, window_source},
    MixingScheme{
        "attnres_sigmoid",
        "M_{i->l} = sigmoid(w_l . RMSNorm(b_n)) for i in block n, rows need not sum to one",
        "[attnres] Sec. 5.3", "model/mixing/mixing_attention.cpp: block", kBlockParameters,
        sigmoid_tables, block, sigmoid_entry, block_rank, no_claim, ""},
    MixingScheme{"attnres_input_independent",
                 "M_{i->l} = a_{n->l} for i in block n, learned numbers", "[attnres] Sec. 5.3",
                 "model/mixing/mixing_attention.cpp: block", kBlockParameters, static_tables, block,
                 static_entry, block_rank, no_claim, ""},
};

}  // namespace

std::span<const MixingScheme> cross_layer_schemes() { return kCrossLayer; }

}  // namespace depthcost::mixing
