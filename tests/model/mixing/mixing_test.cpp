// Depth mixing matrices: golden cases, networks run by their update rules, Fig. 9 in symbols.
#include "model/mixing/mixing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/base/infeasible.hpp"
#include "model/schemes/list.hpp"
#include "tests/golden.hpp"

namespace depthcost::mixing_test {
namespace {

using nlohmann::json;

constexpr double kTolerance = 1e-9;

double fraction_of(const json& text) {
  const test::Fraction value = test::fraction(text.get<std::string>());
  return value.numerator / value.denominator;
}

/// Golden partitions are uniform but for the last block.
Partition blocks_of(const json& entry) {
  const auto sizes = entry.at("block_sizes").get<std::vector<Count>>();
  return partition_by_size(entry.at("L").get<Count>(), sizes.front());
}

const MixingScheme& scheme_of(std::string_view name) { return *find_mixing_scheme(name); }

void expect_matrix(const MixingMatrix& M, const json& rows, const std::string& where) {
  for (Count l = 1; l <= M.num_layers(); ++l)
    for (Count i = 0; i < M.num_layers(); ++i)
      EXPECT_NEAR(
          M(l, i),
          fraction_of(rows.at(static_cast<std::size_t>(l - 1)).at(static_cast<std::size_t>(i))),
          kTolerance)
          << where << " M_{" << i << "->" << l << "}";
}

/// phi(w_l, .) of the sources of layer l, over their sum.
WeightRow block_weights(const json& scores) {
  WeightRow row;
  std::vector<double> partial;
  for (Count n = 0; scores.contains("block/" + std::to_string(n)); ++n)
    row.push_back(scores.at("block/" + std::to_string(n)).get<double>());
  for (const auto& [key, value] : scores.items())
    if (key.starts_with("partial")) row.push_back(value.get<double>());
  const double sum = std::accumulate(row.begin(), row.end(), 0.0);
  for (double& weight : row) weight /= sum;
  return row;
}

TEST(MixingMatrices, MatchEveryGoldenCase) {
  const auto golden = test::load_golden("mixing.json");
  ASSERT_EQ(golden.at("cases").size(), 7U);
  for (const json& entry : golden.at("cases")) {
    const MixingShape shape{.num_layers = entry.at("L").get<Count>(), .blocks = blocks_of(entry)};
    MixingWeights weights;
    WeightRows rows;
    for (Count l = 1; l <= shape.num_layers; ++l)
      rows.push_back(block_weights(entry.at("scores").at(std::to_string(l))));
    weights.set("attention", rows);
    WeightRow gates;
    for (const json& gate : entry.at("gates")) gates.push_back(fraction_of(gate));
    weights.set("gates", {gates});
    expect_matrix(scheme_of("block_attnres").matrix(shape, weights), entry.at("block"), "block");
    expect_matrix(scheme_of("highway").matrix(shape, weights), entry.at("highway"), "highway");
  }
}

/// sum_i M_{i->l} v_i against h_l, element by element.
void expect_inputs(const MixingMatrix& M, const std::vector<WeightRow>& outputs,
                   const json& expected) {
  for (Count l = 1; l <= M.num_layers(); ++l) {
    const auto h = expected.at(static_cast<std::size_t>(l - 1)).get<WeightRow>();
    for (std::size_t e = 0; e < h.size(); ++e) {
      double sum = 0;
      for (Count i = 0; i < l; ++i) sum += M(l, i) * outputs[static_cast<std::size_t>(i)][e];
      EXPECT_NEAR(sum, h[e], kTolerance * std::max(1.0, std::abs(h[e]))) << "layer " << l;
    }
  }
}

std::vector<WeightRow> outputs_of(const json& entry) {
  std::vector<WeightRow> outputs{entry.at("h1").get<WeightRow>()};
  for (const json& value : entry.at("values")) outputs.push_back(value.get<WeightRow>());
  return outputs;
}

TEST(StreamMixing, GivesTheGoldenNetworksInputs) {
  const auto golden = test::load_golden("kernels.json");
  ASSERT_GE(golden.at("mhc").size(), 1U);
  for (const json& entry : golden.at("mhc")) {
    const MixingShape shape{.num_layers = entry.at("L").get<Count>(),
                            .num_streams = entry.at("m").get<Count>()};
    MixingWeights weights;
    weights.set("alpha", entry.at("alpha").get<WeightRows>());
    weights.set("beta", entry.at("beta").get<WeightRows>());
    WeightRows matrices;
    for (const json& matrix : entry.at("A")) {
      matrices.emplace_back();
      for (const json& row : matrix)
        for (const json& element : row) matrices.back().push_back(element.get<double>());
    }
    weights.set("A", matrices);
    expect_inputs(scheme_of("mhc").matrix(shape, weights), outputs_of(entry), entry.at("h"));
  }
}

/// exp(w . RMSNorm(v)) over the listed sources, divided by their sum.
WeightRow attention_over(const WeightRow& w, const std::vector<WeightRow>& outputs,
                         const std::vector<Count>& sources, double eps) {
  WeightRow row;
  for (const Count i : sources) {
    const WeightRow& v = outputs[static_cast<std::size_t>(i)];
    const double squares = std::inner_product(v.begin(), v.end(), v.begin(), 0.0);
    const double rms = std::sqrt(squares / static_cast<double>(v.size()) + eps);
    row.push_back(std::exp(std::inner_product(w.begin(), w.end(), v.begin(), 0.0) / rms));
  }
  const double sum = std::accumulate(row.begin(), row.end(), 0.0);
  for (double& weight : row) weight /= sum;
  return row;
}

TEST(SlidingWindowMixing, GivesTheGoldenNetworksInputs) {
  const auto golden = test::load_golden("kernels.json");
  const json& entry = golden.at("swa");
  const MixingShape shape{.num_layers = entry.at("L").get<Count>(),
                          .window = entry.at("window").get<Count>()};
  const std::vector<WeightRow> outputs = outputs_of(entry);
  WeightRows rows;
  for (Count l = 1; l <= shape.num_layers; ++l) {
    std::vector<Count> sources{0};
    for (Count i = std::max(Count{1}, l - shape.window); i < l; ++i) sources.push_back(i);
    const auto query = entry.at("W").at(static_cast<std::size_t>(l - 1)).get<WeightRow>();
    rows.push_back(attention_over(query, outputs, sources, entry.at("eps").get<double>()));
  }
  MixingWeights weights;
  weights.set("attention", rows);
  expect_inputs(scheme_of("attnres_sliding_window").matrix(shape, weights), outputs, entry.at("h"));
}

TEST(FullAndBlockMixing, GiveTheGoldenNetworksInputs) {
  const auto golden = test::load_golden("kernels.json");
  Count seen = 0;
  for (const json& entry : golden.at("cases")) {
    if (entry.at("layer_kind") != "const") continue;
    const MixingShape shape{.num_layers = entry.at("L").get<Count>(), .blocks = blocks_of(entry)};
    for (const std::string scheme : {"full", "block"}) {
      const json& expected = entry.at("expect").at(scheme);
      auto rows = expected.at("alpha").get<WeightRows>();
      rows.resize(static_cast<std::size_t>(shape.num_layers));
      MixingWeights weights;
      weights.set("attention", rows);
      expect_inputs(scheme_of(scheme + "_attnres").matrix(shape, weights), outputs_of(entry),
                    expected.at("h"));
      ++seen;
    }
  }
  EXPECT_GE(seen, 2);
}

// Dull loops: update rules of scalars, one layer after another.

MixingShape random_shape(Count num_layers) {
  return {.num_layers = num_layers,
          .num_streams = 3,
          .blocks = partition_by_size(num_layers, 3),
          .window = 2,
          .dilation = 2,
          .period = 3};
}

double output_of(Count i) { return std::sin(1.0 + 2 * as_double(i)); }

double mixed_input(const MixingMatrix& M, Count l) {
  double h = 0;
  for (Count i = 0; i < l; ++i) h += M(l, i) * output_of(i);
  return h;
}

/// h_l = carry(l) h_{l-1} + write(l) v_{l-1}.
template <class Carry, class Write>
void expect_recurrence(const MixingMatrix& M, const Carry& carry, const Write& write) {
  double h = output_of(0);
  for (Count l = 1; l <= M.num_layers(); ++l) {
    if (l > 1) h = carry(l) * h + write(l) * output_of(l - 1);
    EXPECT_NEAR(mixed_input(M, l), h, 1e-12) << "layer " << l;
  }
}

struct Drawn {
  MixingShape shape;
  MixingWeights weights;
  MixingMatrix matrix;
};

Drawn drawn(std::string_view name, const MixingShape& shape = random_shape(13)) {
  const MixingScheme& scheme = scheme_of(name);
  MixingWeights weights = random_weights(scheme.tables(shape), 7);
  MixingMatrix matrix = scheme.matrix(shape, weights);
  return {shape, std::move(weights), std::move(matrix)};
}

TEST(SingleStateMixing, IsItsUpdateRuleUnrolled) {
  const auto one = [](Count) { return 1.0; };
  const auto from_second = [](const WeightRow& row) {
    return [&row](Count l) { return row.at(static_cast<std::size_t>(l - 2)); };
  };
  expect_recurrence(drawn("standard").matrix, one, one);
  const Drawn rezero = drawn("rezero");
  expect_recurrence(rezero.matrix, one, from_second(rezero.weights.list("alpha")));
  const Drawn layerscale = drawn("layerscale");
  expect_recurrence(layerscale.matrix, one, from_second(layerscale.weights.list("lambda")));
  const Drawn highway = drawn("highway");
  const auto gate = from_second(highway.weights.list("gates"));
  expect_recurrence(
      highway.matrix, [&](Count l) { return 1 - gate(l); }, gate);
  const Drawn laurel = drawn("laurel_rw");
  expect_recurrence(laurel.matrix, from_second(laurel.weights.list("beta")),
                    from_second(laurel.weights.list("alpha")));
}

/// H_l = H_{l-1} A_l + f_{l-1} beta_{l-1}^T, h_l = H_l alpha_l, for d = 1.
TEST(StreamMixing, IsItsUpdateRuleUnrolled) {
  for (const std::string name : {"hc_static", "mhc"}) {
    const Drawn hc = drawn(name);
    const auto m = static_cast<std::size_t>(hc.shape.num_streams);
    WeightRow H(m);
    for (std::size_t l = 1; l <= 13; ++l) {
      WeightRow next(m);
      for (std::size_t j = 0; j < m; ++j) {
        for (std::size_t i = 0; i < m && l > 1; ++i)
          next[j] += H[i] * hc.weights.rows("A")[l - 2][i * m + j];
        next[j] += output_of(static_cast<Count>(l - 1)) * hc.weights.rows("beta")[l - 1][j];
      }
      H = next;
      const WeightRow& alpha = hc.weights.rows("alpha")[l - 1];
      const double h = std::inner_product(H.begin(), H.end(), alpha.begin(), 0.0);
      EXPECT_NEAR(mixed_input(hc.matrix, static_cast<Count>(l)), h, 1e-12) << name << l;
    }
  }
}

/// h_l = sum of those X_j whose index has the remainder of l - 1, behind every third layer; else
/// X_{l-1}.
TEST(DenseFormerMixing, IsItsUpdateRuleUnrolled) {
  const Drawn dense = drawn("denseformer");
  for (Count l = 1; l <= 13; ++l) {
    double h = output_of(l - 1);
    if (l == 4 || l == 7 || l == 10 || l == 13) {
      h = 0;
      std::size_t next = 0;
      for (Count j = 0; j < l; ++j)
        if (j % 2 == (l - 1) % 2)
          h += dense.weights.rows("alpha").at(static_cast<std::size_t>(l - 1)).at(next++) *
               output_of(j);
    }
    EXPECT_NEAR(mixed_input(dense.matrix, l), h, 1e-12) << l;
  }
}

TEST(RowsOfMixing, SumToOneWhereTheSchemeAverages) {
  for (const std::string name : {"highway", "full_attnres", "attnres_sliding_window"}) {
    const Drawn scheme = drawn(name);
    for (Count l = 1; l <= 13; ++l) {
      const auto row = scheme.matrix.weights(l);
      EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), 1, 1e-12) << name << l;
    }
  }
}

