// The word first, then the number that decides it, then what would help.
#include "reports/topics/decision/verdict_lines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "model/decision/memory_remedy.hpp"
#include "model/evaluation/scheme_verdict.hpp"
#include "model/schemes/list.hpp"
#include "model/step/workload.hpp"
#include "model/training/training_memory.hpp"
#include "reports/formats/numbers.hpp"
#include "reports/topics/budgets/budget_section.hpp"
#include "reports/topics/time/rest_section.hpp"

namespace depthcost {
namespace {

std::string_view whose(const Budget& budget) {
  return budget.origin == BudgetOrigin::assumed ? "the AttnRes paper's" : "the scenario's";
}

std::string limit_text(const Budget& budget) {
  return fmt::format("the limit is {} ({})", format_budget(budget.kind, budget.limit),
                     whose(budget));
}

/// "+21.6 % [12.7, 32.5] to decode/1".
std::string overhead_text(const LargestPart& part) {
  return fmt::format("{} to {}", format_ratio_beside(*part.at->overhead, part.budget.limit),
                     name(part.at->workload));
}

std::string time_text(const LargestPart& part) {
  const std::string adds = "It adds " + overhead_text(part);
  if (part.verdict != Verdict::unknown)
    return fmt::format("{}; {}.", adds, limit_text(part.budget));
  const bool is_likely = fate_of(part) == Fate::likely_ok;
  return fmt::format("{}; {}. The median {}.", adds, limit_text(part.budget),
                     is_likely ? "keeps the limit, the high end does not"
                               : "breaks the limit, the low end does not");
}

/// What a scheme keeps on a device of a study.
struct KeptMemory {
  const Study& study;
  std::span<const MemoryRow> rows;
  const Scheme& scheme;

