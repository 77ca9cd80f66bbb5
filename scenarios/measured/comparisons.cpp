// Groups measurements, predicts each group and applies the rules.
#include "scenarios/measured/comparisons.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "scenarios/device/device.hpp"
#include "scenarios/measured/tolerances.hpp"

namespace depthcost {
namespace {

/// The fastest stack shows what the device can do. How far others are behind is their own matter.
ComparedCase compared_case(std::string id, const Device& device, const StandaloneCall& call,
                           const Estimate<Seconds>& time, const ToleranceRule& rule) {
  return {.id = std::move(id),
          .hardware = device.label,
          .hardware_name = device.machine.name,
          .call = call,
          .stacks = {},
          .comparison = compare(device.machine, *find_operation(call), execution_of(call), time,
                                rule.tolerance),
          .rule = rule,
          .file = rule.file,
          .line = rule.line};
}

/// Loads each device once, with the constants that have not seen it: a prediction of what it was
/// fitted on would flatter it.
class Devices {
 public:
  const Device& at(const std::string& id) {
    const auto known = devices_.find(id);
    return known != devices_.end() ? known->second
                                   : devices_.emplace(id, device_of(id, unseen(id))).first->second;
  }

 private:
  static const Constants& unseen(const std::string& id) {
    const Constants* fold = shipped_fold(id);
    return fold == nullptr ? shipped_constants() : *fold;
  }

  std::map<std::string, Device> devices_;
};

/// The measurements of one call, fastest first.
using Group = std::vector<const PublishedMeasurement*>;

auto order_of(const PublishedMeasurement& row) {
  return std::tuple(row.hardware, row.call.operation, row.call.counts.num_sources,
                    row.call.hidden_size, row.call.num_tokens);
}

std::vector<std::pair<std::string, Group>> grouped(
    const std::vector<PublishedMeasurement>& measurements) {
  std::vector<std::pair<std::string, Group>> groups;
  std::map<std::string, std::size_t> index;
  for (const PublishedMeasurement& row : measurements) {
    const std::string id = fmt::format("{}/{}", row.hardware, case_id(row.call));
    const auto [at, is_new] = index.emplace(id, groups.size());
    if (is_new) groups.push_back({id, {}});
    groups[at->second].second.push_back(&row);
  }
  for (auto& [id, group] : groups)
    std::stable_sort(group.begin(), group.end(),
                     [](const auto* a, const auto* b) { return a->time < b->time; });
  std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
    return order_of(*a.second.front()) < order_of(*b.second.front());
  });
  return groups;
}

}  // namespace

Device device_of(const DeviceValues& values, const std::string& label, const Constants& constants) {
  Device device{.label = label, .machine = {}, .fallbacks = {}};
  device.machine = machine_from(values, device.fallbacks, constants);
  return device;
}

Device device_of(const std::string& hardware, const Constants& constants) {
  return device_of(resolve_device(hardware, "--hardware"), file_label(hardware), constants);
}

std::vector<ComparedCase> published_cases(const std::vector<PublishedMeasurement>& measurements,
                                          const std::vector<ToleranceRule>& rules) {
  RuleBook book(rules);
  Devices devices;
  std::vector<ComparedCase> cases;
  for (const auto& [id, group] : grouped(measurements)) {
    const PublishedMeasurement& fastest = *group.front();
    const Estimate<Seconds> time{fastest.time, fastest.time, fastest.time, Evidence::published};
    cases.push_back(
        compared_case(id, devices.at(fastest.hardware), fastest.call, time, book.rule_for(id)));
    const Seconds predicted = cases.back().comparison.predicted.value;
    for (const PublishedMeasurement* row : group)
      cases.back().stacks.push_back({row->stack, row->time, row->time / predicted - 1});
  }
  book.require_all_used();
  return cases;
}

const MeasuredByOthers& measured_by_others() {
  static const MeasuredByOthers measured = [] {
    Published all = published();
    return MeasuredByOthers{published_cases(all.kernels, shipped_rules("published")),
                            std::move(all.steps)};
  }();
  return measured;
}

std::vector<ComparedCase> measured_cases(const MeasurementTable& table, const Device& device,
                                         const std::vector<ToleranceRule>& rules) {
  RuleBook book(rules);
  std::map<std::string, int> seen;
  std::vector<ComparedCase> cases;
  for (const MeasuredCall& row : table.rows) {
    std::string id = fmt::format("{}/{}", device.label, case_id(row.call));
    // A table may hold several kernels for one call.
    const int count = ++seen[id];
    if (count > 1) id += fmt::format("#{}", count);
    const ToleranceRule& rule = book.rule_for(id);
    cases.push_back(compared_case(id, device, row.call, row.time, rule));
    cases.back().stacks = {{"", row.time.value, cases.back().comparison.error}};
    cases.back().samples = row.samples;
    cases.back().file = table.file;
    cases.back().line = row.line;
  }
  book.require_all_used();
  return cases;
}

}  // namespace depthcost
