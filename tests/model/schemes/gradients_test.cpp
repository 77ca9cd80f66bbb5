// What accumulating gradients moves: the formulas against a small network whose backward pass is
// run in all three ways, on rows that count their accesses.
#include "model/schemes/gradients.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace depthcost::gradients_test {
namespace {

constexpr std::size_t kWidth = 5;
using Row = std::vector<double>;

double dot(const Row& a, const Row& b) {
  double sum = 0;
  for (std::size_t i = 0; i < kWidth; ++i) sum += a[i] * b[i];
  return sum;
}

void add(Row& to, double scale, const Row& row) {
  for (std::size_t i = 0; i < kWidth; ++i) to[i] += scale * row[i];
}

/// Rows in memory, with what was moved.
class Memory {
 public:
  explicit Memory(std::vector<Row> rows) : rows_(std::move(rows)) {}
  const Row& load(std::size_t i) {
    ++loads;
    return rows_[i];
  }
  void store(std::size_t i, const Row& row) {
    ++stores;
    rows_[i] = row;
  }
  /// Uncounted.
  void place(std::size_t i, const Row& row) { rows_[i] = row; }
  const std::vector<Row>& rows() const { return rows_; }

  double loads = 0;
  double stores = 0;

 private:
  std::vector<Row> rows_;
};

/// One block: S layers over `bank` and its own partial sum, f = 0.5 y + c.
struct Network {
  std::vector<Row> bank;
  std::vector<Row> queries;  // of each layer
  std::vector<Row> constants;
};

constexpr double kSlope = 0.5;
constexpr double kEpsilon = 1e-5;

double norm_of(const Row& v) {
  return std::sqrt(dot(v, v) / static_cast<double>(kWidth) + kEpsilon);
}

/// Scalars of one mix: y = sum a_i v_i, a = softmax(s), s_i = <w, v_i> / norm(v_i).
struct Scalars {
  std::vector<double> weights;
  std::vector<double> scores;
  std::vector<double> norms;
};

/// Everything that the forward pass keeps. partials[j] is what layer j attends to (j >= 1); the
/// last one is the finished block.
struct Kept {
  std::vector<Row> partials;
  std::vector<Row> mixes;
  std::vector<Scalars> scalars;
};

Kept forward(const Network& net) {
  Kept kept;
  Row partial(kWidth, 0);
  for (std::size_t j = 0; j < net.queries.size(); ++j) {
    std::vector<Row> sources = net.bank;
    if (j > 0) sources.push_back(partial);
    kept.partials.push_back(partial);
    Scalars s;
    double sum = 0;
    for (const Row& v : sources) {
      s.norms.push_back(norm_of(v));
      s.scores.push_back(dot(net.queries[j], v) / s.norms.back());
      sum += std::exp(s.scores.back());
    }
    Row y(kWidth, 0);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      s.weights.push_back(std::exp(s.scores[i]) / sum);
      add(y, s.weights[i], sources[i]);
    }
    kept.mixes.push_back(y);
    kept.scalars.push_back(s);
    add(partial, kSlope, y);
    add(partial, 1, net.constants[j]);
  }
  kept.partials.push_back(partial);
  return kept;
}

/// a_i dy + a_i (<dy, v_i> - <dy, y>) ds_i/dv_i
Row gradient_of_source(const Scalars& s, std::size_t i, const Row& query, const Row& v,
                       const Row& dy, double dy_y) {
  const double ds = s.weights[i] * (dot(dy, v) - dy_y);
  Row gradient(kWidth, 0);
  add(gradient, s.weights[i], dy);
  add(gradient, ds / s.norms[i], query);
  add(gradient, -ds * s.scores[i] / (static_cast<double>(kWidth) * s.norms[i] * s.norms[i]), v);
  return gradient;
}

Row scaled(double k, const Row& row) {
  Row result(kWidth, 0);
  add(result, k, row);
  return result;
}

struct Backward {
  std::vector<Row> gradients;  // of the bank's rows, then the block's own
  GradientTraffic moved;
};

/// Starts from gradients that later layers have left. Only the loads and stores of rows count.
class CountedBackward {
 public:
  CountedBackward(const Network& net, const std::vector<Row>& gradients)
      : net_(net),
        kept_(forward(net)),
        bank_(net.bank),
        partials_(kept_.partials),
        mixes_(kept_.mixes),
        arriving_(std::vector<Row>(net.queries.size(), Row(kWidth, 0))),
        undone_norms_(arriving_.rows()),
        fresh_(gradients),
        gradients_(gradients) {}

