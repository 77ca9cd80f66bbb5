// Matrices of recurrences: h_l = c_l h_{l-1} + w_l f_{l-1}(h_{l-1}), and the same with m streams.
#include <algorithm>
#include <array>
#include <numeric>

#include "model/mixing/mixing_schemes.hpp"

namespace depthcost::mixing {
namespace {

/// The factors of layer l = 2..L.
struct Step {
  double carry = 1;  // c_l
  double write = 1;  // w_l
};

/// M_{0->l} = prod_{j=2}^{l} c_j, M_{i->l} = w_{i+1} prod_{j=i+2}^{l} c_j.
template <class StepOf>
MixingMatrix unrolled(Count num_layers, const StepOf& step_of) {
  MixingMatrix M(num_layers);
  M(1, 0) = 1;
  for (Count l = 2; l <= num_layers; ++l) {
    const Step step = step_of(l);
    for (Count i = 0; i < l - 1; ++i) M(l, i) = step.carry * M(l - 1, i);
    M(l, l - 1) = step.write;
  }
  return M;
}

/// The same as text: c_l ... c_{i+2} w_{i+1}. `carry` and `write` hold {} for the layer, or nothing
/// for one.
std::string unrolled_text(Count l, Count i, std::string_view carry, std::string_view write) {
  std::string text;
  const Count last = i == 0 ? 2 : i + 2;
  for (Count j = l; j >= last && !carry.empty(); --j) text += fmt::format(fmt::runtime(carry), j);
  if (i > 0 && !write.empty()) text += fmt::format(fmt::runtime(write), i + 1);
  return text.empty() ? "1" : text;
}

double of_layer(const WeightRow& from_second, Count l) {
  return from_second[static_cast<std::size_t>(l - 2)];
}

/// One number for each of layers 2..L.
WeightTable scalars(const MixingShape& shape, std::string_view name, std::string_view meaning) {
  return {.name = name,
          .meaning = meaning,
          .layout = WeightLayout::list,
          .row_sizes = {shape.num_layers - 1}};
}

std::vector<WeightTable> nothing(const MixingShape&) { return {}; }

MixingMatrix standard(const MixingShape& shape, const MixingWeights&) {
  return unrolled(shape.num_layers, [](Count) { return Step{}; });
}
std::string standard_entry(const MixingShape&, Count, Count) { return "1"; }

/// ReZero's alpha_l, and LayerScale's lambda_l seen by one channel.
MixingMatrix scaled_branch(const MixingShape& shape, const WeightRow& scales) {
  return unrolled(shape.num_layers, [&](Count l) { return Step{1, of_layer(scales, l)}; });
}

std::vector<WeightTable> rezero_tables(const MixingShape& shape) {
  WeightTable table = scalars(shape, "alpha", "alpha_2 .. alpha_L");
  table.low = -1;
  return {table};
}
MixingMatrix rezero(const MixingShape& shape, const MixingWeights& weights) {
  return scaled_branch(shape, weights.list("alpha"));
}
std::string rezero_entry(const MixingShape&, Count l, Count i) {
  return unrolled_text(l, i, "", "alpha{}");
}

std::vector<WeightTable> layerscale_tables(const MixingShape& shape) {
  return {scalars(shape, "lambda", "lambda_2 .. lambda_L of one channel")};
}
MixingMatrix layerscale(const MixingShape& shape, const MixingWeights& weights) {
  return scaled_branch(shape, weights.list("lambda"));
}
std::string layerscale_entry(const MixingShape&, Count l, Count i) {
  return unrolled_text(l, i, "", "lambda{}");
}

std::vector<WeightTable> highway_tables(const MixingShape& shape) {
  WeightTable table = scalars(shape, "gates", "g_2 .. g_L");
  table.rule = WeightRule::share;
  return {table};
}
MixingMatrix highway(const MixingShape& shape, const MixingWeights& weights) {
  const WeightRow& g = weights.list("gates");
  return unrolled(shape.num_layers, [&](Count l) {
    return Step{1 - of_layer(g, l), of_layer(g, l)};
  });
}
std::string highway_entry(const MixingShape&, Count l, Count i) {
  return unrolled_text(l, i, "(1-g{})", "g{}");
}

std::vector<WeightTable> laurel_tables(const MixingShape& shape) {
  WeightTable carry = scalars(shape, "beta", "beta_2 .. beta_L, of the stream");
  carry.low = 0.9;
  carry.high = 1.1;
  return {scalars(shape, "alpha", "alpha_2 .. alpha_L, of the layer"), carry};
}
MixingMatrix laurel(const MixingShape& shape, const MixingWeights& weights) {
  const WeightRow& alpha = weights.list("alpha");
  const WeightRow& beta = weights.list("beta");
  return unrolled(shape.num_layers, [&](Count l) {
    return Step{of_layer(beta, l), of_layer(alpha, l)};
  });
}
std::string laurel_entry(const MixingShape&, Count l, Count i) {
  return unrolled_text(l, i, "beta{}", "alpha{}");
}

/// alpha_1 .. alpha_L and beta_0 .. beta_{L-1} of m numbers, A_2 .. A_L of m x m.
std::vector<WeightTable> stream_tables(const MixingShape& shape) {
  const auto L = static_cast<std::size_t>(shape.num_layers);
  const Count m = shape.num_streams;
  return {{.name = "alpha",
           .meaning = "alpha_1 .. alpha_L, what each layer reads",
           .row_sizes = std::vector<Count>(L, m)},
          {.name = "beta",
           .meaning = "beta_0 .. beta_{L-1}, beta_0 spreads the embedding",
           .row_sizes = std::vector<Count>(L, m)},
          {.name = "A",
           .meaning = "A_2 .. A_L",
           .layout = WeightLayout::matrices,
           .row_sizes = std::vector<Count>(L - 1, m * m)}};
}

/// stream_tables() with doubly stochastic A: [mhc] Eq. 6.
std::vector<WeightTable> constrained_stream_tables(const MixingShape& shape) {
  std::vector<WeightTable> tables = stream_tables(shape);
  tables.back().rule = WeightRule::doubly_stochastic;
  return tables;
}

/// x^T A.
WeightRow times(const WeightRow& x, const WeightRow& A) {
  WeightRow product(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < x.size(); ++j) product[j] += x[i] * A[i * x.size() + j];
  return product;
}

/// M_{i->l} = beta_i^T A_{i+2} ... A_l alpha_l. [attnres] Eq. 10.
MixingMatrix streams(const MixingShape& shape, const MixingWeights& weights) {
  const auto at = [](Count index) { return static_cast<std::size_t>(index); };
  const WeightRows& alpha = weights.rows("alpha");
  const WeightRows& beta = weights.rows("beta");
  const WeightRows& A = weights.rows("A");
  MixingMatrix M(shape.num_layers);
  for (Count i = 0; i < shape.num_layers; ++i) {
    WeightRow carried = beta[at(i)];
    for (Count l = i + 1; l <= shape.num_layers; ++l) {
      if (l > i + 1) carried = times(carried, A[at(l - 2)]);
      M(l, i) = std::inner_product(carried.begin(), carried.end(), alpha[at(l - 1)].begin(), 0.0);
    }
  }
  return M;
}
std::string streams_entry(const MixingShape&, Count l, Count i) {
  std::string text = fmt::format("beta{}^T ", i);
  for (Count j = i + 2; j <= l; ++j) text += fmt::format("A{} ", j);
  return text + fmt::format("alpha{}", l);
}

std::optional<Count> streams_rank(const MixingShape& shape) {
  return std::min(shape.num_streams, largest_rank(shape));
}

std::optional<RankClaim> standard_claim(const MixingShape&) {
  return RankClaim{"Highway has \"the same rank\"", 1, 1};
}
std::optional<RankClaim> highway_claim(const MixingShape&) {
  return RankClaim{"\"1-semiseparable\"", 1, 1};
}
std::optional<RankClaim> streams_claim(const MixingShape& shape) {
  return RankClaim{"\"m-semiseparable\"", 1, shape.num_streams};
}

constexpr std::string_view kStreamsEquation = "M_{i->l} = beta_i^T A_{i+2} ... A_l alpha_l";
constexpr std::string_view kStreamsFunction = "model/mixing/mixing_recurrences.cpp: streams";
constexpr std::string_view kBeta0 = "beta_0 stands in Eq. 10 and Fig. 9 and is never defined";
constexpr std::array kStreams{MixingParameter::num_streams};

constexpr std::array kRecurrences{
    MixingScheme{"standard",
                 "M_{i->l} = 1",
                 "[attnres] Sec. 6.2",
                 "model/mixing/mixing_recurrences.cpp: standard",
                 {},
                 nothing,
                 standard,
                 standard_entry,
                 rank_one,
                 standard_claim,
                 "",
                 ""},
    MixingScheme{"rezero",
                 "M_{0->l} = 1, M_{i->l} = alpha_{i+1}",
                 "[attnres] Table 5",
                 "model/mixing/mixing_recurrences.cpp: rezero",
                 {},
                 rezero_tables,
                 rezero,
                 rezero_entry,
                 rank_one,
                 no_claim,
                 "",
                 ""},
    MixingScheme{"layerscale",
                 "M_{0->l} = 1, M_{i->l} = lambda_{i+1}, for each channel its own",
                 "[attnres] Table 5",
                 "model/mixing/mixing_recurrences.cpp: layerscale",
                 {},
                 layerscale_tables,
                 layerscale,
                 layerscale_entry,
                 rank_one,
                 no_claim,
                 "",
                 ""},
    MixingScheme{"highway",
                 "M_{0->l} = prod_{j=2..l} (1 - g_j), M_{i->l} = g_{i+1} prod_{j=i+2..l} (1 - g_j)",
                 "[attnres] Sec. 6.2, Fig. 9",
                 "model/mixing/mixing_recurrences.cpp: highway",
                 {},
                 highway_tables,
                 highway,
                 highway_entry,
                 rank_one,
                 highway_claim,
                 "",
                 ""},
    MixingScheme{"laurel_rw",
                 "M_{0->l} = prod_{j=2..l} beta_j, M_{i->l} = alpha_{i+1} prod_{j=i+2..l} beta_j",
                 "[laurel] residual weights",
                 "model/mixing/mixing_recurrences.cpp: laurel",
                 {},
                 laurel_tables,
                 laurel,
                 laurel_entry,
                 rank_one,
                 no_claim,
                 "",
                 ""},
    MixingScheme{"hc_static", kStreamsEquation, "[attnres] Eq. 10", kStreamsFunction, kStreams,
                 stream_tables, streams, streams_entry, streams_rank, streams_claim, kBeta0, "G4"},
    MixingScheme{"mhc", kStreamsEquation, "[attnres] Eq. 10", kStreamsFunction, kStreams,
                 constrained_stream_tables, streams, streams_entry, streams_rank, streams_claim,
                 kBeta0, "G4"},
};

}  // namespace

std::span<const MixingScheme> recurrences() { return kRecurrences; }

}  // namespace depthcost::mixing
