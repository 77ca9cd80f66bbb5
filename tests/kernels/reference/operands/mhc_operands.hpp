// The operands of mHC, like operands.hpp: streams (T, m, d), coefficients (T, m) and (T, m, m).
#pragma once

#include "model/operations/eager_operations.hpp"
#include "model/operations/mhc_operations.hpp"
#include "tests/kernels/reference/operands/operands.hpp"

namespace depthcost::test {

template <class Op>
std::size_t streams_size(const Op& op) {
  return op.num_streams * size_of(op);
}
template <class Op>
std::size_t vector_size(const Op& op) {
  return op.num_tokens * op.num_streams;
}
template <class Op>
std::size_t matrix_size(const Op& op) {
  return op.num_tokens * op.num_streams * op.num_streams;
}

template <class T>
LedgerView ledger_view(const MhcPre<T>& op) {
  return {operations::kMhcPre,
          op.num_tokens,
          op.hidden_size,
          {rows(Operand::recent, op.streams, streams_size(op)),
           rows(Operand::layer_input, op.output, size_of(op)), scalars(op.post, vector_size(op)),
           scalars(op.residual, matrix_size(op))}};
}

template <class T>
LedgerView ledger_view(const MhcPost<T>& op) {
  return {operations::kMhcPost,
          op.num_tokens,
          op.hidden_size,
          {rows(Operand::recent, Operand::streams, op.next_streams, streams_size(op)),
           rows(Operand::streams, op.streams, streams_size(op)),
           rows(Operand::layer_output, op.layer_output, size_of(op)),
           scalars(op.post, vector_size(op)), scalars(op.residual, matrix_size(op))}};
}

/// The next streams are written as streams. Reading them again counts as recent.
template <class T>
LedgerView ledger_view(const MhcBoundary<T>& op) {
  LedgerView view = ledger_view(op.post);
  view.id = operations::kMhcBoundary;
  view.places.push_back(rows(Operand::layer_input, op.output, size_of(op.post)));
  view.places.push_back(scalars(op.next_post, vector_size(op.post)));
  view.places.push_back(scalars(op.next_residual, matrix_size(op.post)));
  return view;
}

template <class T>
LedgerView ledger_view(const UnfusedMhcCoefficients<T>& op) {
  return {operations::kUnfusedMhcCoefficients,
          op.num_tokens,
          op.hidden_size,
          {rows(Operand::streams, op.streams, streams_size(op)), scalars(op.pre, vector_size(op)),
           scalars(op.post, vector_size(op)), scalars(op.residual, matrix_size(op))}};
}

template <class T>
LedgerView ledger_view(const UnfusedMhcPre<T>& op) {
  return {operations::kUnfusedMhcPre,
          op.num_tokens,
          op.hidden_size,
          {rows(Operand::streams, op.streams, streams_size(op)), scalars(op.pre, vector_size(op)),
           rows(Operand::recent, op.output, size_of(op))}};
}

template <class T>
LedgerView ledger_view(const UnfusedMhcPost<T>& op) {
  return {operations::kUnfusedMhcPost,
          op.num_tokens,
          op.hidden_size,
          {rows(Operand::layer_output, op.layer_output, size_of(op)),
           scalars(op.post, vector_size(op)), rows(Operand::recent, op.spread, streams_size(op))}};
}

template <class T>
LedgerView ledger_view(const UnfusedMhcResidual<T>& op) {
  return {
      operations::kUnfusedMhcResidual,
      op.num_tokens,
      op.hidden_size,
      {rows(Operand::streams, op.streams, streams_size(op)), scalars(op.residual, matrix_size(op)),
       rows(Operand::recent, op.mixed, streams_size(op))}};
}

template <class T>
LedgerView ledger_view(const UnfusedMhcMerge<T>& op) {
  return {operations::kUnfusedMhcMerge,
          op.num_tokens,
          op.hidden_size,
          {rows(Operand::recent, op.mixed, streams_size(op)),
           rows(Operand::recent, op.spread, streams_size(op)),
           rows(Operand::streams, op.next_streams, streams_size(op))}};
}

}  // namespace depthcost::test