/// In Block the weights sum to one over sources: a block of three counts three times. [ours]
TEST(RowsOfMixing, ExceedOneInBlocks) {
  const Drawn block = drawn("block_attnres");
  const auto row = block.matrix.weights(13);
  EXPECT_GT(std::accumulate(row.begin(), row.end(), 0.0), 2);
}

std::string symbols(std::string_view name, Count layer, Count source) {
  const MixingShape shape{.num_layers = 4,
                          .num_streams = 2,
                          .blocks = partition_by_size(4, 2),
                          .window = 1,
                          .dilation = 2,
                          .period = 1};
  return scheme_of(name).entry(shape, layer, source);
}

TEST(Symbols, AreThoseOfFig9) {
  EXPECT_EQ(symbols("standard", 3, 1), "1");
  EXPECT_EQ(symbols("highway", 1, 0), "1");
  EXPECT_EQ(symbols("highway", 4, 0), "(1-g4)(1-g3)(1-g2)");
  EXPECT_EQ(symbols("highway", 4, 1), "(1-g4)(1-g3)g2");
  EXPECT_EQ(symbols("highway", 3, 2), "g3");
  EXPECT_EQ(symbols("mhc", 4, 1), "beta1^T A3 A4 alpha4");
  EXPECT_EQ(symbols("mhc", 4, 3), "beta3^T alpha4");
  EXPECT_EQ(symbols("mhc", 2, 0), "beta0^T A2 alpha2");
  EXPECT_EQ(symbols("full_attnres", 3, 1), "phi(w3,v1)/Z3");
  EXPECT_EQ(symbols("block_attnres", 3, 1), "phi(w3,b1)/Z3");
  EXPECT_EQ(symbols("block_attnres", 4, 2), "phi(w4,b1)/Z4");
  EXPECT_EQ(symbols("block_attnres", 4, 3), "phi(w4,b2^1)/Z4");
  EXPECT_EQ(symbols("block_attnres", 4, 0), "phi(w4,b0)/Z4");
}

