// Layers of mechanisms that read earlier layers: dense mixing, with learned weights or weights made
// from the token, and attention over depth other than the paper's.
#include "kernels/reference/without_kernels/muddformer.hpp"
#include "kernels/reference/without_kernels/other_depth_attention.hpp"
#include "model/operations/dense_operations.hpp"
#include "model/operations/eager_operations.hpp"
#include "model/operations/residual_operations.hpp"
#include "tests/kernels/reference/mechanism_launches.hpp"

namespace depthcost::test {
namespace {

/// Rows of a bank (n, T, d), and one behind them.
struct Bank : Layer {
  std::size_t n;
  Rows rows;

  Bank(Counter& with, std::size_t num_rows) : Layer(with), n(num_rows) {
    for (std::size_t i = 0; i < n; ++i) rows.push_back(draw(T * d));
  }

  Row flat_bank() const {
    Row all;
    for (const Row& row : rows) all.insert(all.end(), row.begin(), row.end());
    all.resize((n + 1) * T * d, kNaN);
    return all;
  }
  /// The rows as a framework has them, and behind them the newest.
  std::vector<Tensor> sources(Row& newest) {
    std::vector<Tensor> all;
    for (Row& row : rows) all.push_back({Operand::bank, &row});
    all.push_back({Operand::recent, &newest});
    return all;
  }
};

Rows denseformer(Counter& counter, const SchemeLayer& at, Schedule schedule) {
  const Count block = at.layer / 2;
  if (at.layer % 2 == 1 || block % at.parameters.period != 0)
    return Layer(counter).standard(schedule);
  Bank b(counter, static_cast<std::size_t>(block / at.parameters.dilation));
  const Row alpha = b.draw(b.n + 1);
  if (schedule == Schedule::unfused) {
    Row y = b.empty();
    b.steps.residual_add(b.f, b.h);
    b.steps.mix(b.sources(b.h), {}, {Operand::recent, &y},
                [&](CountingAccess&, std::size_t, std::size_t j) { return alpha[j]; });
    b.steps.norm(y, b.input(), b.gain);
    return {b.x, y};
  }
  Row bank = b.flat_bank();
  const DenseMix<double> op{b.T,        b.d, b.n + 1,      b.n,      bank.data(), b.h.data(),
                            b.f.data(), b.n, alpha.data(), b.norm(), b.h.data(),  b.x.data()};
  b.steps.launch(operations::kDenseMix, b.places({place(Operand::bank, bank)}),
                 [&](CountingAccess& access) { reference::run(op, access); });
  return {b.x, b.h};
}

/// MUDDFormer behind a Transformer block: s - 1 rows of the bank, and the newest.
struct Mudd : Bank {
  std::size_t s = n + 1;
  bool is_last;
  std::size_t C;
  static constexpr std::size_t kInner = 5;
  Row W_1 = draw(kInner * d), W_2 = draw(C * s * kInner), prior = draw(C * s);
  Row weights = Row(T * C * s, kNaN);