  Backward run(GradientAccumulation mode) {
    for (std::size_t j = net_.queries.size(); j-- > 0;) {
      // The layer's own backward pass writes dy; it is no part of this.
      arriving_.place(j, scaled(kSlope, gradients_.rows().back()));
      if (mode == GradientAccumulation::per_block)
        partial_only(j);
      else
        one_read(j, mode);
    }
    if (mode == GradientAccumulation::per_block) whole_bank();
    return {gradients_.rows(),
            {bank_.loads + partials_.loads + mixes_.loads + arriving_.loads,
             gradients_.loads + fresh_.loads,
             gradients_.stores + fresh_.stores + undone_norms_.stores}};
  }

 private:
  void one_read(std::size_t j, GradientAccumulation mode) {
    const Row dy = arriving_.load(j);
    std::vector<Row> sources;
    for (std::size_t i = 0; i < net_.bank.size(); ++i) sources.push_back(bank_.load(i));
    if (j > 0) sources.push_back(partials_.load(j));
    double dy_y = 0;
    for (std::size_t i = 0; i < sources.size(); ++i)
      dy_y += kept_.scalars[j].weights[i] * dot(dy, sources[i]);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const Row gradient =
          gradient_of_source(kept_.scalars[j], i, net_.queries[j], sources[i], dy, dy_y);
      if (mode == GradientAccumulation::fused) {
        Row sum = gradients_.load(i);
        add(sum, 1, gradient);
        gradients_.store(i, sum);
      } else {
        fresh_.store(i, gradient);
      }
    }
    if (mode != GradientAccumulation::autograd) return;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      Row sum = gradients_.load(i);
      add(sum, 1, fresh_.load(i));
      gradients_.store(i, sum);
    }
  }

  void partial_only(std::size_t j) {
    if (j == 0) return;
    const std::size_t own = net_.bank.size();
    const Row dy = arriving_.load(j);
    undone_norms_.store(j, dy);  // what a norm would have made of dy; here it is dy
    const double dy_y = dot(dy, mixes_.load(j));
    Row sum = gradients_.load(own);
    add(sum, 1,
        gradient_of_source(kept_.scalars[j], own, net_.queries[j], partials_.load(j), dy, dy_y));
    gradients_.store(own, sum);
    products_.resize(net_.queries.size());
    products_[j] = dy_y;
  }

  /// The first layer attends to the bank alone, which is all there: its <dy, y> costs no row.
  void whole_bank() {
    const std::size_t num_layers = net_.queries.size();
    products_.resize(num_layers);
    std::vector<Row> sources;
    for (std::size_t i = 0; i < net_.bank.size(); ++i) sources.push_back(bank_.load(i));
    std::vector<Row> dys;
    for (std::size_t j = 0; j < num_layers; ++j) dys.push_back(arriving_.load(j));
    for (std::size_t i = 0; i < sources.size(); ++i)
      products_[0] += kept_.scalars[0].weights[i] * dot(dys[0], sources[i]);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      Row sum = gradients_.load(i);
      for (std::size_t j = 0; j < num_layers; ++j)
        add(sum, 1,
            gradient_of_source(kept_.scalars[j], i, net_.queries[j], sources[i], dys[j],
                               products_[j]));
      gradients_.store(i, sum);
    }
  }

  Network net_;
  Kept kept_;
  Memory bank_;
  Memory partials_;
  Memory mixes_;
  Memory arriving_;
  Memory undone_norms_;
  Memory fresh_;
  Memory gradients_;
  std::vector<double> products_;  // <dy, y> of each layer: scalars
};

Network random_network(std::size_t bank_rows, std::size_t num_layers, std::mt19937& random) {
  std::normal_distribution<double> normal;
  const auto rows = [&](std::size_t count) {
    std::vector<Row> result(count, Row(kWidth));
    for (Row& row : result)
      for (double& x : row) x = normal(random);
    return result;
  };
  return {rows(bank_rows), rows(num_layers), rows(num_layers)};
}

constexpr std::array kModes = {GradientAccumulation::autograd, GradientAccumulation::fused,
                               GradientAccumulation::per_block};

