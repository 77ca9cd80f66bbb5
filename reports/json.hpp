// The answer as JSON: the contract that scripts of others rely on. Keys may be
// added, none renamed.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "model/evaluation.hpp"
#include "model/resolved_value.hpp"

namespace depthcost {

inline constexpr int kJsonSchemaVersion = 1;

struct JsonOptions {
  std::string program_version;
  std::span<const LedgerRow> layers;  // of `--layers`: appended to the ledger
};

/// Base units. An integer that is exact is a JSON integer, every other number has 12 significant
/// digits, what is not known is null; `pipeline` and `prefill` are absent if the study does not ask
/// for them. In `budgets`, `need` is the limit that the user wrote, for `device_memory` the
/// device's capacity, and [have_low, have_high] the predicted interval, all in `unit`.
nlohmann::ordered_json to_json(const Evaluation& evaluation,
                               std::span<const ResolvedValue> resolved_values,
                               const JsonOptions& options);

/// Indented by two, lists of plain values on one line, a line feed at the end. Use it, not
/// `json.dump()`: that one is not always shortest (0.00025526218005600003 for 0.000255262180056).
std::string json_text(const nlohmann::ordered_json& json);

}  // namespace depthcost