  Bytes at(WorkloadId point) const { return memory_of(rows, point, scheme); }
};

KeptMemory kept_under(const Evaluation& e, const Scheme& scheme) {
  return {e.study, e.memory, scheme};
}

/// The points that do not fit, the fullest first.
std::vector<WorkloadId> too_large_points(const KeptMemory& kept) {
  std::vector<WorkloadId> points;
  for (const MemoryRow& row : kept.rows)
    if (std::find(points.begin(), points.end(), row.workload) == points.end() &&
        is_too_large(kept.study, kept.rows, row.workload, kept.scheme))
      points.push_back(row.workload);
  std::stable_sort(points.begin(), points.end(),
                   [&](WorkloadId a, WorkloadId b) { return kept.at(a) > kept.at(b); });
  return points;
}

/// In the order of the workloads.
std::vector<std::string> names_of(std::vector<WorkloadId> points) {
  std::sort(points.begin(), points.end());
  std::vector<std::string> names;
  for (const WorkloadId point : points) names.push_back(name(point));
  return names;
}

/// Those of the points at which the standard residual fits.
std::vector<WorkloadId> fitting_as_standard(const Evaluation& e, std::vector<WorkloadId> points) {
  const ResidualPath standard = baseline_study(e.study).path;
  const std::vector<MemoryRow> rows = all_memory_rows(e.study, standard);
  std::erase_if(points, [&](WorkloadId point) {
    return is_too_large(e.study, rows, point, standard.scheme);
  });
  return points;
}

/// "decode/64 needs 377.1 GB, and a device has 288.4 GB; decode/512 needs 1.640 TB".
std::string memory_text(const KeptMemory& kept) {
  const std::vector<WorkloadId> points = too_large_points(kept);
  const WorkloadId smallest = points.back();
  std::string text = fmt::format("{} needs {}, and a device has {}", name(smallest),
                                 format_bytes(kept.at(smallest)),
                                 format_bytes(*kept.study.machine->memory_capacity));
  if (points.size() > 1)
    text +=
        fmt::format("; {} needs {}", name(points.front()), format_bytes(kept.at(points.front())));
  return text;
}

/// Whether the standard residual does not fit either, so that no scheme is to blame.
bool fits_with_none(const Evaluation& e, const SchemeVerdict& verdict) {
  return verdict.memory &&
         fitting_as_standard(e, too_large_points(kept_under(e, verdict.path->scheme))).empty();
}

/// "with the standard residual it fits", or where that fits.
std::string standard_text(const Evaluation& e, const Scheme& scheme) {
  const std::vector<WorkloadId> points = too_large_points(kept_under(e, scheme));
  const std::vector<WorkloadId> fitting = fitting_as_standard(e, points);
  if (fitting.size() == points.size()) return "with the standard residual it fits";
  return fmt::format("the standard residual fits at {} alone", fmt::join(names_of(fitting), ", "));
}

std::string budget_text(const BudgetRow& row) {
  return fmt::format("{} is {}; {}.", name(row.budget.kind),
                     format_budget(row.budget.kind, *row.low), limit_text(row.budget));
}

std::string remedy_text(std::span<const Remedy> remedies) {
  return remedies.empty() ? "" : fmt::format(" What would help: {}.", remedies_list(remedies));
}

std::string change_to(Schedule schedule) { return fmt::format("schedule {}", name(schedule)); }

/// What is said of a limit alone: memory has its own words.
std::string_view limit_word(Fate fate) {
  switch (fate) {
    case Fate::ok:
      return "keeps the limit";
    case Fate::likely_ok:
      return "likely keeps the limit";
    case Fate::likely_too_much:
      return "likely breaks the limit";
    default:
      return "breaks the limit";
  }
}

/// " (likely keeps the limit)" of another schedule at the workload of `quoted`, or where it comes
/// to worse at another " (breaks the limit at decode/1)"; empty where it comes to the same as the
/// quoted one.
std::string fate_text(const Evaluation& e, const LargestPart& quoted, const StepRow& row) {
  const Budget& limit = quoted.budget;
  const Fate here = fate_of(limit, verdict_of(limit.limit, row.overhead->low, row.overhead->high),
                            row.overhead->value);
  const auto worst = nearest_to_limit(e, *row.path, row.schedule);
  if (worst && fate_of(*worst) > here)
    return fmt::format(" ({} at {})", limit_word(fate_of(*worst)), name(worst->at->workload));
  return here == fate_of(quoted) ? "" : fmt::format(" ({})", limit_word(here));
}

/// " Other schedules (engines run fused): two_pass 13.9 %, one_pass 11.4 %." of the workload that
/// decides; empty where the scheme has no other schedule, or no per cent.
std::string other_schedules_text(const Evaluation& e, const LargestPart& part) {
  std::vector<std::string> texts;
  for (const StepRow& row : e.step)
    if (row.path == part.at->path && row.workload == part.at->workload && row.overhead &&
        row.schedule != part.at->schedule && row.schedule != Schedule::unfused)
      texts.push_back(fmt::format(
          "{} {}{}", schedule_label_in(row.workload.kind, row.path->scheme, row.schedule),
          format_value_beside(row.overhead->value, part.budget.limit, Sign::minus_only),
          fate_text(e, part, row)));
  if (texts.empty()) return "";
  const std::optional<Schedule> shipped = part.at->path->scheme.rule->shipped;
  const bool is_served = part.at->workload.kind != WorkloadKind::training;
  return fmt::format(" Other schedules{}: {}.",
                     shipped && is_served ? fmt::format(" (engines run {})", name(*shipped)) : "",
                     fmt::join(texts, ", "));
}

/// "Where it fits: likely OK. It adds 1.2 % [0.4, 2.3] to decode/1; the limit is 2.0 % (the
/// paper's)." A training step has an overhead, whether it fits or not.
std::string fitting_text(const Evaluation& e, const LargestPart& part) {
  const bool is_too_big = is_too_large(e.study, e.memory, part.at->workload, part.at->path->scheme);
  return fmt::format("{}: {}. It {} {}; {}.{}", is_too_big ? "If it fitted" : "Where it fits",
                     name(fate_of(part)), is_too_big ? "would add" : "adds", overhead_text(part),
                     limit_text(part.budget), other_schedules_text(e, part));
}

/// The schedule, as the step that decides has it.
std::string schedule_text(const SchemeVerdict& verdict) {
  const WorkloadKind kind = verdict.time ? verdict.time->at->workload.kind : WorkloadKind::decode;
  return schedule_label_in(kind, verdict.path->scheme, verdict.schedule);
}

/// The line about a scheme that does not fit at some points.
std::string unfitting_line(const Evaluation& e, const SchemeVerdict& verdict) {
  const Scheme& scheme = verdict.path->scheme;
  const std::string start = fmt::format("`{}`, {}", name(scheme), schedule_text(verdict));
  if (fits_with_none(e, verdict))  // which a line in front has said
    return verdict.time ? fmt::format("{}. {}", start, fitting_text(e, *verdict.time)) : "";
  const KeptMemory kept = kept_under(e, scheme);
  std::string text =
      fmt::format("{}: {} at {}: {}; {}.{}", start, name(verdict.fate),
                  fmt::join(names_of(too_large_points(kept)), ", "), memory_text(kept),
                  standard_text(e, scheme), remedy_text(verdict.remedies));
  if (verdict.time) text += " " + fitting_text(e, *verdict.time);
  return text;
}

/// " (the standard residual 98 %)", beside what another scheme takes.
std::string beside_standard(const Evaluation& e, const Scheme& scheme, double capacity) {
  if (is_standard(scheme)) return "";
  const Study standard = baseline_study(e.study);
  const Bytes need = fullest_memory(standard, standard.path);
  return fmt::format(" (the standard residual {})", format_ratio(need.value / capacity));
}

/// ". It may not fit: it takes 99 % of the device's memory (the standard residual 98 %), so that
/// less than a tenth is left at decode/64.", or what follows the fate that says so.
std::string tight_text(const Evaluation& e, const SchemeVerdict& verdict) {
  if (!verdict.tight) return ".";
  const double capacity = verdict.tight->budget.limit;
  return fmt::format("{}: it takes {} of the device's memory{}, so that {}.",
                     verdict.fate == Fate::may_not_fit ? "" : ". It may not fit",
                     format_ratio(*verdict.tight->low / capacity),
                     beside_standard(e, verdict.path->scheme, capacity), verdict.tight->reason);
}

/// What would help beside another schedule, which stands among the others.
std::vector<Remedy> without_schedules(const SchemeVerdict& verdict) {
  std::vector<Remedy> remedies = verdict.remedies;
  for (const Schedule schedule : verdict.path->scheme.rule->schedules)
    std::erase_if(remedies, [&](const Remedy& it) { return it.change == change_to(schedule); });
  return remedies;
}

/// What is said of one scheme. Without an architecture the memory of training is not known.
std::string verdict_line(const Evaluation& e, const SchemeVerdict& verdict) {
  if (verdict.memory) return unfitting_line(e, verdict);
  std::string text = fmt::format("`{}`, {}: {}", name(verdict.path->scheme), schedule_text(verdict),
                                 name(verdict.fate));
  if (verdict.written)
    return fmt::format("{}. {}{}", text, budget_text(*verdict.written),
                       remedy_text(verdict.remedies));
  if (verdict.time && verdict.time->at->workload.kind == WorkloadKind::training &&
      verdict.fate == Fate::ok && !e.study.model.architecture)
    text += ", if it fits";
  if (verdict.time)
    return fmt::format("{}{} {}{}{}", text, tight_text(e, verdict), time_text(*verdict.time),
                       other_schedules_text(e, *verdict.time),
                       remedy_text(without_schedules(verdict)));
  return fmt::format("{}: {}.", text, verdict.missing);
}

bool fits_with_no_scheme(const Evaluation& e, WorkloadId workload) {
  return std::all_of(e.paths.begin(), e.paths.end(), [&](const ResidualPath& path) {
    return is_too_large(e.study, e.memory, workload, path.scheme);
  });
}

std::string share_text(const Evaluation& e, const StepRow& row) {
  if (row.overhead)
    return format_ratio_beside(*row.overhead, overhead_limit(e.study, row.workload.kind).limit,
                               Sign::always);
  const bool is_larger = is_too_large(e.study, e.memory, row.workload, row.path->scheme);
  return is_larger ? "does not fit" : "not known";
}

/// "Does not fit: training needs 96.71 GB, and a device has 85.52 GB. What would help: ..." of the
/// standard residual; empty where it fits, or another scheme does.
std::string none_fits_line(const Evaluation& e, std::span<const SchemeVerdict> verdicts) {
  const auto none = std::find_if(verdicts.begin(), verdicts.end(),
                                 [&](const SchemeVerdict& it) { return fits_with_none(e, it); });
  const bool is_alone = verdicts.empty();
  if (none == verdicts.end() && !is_alone) return "";
  const Study standard = baseline_study(e.study);
  const std::vector<MemoryRow> rows = all_memory_rows(standard, standard.path);
  const KeptMemory kept{standard, rows, standard.path.scheme};
  if (too_large_points(kept).empty()) return "";
  std::vector<Remedy> remedies;
  if (!is_alone)
    remedies = none->remedies;
  else if (const std::string change =
               memory_remedy(standard, standard.machine->memory_capacity->value);
           !change.empty())
    remedies = {{change}};
  if (is_alone) return fmt::format("Does not fit: {}.{}", memory_text(kept), remedy_text(remedies));
  const std::vector<WorkloadId> points = too_large_points(kept);
  const bool are_all = points.size() == workloads_of_rows(e.memory).size();
  return fmt::format("Out of memory{} with every scheme, the standard residual included: {}.{}",
                     are_all ? "" : fmt::format(" at {}", fmt::join(names_of(points), ", ")),
                     memory_text(kept), remedy_text(remedies));
}

}  // namespace

const StepRow* quoted_step(const Evaluation& e, WorkloadId workload, const ResidualPath& path) {
  const Schedule schedule = quoted_schedule(e.study, path);
  for (const StepRow& row : e.step)
    if (row.workload == workload && same_scheme(row.path->scheme, path.scheme) &&
        row.schedule == schedule)
      return &row;
  return nullptr;
}

VerdictTexts verdict_texts(const Evaluation& e) {
  const std::vector<SchemeVerdict> verdicts = scheme_verdicts(e);
  VerdictTexts texts{none_fits_line(e, verdicts), {}};
  for (const SchemeVerdict& verdict : verdicts)
    texts.of_schemes.push_back(verdict_line(e, verdict));
  return texts;
}

std::vector<std::string> verdict_lines(const Evaluation& e) {
  VerdictTexts texts = verdict_texts(e);
  std::vector<std::string> lines = std::move(texts.of_schemes);
  lines.insert(lines.begin(), std::move(texts.nothing_fits));
  std::erase(lines, "");
  return lines;
}

Table cost_table(const Evaluation& e) {
  Table table{{"workload", "scheme", right("step or added time"), right("% of standard step")}};
  const auto rows = workloads_of_rows(e.step);
  if (std::all_of(rows.begin(), rows.end(),
                  [&](WorkloadId workload) { return fits_with_no_scheme(e, workload); }))
    return table;
  for (const WorkloadId workload : rows) {
    if (fits_with_no_scheme(e, workload)) {
      table.add(name(workload), "none fits", std::string(kNothing), std::string(kNothing));
      continue;
    }
    const StepRow* any = quoted_step(e, workload, e.paths.front());
    const bool is_known = any != nullptr && any->baseline_step;
    table.add(name(workload), "standard (whole step)",
              is_known ? rest_section::time_text(*any->baseline_step) : "not known",
              is_known ? "100 %" : std::string(kNothing));
    for (const ResidualPath& path : e.paths)
      if (const StepRow* row = quoted_step(e, workload, path);
          row != nullptr && !is_reference(e.study, path))
        table.add(name(workload), name(path.scheme), format_seconds(row->delta, Sign::always),
                  share_text(e, *row));
  }
  return table;
}

}  // namespace depthcost