TEST(GradientTraffic, IsWhatABackwardPassOfABlockMovesInEachWay) {
  std::mt19937 random(1);
  for (const std::size_t n : {1U, 2U, 3U, 8U}) {
    for (const std::size_t S : {1U, 2U, 3U, 6U, 24U}) {
      const Network net = random_network(n, S, random);
      const std::vector<Row> later(n + 1, Row(kWidth, 1));
      for (const GradientAccumulation mode : kModes) {
        EXPECT_EQ(CountedBackward(net, later).run(mode).moved,
                  block_backward(mode, static_cast<Count>(n), static_cast<Count>(S)))
            << name(mode) << " n = " << n << " S = " << S;
      }
    }
  }
}

/// The sum of all elements of the finished block and the bank: what the gradients are of.
double loss(const Network& net) {
  const Kept kept = forward(net);
  double sum = 0;
  for (const double x : kept.partials.back()) sum += x;
  for (const Row& row : net.bank)
    for (const double x : row) sum += x;
  return sum;
}

TEST(GradientTraffic, OfEachWayComesWithTheRightGradients) {
  std::mt19937 random(2);
  for (const std::size_t S : {1U, 2U, 5U}) {
    const Network net = random_network(3, S, random);
    const std::vector<Row> later(4, Row(kWidth, 1));
    for (const GradientAccumulation mode : kModes) {
      const Backward backward = CountedBackward(net, later).run(mode);
      for (std::size_t i = 0; i < net.bank.size(); ++i) {
        for (std::size_t k = 0; k < kWidth; ++k) {
          Network up = net;
          Network down = net;
          up.bank[i][k] += 1e-5;
          down.bank[i][k] -= 1e-5;
          EXPECT_NEAR(backward.gradients[i][k], (loss(up) - loss(down)) / 2e-5, 1e-7)
              << name(mode) << " S = " << S;
        }
      }
    }
  }
}

TEST(GradientTraffic, OfOneLayerIsTheKnownCount) {
  for (Count n = 1; n <= 40; ++n) {
    const auto sources = static_cast<double>(n);
    EXPECT_EQ(total_d(one_read_backward(n)), 2 * sources + 1);
    EXPECT_EQ(total_d(accumulation(GradientAccumulation::autograd, n)), 3 * sources);
    EXPECT_EQ(total_d(accumulation(GradientAccumulation::fused, n)), sources);
    EXPECT_EQ(total_d(block_backward(GradientAccumulation::per_block, n, 1)), 3 * sources + 1);
  }
}

// Sources of Kimi K3's 186 layers: 24 for each number of blocks up to 7, 18 for 8, and the partial
// sums of all but eight layers.
TEST(GradientTraffic, OfKimiK3IsInClosedForm) {
  const Partition scheme = partition_by_size(186, 24);
  const double sources = 24.0 * (1 + 2 + 3 + 4 + 5 + 6 + 7) + 18 * 8 + (186 - 8);
  EXPECT_EQ(total_d(one_read_path(scheme)), 2 * sources + 186 + 2 * 9 + 1);
  EXPECT_EQ(accumulation_d(scheme, GradientAccumulation::autograd), 3 * sources);
  EXPECT_EQ(accumulation_d(scheme, GradientAccumulation::fused), sources);
  const double per_block = 3 * 36 + 186 + 6 * (186 - 8) + 2 * 9 + 1;
  EXPECT_EQ(total_d(backward_traffic(scheme, GradientAccumulation::per_block)), per_block);
  EXPECT_LT(accumulation_d(scheme, GradientAccumulation::per_block), 0);
}

TEST(GradientTraffic, OfFullAttnResGainsNothingPerBlock) {
  const Partition scheme = partition_by_size(12, 1);
  const double sources = 12 * 13 / 2;
  EXPECT_EQ(accumulation_d(scheme, GradientAccumulation::autograd), 3 * sources);
  EXPECT_EQ(accumulation_d(scheme, GradientAccumulation::fused), sources);
  EXPECT_EQ(accumulation_d(scheme, GradientAccumulation::per_block), sources);
  EXPECT_EQ(total_d(backward_traffic(scheme, GradientAccumulation::fused)),
            3 * sources + 12 + 2 * 13 + 1);
}

TEST(GradientTraffic, KnowsTheTypeOfTheGradientsApart) {
  const GradientTraffic traffic{
      .activation_reads_d = 3, .gradient_reads_d = 2, .gradient_writes_d = 1};
  EXPECT_EQ(bytes(traffic, 100, Dtype::bf16, Dtype::f32), Bytes{3 * 200 + 3 * 400});
}

}  // namespace
}  // namespace depthcost::gradients_test
