// Operands of the AttnRes operations in any shape.
#pragma once

#include "tests/kernels/cpu/run.hpp"

namespace depthcost::test {

/// What a single pass reads beside the bank rows.
enum Joining : std::size_t { nothing, stored_sum, added_sum, closed_block, forgotten_sum };

/// Rows of the bank that are allocated but must not be read.
inline constexpr std::size_t kSpareRows = 2;

struct SinglePassShape {
  std::size_t num_tokens;
  std::size_t hidden_size;
  std::size_t num_sources;
  std::size_t joining;
  std::size_t has_norm;
};

template <class T>
struct SinglePassProblem {
  Tensor<T> bank;
  Tensor<T> partial_sum;
  Tensor<T> layer_output;
  Tensor<float> query;
  Tensor<float> gain;
  Tensor<T> output;
  AttnResSinglePass<T> op;

  explicit SinglePassProblem(const SinglePassShape& shape)
      : bank(shape.num_sources + kSpareRows, shape.num_tokens, shape.hidden_size),
        partial_sum(1, shape.num_tokens, shape.hidden_size),
        layer_output(1, shape.num_tokens, shape.hidden_size),
        query(1, 1, shape.hidden_size),
        gain(1, 1, shape.hidden_size),
        output(1, shape.num_tokens, shape.hidden_size) {
    fill(bank, 1, 2, shape.num_sources);
    fill(partial_sum, 2, 3);
    fill(layer_output, 3, 1);
    fill_query(query);
    fill(gain, 5, 1);
    op = {.num_tokens = shape.num_tokens,
          .hidden_size = shape.hidden_size,
          .num_bank_rows = bank.num_rows(),
          .num_bank_sources = shape.num_sources,
          .bank = bank.data(),
          .query = query.data(),
          .output = output.data()};
    if (shape.joining != nothing) op.partial_sum = partial_sum.data();
    if (shape.joining >= added_sum) op.layer_output = layer_output.data();
    if (shape.joining == closed_block) {
      op.store = SumStore::bank_row;
      op.bank_row = shape.num_sources + 1;
    }
    if (shape.joining == forgotten_sum) op.store = SumStore::nowhere;
    if (shape.has_norm != 0) op.norm.gain = gain.data();
  }

  auto outputs() const { return std::tie(output, partial_sum, bank); }
};

struct Phase1Shape {
  std::size_t num_tokens;
  std::size_t hidden_size;
  std::size_t num_sources;
  std::size_t num_queries;
  std::size_t closes;
  std::size_t has_norm;
};

template <class T, class O>
struct Phase1Problem {
  Tensor<T> bank;
  Tensor<T> partial_sum;
  Tensor<T> layer_output;
  Tensor<float> queries;
  Tensor<float> gain;
  Tensor<T> output;
  Tensor<O> mixes;
  Tensor<float> maxima;
  Tensor<float> sums;
  AttnResPhase1<T, O> op;

  explicit Phase1Problem(const Phase1Shape& shape)
      : bank(shape.num_sources + kSpareRows, shape.num_tokens, shape.hidden_size),
        partial_sum(1, shape.num_tokens, shape.hidden_size),
        layer_output(1, shape.num_tokens, shape.hidden_size),
        queries(shape.num_queries, 1, shape.hidden_size),
        gain(1, 1, shape.hidden_size),
        output(1, shape.num_tokens, shape.hidden_size),
        mixes(shape.num_queries - 1, shape.num_tokens, shape.hidden_size),
        maxima(shape.num_queries - 1, shape.num_tokens, 1),
        sums(shape.num_queries - 1, shape.num_tokens, 1) {
    fill(bank, 1, 2, shape.num_sources);
    fill(partial_sum, 2, 3);
    fill(layer_output, 3, 1);
    fill_query(queries);
    fill(gain, 5, 1);
    op = {.num_tokens = shape.num_tokens,
          .hidden_size = shape.hidden_size,
          .num_bank_rows = bank.num_rows(),
          .num_bank_sources = shape.num_sources,
          .num_queries = shape.num_queries,
          .bank = bank.data(),
          .queries = queries.data(),
          .output = output.data(),
          .outputs = mixes.data(),
          .maxima = maxima.data(),
          .sums = sums.data()};
    if (shape.closes != 0) {
      op.partial_sum = partial_sum.data();
      op.layer_output = layer_output.data();
      op.bank_row = shape.num_sources;
    }
    if (shape.has_norm != 0) op.norm.gain = gain.data();
  }

  auto outputs() const { return std::tie(output, mixes, maxima, sums, bank); }
};

struct Phase2Shape {
  std::size_t num_tokens;
  std::size_t hidden_size;
  std::size_t num_further;
  std::size_t adds;
  std::size_t has_norm;
};

template <class T, class O>
struct Phase2Problem {
  Tensor<T> further;
  Tensor<T> partial_sum;
  Tensor<T> layer_output;
  Tensor<O> mix;
  Tensor<float> maximum;
  Tensor<float> sum;
  Tensor<float> query;
  Tensor<float> gain;
  Tensor<T> output;
  AttnResPhase2<T, O> op;

  explicit Phase2Problem(const Phase2Shape& shape)
      : further(shape.num_further, shape.num_tokens, shape.hidden_size),
        partial_sum(1, shape.num_tokens, shape.hidden_size),
        layer_output(1, shape.num_tokens, shape.hidden_size),
        mix(1, shape.num_tokens, shape.hidden_size),
        maximum(1, shape.num_tokens, 1),
        sum(1, shape.num_tokens, 1),
        query(1, 1, shape.hidden_size),
        gain(1, 1, shape.hidden_size),
        output(1, shape.num_tokens, shape.hidden_size) {
    fill(further, 1, 2);
    fill(partial_sum, 2, 3);
    fill(layer_output, 3, 1);
    fill(mix, 6, 3);
    fill(maximum, 7, kLogitScale);
    fill(sum, 8, 1);
    for (std::size_t t = 0; t < shape.num_tokens; ++t) sum.data()[t] += 2.5F;
    fill_query(query);
    fill(gain, 5, 1);
    op = {.num_tokens = shape.num_tokens,
          .hidden_size = shape.hidden_size,
          .num_further_sources = shape.num_further,
          .further_sources = further.data(),
          .partial_sum = partial_sum.data(),
          .phase1_output = mix.data(),
          .maximum = maximum.data(),
          .sum = sum.data(),
          .query = query.data(),
          .output = output.data()};
    if (shape.adds != 0) op.layer_output = layer_output.data();
    if (shape.has_norm != 0) op.norm.gain = gain.data();
  }

  auto outputs() const { return std::tie(output, partial_sum); }
};

}  // namespace depthcost::test