  Mudd(Counter& with, const SchemeLayer& at)
      : Bank(with, static_cast<std::size_t>(at.layer / 2)),
        is_last(at.layer / 2 == at.num_layers / 2),
        C(is_last ? 1 : static_cast<std::size_t>(at.parameters.ways)) {}
};

void eager_mudd_weights(Mudd& b) {
  b.steps.launch(operations::kUnfusedProjection,
                 {place(Operand::recent, b.h), scalar_place(b.weights)},
                 [&](CountingAccess& access) {
                   for (std::size_t t = 0; t < b.T; ++t) {
                     const Row X = Steps::loaded(access, b.h, t, b.d);
                     double squares = 0;
                     for (const double element : X) squares += element * element;
                     const double rms = std::sqrt(squares / static_cast<double>(b.d) + 1e-6);
                     Row inner(b.kInner, 0);
                     for (std::size_t i = 0; i < b.kInner; ++i) {
                       for (std::size_t e = 0; e < b.d; ++e)
                         inner[i] += b.W_1[i * b.d + e] * X[e] / rms;
                       inner[i] *= (1 + std::erf(inner[i] / std::sqrt(2.0))) / 2;
                     }
                     for (std::size_t w = 0; w < b.C * b.s; ++w) {
                       double weight = b.prior[w];
                       for (std::size_t i = 0; i < b.kInner; ++i)
                         weight += b.W_2[w * b.kInner + i] * inner[i];
                       access.store(&b.weights[t * b.C * b.s + w], weight);
                     }
                   }
                 });
}

/// Inputs of the next layer way by way, and the next state if there is one.
Rows eager_mudd(Mudd& b) {
  b.steps.residual_add(b.f, b.h);
  eager_mudd_weights(b);
  Rows mixed(b.C, b.empty());
  for (std::size_t way = 0; way < b.C; ++way)
    b.steps.mix(b.sources(b.h), {scalar_place(b.weights)}, {Operand::recent, &mixed[way]},
                [&](CountingAccess& access, std::size_t t, std::size_t j) {
                  return access.load(&b.weights[(t * b.C + way) * b.s + j]);
                });
  Rows left;
  for (std::size_t way = 0; way < std::max<std::size_t>(b.C - 1, 1); ++way) {
    left.push_back(b.empty());
    b.steps.norm(mixed[way], {Operand::layer_input, &left.back()}, b.gain);
  }
  if (!b.is_last) left.push_back(mixed.back());
  return left;
}

Rows muddformer(Counter& counter, const SchemeLayer& at, Schedule schedule) {
  if (at.layer % 2 == 1) return Layer(counter).standard(schedule);
  Mudd b(counter, at);
  if (schedule == Schedule::unfused) return eager_mudd(b);
  Row bank = b.flat_bank();
  double* newest = bank.data() + b.n * b.T * b.d;
  const Place newest_row = rows(Operand::recent, Operand::bank, newest, b.T * b.d);
  b.steps.launch(operations::kUnfusedProjection, b.places({newest_row, scalar_place(b.weights)}),
                 [&](CountingAccess& access) {
                   reference::mudd_weights(
                       reference::MuddWeights<double>{
                           b.T, b.d, b.C * b.s, b.kInner, b.h.data(), b.f.data(), b.W_1.data(),
                           b.W_2.data(), b.prior.data(), 1e-6, newest, b.weights.data()},
                       access);
                 });
  const std::size_t num_inputs = std::max<std::size_t>(b.C - 1, 1);
  Row inputs(num_inputs * b.T * b.d, kNaN);
  b.steps.launch(
      operations::kRowUpdate,
      {place(Operand::bank, bank), newest_row, scalar_place(b.weights),
       place(Operand::hidden_state, b.h), place(Operand::layer_input, inputs)},
      [&](CountingAccess& access) {
        reference::mudd_mix(
            reference::MuddMix<double>{b.T, b.d, b.s, b.C, bank.data(), b.weights.data(), b.norm(),
                                       b.is_last ? nullptr : b.h.data(), inputs.data()},
            access);
      });
  Rows left = cut(inputs, b.T * b.d);
  if (!b.is_last) left.push_back(b.h);
  return left;
}

/// softmax(logits / scale) of token `t`, of logits (s, T).
double depth_weight(CountingAccess& access, const Row& logits, std::size_t t, std::size_t j,
                    double scale) {
  const std::size_t s = logits.size() / kTokens;
  double sum = 0;
  for (std::size_t i = 0; i < s; ++i) sum += std::exp(logits[i * kTokens + t] / scale);
  return std::exp(access.load(&logits[j * kTokens + t]) / scale) / sum;
}

/// logits[i][t] = query(t) . keys[i][t]; the query is a parameter, or rows of their own.
void eager_scores(Layer& b, Rows& keys, const Tensor& query, const Row& parameter, Row& logits) {
  std::vector<Place> places{scalar_place(logits)};
  for (const Row& key : keys) places.push_back(place(Operand::recent, key));
  if (query.values != nullptr) places.push_back(place(query.operand, *query.values));
  b.steps.launch(operations::kUnfusedScores, std::move(places), [&](CountingAccess& access) {
    for (std::size_t t = 0; t < b.T; ++t) {
      const Row q =
          query.values == nullptr ? parameter : Steps::loaded(access, *query.values, t, b.d);
      for (std::size_t i = 0; i < keys.size(); ++i) {
        const Row k = Steps::loaded(access, keys[i], t, b.d);
        double logit = 0;
        for (std::size_t e = 0; e < b.d; ++e) logit += q[e] * k[e];
        access.store(&logits[i * b.T + t], logit);
      }
    }
  });
}

void eager_mix(Layer& b, Rows& values, const Row& logits, Row& out) {
  std::vector<Tensor> in;
  for (Row& value : values) in.push_back({Operand::recent, &value});
  b.steps.mix(in, {scalar_place(logits)}, {Operand::recent, &out},
              [&](CountingAccess& access, std::size_t t, std::size_t j) {
                return depth_weight(access, logits, t, j, std::sqrt(static_cast<double>(b.d)));
              });
}

/// torch.stack: rows of their own for what lies apart.
Row eager_stack(Layer& b, const Row& sources) {
  Row stack(sources.size(), kNaN);
  b.steps.launch(operations::kUnfusedStack,
                 {place(Operand::bank, sources), place(Operand::recent, stack)},
                 [&](CountingAccess& access) {
                   for (std::size_t i = 0; i < sources.size(); ++i)
                     access.store(&stack[i], access.load(&sources[i]));
                 });
  return stack;
}

Rows eager_boundary(Bank& b, const Row& w, const Row& value_gain) {
  b.steps.residual_add(b.f, b.h);
  b.rows.push_back(b.h);
  Row all;
  for (const Row& row : b.rows) all.insert(all.end(), row.begin(), row.end());
  const Row stack = eager_stack(b, all);
  Row keys(stack.size(), kNaN);
  b.steps.launch(operations::kUnfusedKeyNorm,
                 {place(Operand::recent, stack), place(Operand::recent, keys)},
                 [&](CountingAccess& access) {
                   for (std::size_t i = 0; i < stack.size() / b.d; ++i) {
                     const Row v = Steps::loaded(access, stack, i, b.d);
                     double squares = 0;
                     for (const double element : v) squares += element * element;
                     for (std::size_t e = 0; e < b.d; ++e)
                       access.store(&keys[i * b.d + e],
                                    v[e] / std::sqrt(squares / static_cast<double>(b.d) + 1e-6) *
                                        value_gain[e]);
                   }
                 });
  Rows v = cut(keys, b.T * b.d);
  Row logits(v.size() * b.T, kNaN);
  Row next = b.empty();
  eager_scores(b, v, {}, w, logits);
  eager_mix(b, v, logits, next);
  b.steps.norm(next, b.input(), b.gain);
  return {b.x, next};
}

Rows boundary_attention(Counter& counter, const SchemeLayer& at, Schedule schedule) {
  const Count S = at.parameters.block_size;
  if (at.layer % S != 0) return Layer(counter).standard(schedule);
  Bank b(counter, static_cast<std::size_t>(at.layer / S));
  const Row w = b.draw(b.d);
  const Row value_gain = b.draw(b.d);
  if (S == 1) b.h = b.rows.back();
  if (schedule == Schedule::unfused) return eager_boundary(b, w, value_gain);
  Row bank = b.flat_bank();
  const reference::BoundaryDepthAttention<double> op{.num_tokens = b.T,
                                                     .hidden_size = b.d,
                                                     .num_checkpoints = b.n,
                                                     .checkpoints = bank.data(),
                                                     .hidden_state = S == 1 ? nullptr : b.h.data(),
                                                     .layer_output = b.f.data(),
                                                     .query = w.data(),
                                                     .values = {.gain = value_gain.data()},
                                                     .norm = b.norm(),
                                                     .output = b.x.data()};
  b.steps.launch(operations::kRowUpdate, b.places({place(Operand::bank, bank)}),
                 [&](CountingAccess& access) { reference::boundary_depth_attention(op, access); });
  return {b.x, cut(bank, b.T * b.d).back()};
}

/// Projects all states wherever it attends. `base` asks, and what it gets is added to it.
Rows eager_history(Bank& b, const Tensor& base, const Row& W_q, const Row& W_k, const Row& W_v) {
  Row q = b.empty();
  b.steps.project(base, W_q, {}, q, place(Operand::recent, q));
  Row all = b.flat_bank();
  all.resize(b.n * b.T * b.d);
  Row stack = eager_stack(b, all);
  Row keys(all.size(), kNaN);
  Row values(all.size(), kNaN);
  b.steps.project({Operand::recent, &stack}, W_k, {}, keys, place(Operand::recent, keys));
  b.steps.project({Operand::recent, &stack}, W_v, {}, values, place(Operand::recent, values));
  Rows k = cut(keys, b.T * b.d);
  Rows v = cut(values, b.T * b.d);
  Row logits(b.n * b.T, kNaN);
  Row mixed = b.empty();
  eager_scores(b, k, {Operand::recent, &q}, {}, logits);
  eager_mix(b, v, logits, mixed);
  b.steps.elementwise({base, {Operand::recent, &mixed}}, b.hidden(),
                      [](const Row& e, std::size_t) { return e[0] + e[1]; });
  b.steps.norm(b.h, b.input(), b.gain);
  return {b.x, b.h};
}

/// W in, with W of one or two d x d matrices, to `outputs`, one (T, d) each.
void project(Layer& b, const Tensor& in, const Row& W, Operand written,
             const std::vector<double*>& outputs) {
  const std::size_t num_outputs = outputs.size() * b.d;
  Row made(b.T * num_outputs, kNaN);
  const reference::Projection<double, double> op{b.T,      b.d,     num_outputs, in.values->data(),
                                                 W.data(), nullptr, made.data()};
  b.steps.launch(operations::kUnfusedProjection,
                 {place(in.operand, *in.values), place(written, made)},
                 [&](CountingAccess& access) { reference::projection(op, access); });
  for (std::size_t i = 0; i < made.size(); ++i)
    outputs[i % num_outputs / b.d][i / num_outputs * b.d + i % b.d] = made[i];
}

Rows history_attention(Counter& counter, const SchemeLayer& at, Schedule schedule) {
  Bank b(counter, static_cast<std::size_t>(at.layer));
  const Row W_q = b.draw(b.d * b.d), W_k = b.draw(b.d * b.d), W_v = b.draw(b.d * b.d);
  if (schedule == Schedule::unfused) return eager_history(b, b.output(), W_q, W_k, W_v);
  // What earlier layers have projected.
  const std::size_t size = b.T * b.d;
  Row keys, values;
  for (const Row& state : b.rows)
    for (std::size_t t = 0; t < b.T; ++t) {
      const Row y = cut(state, b.d)[t];
      const Row k = reference::projected(W_k.data(), b.d, y);
      const Row v = reference::projected(W_v.data(), b.d, y);
      keys.insert(keys.end(), k.begin(), k.end());
      values.insert(values.end(), v.begin(), v.end());
    }
  // Those of the newest state are this layer's task.
  std::fill(keys.end() - static_cast<std::ptrdiff_t>(size), keys.end(), kNaN);
  std::fill(values.end() - static_cast<std::ptrdiff_t>(size), values.end(), kNaN);
  b.h = b.rows.back();
  Row q = b.empty();
  project(b, b.output(), W_q, Operand::recent, {q.data()});
  Row both = W_k;
  both.insert(both.end(), W_v.begin(), W_v.end());
  project(b, b.hidden(), both, Operand::bank,
          {keys.data() + keys.size() - size, values.data() + values.size() - size});
  const reference::HistoryScan<double> op{b.T,      b.d,         b.d,           b.n,
                                          q.data(), keys.data(), values.data(), b.f.data(),
                                          b.norm(), b.h.data(),  b.x.data()};
  b.steps.launch(operations::kRowUpdate,
                 b.places({place(Operand::recent, q), place(Operand::bank, keys),
                           place(Operand::bank, values)}),
                 [&](CountingAccess& access) { reference::history_scan(op, access); });
  return {b.x, b.h};
}

/// Keys and values of all rows, which earlier launches have made.
std::pair<Row, Row> projected_rows(const Bank& b, const Row& W_k, const Row& W_v) {
  std::pair<Row, Row> made;
  for (const Row& state : b.rows)
    for (const Row& y : cut(state, b.d)) {
      const Row k = reference::projected(W_k.data(), b.d, y);
      const Row v = reference::projected(W_v.data(), b.d, y);
      made.first.insert(made.first.end(), k.begin(), k.end());
      made.second.insert(made.second.end(), v.begin(), v.end());
    }
  return made;
}

/// Residuals add within a block. Layer 1 projects the embedding, a boundary its own new state.
Rows history_attention_block(Counter& counter, const SchemeLayer& at, Schedule schedule) {
  const Count S = at.parameters.block_size;
  const bool is_boundary = at.layer % S == 0;
  const bool is_kept = schedule == Schedule::single_pass;
  Bank b(counter, static_cast<std::size_t>((at.layer - 1) / S) + 1);
  const Row W_q = b.draw(b.d * b.d), W_k = b.draw(b.d * b.d), W_v = b.draw(b.d * b.d);
  Row both = W_k;
  both.insert(both.end(), W_v.begin(), W_v.end());
  Row new_keys = b.empty(), new_values = b.empty();
  if (is_kept && at.layer == 1)
    project(b, {Operand::recent, &b.rows.front()}, both, Operand::bank,
            {new_keys.data(), new_values.data()});
  if (!is_boundary) {
    if (is_kept) {
      counter.run(
          ResidualAddRmsNorm<double>{b.T, b.d, b.h.data(), b.f.data(), b.norm(), b.x.data()});
      return {b.x, b.h};
    }
    b.steps.residual_add(b.f, b.h);
    b.steps.norm(b.h, b.input(), b.gain);
    return {b.x, b.h};
  }
  b.steps.residual_add(b.f, b.h);
  if (!is_kept) return eager_history(b, b.hidden(), W_q, W_k, W_v);
  Row q = b.empty();
  project(b, b.hidden(), W_q, Operand::recent, {q.data()});
  const auto [keys, values] = projected_rows(b, W_k, W_v);
  const reference::HistoryScan<double> op{b.T,      b.d,         b.d,           b.n,
                                          q.data(), keys.data(), values.data(), b.h.data(),
                                          b.norm(), b.h.data(),  b.x.data()};
  b.steps.launch(operations::kRowUpdate,
                 b.places({place(Operand::recent, q), place(Operand::bank, keys),
                           place(Operand::bank, values)}),
                 [&](CountingAccess& access) { reference::history_scan(op, access); });
  project(b, b.hidden(), both, Operand::bank, {new_keys.data(), new_values.data()});
  return {b.x, b.h};
}

}  // namespace

Launchers cross_layer_launchers() {
  return {{"denseformer", denseformer},
          {"muddformer", muddformer},
          {"boundary_attention", boundary_attention},
          {"history_attention", history_attention},
          {"history_attention_block", history_attention_block}};
}

}  // namespace depthcost::test
