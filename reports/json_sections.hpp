// The parts of the JSON, one function each. Internal to reports/json*.cpp.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "model/evaluation.hpp"
#include "reports/quantities.hpp"

namespace depthcost::sections {

using Json = nlohmann::ordered_json;

/// An integer where that is exact, else 12 significant digits; null if not finite or not known.
Json number(std::optional<double> value);

/// Null if empty.
Json text_or_null(const std::string& text);

template <std::size_t N>
void append(Json& object, const std::array<NamedQuantity, N>& quantities) {
  for (const NamedQuantity& quantity : quantities)
    object[std::string(quantity.key)] = number(quantity.value);
}

Json ledger(const Evaluation& evaluation, std::span<const LedgerRow> layers);
Json aggregation(const Aggregation& aggregation);
Json parameters(const Evaluation& evaluation);
Json flops(const Evaluation& evaluation);
Json pipeline(const Evaluation& evaluation);
Json prefill(const Evaluation& evaluation);
Json memory(const Evaluation& evaluation);
Json time(const Evaluation& evaluation);
Json step(const Evaluation& evaluation);
Json budgets(const Evaluation& evaluation);

}  // namespace depthcost::sections
