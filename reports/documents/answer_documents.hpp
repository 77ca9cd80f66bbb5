// The whole answer in each format.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reports/section/section.hpp"

namespace depthcost {

struct JsonOptions {
  std::string program_version;
  std::span<const LedgerRow> layers;  // of `--layers`: appended to the ledger
  LaunchRows launches = LaunchRows::written;
};

/// The contract that scripts of others rely on. Base units; numbers as JsonWriter writes them. What
/// is not known is null; `pipeline`, `prefill` and `training` are absent if the study does not ask
/// for them. In `budgets`, `need` is the limit that the user wrote, for `device_memory` the
/// device's capacity, and [have_low, have_high] the predicted interval, all in `unit`.
std::string to_json(const Evaluation& evaluation, std::span<const ResolvedValue> values,
                    const JsonOptions& options);

/// One number a line, in the columns of CsvLines. Sections `ledger` (with the rows of `layers`
/// behind it), `partition`, `aggregation`, `parameters`, `flops`, `pipeline`, `prefill`, `memory`,
/// `step`, `training`, `rest` (whose `operation` is a term of the step), `budgets`, `claims`.
/// Quantities bear the keys of the JSON; what is not known is an empty cell.
std::string to_csv(const Evaluation& evaluation, std::span<const LedgerRow> layers = {});

/// The sections that the study asks for down to a depth, within 100 columns. `layers` go behind the
/// ledger, which is a detail.
std::string to_table(const Evaluation& evaluation, Depth deepest,
                     std::span<const LedgerRow> layers = {});

/// The document for a scenario, to be attached to a pull request: what decides. Same input, same
/// bytes.
std::string markdown_report(const Evaluation& evaluation, const ReportParts& parts);

/// Its second document: every table behind it. Empty where there is none.
std::string markdown_appendix(const Evaluation& evaluation, const ReportParts& parts);

/// Every plot that the evaluation has data for, in the order of the sections.
std::vector<Plot> plots(const Evaluation& evaluation);

/// Every number that is printed without asking for layers; each metric once.
std::vector<Explanation> explanations(const Evaluation& evaluation);

/// The explanation of one metric, or nothing if the evaluation has no such number. A metric of the
/// ledger with `.layer_37` behind it is about that layer.
std::optional<Explanation> explain(const Evaluation& evaluation, std::string_view metric);

}  // namespace depthcost
