// The numbers of a row under the keys of the JSON contract, for every format that lists them.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "model/evaluation/evaluation.hpp"

namespace depthcost {

/// A value under its JSON key. Without a value: not known.
struct NamedQuantity {
  std::string_view key;
  std::optional<double> value;
  std::string_view unit;  // "d", "scalars", "bytes", "tokens", "FLOP", "launches", "s", "ratio"
};

/// What the row is of: "total", "output_aggregation", or the name of an operation.
std::string_view operation_name(const LedgerRow& row);

/// Nothing where the row is no single layer's.
std::optional<Count> layer_of(const LedgerRow& row);

/// Per token.
std::array<NamedQuantity, 5> quantities_of(const LedgerRow& row);

/// The step, its difference from the standard residual, overhead and share. The step itself and
/// both ratios need a baseline.
std::array<NamedQuantity, 12> quantities_of(const StepRow& row);

/// The residual path, its difference from the standard residual attached alike, and its per cent.
std::array<NamedQuantity, 9> quantities_of(const AttachmentRow& row);

/// The whole residual path of the step.
std::array<NamedQuantity, 3> residual_of(const StepRow& row);

/// The whole step with the fused standard residual.
std::array<NamedQuantity, 3> baseline_of(const StepRow& row);

/// One term of a step beside the residual path. Bytes, operations and launches of a term that the
/// user has written are not known.
std::array<NamedQuantity, 6> quantities_of(const RestRow& row);

/// A training step with one scheme: the residual path on one micro-batch and all chunks, and what
/// the pipeline makes of it.
std::array<NamedQuantity, 7> quantities_of(const TrainingRun& run);

/// Bank, b_0 and Phase 1 outputs, and what they are worth in KV cache.
std::array<NamedQuantity, 4> quantities_of(const PrefillMemory& memory);

/// The limit, the interval held against it, what is left and what is too much.
struct BudgetNumbers {
  std::optional<double> limit;  // none where the device's capacity is not known
  std::optional<double> low;    // none where nothing at all is known
  std::optional<double> high;
  std::optional<double> margin;
  std::optional<double> shortfall;
};

BudgetNumbers numbers_of(const BudgetRow& row);

}  // namespace depthcost
