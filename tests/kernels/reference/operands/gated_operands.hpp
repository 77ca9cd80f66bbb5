// The operands of Gated Residual's pieces, like operands.hpp.
#pragma once

#include "model/operations/gated_residual_operations.hpp"
#include "tests/kernels/reference/operands/mhc_operands.hpp"

namespace depthcost::test {

template <class T>
LedgerView ledger_view(const UnfusedGatedNorm<T>& op) {
  return {operations::kUnfusedGatedNorm,
          op.num_tokens,
          op.hidden_size,
          {rows(Operand::recent, op.streams, streams_size(op)),
           rows(Operand::recent, op.output, streams_size(op))}};
}

template <class T>
LedgerView ledger_view(const UnfusedGateDown<T>& op) {
  return {operations::kUnfusedGateDown,
          op.num_tokens,
          op.hidden_size,
          {rows(Operand::recent, op.input, streams_size(op)),
           scalars(op.output, op.num_tokens * op.num_outputs)}};
}

template <class T>
LedgerView ledger_view(const UnfusedGateUp<T>& op) {
  return {operations::kUnfusedGateUp,
          op.num_tokens,
          op.hidden_size,
          {scalars(op.activation, op.num_tokens * op.rank),
           rows(Operand::recent, op.output, streams_size(op))}};
}

/// The gates are rows, all else is scalars.
template <class T>
LedgerView ledger_view(const UnfusedActivation<T>& op) {
  LedgerView view{operations::kUnfusedActivation, op.num_tokens, op.hidden_size, {}};
  if (op.function == GateFunction::sigmoid)
    view.places = {rows(Operand::recent, op.input, streams_size(op)),
                   rows(Operand::recent, op.output, streams_size(op))};
  else
    view.places = {scalars(op.input, streams_size(op)), scalars(op.output, streams_size(op))};
  return view;
}

template <class T>
LedgerView ledger_view(const UnfusedGateProduct<T>& op) {
  return {operations::kUnfusedGateProduct,
          op.num_tokens,
          op.hidden_size,
          {rows(Operand::recent, op.gates, streams_size(op)),
           rows(Operand::recent, op.input, streams_size(op)),
           rows(Operand::recent, op.output, streams_size(op))}};
}

template <class T>
LedgerView ledger_view(const UnfusedStreamMean<T>& op) {
  return {operations::kUnfusedStreamMean,
          op.num_tokens,
          op.hidden_size,
          {rows(Operand::recent, op.streams, streams_size(op)),
           rows(Operand::layer_input, op.output, size_of(op))}};
}

}  // namespace depthcost::test
