// One setting after another, then all of them.
#include "model/decision/nearest_setting.hpp"

#include "model/decision/decided_budget.hpp"
#include "model/schemes/list.hpp"

namespace depthcost {
namespace {

/// A key, its usual value, and what reading that value would do.
struct UsualSetting {
  std::string_view text;
  bool (*departs)(const Study& study);
  void (*apply)(Study& study);
};

// The defaults of the keys, each with its source there.
constexpr UsualSetting kUsualSettings[] = {
    {"residual.attach: all_reduce",
     [](const Study& study) {
       return study.decode && study.attachment == Attachment::standalone && has_all_reduce(study) &&
              is_folded_by_engines(study.path.scheme);
     },
     [](Study& study) { study.attachment = study.path.attachment = Attachment::all_reduce; }},
    {"workload.decode.launch: graph",
     [](const Study& study) { return study.decode && study.decode->launch != Launch::graph; },
     [](Study& study) { study.decode->launch = Launch::graph; }},
    {"residual.layout: sequence_sharded",
     [](const Study& study) {
       const auto is_replicated = [&](WorkloadKind workload) {
         return token_layout(study, workload) != Layout::sequence_sharded;
       };
       const bool has_prompt = study.decode && study.decode->prompt;
       return study.tensor_parallel_size > 1 &&
              ((study.training && is_replicated(WorkloadKind::training)) ||
               (has_prompt && !study.attachment && !study.baseline_attachment &&
                is_replicated(WorkloadKind::decode)));
     },
     [](Study& study) { study.layout = Layout::sequence_sharded; }},
    {"workload.training.gradient_accumulation: fused",
     [](const Study& study) {
       return study.training &&
              study.training->gradient_accumulation != GradientAccumulation::fused;
     },
     [](Study& study) { study.training->gradient_accumulation = GradientAccumulation::fused; }},
    {"workload.training.activations: recompute",
     [](const Study& study) { return study.training && !recomputes_residual(*study.training); },
     [](Study& study) { study.training->activations = ActivationPolicy::recompute; }},
    {"workload.training.sends: overlapped",
     [](const Study& study) {
       return study.training && study.pipeline && study.training->sends != Sends::overlapped;
     },
     [](Study& study) { study.training->sends = Sends::overlapped; }},
};

// Not what most recipes run, but open to all: one kernel adds up the gradients of a block.
constexpr UsualSetting kFurtherSetting{
    "workload.training.gradient_accumulation: per_block",
    [](const Study& study) {
      return study.training &&
             study.training->gradient_accumulation != GradientAccumulation::per_block &&
             attnres_blocks(study.path.scheme) != nullptr;
    },
    [](Study& study) { study.training->gradient_accumulation = GradientAccumulation::per_block; }};

/// The median, where there is one, and the high end.
bool lowers(const BudgetRow& now, const BudgetRow& then) {
  if (now.middle && then.middle && *then.middle >= *now.middle) return false;
  return now.high && then.high && *then.high < *now.high;
}

/// What comes of a change. That a median keeps the limit is news only where it did not before.
Kept kept(const BudgetRow& now, const BudgetRow& then) {
  if (then.verdict == Verdict::pass) return Kept::surely;
  const bool is_kept = then.middle && *then.middle <= then.budget.limit;
  const bool was_kept = now.middle && *now.middle <= now.budget.limit;
  return is_kept && !was_kept ? Kept::likely : Kept::no;
}

BudgetRow decided_with(const UsualSetting& setting, Study study, const Budget& budget) {
  setting.apply(study);
  return decided_for(study, budget);
}

Remedy further_change(const Study& study, const BudgetRow& now) {
  if (!kFurtherSetting.departs(study)) return {"", Kept::no};
  const Kept it = kept(now, decided_with(kFurtherSetting, study, now.budget));
  return {it == Kept::no ? "" : std::string(kFurtherSetting.text), it};
}

}  // namespace

Remedy nearest_setting(const Study& study, const Budget& budget) {
  const BudgetRow now = decided_for(study, budget);
  Study usual = study;
  Remedy all{"", Kept::no};
  Remedy likely;
  for (const UsualSetting& setting : kUsualSettings) {
    if (!setting.departs(study)) continue;
    const BudgetRow then = decided_with(setting, study, budget);
    const Remedy change{std::string(setting.text), kept(now, then)};
    if (change.kept == Kept::surely) return change;
    if (!lowers(now, then)) continue;
    if (change.kept == Kept::likely && likely.change.empty()) likely = change;
    setting.apply(usual);
    all.change += (all.change.empty() ? "" : " and ") + change.change;
  }
  if (!all.change.empty()) all.kept = kept(now, decided_for(usual, budget));
  if (all.kept == Kept::surely) return all;
  if (!likely.change.empty()) return likely;
  const Remedy further = further_change(study, now);
  return further.kept == Kept::no ? all : further;
}

}  // namespace depthcost
