// Points of one schedule together; a schedule that keeps the limit everywhere says so.
#include "reports/topics/budgets/claim_section.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "model/base/counted.hpp"
#include "reports/topics/budgets/budget_section.hpp"

namespace depthcost {
namespace {

std::vector<Schedule> schedules_in(const ClaimRow& claim) {
  std::vector<Schedule> schedules;
  for (const ClaimPoint& point : claim.points)
    if (std::find(schedules.begin(), schedules.end(), point.schedule) == schedules.end())
      schedules.push_back(point.schedule);
  return schedules;
}

/// "at decode/8 and decode/32, and at decode/1 if the step takes 3.00 ms or more": where the
/// schedule keeps the limit. Empty where it surely breaks the limit everywhere.
std::string points_text(const ClaimRow& claim, Schedule schedule) {
  std::vector<std::string> surely;
  std::vector<std::string> parts;
  bool is_everywhere = true;
  for (const ClaimPoint& point : claim.points) {
    if (point.schedule != schedule) continue;
    is_everywhere = is_everywhere && point.verdict == Verdict::pass;
    if (point.verdict == Verdict::pass) surely.push_back(name(point.workload));
    if (point.least_step)
      parts.push_back(fmt::format("at {} if the step takes {} or more", name(point.workload),
                                  format_seconds(*point.least_step)));
    if (point.least_kept)
      parts.push_back(fmt::format("at {} if the layers of every stage keep {} or more",
                                  name(point.workload), format_bytes(*point.least_kept)));
  }
  if (is_everywhere && !surely.empty()) return "everywhere";
  if (surely.empty()) return listed(parts);
  const std::string held = "at " + listed(surely);
  return parts.empty() ? held : fmt::format("{}, and {}", held, listed(parts));
}

}  // namespace

std::string claim_condition(const ClaimRow& claim) {
  if (claim.verdict != ClaimVerdict::holds_only_if) return "";
  std::vector<std::string> parts;
  for (const Schedule schedule : schedules_in(claim))
    if (const std::string points = points_text(claim, schedule); !points.empty())
      parts.push_back(fmt::format("run as `{}` {}", name(schedule), points));
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string claim_sentence(const std::string& text, const ClaimRow& claim) {
  const std::string condition = claim_condition(claim);
  const std::string verdict =
      claim.verdict == ClaimVerdict::unknown ? "is unknown" : std::string(name(claim.verdict));
  return fmt::format("Claim: {}. Held to {} of `{}` it {}{}.", text,
                     format_budget(claim.budget, claim.limit), name(claim.budget), verdict,
                     condition.empty() ? "" : " " + condition);
}

namespace claim_section {

void write_json(JsonWriter& json, const Answer& answer) {
  const Evaluation& evaluation = answer.evaluation;
  if (evaluation.claims.empty()) return;
  json.objects("claims", evaluation.claims, [&](const ClaimRow& row) {
    json.member("text", evaluation.study.claim);
    json.member("name", name(row.budget));
    json.member("limit", row.limit);
    json.member("verdict", name(row.verdict));
    json.text_or_null("condition", claim_condition(row));
  });
}

void write_csv(CsvLines& csv, const Answer& answer) {
  for (const ClaimRow& row : answer.evaluation.claims)
    csv.add({.section = "claims"}, name(row.budget), name(row.verdict));
}

}  // namespace claim_section
}  // namespace depthcost
