// The answer as one flat table, for spreadsheets and data frames.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/evaluation/evaluation.hpp"

namespace depthcost {

/// Long form, one number a line: section,workload,scheme,schedule,convention,operation,layer,
/// quantity,value,unit. Sections `ledger` (with the rows of `layers` behind it), `partition`,
/// `aggregation`, `parameters`, `flops`, `pipeline`, `prefill`, `memory`, `step`, `training`,
/// `rest` (whose `operation` is a term of the step), `budgets`; quantities bear the keys of the
/// JSON, empty cells do not apply or are not known. Quoted as in RFC 4180, lines end with a line
/// feed.
std::string to_csv(const Evaluation& evaluation, std::span<const LedgerRow> layers = {});

/// A cell, in quotes if it needs them.
std::string csv_cell(std::string_view text);

}  // namespace depthcost
