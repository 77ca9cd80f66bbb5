// As a user's table is compared, with the repetitions' spread for noise.
#include "profile/compare.hpp"

#include <fmt/format.h>

#include "profile/profile.hpp"
#include "scenarios/tolerances.hpp"

namespace depthcost::profile {

std::vector<ComparedCase> kernel_cases(const Samples& samples, const Device& device,
                                       const std::vector<ToleranceRule>& rules) {
  RuleBook book(rules);
  std::vector<ComparedCase> cases;
  for (const KernelSample& kernel : samples.kernels) {
    if (kernel.is_again) continue;
    const std::string id =
        fmt::format("{}/{}/{}", device.label, name(cases_of(kernel)), case_id(kernel.call));
    const ToleranceRule& rule = book.rule_for(id);
    const Comparison comparison = compared(device.machine, kernel, rule.tolerance);
    cases.push_back({.id = id,
                     .hardware = device.label,
                     .call = kernel.call,
                     .stacks = {{"", comparison.measured.median, comparison.error}},
                     .comparison = comparison,
                     .rule = rule,
                     .file = samples.path});
  }
  book.require_all_used();
  return cases;
}

}  // namespace depthcost::profile
