// CSV rows as calls and as studies.
#include "profile/calibration/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "scenarios/device/device.hpp"
#include "scenarios/measured/published_table.hpp"
#include "scenarios/measured/served_steps.hpp"
#include "scenarios/measured/trained_steps.hpp"
#include "scenarios/text/input_text.hpp"

namespace depthcost::calibration {
namespace {

Part part_of(const std::string& gpu, const Constants& start) {
  const DeviceValues device = resolve_device(gpu, "gpu");
  std::vector<ResolvedValue> notes;
  return {.id = gpu,
          .architecture = device.values.text("architecture"),
          .memory = device.values.text("memory_technology"),
          .machine = machine_from(device, notes, start)};
}

const Part& part_in(const std::vector<Part>& parts, const std::string& gpu) {
  return *std::find_if(parts.begin(), parts.end(),
                       [&](const Part& part) { return part.id == gpu; });
}

MeasuredKernel kernel_of(const std::vector<Part>& parts, const TableRow& row) {
  const StandaloneCall call{.operation = row.find("operation")->second,
                            .num_tokens = count_in(row, "tokens"),
                            .hidden_size = count_in(row, "hidden_size"),
                            .launch = Launch::graph,
                            .temperature = Temperature::hot};
  return {&part_in(parts, row.find("gpu")->second), *find_operation(call), execution_of(call),
          Seconds{1e-6 * number_in(row, "microseconds")}};
}

/// "vllm" of "vllm 0.24.0".
Implementation stack_of(const TableRow& row) {
  const std::string& stack = row.find("stack")->second;
  return named<Implementation>(stack.substr(0, stack.find(' '))).value();
}

std::vector<StackKernel> stack_kernels(const std::vector<Part>& parts,
                                       const std::vector<TableRow>& rows) {
  std::map<std::string, Seconds> fastest;
  for (const TableRow& row : fastest_of_each(rows))
    fastest.emplace(configuration_of(row), kernel_of(parts, row).seconds);
  std::vector<StackKernel> kernels;
  for (const TableRow& row : rows) {
    const MeasuredKernel kernel = kernel_of(parts, row);
    kernels.push_back({kernel, stack_of(row), kernel.seconds / fastest.at(configuration_of(row))});
  }
  return kernels;
}

}  // namespace

Tables read_tables(const std::string& folder, const Constants& start) {
  Tables tables;
  const auto file = [&](const char* name) { return fmt::format("{}/{}", folder, name); };
  const auto text = [&](const char* name) { return load_text(file(name)); };
  const std::vector<TableRow> kernels = table_rows(text("mhc.csv"), file("mhc.csv"));
  std::set<std::string> gpus;
  for (const TableRow& row : kernels) gpus.insert(row.find("gpu")->second);
  for (const std::string& gpu : gpus) tables.parts.push_back(part_of(gpu, start));
  for (const TableRow& row : fastest_of_each(kernels))
    tables.kernels.push_back(kernel_of(tables.parts, row));
  tables.stacks = stack_kernels(tables.parts, kernels);
  tables.steps = parse_served_steps(text("steps.csv"), file("steps.csv"), start);
  tables.trainings = parse_trained_steps(text("training.csv"), file("training.csv"), start);
  return tables;
}

}  // namespace depthcost::calibration
