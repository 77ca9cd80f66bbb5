// What a sweep says in words: one function for each sentence.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "model/base/counted.hpp"
#include "model/decision/break_even.hpp"
#include "model/decision/decoder_layer.hpp"
#include "model/decision/memory_remedy.hpp"
#include "model/decision/published_quality.hpp"
#include "model/schemes/list.hpp"
#include "model/training/training_memory.hpp"
#include "reports/formats/numbers.hpp"
#include "reports/sweep/sweep_report.hpp"
#include "reports/topics/budgets/budget_section.hpp"

namespace depthcost {
namespace {

using Sentences = std::vector<std::string>;

/// "block_size 24 (8 blocks, the last of 18)".
std::string described(const Sweep& sweep, std::size_t choice) {
  std::string text = choice_label(sweep, choice);
  const Partition* blocks = source_blocks(sweep.choices()[choice]);
  if (blocks == nullptr) return text;
  text += " (" + counted(blocks->num_blocks, "block", "blocks");
  if (!blocks->is_uniform()) text += fmt::format(", the last of {}", blocks->last_size);
  return text + ")";
}

std::string added_text(const AddedTime& added) {
  const std::string time = format_seconds(added.delta, Sign::always);
  return added.overhead ? time + ", " + format_ratio(*added.overhead, Sign::always) : time;
}

/// Whether a point has several batches, so that its decode time and its per cent are the largest.
/// It asks a choice that can exist, since others have no study. No choice changes the batches.
bool has_batches(const SweepGroup& group) {
  const std::vector<SweepChoice>& choices = group.sweep().choices();
  const auto exists = std::find_if(choices.begin(), choices.end(),
                                   [](const SweepChoice& it) { return it.refused.empty(); });
  if (exists == choices.end()) return false;
  const auto index = static_cast<std::size_t>(exists - choices.begin());
  const auto decode = group.sweep().study_at(group.circumstance, index).decode;
  return decode && decode->sequences.size() > 1;
}

/// "+92.4 us [16.2, 106.8] to decode, +24.3 ms [23.2, 30.1] to prefill".
std::string all_added(const SweepGroup& group, const SweepPoint& point) {
  Sentences parts;
  const auto add = [&](const std::optional<AddedTime>& added, const char* what) {
    if (added) parts.push_back(fmt::format("{} to {}", added_text(*added), what));
  };
  add(point.decode, has_batches(group) ? "decode (the largest of its batches)" : "decode");
  add(point.prefill, "prefill");
  add(point.training, "a training step");
  if (parts.empty())
    parts.push_back(fmt::format("{} moved a token and forward pass",
                                format_bytes(point.choice->forward_bytes)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string reading_text(const LossReading& reading) {
  return reading.loss ? loss_text(reading) : fmt::format("none ({})", name(reading.kind));
}

/// One loss where there is no block to read it by.
std::string losses(const SweepChoice& choice) {
  const QualityEvidence& quality = choice.quality;
  if (source_blocks(choice) == nullptr)
    return fmt::format("published loss {}", loss_text(quality.by_size));
  return fmt::format("published loss {} by block size, {} by number of blocks",
                     reading_text(quality.by_size), reading_text(quality.by_count));
}

/// "2.0 % (the paper's, since the scenario sets none)".
std::string limit_with_origin(const Budget& budget) {
  return format_budget(budget.kind, budget.limit) +
         (budget.origin == BudgetOrigin::assumed ? " (the paper's, since the scenario sets none)"
                                                 : "");
}

/// "decode_overhead of 2.0 % (the paper's, since the scenario sets none)". The device says how much
/// memory it has.
std::string budget_text(const Budget& budget) {
  if (budget.kind == BudgetKind::device_memory) return "the device's memory";
  return fmt::format("{} of {}", name(budget.kind), limit_with_origin(budget));
}

/// Behind "no choice".
std::string kept_text(const Budget& budget) {
  const char* verb = budget.kind == BudgetKind::device_memory ? "fits into" : "keeps";
  return fmt::format("{} {}", verb, budget_text(budget));
}

/// "keeps decode_overhead of 2.0 % or fits into the device's memory".
std::string kept_texts(const Sweep& sweep, const std::vector<std::size_t>& budgets) {
  Sentences names;
  for (const std::size_t b : budgets) names.push_back(kept_text(sweep.study().budgets[b]));
  return fmt::format("{}", fmt::join(names, " or "));
}

/// What a user must add before limits can be judged.
std::string missing_text(const Study& study, const Budget& undecided) {
  if (!study.machine) return "No time is known without hardware: name it with `hardware`.";
  if (undecided.kind == BudgetKind::device_memory)
    return "The hardware has no memory_capacity, or the model no architecture.";
  return "The time of a step is missing: give `baseline_step`, or a model with an architecture.";
}

/// "With block_size 26 decode/512 needs 104.9 GB, and a device has 85.52 GB.", and what would help.
std::string too_large_text(const SweepGroup& group, std::size_t choice) {
  const Sweep& sweep = group.sweep();
  const Study study = sweep.study_at(group.circumstance, choice);
  const auto [workload, bytes] = fullest_workload(study, study.path);
  const Bytes capacity = *study.machine->memory_capacity;
  const std::string remedy = memory_remedy(study, capacity.value);
  Sentences ways;
  if (workload.kind == WorkloadKind::decode && !remedy.starts_with("at most"))
    ways.emplace_back("smaller batches (workload.decode.sequences)");
  if (!remedy.empty()) ways.push_back(remedy);
  return fmt::format(" With {} {} needs {}, and a device has {}{}{}.", choice_label(sweep, choice),
                     name(workload), format_bytes(bytes), format_bytes(capacity),
                     ways.empty() ? "" : ". What would help: ", fmt::join(ways, ", or "));
}

/// Why there is no recommendation, and where every choice breaks a limit, what there would be.
std::string refusal(const SweepGroup& group, const Recommendation& said) {
  const Sweep& sweep = group.sweep();
  if (said.has_no_cost && said.without_unattainable)
    return fmt::format(
        "No recommendation: no time is known without hardware (such as --hardware h100_sxm). The "
        "lowest published loss is at {}: {}.",
        described(sweep, *said.without_unattainable),
        all_added(group, sweep.point(group.circumstance, *said.without_unattainable)));
  if (said.unattainable.empty())
    return fmt::format("No recommendation: it is not known whether a choice {}. {}",
                       kept_texts(sweep, said.undecided),
                       missing_text(sweep.study(), sweep.study().budgets[said.undecided.front()]));
  std::string text =
      fmt::format("No recommendation: no choice {}.", kept_texts(sweep, said.unattainable));
  const bool is_too_large =
      std::any_of(said.unattainable.begin(), said.unattainable.end(), [&](std::size_t budget) {
        return sweep.study().budgets[budget].kind == BudgetKind::device_memory;
      });
  if (is_too_large && said.without_unattainable)
    text += too_large_text(group, *said.without_unattainable);
  if (said.without_unattainable)
    text +=
        fmt::format(" Without {} {} would be taken: {}.",
                    said.unattainable.size() == 1 ? "that limit" : "these limits",
                    described(sweep, *said.without_unattainable),
                    all_added(group, sweep.point(group.circumstance, *said.without_unattainable)));
  return text;
}

/// How surely a recommended choice keeps a budget; empty where that is plain.
std::string keeping_text(const PointBudget& row) {
  const bool is_memory = row.budget.kind == BudgetKind::device_memory;
  if (is_memory && row.verdict == Verdict::unknown && row.high)
    return fmt::format("it takes {} of a device, and engines keep a tenth free, so it may not fit",
                       format_ratio(*row.low / row.budget.limit));
  if (is_memory && row.verdict == Verdict::unknown) return "whether it fits is not known";
  const std::string limit = "the limit of " + limit_with_origin(row.budget);
  if (row.median && row.low && row.high)
    return row.verdict == Verdict::pass
               ? fmt::format("the whole interval keeps {}", limit)
               : fmt::format("the median keeps {}, the high end does not", limit);
  if (row.verdict != Verdict::unknown) return "";
  return row.high ? fmt::format("{} lies inside the interval", limit)
                  : fmt::format("whether it keeps {} is not known", limit);
}

/// "decode_overhead and prefill_overhead: ...", a sentence for all budgets that are kept alike.
void say_keeping(Sentences& out, const std::vector<PointBudget>& budgets) {
  std::vector<std::pair<std::string, Sentences>> alike;
  for (const PointBudget& row : budgets) {
    const std::string kept = keeping_text(row);
    if (kept.empty()) continue;
    auto found = std::find_if(alike.begin(), alike.end(),
                              [&](const auto& known) { return known.first == kept; });
    if (found == alike.end()) found = alike.insert(alike.end(), {kept, {}});
    found->second.emplace_back(name(row.budget.kind));
  }
  for (const auto& [kept, names] : alike)
    out.push_back(fmt::format("{}: {}.", listed(names), kept));
}

void say_recommendation(Sentences& out, const SweepGroup& group, const Recommendation& said) {
  const Sweep& sweep = group.sweep();
  if (!said.unattainable.empty() || !said.undecided.empty() ||
      (said.has_no_cost && said.without_unattainable)) {
    out.push_back(refusal(group, said));
    return;
  }
  if (!said.best) {
    std::string text =
        "No recommendation: every choice breaks a budget, is coarser than any published one, or has "
        "no published loss.";
    if (said.cheapest)
      text += fmt::format(" The cheapest with a published loss is {}: {}.",
                          described(sweep, *said.cheapest),
                          all_added(group, sweep.point(group.circumstance, *said.cheapest)));
    out.push_back(text);
    return;
  }
  const SweepPoint point = sweep.point(group.circumstance, *said.best);
  out.push_back(fmt::format("Recommended: {}: {}; {}.", described(sweep, *said.best),
                            all_added(group, point), losses(*point.choice)));
  const std::vector<PointBudget> budgets = sweep.budgets(point);
  say_keeping(out, budgets);
  const bool all_known = std::none_of(budgets.begin(), budgets.end(), [](const PointBudget& row) {
    return row.verdict == Verdict::unknown && !row.high;
  });
  if (said.sure != said.best)
    out.push_back(
        fmt::format("Safe choice: {} keeps all {} with its whole interval.",
                    said.sure ? described(sweep, *said.sure) : "none with a published loss",
                    all_known ? "limits" : "limits that are known"));
}

std::string schedule_names(const Study& study) {
  const Scheme& scheme = study.path.scheme;
  const auto is_limit = study.training ? is_training_bound : is_bound;
  std::vector<std::string_view> names;
  for (const Schedule schedule : scheme.rule->schedules)
    if (schedule != Schedule::unfused && !is_limit(scheme, schedule))
      names.push_back(name(schedule));
  return fmt::format("{}", fmt::join(names, ","));
}

/// Which schedule all choices have, where another could be asked about.
void say_schedule(Sentences& out, const SweepGroup& group) {
  const Sweep& sweep = group.sweep();
  const auto& axes = sweep.choice_axes();
  const auto sweeps = [&](SweptKey key) {
    return std::any_of(axes.begin(), axes.end(),
                       [key](const SweptAxis& axis) { return axis.key == key; });
  };
  const Study& study = sweep.study();
  if (sweeps(SweptKey::schedule)) return;
  if (sweeps(SweptKey::scheme)) {
    out.emplace_back(
        "Each scheme runs in one schedule: the scenario's own as written, the others as they ship. A "
        "sweep of one scheme with --axis schedule tries others.");
    return;
  }
  if (study.path.scheme.rule->schedules.size() < 2 || study.implementation == Implementation::eager)
    return;
  const char* blocks = sweeps(SweptKey::block_size) ? "--axis block_size=1..L " : "";
  out.push_back(fmt::format("Every choice runs as {}; {}--axis schedule={} tries others.",
                            name(study.schedule), blocks, schedule_names(study)));
}

void say_runner_up(Sentences& out, const SweepGroup& group, const Recommendation& said) {
  if (!said.best || !said.runner_up) return;
  const Sweep& sweep = group.sweep();
  std::string text = fmt::format("Runner-up: {}", described(sweep, *said.runner_up));
  if (const auto apart = distance(sweep, group.circumstance, *said.best, *said.runner_up)) {
    const Estimate<Seconds>& d = apart->difference;
    const bool is_sure = d.low > Seconds{} || d.high < Seconds{};
    text += fmt::format(": {} to {}{} against the recommended one. {}",
                        format_seconds(d, Sign::always), name(apart->cost),
                        apart->cost == Cost::decode && has_batches(group)
                            ? " (the batch where they differ most)"
                            : "",
                        is_sure ? "The ranking holds for all assumed values"
                                : "The ranking rests on assumed values");
  } else {
    text += fmt::format(": {}", all_added(group, sweep.point(group.circumstance, *said.runner_up)));
  }
  out.push_back(text + ".");
}

/// "Without the limits on decode_overhead (2.0 %) and prefill_overhead (2.0 %) block_size 1 would
/// be taken, with 9.1 % and 10.9 %."
void say_ruled_out(Sentences& out, const SweepGroup& group, const Recommendation& said,
                   std::size_t choice) {
  const Sweep& sweep = group.sweep();
  const std::vector<PointBudget> rows = sweep.budgets(sweep.point(group.circumstance, choice));
  Sentences limits;
  Sentences values;
  for (const BindingBudget& binding : said.binding) {
    if (binding.allowed != choice) continue;
    const PointBudget& row = rows[binding.budget];
    limits.push_back(fmt::format("{} ({})", name(row.budget.kind),
                                 format_budget(row.budget.kind, row.budget.limit)));
    values.push_back(format_budget(row.budget.kind, row.median.value_or(row.low.value_or(0))));
  }
  out.push_back(fmt::format("Without {} {} {} would be taken, with {} ({}).",
                            limits.size() == 1 ? "the limit on" : "the limits on", listed(limits),
                            described(sweep, choice), listed(values),
                            losses(sweep.choices()[choice])));
}

void say_binding(Sentences& out, const SweepGroup& group, const Recommendation& said) {
  const Sweep& sweep = group.sweep();
  if (sweep.study().budgets.empty()) {
    if (!said.has_no_cost)
      out.push_back("There are no limits: the lowest published loss wins, whatever it costs.");
    return;
  }
  if (said.binding.empty() && said.best) out.push_back("The limits do not change the answer.");
  std::vector<std::size_t> allowed;
  for (const BindingBudget& binding : said.binding)
    if (std::find(allowed.begin(), allowed.end(), binding.allowed) == allowed.end())
      allowed.push_back(binding.allowed);
  for (const std::size_t choice : allowed) say_ruled_out(out, group, said, choice);
}

/// Engines and checkpoints count blocks in decoder layers.
void say_cut_decoder_layer(Sentences& out, const SweepGroup& group, std::size_t choice) {
  const Sweep& sweep = group.sweep();
  const Scheme& scheme = sweep.choices()[choice].path.scheme;
  if (!splits_decoder_layer(sweep.study(), scheme)) return;
  const Partition* blocks = attnres_blocks(scheme);
  out.push_back(fmt::format(
      "Blocks of {} layers cut through a decoder layer. attn_res_block_size of a config.json counts "
      "decoder layers and cannot say that; nearest are {} and {}.",
      blocks->block_size, blocks->block_size - 1, blocks->block_size + 1));
}

/// Blocks of one layer are Full AttnRes, whose schedules need not go by blocks.
void say_full(Sentences& out, const SweepGroup& group) {
  const auto& choices = group.sweep().choices();
  const bool has_single = std::any_of(choices.begin(), choices.end(), [](const SweepChoice& it) {
    const Partition* blocks = source_blocks(it);
    return blocks != nullptr && blocks->block_size == 1;
  });
  if (!has_single) return;
  out.emplace_back(
      "block_size 1 is Full AttnRes with a Phase 1 for every layer. As full_attnres it takes the "
      "queries of several layers together, which costs less: --residual full_attnres.");
}

/// Where the two readings of Fig. 6 differ, by the size of blocks and by their number, and what
/// either alone would choose.
void say_readings(Sentences& out, const SweepGroup& group, const Recommendation& said) {
  const Sweep& sweep = group.sweep();
  std::string text;
  if (said.best && attnres_blocks(sweep.choices()[*said.best].path.scheme) != nullptr) {
    const QualityEvidence& quality = sweep.choices()[*said.best].quality;
    if (!quality.agrees())
      text = fmt::format(
          "The published losses (Fig. 6, {} layers) can be read by the size of blocks or by their "
          "number: {} or {}. The higher one counts.",
          kFigure6Layers, reading_text(quality.by_size), reading_text(quality.by_count));
  }
  const auto add = [&](std::optional<std::size_t> choice, std::string_view by) {
    if (choice == said.best) return;
    text += fmt::format("{}By the {} of blocks alone {} would be taken.", text.empty() ? "" : " ",
                        by, choice ? described(sweep, *choice) : "nothing");
  };
  add(said.by_size, "size");
  add(said.by_count, "number");
  if (!text.empty()) out.push_back(text);
}

void say_own(Sentences& out, const SweepReport& report, const SweepGroup& group) {
  const Sweep& sweep = group.sweep();
  const auto own = own_choice(report, group);
  if (!own) return;
  const std::string label = choice_label(sweep, *own);
  if (const auto by = dominator_of(sweep, group.circumstance, *own, Reading::higher_of_both)) {
    out.push_back(fmt::format(
        "{} beats {}, as written: its loss is no higher, and it adds {} instead of {}.",
        described(sweep, *by), label, all_added(group, sweep.point(group.circumstance, *by)),
        all_added(group, sweep.point(group.circumstance, *own))));
    return;
  }
  std::string text =
      fmt::format("No choice beats {}, as written, in loss, time and memory at once", label);
  for (const Reading reading : {Reading::by_count, Reading::by_size})
    if (const auto by = dominator_of(sweep, group.circumstance, *own, reading))
      text += fmt::format("; if the loss follows the {} of blocks alone, {} does: {}",
                          reading == Reading::by_count ? "number" : "size", described(sweep, *by),
                          all_added(group, sweep.point(group.circumstance, *by)));
  out.push_back(text + ".");
}

std::string advantage_text(const Estimate<double>& advantage) {
  return fmt::format("{:.3f} [{:.3f}, {:.3f}]", advantage.value, advantage.low, advantage.high);
}

void say_break_even(Sentences& out, const SweepReport& report, const SweepGroup& group,
                    std::size_t choice) {
  const Sweep& sweep = group.sweep();
  const SweepPoint point = sweep.point(group.circumstance, choice);
  const auto overhead = point.training ? point.training->overhead : std::nullopt;
  const auto even = break_even(point.choice->path.scheme, overhead, report.compute);
  if (!even) return;
  if (!even->advantage) {
    if (even->range == FitRange::beyond)
      out.push_back(fmt::format(
          "Break-even: no verdict. {:.4g} PFLOP/s-days are beyond the range of the fit, {} to {} "
          "([attnres] Fig. 4).",
          report.compute, kLeastFittedCompute, kMostFittedCompute));
    return;
  }
  std::string text = fmt::format(
      "Break-even: at {:.4g} PFLOP/s-days {} is worth {} times the compute ([attnres] Fig. 4, about "
      "8 blocks), so that a training step may be longer by {}",
      report.compute, name(point.choice->path.scheme), advantage_text(*even->advantage),
      format_ratio(Estimate<double>{even->advantage->low - 1, even->advantage->value - 1,
                                    even->advantage->high - 1, Evidence::published}));
  if (even->net)
    text += fmt::format("; here it is longer by {}: {}, net {:.3f} [{:.3f}, {:.3f}]",
                        format_ratio(*overhead), name(even->payback), even->net->value,
                        even->net->low, even->net->high);
  else
    text += point.training ? "; the step that per cent are of is not known"
                           : "; the scenario has no training step to hold against it";
  SweepPoint serving = point;
  serving.training.reset();
  if (serving.decode || serving.prefill)
    text += fmt::format(". Serving pays {} for it, for as long as the model is used",
                        all_added(group, serving));
  out.push_back(text + ".");
}

/// "8", "8 and 16", "14, 18 and 26 to 30".
std::string sizes_text(const std::vector<Count>& sizes) {
  Sentences runs;
  for (std::size_t i = 0; i < sizes.size();) {
    std::size_t last = i;
    while (last + 1 < sizes.size() && sizes[last + 1] == sizes[last] + 1) ++last;
    runs.push_back(
        last == i ? std::to_string(sizes[i])
                  : fmt::format("{} {} {}", sizes[i], last == i + 1 ? "and" : "to", sizes[last]));
    i = last + 1;
  }
  return listed(runs);
}

bool is_divisor(const Partition& blocks) { return blocks.num_layers % blocks.block_size == 0; }

/// Block sizes with the fewest d-vectors, ties included, and how many they are.
struct Fewest {
  double mean_d = 0;
  std::vector<Count> sizes;
};

std::optional<Fewest> fewest(const Sweep& sweep, std::size_t convention,
                             bool (*takes)(const Partition&)) {
  std::optional<Fewest> best;
  for (const SweepChoice& choice : sweep.choices()) {
    if (!choice.refused.empty() || !choice.mean[convention]) continue;
    const Partition& blocks = *blocks_of(choice.path.scheme);
    const ConventionMean& mean = *choice.mean[convention];
    if (!mean.is_inside_domain || !takes(blocks)) continue;
    // Scalars beside the vectors are too few to tell sizes apart.
    const auto shown = [](double mean_d) { return std::llround(100 * mean_d); };
    if (!best || shown(mean.mean_d) < shown(best->mean_d)) best = Fewest{mean.mean_d, {}};
    if (shown(mean.mean_d) == shown(best->mean_d)) best->sizes.push_back(blocks.block_size);
  }
  return best;
}

/// Says which block size moves the fewest d-vectors, unless that is simply the coarsest one.
void say_fewest(Sentences& out, const SweepGroup& group) {
  const Sweep& sweep = group.sweep();
  if (sweep.choice_axes().size() != 1 || sweep.choice_axes().front().key != SweptKey::block_size ||
      sweep.study().schedule != Schedule::two_phase)
    return;
  Sentences parts;
  Count coarsest = 0;
  for (const SweepChoice& choice : sweep.choices())
    if (choice.refused.empty() && blocks_of(choice.path.scheme) != nullptr)
      coarsest = std::max(coarsest, blocks_of(choice.path.scheme)->block_size);
  for (std::size_t c = 0; coarsest > 0 && c < kConventions; ++c) {
    const auto all = fewest(sweep, c, [](const Partition&) { return true; });
    const auto divisors = fewest(sweep, c, is_divisor);
    if (!all || all->sizes.back() == coarsest) continue;
    std::string part = fmt::format("{}: {:.2f} d at {}", name(static_cast<Convention>(c)),
                                   all->mean_d, sizes_text(all->sizes));
    if (static_cast<Convention>(c) == Convention::paper)
      part += ", where it is defined, that is over divisors of L";
    else if (divisors && divisors->sizes != all->sizes)
      part += fmt::format(" (over divisors {:.2f} d at {})", divisors->mean_d,
                          sizes_text(divisors->sizes));
    parts.push_back(part);
  }
  if (!parts.empty())
    out.push_back(
        fmt::format("Fewest d-vectors a layer over all block sizes: {}. The paper "
                    "considered divisors alone.",
                    fmt::join(parts, "; ")));
}

}  // namespace

std::vector<std::string> sweep_answer(const SweepGroup& group) {
  Sentences out;
  const Recommendation said = recommend(group.sweep(), group.circumstance);
  say_recommendation(out, group, said);
  // What another schedule would keep is the next question.
  if (!said.best) say_schedule(out, group);
  return out;
}

std::vector<std::string> sweep_reasons(const SweepReport& report, const SweepGroup& group) {
  Sentences out;
  const Recommendation said = recommend(group.sweep(), group.circumstance);
  say_binding(out, group, said);
  say_runner_up(out, group, said);
  say_own(out, report, group);
  if (said.best) say_schedule(out, group);
  say_readings(out, group, said);
  say_full(out, group);
  if (said.best) say_cut_decoder_layer(out, group, *said.best);
  say_fewest(out, group);
  if (said.best) say_break_even(out, report, group, *said.best);
  out.push_back(fmt::format("Losses are evidence, not a prediction: {}.", kFigure6Conditions));
  return out;
}

}  // namespace depthcost
