// The ablations of AttnRes against their ledger rows: a whole network of each in both schedules,
// whose launches are counted and whose outputs agree.
#include <gtest/gtest.h>

#include <deque>

#include "kernels/reference/projection.hpp"
#include "model/ledger/path_operations.hpp"
#include "model/operations/dense_operations.hpp"
#include "model/operations/eager_operations.hpp"
#include "model/operations/residual_operations.hpp"
#include "model/schemes/list.hpp"
#include "tests/kernels/reference/schedules.hpp"
#include "tests/kernels/reference/steps.hpp"

namespace depthcost::test::attnres_ablations_test {
namespace {

constexpr std::size_t kT = 3;
constexpr std::size_t kD = 6;
constexpr Count kLayers = 7;

struct Ablation {
  std::string_view id;
  SchemeParameters parameters;
  AttentionVariant<double> attention;

  bool has_query_of_token() const { return id == "attnres_input_dependent"; }
  bool has_window() const { return id == "attnres_sliding_window"; }
  std::size_t window() const { return static_cast<std::size_t>(parameters.window); }
};

std::vector<Ablation> ablations() {
  std::vector<Ablation> all;
  for (const Count S : {1, 2, 3, 7}) {
    const SchemeParameters p{.hidden_size = kD, .block_size = S, .heads = 2};
    all.push_back({"attnres_sigmoid", p, {.weighting = DepthWeighting::sigmoid}});
    all.push_back({"attnres_raw_keys", p, {.key_norm = KeyNorm::none}});
    all.push_back({"attnres_multihead", p, {.num_heads = 2}});
    all.push_back({"attnres_input_dependent", p, {}});
  }
  for (const Count W : {1, 3, 7})
    all.push_back({"attnres_sliding_window", {.hidden_size = kD, .window = W}, {}});
  return all;
}

/// Layers that are elementwise, around a network with drawn parameters.
struct Network {
  Ablation ablation;
  Draw draw{};
  Row queries = draw((kLayers + 1) * kD), gains = draw((kLayers + 1) * kD);
  Row embedding = draw(kT * kD), W_q = draw(kD * kD);

  AttnResNetwork<double> network() const {
    const Count S = ablation.has_window() ? 1 : ablation.parameters.block_size;
    const auto sizes = block_sizes(partition_by_size(kLayers, S));
    return {.num_tokens = kT,
            .hidden_size = kD,
            .block_sizes = {sizes.begin(), sizes.end()},
            .queries = queries.data(),
            .gains = gains.data()};
  }

  /// The output aggregation; `run` executes operations, `seen` hears where a layer leaves f.
  Row out(Execution execution, const auto& run, const auto& seen) const {
    const AttnResNetwork<double> all = network();
    AttnResBuffers<double> buffers(all, bank_rows(execution, all), embedding.data());
    const auto layer = [&](std::size_t l, const double* x, double* f) {
      for (std::size_t i = 0; i < all.row_size(); ++i)
        f[i] = std::sin(x[i] + static_cast<double>(l));
      seen(f);
    };
    run_execution(execution, all, buffers, SumUpdate::folded, layer, run);
    return buffers.layer_input;
  }
};

// -- Single pass ------------------------------------------------------------------------------

/// b + f, f or the embedding, whichever the operation attends to last.
Row newest_source(const AttnResSinglePass<double>& op, std::size_t t, CountingAccess& access) {
  Row v = reference::load_row(
      access, reference::row_at(op.partial_sum == nullptr ? op.bank : op.partial_sum, t, kD), kD);
  if (op.layer_output != nullptr)
    reference::add(v, reference::load_row(access, reference::row_at(op.layer_output, t, kD), kD));
  return v;
}

Row run_single_pass(const Network& network, Counter& counter) {
  std::size_t layer = 0;
  const auto run = [&](auto op) {
    if constexpr (requires { op.variant; }) {
      ++layer;
      op.variant = network.ablation.attention;
      const std::size_t W = network.ablation.window();
      if (network.ablation.has_window() && layer > W) op.variant.first_recent_row = layer - W;
      Row queries(kT * kD, kNaN);
      LedgerView view = ledger_view(op);
      view.places.push_back(place(Operand::recent, queries));
      if (network.ablation.has_query_of_token()) {
        LedgerView projection = view;
        projection.id = operations::kUnfusedProjection;
        counter.launch(projection, [&](CountingAccess& access) {
          for (std::size_t t = 0; t < kT; ++t) {
            Row q = reference::projected(network.W_q.data(), kD, newest_source(op, t, access));
            reference::store_row(access, reference::row_at(queries.data(), t, kD), q);
          }
        });
        op.variant.token_queries = queries.data();
      }
      counter.launch(view, [&](CountingAccess& access) { reference::run(op, access); });
    } else {
      counter.run(op);
    }
  };
  return network.out(Execution::single_pass, run, [&](const double* f) {
    counter.newest = rows(Operand::layer_output, f, kT * kD);
  });
}

// -- Eager ------------------------------------------------------------------------------------

/// The launches of Fig. 2 with the ablation in their middle.
class EagerAblation {
 public:
  EagerAblation(const Network& network, Counter& counter) : network_(network), counter_(counter) {}

