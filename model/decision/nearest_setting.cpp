// One setting after another, then all of them.
#include "model/decision/nearest_setting.hpp"

#include "model/decision/kept_budget.hpp"
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
       return study.training && study.tensor_parallel_size > 1 &&
              token_layout(study, WorkloadKind::training) != Layout::sequence_sharded;
     },
     [](Study& study) { study.layout = Layout::sequence_sharded; }},
    {"workload.training.gradient_accumulation: fused",
     [](const Study& study) {
       return study.training &&
              study.training->gradient_accumulation != GradientAccumulation::fused;
     },
     [](Study& study) { study.training->gradient_accumulation = GradientAccumulation::fused; }},
    {"workload.training.activations: recompute",
     [](const Study& study) { return study.training && !recomputes(*study.training); },
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
             study.training->gradient_accumulation == GradientAccumulation::fused &&
             attnres_blocks(study.path.scheme) != nullptr;
    },
    [](Study& study) { study.training->gradient_accumulation = GradientAccumulation::per_block; }};

bool keeps_with(const UsualSetting& setting, Study study, const Budget& budget) {
  setting.apply(study);
  return surely_keeps(study, budget);
}

}  // namespace

SettingChange nearest_setting(const Study& study, const Budget& budget) {
  Study usual = study;
  std::string all;
  for (const UsualSetting& setting : kUsualSettings) {
    if (!setting.departs(study)) continue;
    if (keeps_with(setting, study, budget)) return {std::string(setting.text), true};
    setting.apply(usual);
    all += (all.empty() ? "" : " and ") + std::string(setting.text);
  }
  if (!all.empty()) return {all, surely_keeps(usual, budget)};
  if (kFurtherSetting.departs(study) && keeps_with(kFurtherSetting, study, budget))
    return {std::string(kFurtherSetting.text), true};
  return {};
}

}  // namespace depthcost
