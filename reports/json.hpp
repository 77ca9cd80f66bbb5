// The answer as JSON: the contract that scripts of others rely on. Keys may be
// added, none renamed.
#pragma once

#include <span>
#include <string>

#include "model/base/resolved_value.hpp"
#include "model/evaluation/evaluation.hpp"

namespace depthcost {

inline constexpr int kJsonSchemaVersion = 1;

struct JsonOptions {
  std::string program_version;
  std::span<const LedgerRow> layers;  // of `--layers`: appended to the ledger
};

/// Base units; numbers as JsonWriter writes them. What is not known is null; `pipeline`,
/// `prefill` and `training` are absent if the study does not ask for them. In `budgets`, `need` is
/// the limit that the user wrote, for `device_memory` the device's capacity, and [have_low,
/// have_high] the predicted interval, all in `unit`.
std::string to_json(const Evaluation& evaluation, std::span<const ResolvedValue> resolved_values,
                    const JsonOptions& options);

}  // namespace depthcost