  void operator()(UnfusedStack<double> op) {
    ++layer_;
    const std::size_t W = network_.ablation.window();
    sources_.assign(op.sources, op.sources + op.num_sources);
    if (network_.ablation.has_window() && layer_ > W)
      sources_.erase(sources_.begin() + 1, sources_.end() - static_cast<std::ptrdiff_t>(W));
    op.sources = sources_.data();
    op.num_sources = num_sources();
    keys_ = stack_ = op.stack;
    counter_.run(op);
    if (network_.ablation.has_query_of_token()) project_newest();
  }
  void operator()(UnfusedKeyNorm<double> op) {
    if (network_.ablation.attention.key_norm == KeyNorm::none) return;
    op.num_sources = num_sources();
    keys_ = op.keys;
    counter_.run(op);
  }
  /// w . K or q_t . K over the channels of each head.
  void operator()(const UnfusedScores<double>& op) {
    const std::size_t H = network_.ablation.attention.num_heads;
    logits_.assign(num_sources() * kT * H, kNaN);
    counter_.launch(view(operations::kUnfusedScores, {stack_rows(keys_)}),
                    [&](CountingAccess& access) {
                      for (std::size_t t = 0; t < kT; ++t) {
                        const Row w = network_.ablation.has_query_of_token()
                                          ? Steps::loaded(access, queries_, t, kD)
                                          : Row(op.query, op.query + kD);
                        for (std::size_t i = 0; i < num_sources(); ++i) score(access, w, i, t);
                      }
                    });
  }
  void operator()(const UnfusedMix<double>& op) {
    counter_.launch(view(operations::kUnfusedMix,
                         {stack_rows(stack_), rows(Operand::recent, op.output, kT * kD)}),
                    [&](CountingAccess& access) {
                      for (std::size_t t = 0; t < kT; ++t) mix(access, op.output, t);
                    });
  }
  template <class Op>
  void operator()(const Op& op) {
    counter_.run(op);
  }

 private:
  const Network& network_;
  Counter& counter_;
  std::size_t layer_ = 0;
  std::vector<const double*> sources_;
  const double* stack_ = nullptr;
  const double* keys_ = nullptr;
  Row logits_;  // (s, T, H)
  Row queries_;

  std::size_t num_sources() const { return sources_.size(); }
  std::size_t head_size() const { return kD / network_.ablation.attention.num_heads; }
  Place stack_rows(const double* stack) const {
    return rows(Operand::recent, stack, num_sources() * kT * kD);
  }
  LedgerView view(OperationId id, std::vector<Place> places) const {
    places.push_back(scalar_place(logits_));
    places.push_back(place(Operand::recent, queries_));
    return {id, kT, kD, std::move(places)};
  }

