// Attention residuals, single pass and in the two phases of Algorithm 1. Every source is loaded
// once, and serves norm, score and mix from there.
#pragma once

#include <cassert>

#include "kernels/operations/attnres.hpp"
#include "kernels/reference/accessor.hpp"
#include "kernels/reference/attention.hpp"

namespace depthcost::reference {

/// The valid bank rows of token `t`. `Op` names the bank (B, T, d).
template <class Op, class Access>
Rows bank_sources(const Op& op, std::size_t t, Access& access) {
  assert(op.num_bank_sources <= op.num_bank_rows);
  const std::size_t d = op.hidden_size;
  return load_rows(access, row_at(op.bank, t, d), op.num_bank_sources, op.num_tokens * d, d);
}

/// Rows of token `t` that the window keeps: row 0 and the recent ones.
template <class T, class Access>
Rows bank_sources(const AttnResSinglePass<T>& op, std::size_t t, Access& access) {
  assert(op.num_bank_sources <= op.num_bank_rows);
  const std::size_t d = op.hidden_size;
  Rows sources;
  for (std::size_t row = 0; row < op.num_bank_sources; ++row)
    if (row == 0 || row >= op.variant.first_recent_row)
      sources.push_back(load_row(access, row_at(op.bank, row * op.num_tokens + t, d), d));
  return sources;
}

/// b, or b + f where the operation has an f. It is not rounded, since it is not stored here.
template <class Op, class Access>
Row partial_sum(const Op& op, std::size_t t, Access& access) {
  const std::size_t d = op.hidden_size;
  Row b = load_row(access, row_at(op.partial_sum, t, d), d);
  if (op.layer_output != nullptr) add(b, load_row(access, row_at(op.layer_output, t, d), d));
  return b;
}

template <class Op, class Access>
void store_bank_row(const Op& op, std::size_t t, Row& b, Access& access) {
  assert(op.num_bank_sources <= op.bank_row && op.bank_row < op.num_bank_rows);
  store_row(access, row_at(op.bank, op.bank_row * op.num_tokens + t, op.hidden_size), b);
}

template <class Op, class Access>
void store_next_input(const Op& op, std::size_t t, const Row& h, Access& access) {
  Row x = next_norm(h, op.norm);
  store_row(access, row_at(op.output, t, op.hidden_size), x);
}

template <class T, class Access = DirectAccess>
void run(const AttnResSinglePass<T>& op, Access&& access = {}) {
  const std::size_t d = op.hidden_size;
  const T* queries = op.variant.token_queries;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    const Row w =
        queries == nullptr ? parameters(op.query, d) : load_row(access, row_at(queries, t, d), d);
    Rows sources = bank_sources(op, t, access);
    if (op.partial_sum != nullptr) {
      Row b = partial_sum(op, t, access);
      if (op.layer_output != nullptr && op.store == SumStore::partial_sum)
        store_row(access, row_at(op.partial_sum, t, d), b);
      if (op.layer_output != nullptr && op.store == SumStore::bank_row)
        store_bank_row(op, t, b, access);
      sources.push_back(std::move(b));
    }
    store_next_input(op, t, attend(w, sources, op.variant, op.key_eps), access);
  }
}

/// (o, m, l) of token `t` and query `s` = 1..S - 1, for Phase 2.
template <class T, class O, class Access>
void store_statistics(const AttnResPhase1<T, O>& op, std::size_t s, std::size_t t,
                      Statistics& statistics, Access& access) {
  const std::size_t at = (s - 1) * op.num_tokens + t;
  store_row(access, row_at(op.outputs, at, op.hidden_size), statistics.o);
  access.store(op.maxima + at, statistics.m);
  access.store(op.sums + at, statistics.l);
}

template <class T, class O, class Access = DirectAccess>
void run(const AttnResPhase1<T, O>& op, Access&& access = {}) {
  assert((op.partial_sum == nullptr) == (op.layer_output == nullptr));
  const std::size_t d = op.hidden_size;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    Rows sources = bank_sources(op, t, access);
    if (op.partial_sum != nullptr) {
      Row b = partial_sum(op, t, access);
      store_bank_row(op, t, b, access);
      sources.push_back(std::move(b));
    }
    for (std::size_t s = 0; s < op.num_queries; ++s) {
      const Row w = parameters(row_at(op.queries, s, d), d);
      Statistics statistics = attend_with_stats(w, sources, op.key_eps);
      if (s == 0)
        store_next_input(op, t, divided(statistics), access);
      else
        store_statistics(op, s, t, statistics, access);
    }
  }
}

template <class T, class O, class Access = DirectAccess>
void run(const AttnResPhase2<T, O>& op, Access&& access = {}) {
  const std::size_t d = op.hidden_size;
  const Row w = parameters(op.query, d);
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    Rows sources = load_rows(access, row_at(op.further_sources, t, d), op.num_further_sources,
                             op.num_tokens * d, d);
    Row b = partial_sum(op, t, access);
    if (op.layer_output != nullptr) store_row(access, row_at(op.partial_sum, t, d), b);
    sources.push_back(std::move(b));
    const Statistics inter_block{load_row(access, row_at(op.phase1_output, t, d), d),
                                 access.load(op.maximum + t), access.load(op.sum + t)};
    const Statistics intra_block = attend_with_stats(w, sources, op.key_eps);
    store_next_input(op, t, divided(merge(inter_block, intra_block)), access);
  }
}

}  // namespace depthcost::reference