TEST(Symbols, AreThoseOfTheOtherSchemes) {
  EXPECT_EQ(symbols("rezero", 3, 0), "1");
  EXPECT_EQ(symbols("rezero", 3, 1), "alpha2");
  EXPECT_EQ(symbols("layerscale", 4, 3), "lambda4");
  EXPECT_EQ(symbols("laurel_rw", 3, 1), "beta3alpha2");
  EXPECT_EQ(symbols("denseformer", 3, 1), "0");
  EXPECT_EQ(symbols("denseformer", 3, 0), "alpha(0->3)");
  EXPECT_EQ(symbols("attnres_sliding_window", 4, 2), "0");
  EXPECT_EQ(symbols("attnres_sliding_window", 4, 0), "phi(w4,v0)/Z4");
  EXPECT_EQ(symbols("attnres_sigmoid", 2, 1), "sigmoid(w2,b1^1)");
  EXPECT_EQ(symbols("attnres_sigmoid", 3, 2), "sigmoid(w3,b1)");
  EXPECT_EQ(symbols("attnres_input_independent", 3, 2), "a(b1->3)");
}

TEST(Symbols, AreZeroExactlyWhereTheMatrixIs) {
  for (const MixingScheme& scheme : mixing_schemes()) {
    const Drawn numbers = drawn(scheme.name);
    for (Count l = 1; l <= 13; ++l)
      for (Count i = 0; i < l; ++i)
        EXPECT_EQ(scheme.entry(numbers.shape, l, i) == "0", numbers.matrix(l, i) == 0)
            << scheme.name << " " << i << "->" << l;
  }
}

