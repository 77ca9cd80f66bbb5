// Kernels are compared as a user's table is. Their noise is the spread of the repetitions.
#include "profile/compare.hpp"

#include <fmt/format.h>

#include "profile/profile.hpp"
#include "scenarios/measured/tolerances.hpp"
#include "scenarios/presets/presets.hpp"
#include "scenarios/text/input_text.hpp"

namespace depthcost::profile {

std::vector<std::string> comparison_notes(const Samples& samples, const DeviceValues& device) {
  const Values& values = device.values;
  std::vector<std::string> notes{
      "Measured: the lower quartile of the repetitions, since a shared machine only ever adds to a "
      "time.",
      samples.left_out()};
  // A preset has no such hash.
  if (const Value* kernels = values.find("samples.kernels");
      kernels != nullptr && kernels->texts.front() != samples.kernels_hash)
    notes.push_back(
        fmt::format("The kernels have changed: measured are '{}', the profile was made on '{}'.",
                    printable(samples.kernels_hash), printable(kernels->texts.front())));
  if (values.has("coverage.low") && values.has("coverage.high"))
    notes.push_back(coverage_warning(
        {.low = values.number("coverage.low"), .high = values.number("coverage.high")}));
  if (values.has_records("operation_residual"))
    notes.push_back(
        "The 90 % interval is that of all kernels, so that none hides behind its own. Predictions "
        "of a scenario have the interval of each operation.");
  std::erase(notes, "");
  return notes;
}

std::vector<ToleranceRule> rules_of(const Samples& samples) {
  for (const Preset& shipped : shipped_samples()) {
    const std::string_view machine = shipped.id.substr(0, shipped.id.find('.'));
    if (find_preset("tolerances", machine) != nullptr && hash_text(shipped.text) == samples.hash)
      return shipped_rules(machine);
  }
  return shipped_rules("samples");
}

std::vector<ComparedCase> kernel_cases(const Samples& samples, const Device& device,
                                       const std::vector<ToleranceRule>& rules) {
  // One interval for all kernels. Behind an interval of its own no kernel could ever fail.
  Machine machine = device.machine;
  machine.operation_residuals.clear();
  RuleBook book(rules);
  std::vector<ComparedCase> cases;
  for (const KernelSample& kernel : samples.kernels) {
    if (kernel.is_again) continue;
    const std::string id =
        fmt::format("{}/{}/{}", device.label, name(cases_of(kernel)), case_id(kernel.call));
    const ToleranceRule& rule = book.rule_for(id);
    const Comparison comparison = compared(machine, kernel, rule.tolerance);
    cases.push_back({.id = id,
                     .hardware = device.label,
                     .call = kernel.call,
                     .stacks = {{"", comparison.measured.value, comparison.error}},
                     .comparison = comparison,
                     .samples = static_cast<Count>(kernel.seconds.size()),
                     .rule = rule,
                     .file = samples.path});
  }
  book.require_all_used();
  return cases;
}

}  // namespace depthcost::profile