  void project_newest() {
    queries_.assign(kT * kD, kNaN);
    const reference::Projection<double, double> op{kT,
                                                   kD,
                                                   kD,
                                                   stack_ + (num_sources() - 1) * kT * kD,
                                                   network_.W_q.data(),
                                                   nullptr,
                                                   queries_.data()};
    counter_.launch(view(operations::kUnfusedProjection, {stack_rows(stack_)}),
                    [&](CountingAccess& access) { reference::projection(op, access); });
  }
  void score(CountingAccess& access, const Row& w, std::size_t i, std::size_t t) {
    Row logits(kD / head_size(), 0);
    for (std::size_t e = 0; e < kD; ++e)
      logits[e / head_size()] += w[e] * access.load(keys_ + (i * kT + t) * kD + e);
    for (std::size_t h = 0; h < logits.size(); ++h)
      access.store(&logits_[(i * kT + t) * logits.size() + h], logits[h]);
  }
  void mix(CountingAccess& access, double* output, std::size_t t) {
    const std::size_t H = kD / head_size();
    const bool is_sigmoid = network_.ablation.attention.weighting == DepthWeighting::sigmoid;
    Row sums(H, 0);
    Row out(kD, 0);
    for (std::size_t i = 0; i < num_sources(); ++i)
      for (std::size_t h = 0; h < H; ++h) {
        const double e = std::exp(access.load(&logits_[(i * kT + t) * H + h]));
        const double weight = is_sigmoid ? e / (1 + e) : e;
        sums[h] += weight;
        for (std::size_t c = h * head_size(); c < (h + 1) * head_size(); ++c)
          out[c] += weight * access.load(stack_ + (i * kT + t) * kD + c);
      }
    for (std::size_t c = 0; c < kD; ++c)
      access.store(output + t * kD + c, is_sigmoid ? out[c] : out[c] / sums[c / head_size()]);
  }
};

Row run_eager(const Network& network, Counter& counter) {
  EagerAblation run(network, counter);
  return network.out(
      Execution::unfused, [&](const auto& op) { run(op); }, [](const double*) {});
}

// -- Against the ledger -----------------------------------------------------------------------

/// All layers and the output aggregation. The partial sum of eager code is updated behind a layer,
/// and the ledger counts that there.
std::vector<Launched> ledger_of(const Scheme& scheme, Schedule schedule) {
  std::vector<Launched> launches;
  for (const PlacedOperation& placed : all_operations({scheme, kLayers}, schedule))
    launches.push_back(from_ledger(placed.operation));
  return launches;
}

Scheme scheme_of(std::string_view id, const SchemeParameters& parameters) {
  return {*find_scheme(id), parameters};
}

TEST(CountedAblations, MoveWhatTheLedgerSays) {
  for (const Ablation& ablation : ablations()) {
    SCOPED_TRACE(std::string(ablation.id) + " S " + std::to_string(ablation.parameters.block_size));
    const Scheme scheme = scheme_of(ablation.id, ablation.parameters);
    const Network network{ablation};
    Counter kernels;
    Counter eager;
    const Row actual = run_single_pass(network, kernels);
    const Row expected = run_eager(network, eager);
    EXPECT_EQ(kernels.launches, ledger_of(scheme, Schedule::single_pass));
    EXPECT_EQ(eager.launches, ledger_of(scheme, Schedule::unfused));
    EXPECT_LE(relative_error(actual, expected), 1e-12);
  }
}

/// What dense_mix is given in front of a layer, or behind the last: sources of which the newest is
/// f, b + f or the embedding, as AttnRes has them.
struct InputIndependent {
  std::size_t n = 0;  // rows in front of the newest
  bool has_sum = false;
  Row bank, f = Row(kT * kD, 2), b = Row(kT * kD, 3), x = Row(kT * kD, kNaN);
  Row alpha;
  std::vector<Place> places;
  DenseMix<double> op;

  InputIndependent(std::size_t rows_before, Count added, SumStore store)
      : n(rows_before), has_sum(added > 1), bank((n + 1) * kT * kD, 1), alpha(n + 1, 0.5) {
    double* free_row = bank.data() + n * kT * kD;
    places = {place(Operand::bank, bank), place(Operand::layer_output, f),
              place(Operand::partial_sum, b), place(Operand::layer_input, x)};
    op = {.num_tokens = kT,
          .hidden_size = kD,
          .num_bank_rows = n + 1,
          .num_bank_sources = n,
          .bank = bank.data(),
          .layer_output = added == 0 ? bank.data() : f.data(),
          .weights = alpha.data(),
          .output = x.data()};
    if (!has_sum) return;
    op.hidden_state = b.data();
    if (store != SumStore::nowhere) op.bank_row = n;
    if (store == SumStore::partial_sum) {  // b lies in the free row
      op.hidden_state = free_row;
      places.push_back(rows(Operand::partial_sum, free_row, kT * kD));
    }
  }

