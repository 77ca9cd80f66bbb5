// What somebody says of a scheme's cost, held against every point and schedule of a study: does it
// hold, and if not everywhere, where?
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/base/enum_names.hpp"
#include "model/decision/budget.hpp"
#include "model/step/step.hpp"
#include "model/step/study.hpp"

namespace depthcost {

enum class ClaimVerdict : std::uint8_t { holds, holds_only_if, does_not_hold, unknown };

template <>
inline constexpr auto kNames<ClaimVerdict> = other_names<ClaimVerdict>("holds", "holds only if",
                                                                       "does not hold", "unknown");

/// One schedule at one workload point.
struct ClaimPoint {
  Schedule schedule = Schedule::fused;
  WorkloadId workload;
  Verdict verdict = Verdict::unknown;
  std::optional<Seconds>
      least_step;  // of unknown: it surely holds in steps of at least this length
  std::optional<Bytes>
      least_kept;  // of unknown: it holds where the layers of every stage keep at least this
};

struct ClaimRow {
  BudgetKind budget = BudgetKind::decode_overhead;  // whose limit the claim is
  double limit = 0;
  ClaimVerdict verdict = ClaimVerdict::unknown;
  std::vector<ClaimPoint> points;  // the quoted schedule first
};

/// One for each budget of a study with a claim whose limit is a ratio. The claim holds if the
/// quoted schedule surely keeps the limit at every point. It does not hold if every schedule surely
/// breaks it at every point. Otherwise it holds under conditions: at points and under schedules
/// that keep it, in steps that are long enough, or beside layers that keep enough. Without per cent
/// it is unknown. Communication and
/// memory of training are judged in the quoted schedule alone.
std::vector<ClaimRow> claim_rows(const Study& study, const std::vector<StepRow>& steps);

}  // namespace depthcost
