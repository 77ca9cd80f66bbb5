// The best three, the command of the first, their numbers, and what was searched; or the nearest,
// and why it fails.
#include "reports/plan/plan_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "model/base/counted.hpp"
#include "reports/formats/json_writer.hpp"
#include "reports/formats/numbers.hpp"
#include "reports/formats/text_table.hpp"

namespace depthcost {
namespace {

/// What the order of the plans goes by.
std::string objective(const Study& study) {
  switch (planned_workload(study)) {
    case WorkloadKind::decode: {
      std::vector<std::string> batches;
      for (const Count sequences : study.decode->sequences)
        batches.push_back(format_count(sequences * study.data_parallel_size));
      return fmt::format(
          "the most tokens per second and device, over {} of {} {} in all with a context of {} "
          "tokens",
          batches.size() == 1 ? "a decode step" : "decode steps", fmt::join(batches, ", "),
          batches.back() == "1" ? "sequence" : "sequences", format_count(study.decode->context));
    }
    case WorkloadKind::prefill:
      return fmt::format("the most prompts per second and device, over a prefill of {} tokens",
                         format_count(study.prefill->tokens));
    case WorkloadKind::training:
      break;
  }
  const Count all = study.training->num_micro_batches * study.data_parallel_size;
  return fmt::format("the least time of a training step of {} {} in all", format_count(all),
                     all == 1 ? "micro-batch" : "micro-batches");
}

/// "block_attnres, two_phase, 8 blocks of 20".
std::string chosen_path(const PlannedPlacement& plan) {
  std::string text = fmt::format("{}, {}", plan.scheme, name(plan.schedule));
  if (plan.blocks)
    text += fmt::format(", {} of {}", counted(plan.blocks->num_blocks, "block", "blocks"),
                        plan.blocks->block_size);
  return text;
}

/// "tensor 8, data 2: block_attnres, two_phase, 8 blocks of 20".
std::string described(const PlannedPlacement& plan) {
  return fmt::format("{}: {}", placement_text(plan.placement), chosen_path(plan));
}

std::string device_bytes(Bytes memory) { return format_bytes(memory); }

/// Whether the first plan may be as slow as this one, in all that the order goes by.
bool is_within_first(const Plans& plans, std::size_t place) {
  const std::vector<PlannedTime>& first = plans.best.front().times;
  const std::vector<PlannedTime>& times = plans.best[place].times;
  const WorkloadKind kind = first.front().workload.kind;
  for (std::size_t i = 0; i < std::min(first.size(), times.size()); ++i) {
    const PlannedTime& best = first[i];
    if (best.workload.kind != kind) continue;
    const double slowest = best.tokens_per_second * (best.step.value / best.step.high);
    if (times[i].tokens_per_second < slowest) return false;
  }
  return true;
}

/// " (21 % slower)".
std::string slower_text(const Plans& plans, std::size_t place) {
  if (place == 0) return " (the fastest)";
  return fmt::format(" ({} slower{})",
                     format_ratio(plans.best[place].cost / plans.best.front().cost - 1),
                     is_within_first(plans, place) ? ", inside the interval of the first" : "");
}

bool is_beyond(const PlannedTime& time) { return time.overhead.value > time.limit; }

/// "adds 3.0 % [1.5, 4.5] at decode/1, above the limit of 2.0 %".
std::string broken_limits(const PlannedPlacement& plan) {
  std::vector<std::string> broken;
  for (const PlannedTime& time : plan.times)
    if (is_beyond(time))
      broken.push_back(fmt::format("{} at {}, above the limit of {}",
                                   format_ratio_beside(time.overhead, time.limit),
                                   name(time.workload), format_ratio(time.limit)));
  if (broken.empty()) return "breaks another budget of the scenario";
  return fmt::format("adds {}", fmt::join(broken, ", and "));
}

/// A few bytes may decide the blocks of a model, which are trained once.
std::string just_too_large_text(const PlanReport& report) {
  if (!report.plans.just_too_large) return "";
  const PlannedPlacement& other = *report.plans.just_too_large;
  return fmt::format(
      "Left out for its memory: {} needs {} a device, and a plan fills {} at most (90 % of its memory).\n",
      described(other), device_bytes(other.memory), device_bytes(report.memory_limit));
}

/// A line for each scheme that is not among the best.
std::string others_text(const Plans& plans) {
  std::string text;
  for (const PlannedPlacement& plan : plans.others) {
    if (plan.fate == PlanFate::breaks) {
      text += fmt::format("{} keeps the limits nowhere. The nearest is {}: it {}.\n", plan.scheme,
                          described(plan), broken_limits(plan));
      continue;
    }
    text += fmt::format("The best of {} within the limits: {} ({} slower than the first)\n",
                        plan.scheme, described(plan),
                        format_ratio(plan.cost / plans.best.front().cost - 1));
  }
  return text;
}

/// Experts that tensor ranks share out one way or another take the same time.
std::string as_good_text(const PlannedPlacement& plan) {
  if (plan.as_good.empty()) return "";
  constexpr std::size_t kNamed = 3;
  std::vector<std::string> named;
  for (std::size_t i = 0; i < std::min(kNamed, plan.as_good.size()); ++i)
    named.push_back(placement_text(plan.as_good[i]));
  std::string text =
      fmt::format("With the same median time and memory as the first: {}", fmt::join(named, "; "));
  if (plan.as_good.size() > kNamed)
    text += fmt::format("; and {} more", plan.as_good.size() - kNamed);
  return text + ".\n";
}

/// How blocks were chosen, where they were.
std::string blocks_text(const PlanReport& report) {
  const PlannedPlacement& first = report.plans.best.front();
  if (report.kept_blocks || !first.blocks || !first.quality.at_most()) return "";
  return fmt::format(
      "Block sizes: the lowest published loss that keeps the limits; losses closer than {} count as "
      "one.\n",
      kSameLoss);
}

/// What the limits cost: the fastest placement of all, where it breaks one.
std::string faster_text(const Plans& plans) {
  if (!plans.faster) return "";
  const PlannedPlacement& faster = *plans.faster;
  std::string text =
      fmt::format("Without the limits the fastest is {} ({}): it takes {} of the time, and adds",
                  placement_text(faster.placement), chosen_path(faster),
                  format_ratio(faster.cost / plans.best.front().cost));
  for (const PlannedTime& time : faster.times)
    text += fmt::format(" {} at {},", format_ratio(time.overhead), name(time.workload));
  text.back() = '.';
  return text + "\n";
}

/// The smallest batch that the replicas of every plan can share, where one larger one was asked
/// about.
std::optional<Count> smallest_batch(const PlanReport& report) {
  if (!report.own.decode || report.own.decode->sequences.size() != 1) return std::nullopt;
  const Count asked = report.own.decode->sequences.front() * report.own.data_parallel_size;
  Count shared = 1;
  for (const PlannedPlacement& plan : report.plans.best)
    shared = std::lcm(shared, plan.placement.data);
  if (shared >= asked) return std::nullopt;
  return shared;
}

bool has_blocks(const PlannedPlacement& plan, const Partition& blocks) {
  return plan.blocks && plan.blocks->block_size == blocks.block_size;
}

std::string scheme_text(const PlanReport& report) {
  if (report.assumed_scheme.empty()) return "";
  return fmt::format(
      "The model ships the standard residual. These plans are of {}, since --residual names no "
      "scheme.\n",
      report.assumed_scheme);
}

std::string block_size_text(const PlanReport& report) {
  if (report.kept_blocks)
    return fmt::format(
        "Every plan has blocks of {} layers (sublayers), as asked or as the model ships. --residual "
        "without --block-size looks for others, which need training.\n",
        report.kept_blocks->block_size);
  if (!report.scenario_blocks || has_blocks(report.plans.best.front(), *report.scenario_blocks))
    return "";
  return fmt::format(
      "The scenario's blocks of {} layers (sublayers) are not kept. Within the limits a plan takes "
      "the block size of the lowest published loss.\n",
      report.scenario_blocks->block_size);
}

/// A sentence on the first plan that does not run as engines do.
std::string shipped_text(const PlanReport& report) {
  for (const PlannedPlacement& plan : report.plans.best)
    if (plan.schedule != plan.shipped)
      return fmt::format(
          "Engines ship {} as {}, not as {}: a plan takes the fastest schedule that can run. evaluate "
          "--set residual.schedule={} has the times of what ships.\n",
          plan.scheme, name(plan.shipped), name(plan.schedule), name(plan.shipped));
  return "";
}

bool any_has_several(const PlanReport& report, Count Placement::*ranks) {
  return std::any_of(report.plans.best.begin(), report.plans.best.end(),
                     [&](const PlannedPlacement& plan) { return plan.placement.*ranks > 1; });
}

std::string replicas_text(const PlanReport& report) {
  if (!report.own.decode || !any_has_several(report, &Placement::data)) return "";
  return "decode/N is a step of N sequences on each data-parallel replica.\n";
}

std::string stages_text(const PlanReport& report) {
  if (report.own.training || !any_has_several(report, &Placement::pipeline)) return "";
  return "Pipeline stages are timed with one batch in flight: while one works, the others wait. More "
         "batches in flight would give up to as many times the tokens as there are stages.\n";
}

std::string batches_text(const PlanReport& report) {
  const std::optional<Count> smallest = smallest_batch(report);
  if (!smallest) return "";
  return fmt::format(
      "One batch was asked about. Smaller batches may break the limit: --decode {},{} asks about "
      "both (in a file workload.decode.sequences).\n",
      *smallest, report.own.decode->sequences.front() * report.own.data_parallel_size);
}

std::string left_out_text(const PlanReport& report) {
  std::string text;
  if (report.left_out_data > 0)
    text += fmt::format(
        "{} with data-parallel replicas {} left out: {} cannot be shared out evenly. {}\n",
        counted(static_cast<Count>(report.left_out_data), "placement", "placements"),
        report.left_out_data == 1 ? "was" : "were", report.own.decode ? "a batch" : "micro-batches",
        report.own.decode
            ? fmt::format("Ask for multiples of {} sequences to include them.", report.devices)
            : "More micro-batches include them.");
  if (report.left_out_context > 0)
    text +=
        "Placements with context ranks were left out: what these exchange is not modelled. --set "
        "parallelism.context=2 looks at them.\n";
  return text;
}

/// What the plan does not say.
std::string asked_text(const PlanReport& report) {
  return scheme_text(report) + block_size_text(report) + shipped_text(report) +
         replicas_text(report) + stages_text(report) + batches_text(report) + left_out_text(report);
}

/// Only the median keeps the limit.
bool is_unsure(const PlannedTime& time) { return time.overhead.high > time.limit; }

/// What the mark in the table says; empty where it has none.
std::string unsure_text(const std::vector<PlannedPlacement>& plans) {
  const bool has_mark = std::any_of(plans.begin(), plans.end(), [](const PlannedPlacement& plan) {
    return std::any_of(plan.times.begin(), plan.times.end(), is_unsure);
  });
  if (!has_mark) return "";
  return "?: the median keeps its limit, the high end does not.\n";
}

Table plan_table(const std::vector<PlannedPlacement>& plans) {
  Table table{{"", "workload", right("step"), right("tokens/s a device"), right("added"),
               right("% of standard step"), right("memory")}};
  for (std::size_t i = 0; i < plans.size(); ++i)
    for (const PlannedTime& time : plans[i].times) {
      const bool is_first = &time == &plans[i].times.front();
      table.add(is_first ? fmt::format("{}.", i + 1) : "", name(time.workload),
                format_seconds(time.step), format_count(std::llround(time.tokens_per_second)),
                format_seconds(time.added.value, Sign::always),
                format_ratio(time.overhead, Sign::always) + (is_unsure(time) ? " ?" : ""),
                is_first ? device_bytes(plans[i].memory) : "");
    }
  return table;
}

std::string searched_text(const PlanReport& report) {
  const Plans& plans = report.plans;
  std::vector<std::string> out;
  if (plans.too_large > 0)
    out.push_back(fmt::format("{} {} more than {} a device (90 % of its memory)", plans.too_large,
                              plans.too_large == 1 ? "needs" : "need",
                              device_bytes(report.memory_limit)));
  if (plans.broken > 0)
    out.push_back(
        fmt::format("{} {} a limit", plans.broken, plans.broken == 1 ? "breaks" : "break"));
  if (plans.unknown > 0)
    out.push_back(
        fmt::format("{} cannot be timed (evaluate names what is missing)", plans.unknown));
  if (plans.slower > 0)
    out.push_back(fmt::format("{} {} slower even without the residual path", plans.slower,
                              plans.slower == 1 ? "is" : "are"));
  const std::string refused = report.refused == 0
                                  ? ""
                                  : fmt::format(" {} more are not possible (for example {}).",
                                                report.refused, report.first_refusal);
  return fmt::format("Searched: {}{}{}.{}\n",
                     counted(static_cast<Count>(plans.searched), "placement", "placements"),
                     out.empty() ? "" : ": ", fmt::join(out, "; "), refused);
}

/// On how many devices to ask again.
std::string room_text(const PlanReport& report) {
  if (!report.devices_with_room) return "";
  return fmt::format(
      "The model fits on {} devices. Fewer may do: only doubled numbers were tried.\n",
      *report.devices_with_room);
}

std::string nearest_text(const PlanReport& report) {
  if (!report.plans.nearest) return "No plan: nothing is known of any placement.\n";
  const PlannedPlacement& nearest = *report.plans.nearest;
  if (nearest.fate == PlanFate::does_not_fit)
    return fmt::format(
        "No plan fits. The nearest is {}: a device needs {}, and {} can be used (90 % of its memory).\n{}",
        placement_text(nearest.placement), device_bytes(nearest.memory),
        device_bytes(report.memory_limit), room_text(report));
  const PlannedPlacement& fastest = *report.plans.faster;
  std::string text = fmt::format("No plan keeps the limits. The fastest that fits is {}. It {}.\n",
                                 described(fastest), broken_limits(fastest));
  if (fastest.blocks && !report.kept_blocks)
    text += "Blocks that are coarser than any with a published loss were not looked at.\n";
  if (nearest.placement == fastest.placement) return text;
  return text + fmt::format("The nearest to the limits is {}. It {}, and takes {} of the time.\n",
                            described(nearest), broken_limits(nearest),
                            format_ratio(nearest.cost / fastest.cost));
}

std::string warnings_text(const PlanReport& report) {
  std::string text;
  for (const std::string& warning : report.warnings) text += "Warning: " + warning + "\n";
  return text;
}

void write_placement(JsonWriter& json, const Placement& placement) {
  json.member("tensor", placement.tensor);
  json.member("pipeline", placement.pipeline);
  json.member("context", placement.context);
  json.member("data", placement.data);
  json.member("expert", placement.expert);
}

void write_plan(JsonWriter& json, const PlannedPlacement& plan) {
  json.object("placement", [&] { write_placement(json, plan.placement); });
  json.member("scheme", plan.scheme);
  json.member("schedule", name(plan.schedule));
  json.objects("as_good", plan.as_good,
               [&](const Placement& other) { write_placement(json, other); });
  json.member("block_size",
              plan.blocks ? std::optional<double>(plan.blocks->block_size) : std::nullopt);
  json.member("fits", plan.fate != PlanFate::does_not_fit);
  json.member("keeps", plan.fate == PlanFate::keeps);
  json.member("memory_bytes", plan.memory.value);
  json.objects("workloads", plan.times, [&](const PlannedTime& time) {
    json.member("workload", name(time.workload));
    json.member("step_low_s", time.step.low.value);
    json.member("step_s", time.step.value.value);
    json.member("step_high_s", time.step.high.value);
    json.member("tokens_per_second_and_device", time.tokens_per_second);
    json.member("added_low_s", time.added.low.value);
    json.member("added_s", time.added.value.value);
    json.member("added_high_s", time.added.high.value);
    json.member("overhead_low", time.overhead.low);
    json.member("overhead", time.overhead.value);
    json.member("overhead_high", time.overhead.high);
    json.member("limit", time.limit);
    json.member("surely", time.overhead.high <= time.limit);
  });
}

}  // namespace

std::string plan_text(const PlanReport& report) {
  const Plans& plans = report.plans;
  std::string text =
      fmt::format("{}, {}\n\n", report.title, counted(report.devices, "device", "devices"));
  const std::string asked = fmt::format("Goal: {}.\n{}{}", objective(report.own),
                                        searched_text(report), warnings_text(report));
  if (plans.best.empty()) return text + nearest_text(report) + "\n" + asked;
  for (std::size_t i = 0; i < plans.best.size(); ++i)
    text += fmt::format("{}. {}{}\n", i + 1, described(plans.best[i]), slower_text(plans, i));
  if (!report.evaluations.empty())
    text += fmt::format("The first in full: {}\n", report.evaluations.front());
  text += others_text(plans) + just_too_large_text(report);
  text += faster_text(plans) + "\n" + plain_text(plan_table(plans.best)) + "\n";
  return text + unsure_text(plans.best) + as_good_text(plans.best.front()) + blocks_text(report) +
         asked_text(report) + asked;
}

std::string plan_json(const PlanReport& report, const std::string& program_version) {
  return json_document(program_version, [&](JsonWriter& json) {
    json.member("scenario", report.title);
    json.member("devices", report.devices);
    json.member("objective", objective(report.own));
    json.member("memory_limit_bytes", report.memory_limit.value);
    json.member("searched", static_cast<double>(report.plans.searched));
    json.member("too_large", static_cast<double>(report.plans.too_large));
    json.member("beyond_a_limit", static_cast<double>(report.plans.broken));
    json.member("not_known", static_cast<double>(report.plans.unknown));
    json.member("slower", static_cast<double>(report.plans.slower));
    json.member("cannot_be", static_cast<double>(report.refused));
    json.objects("plans", report.plans.best,
                 [&](const PlannedPlacement& plan) { write_plan(json, plan); });
    json.objects("others", report.plans.others,
                 [&](const PlannedPlacement& plan) { write_plan(json, plan); });
    json.texts("evaluations", report.evaluations);
    json.texts("warnings", report.warnings);
    const auto write = [&](const char* key, const std::optional<PlannedPlacement>& plan) {
      if (!plan) return json.text_or_null(key, "");
      json.object(key, [&] { write_plan(json, *plan); });
    };
    write("nearest", report.plans.nearest);
    write("just_too_large", report.plans.just_too_large);
    json.member("devices_with_room",
                report.devices_with_room
                    ? std::optional<double>(as_double(*report.devices_with_room))
                    : std::nullopt);
  });
}

}  // namespace depthcost