  Launched counted() const {
    CountingAccess access;
    access.places = places;
    reference::run(op, access);
    return {operations::kDenseMix, access.moved(kT, kD)};
  }
};

TEST(CountedAblations, MixByWeightsThatAreParametersAsTheLedgerSays) {
  for (const Count S : {1, 2, 3, 7}) {
    SCOPED_TRACE(S);
    const Scheme scheme =
        scheme_of("attnres_input_independent", {.hidden_size = kD, .block_size = S});
    const Partition blocks = partition_by_size(kLayers, S);
    std::vector<Launched> counted;
    for (Count layer = 1; layer <= kLayers; ++layer) {
      const LayerPosition at = position_of_layer(blocks, layer);
      const auto n = static_cast<std::size_t>(at.index == 1 ? at.block - 1 : at.block);
      counted.push_back(at.index == 1
                            ? InputIndependent(n, at.previous_size, SumStore::bank_row).counted()
                            : InputIndependent(n, at.index - 1, SumStore::partial_sum).counted());
    }
    const auto N = static_cast<std::size_t>(blocks.num_blocks);
    counted.push_back(InputIndependent(N, blocks.last_size, SumStore::nowhere).counted());
    EXPECT_EQ(counted, ledger_of(scheme, Schedule::single_pass));
  }
}

/// Stack, mix and norm of `num_sources` rows.
void mix_step_by_step(Counter& counter, std::size_t num_sources) {
  Steps steps(counter, kT, kD);
  std::deque<Row> outputs(num_sources, Row(kT * kD, 1));
  std::vector<const double*> sources;
  for (const Row& output : outputs) sources.push_back(output.data());
  Row stack(num_sources * kT * kD, kNaN);
  Row mixed(kT * kD, kNaN);
  Row x = mixed;
  counter.run(UnfusedStack<double>{kT, kD, num_sources, sources.data(), stack.data()});
  Rows stacked = cut(stack, kT * kD);
  std::vector<Tensor> in;
  for (Row& row : stacked) in.push_back({Operand::recent, &row});
  steps.mix(in, {}, {Operand::recent, &mixed},
            [](CountingAccess&, std::size_t, std::size_t) { return 0.5; });
  steps.norm(mixed, {Operand::layer_input, &x}, Row(kD, 1));
}

/// b += f, behind the second layer of a block and those that follow.
void sum_step(Counter& counter) {
  Row f(kT * kD, 1);
  Row b(kT * kD, 2);
  Steps(counter, kT, kD)
      .elementwise(
          {{Operand::layer_output, &f}, {Operand::partial_sum, &b}}, {Operand::partial_sum, &b},
          [](const Row& v, std::size_t) { return v[0] + v[1]; }, operations::kResidualAdd);
}

TEST(CountedAblations, MixByWeightsThatAreParametersStepByStep) {
  for (const Count S : {1, 2, 3, 7}) {
    SCOPED_TRACE(S);
    const Scheme scheme =
        scheme_of("attnres_input_independent", {.hidden_size = kD, .block_size = S});
    const Partition blocks = partition_by_size(kLayers, S);
    Counter counter;
    for (Count layer = 1; layer <= kLayers; ++layer) {
      const LayerPosition at = position_of_layer(blocks, layer);
      mix_step_by_step(counter, static_cast<std::size_t>(at.index == 1 ? at.block : at.block + 1));
      if (at.index > 1) sum_step(counter);
    }
    mix_step_by_step(counter, static_cast<std::size_t>(blocks.num_blocks) + 1);
    EXPECT_EQ(counter.launches, ledger_of(scheme, Schedule::unfused));
  }
}

TEST(CountedAblations, AreAllOfThem) {
  std::vector<std::string_view> counted{"attnres_input_independent"};
  for (const Ablation& ablation : ablations()) counted.push_back(ablation.id);
  for (const SchemeRule* rule : scheme_rules()) {
    if (!rule->id.starts_with("attnres_")) continue;
    EXPECT_NE(std::find(counted.begin(), counted.end(), rule->id), counted.end()) << rule->id;
  }
}

}  // namespace
}  // namespace depthcost::test::attnres_ablations_test
