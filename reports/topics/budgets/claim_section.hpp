// What became of a claim, in every format.
#pragma once

#include "reports/section/section.hpp"

namespace depthcost {

/// "run as `two_phase`: at decode/1, at decode/8 in steps of at least 9.10 ms; run as ...": where
/// it holds, schedule by schedule. Empty where nothing is conditional.
std::string claim_condition(const ClaimRow& claim);

/// "Claim: TEXT. Under 2.0 % of `decode_overhead` it holds only if ...".
std::string claim_sentence(const std::string& text, const ClaimRow& claim);

namespace claim_section {

void write_json(JsonWriter& json, const Answer& answer);
void write_csv(CsvLines& csv, const Answer& answer);

}  // namespace claim_section
}  // namespace depthcost