std::string refusal(std::string_view name, const MixingShape& shape) {
  try {
    require_shape(scheme_of(name), shape);
  } catch (const Infeasible& error) {
    return error.what();
  }
  return "accepted";
}

TEST(MixingShapes, AreRefusedOutOfRange) {
  EXPECT_EQ(refusal("mhc", {.num_layers = 4, .num_streams = 0}),
            "invalid num_streams '0' (must be 1 to 64)");
  EXPECT_EQ(refusal("attnres_sliding_window", {.num_layers = 4, .window = 5}),
            "invalid window '5' (must be 1 to 4)");
  EXPECT_EQ(refusal("denseformer", {.num_layers = 4, .dilation = 0}),
            "invalid dilation '0' (must be 1 to 4)");
  EXPECT_EQ(refusal("denseformer", {.num_layers = 4, .period = 5}),
            "invalid period '5' (must be 1 to 4)");
  EXPECT_EQ(refusal("block_attnres", {.num_layers = 4}),
            "missing block_size (block_attnres needs one)");
  EXPECT_EQ(refusal("standard", {.num_layers = 4, .num_streams = 0, .window = 0}), "accepted");
}

TEST(MixingSchemes, AreNamedOnce) {
  for (const MixingScheme& scheme : mixing_schemes())
    EXPECT_EQ(find_mixing_scheme(scheme.name), &scheme) << scheme.name;
}

TEST(Mixing, HasAMatrixOrAReasonForEveryMechanism) {
  for (const SchemeRule* rule : scheme_rules())
    EXPECT_NE(rule->unmixed.empty(), find_mixing_scheme(rule->id) == nullptr) << rule->id;
}

}  // namespace
}  // namespace depthcost::mixing_test
