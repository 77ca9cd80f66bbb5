// Which buffer of an operation is which operand of the ledger. Parameters are not traffic per
// token, and are read without the accessor.
#pragma once

#include "kernels/operations/operations.hpp"
#include "model/operations/attnres_operations.hpp"
#include "model/operations/eager_operations.hpp"
#include "model/operations/residual_operations.hpp"
#include "tests/kernels/reference/counting_access.hpp"

namespace depthcost::test {

/// An operation as the ledger knows it, with its buffers.
struct LedgerView {
  OperationId id;
  std::size_t num_tokens;
  std::size_t hidden_size;
  std::vector<Place> places;
};

template <class T>
Place rows(Operand read_as, Operand written_as, const T* first, std::size_t count) {
  return {first, first == nullptr ? first : first + count, false, read_as, written_as};
}
template <class T>
Place rows(Operand operand, const T* first, std::size_t count) {
  return rows(operand, operand, first, count);
}
template <class P>
Place scalars(const P* first, std::size_t count) {
  return {first, first == nullptr ? first : first + count, true};
}

/// d-vectors of all tokens: elements in a (T, d) buffer.
template <class Op>
std::size_t size_of(const Op& op) {
  return op.num_tokens * op.hidden_size;
}

template <class T>
LedgerView ledger_view(const ResidualAdd<T>& op, Operand sum) {
  return {operations::kResidualAdd,
          op.num_tokens,
          op.hidden_size,
          {rows(sum, op.hidden_state, size_of(op)),
           rows(Operand::layer_output, op.layer_output, size_of(op))}};
}

template <class T>
LedgerView ledger_view(const ResidualAddRmsNorm<T>& op) {
  return {operations::kResidualAddRmsnorm,
          op.num_tokens,
          op.hidden_size,
          {rows(Operand::hidden_state, op.hidden_state, size_of(op)),
           rows(Operand::layer_output, op.layer_output, size_of(op)),
           rows(Operand::layer_input, op.output, size_of(op))}};
}

template <class T>
LedgerView ledger_view(const AttnResSinglePass<T>& op) {
  return {operations::kAttnresSinglePass,
          op.num_tokens,
          op.hidden_size,
          {rows(Operand::bank, op.bank, op.num_bank_rows * size_of(op)),
           rows(Operand::partial_sum, op.partial_sum, size_of(op)),
           rows(Operand::layer_output, op.layer_output, size_of(op)),
           rows(Operand::layer_input, op.output, size_of(op))}};
}

template <class T, class O>
LedgerView ledger_view(const AttnResPhase1<T, O>& op) {
  const std::size_t stored = op.num_queries - 1;
  return {operations::kAttnresPhase1,
          op.num_tokens,
          op.hidden_size,
          {rows(Operand::bank, op.bank, op.num_bank_rows * size_of(op)),
           rows(Operand::partial_sum, op.partial_sum, size_of(op)),
           rows(Operand::layer_output, op.layer_output, size_of(op)),
           rows(Operand::layer_input, op.output, size_of(op)),
           rows(Operand::phase1_output, op.outputs, stored * size_of(op)),
           scalars(op.maxima, stored * op.num_tokens), scalars(op.sums, stored * op.num_tokens)}};
}

template <class T, class O>
LedgerView ledger_view(const AttnResPhase2<T, O>& op) {
  return {operations::kAttnresPhase2,
          op.num_tokens,
          op.hidden_size,
          {rows(Operand::bank, op.further_sources, op.num_further_sources * size_of(op)),
           rows(Operand::partial_sum, op.partial_sum, size_of(op)),
           rows(Operand::layer_output, op.layer_output, size_of(op)),
           rows(Operand::phase1_output, op.phase1_output, size_of(op)),
           scalars(op.maximum, op.num_tokens), scalars(op.sum, op.num_tokens),
           rows(Operand::layer_input, op.output, size_of(op))}};
}

template <class T>
LedgerView ledger_view(const UnfusedRmsNorm<T>& op) {
  return {operations::kUnfusedRmsnorm,
          op.num_tokens,
          op.hidden_size,
          {rows(Operand::recent, op.input, size_of(op)),
           rows(Operand::layer_input, op.output, size_of(op))}};
}

template <class T>
LedgerView ledger_view(const UnfusedStack<T>& op) {
  LedgerView view{operations::kUnfusedStack,
                  op.num_tokens,
                  op.hidden_size,
                  {rows(Operand::recent, op.stack, op.num_sources * size_of(op))}};
  for (std::size_t s = 0; s < op.num_sources; ++s)
    view.places.push_back(rows(Operand::bank, op.sources[s], size_of(op)));
  return view;
}

template <class T>
LedgerView ledger_view(const UnfusedKeyNorm<T>& op) {
  return {operations::kUnfusedKeyNorm,
          op.num_tokens,
          op.hidden_size,
          {rows(Operand::recent, op.stack, op.num_sources * size_of(op)),
           rows(Operand::recent, op.keys, op.num_sources * size_of(op))}};
}

template <class T>
LedgerView ledger_view(const UnfusedScores<T>& op) {
  return {operations::kUnfusedScores,
          op.num_tokens,
          op.hidden_size,
          {rows(Operand::recent, op.keys, op.num_sources * size_of(op)),
           scalars(op.logits, op.num_sources * op.num_tokens)}};
}

template <class T>
LedgerView ledger_view(const UnfusedMix<T>& op) {
  return {operations::kUnfusedMix,
          op.num_tokens,
          op.hidden_size,
          {rows(Operand::recent, op.stack, op.num_sources * size_of(op)),
           scalars(op.logits, op.num_sources * op.num_tokens),
           rows(Operand::recent, op.output, size_of(op))}};
}

}  // namespace depthcost::test
