// Files of names, matching, and sums.
#include "profile/traces/kernel_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "scenarios/keys/values.hpp"
#include "scenarios/measured/calls.hpp"
#include "scenarios/measured/tolerances.hpp"
#include "scenarios/presets/presets.hpp"

namespace depthcost {
namespace {

std::vector<KernelName> names_of(const Node& document, const std::string& file) {
  const KeyTable& table = kernel_name_keys();
  const Map& map = root_map(document, table.what);
  require_schema(map, document.position, table);
  const Values values =
      read_values(map, document.position, {table, Provenance::scenario, file_label(file)});
  require_keys(values, table);
  std::vector<KernelName> names;
  for (std::size_t i = 0; i < values.num_records("kernels"); ++i) {
    const std::string record = fmt::format("kernels[{}].", i);
    const std::string& operation = values.text(record + "operation");
    entry_of(operation, values.at(record + "operation").position);
    const bool has_more = values.has(record + "beside");
    names.push_back({values.text(record + "match"), operation,
                     has_more ? values.text(record + "beside") : std::string()});
  }
  if (names.empty())
    throw InputError(document.position, "missing key 'kernels' (a file of names needs one)");
  return names;
}

using Runs = std::vector<Interval>;

void append(Runs& runs, const Runs& more) { runs.insert(runs.end(), more.begin(), more.end()); }

TracedKernels kernels_of(std::string name, std::string beside, const Runs& runs) {
  return {std::move(name), std::move(beside), static_cast<Count>(runs.size()), time_in_any(runs)};
}

void sort_longest_first(std::vector<TracedKernels>& kernels) {
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const auto& a, const auto& b) { return b.time < a.time; });
}

}  // namespace

std::vector<KernelName> shipped_kernel_names() {
  std::vector<KernelName> names;
  for (const Preset& data : shipped_data()) {
    if (data.kind != "kernel_names") continue;
    const std::string file = fmt::format("scenarios/kernel_names/{}.yaml", data.id);
    for (KernelName& name : names_of(parse_document(data.text, file), file))
      names.push_back(std::move(name));
  }
  return names;
}

std::vector<KernelName> load_kernel_names(const std::string& path) {
  return names_of(load_document(path), path);
}

const KernelName* find_kernel_name(const std::vector<KernelName>& names, std::string_view kernel) {
  const auto found = std::find_if(names.begin(), names.end(), [&](const KernelName& name) {
    const bool is_pattern = name.match.find('*') != std::string::npos;
    return is_pattern ? matches_pattern(name.match, kernel)
                      : kernel.find(name.match) != std::string_view::npos;
  });
  return found == names.end() ? nullptr : &*found;
}

TracedStep traced_step(const KernelTrace& trace, const std::vector<KernelName>& names,
                       const std::string& file) {
  TracedStep traced;
  Runs all;
  Runs residual;
  std::map<std::pair<std::string, std::string>, Runs> by_operation;
  for (const auto& [kernel, runs] : trace.kernels) {
    append(all, runs);
    const KernelName* name = find_kernel_name(names, kernel);
    if (name == nullptr) {
      traced.unmapped.push_back(kernels_of(kernel, "", runs));
      continue;
    }
    append(by_operation[{name->operation, name->beside}], runs);
    if (name->beside.empty()) append(residual, runs);
  }
  for (const auto& [operation, runs] : by_operation)
    traced.operations.push_back(kernels_of(operation.first, operation.second, runs));
  sort_longest_first(traced.operations);
  sort_longest_first(traced.unmapped);
  if (traced.operations.empty())
    throw InputError({file, 1, 1},
                     fmt::format("no known kernel (the longest of {} is '{}'; --kernel-names FILE "
                                 "says which operation a name is)",
                                 traced.unmapped.size(), printable(traced.unmapped.front().name)));
  traced.launches = static_cast<Count>(all.size());
  traced.kernel_time = time_in_any(all);
  traced.span = span_of(all);
  traced.residual = time_in_any(residual);
  traced.steps = static_cast<Count>(trace.steps.size());
  if (traced.kernel_time.value <= 0)
    throw InputError({file, 1, 1}, "no durations (every kernel takes 0 ns)");
  return traced;
}

}  // namespace depthcost
