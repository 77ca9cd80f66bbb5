// Reads a published file record by record.
#include "scenarios/measured/published.hpp"

#include <fmt/format.h>

#include <iterator>

#include "scenarios/device/hardware.hpp"
#include "scenarios/measured/calls.hpp"
#include "scenarios/measured/published_table.hpp"
#include "scenarios/presets/presets.hpp"
#include "scenarios/presets/reference.hpp"

namespace depthcost {
namespace {

StandaloneCall call_of(const Values& values, const std::string& record) {
  const auto count = [&](const std::string& key, Count otherwise) {
    return values.has(record + key) ? values.count(record + key) : otherwise;
  };
  const Value& operation = values.at(record + "operation");
  StandaloneCall call{.operation = operation.texts.front()};
  require_counts(entry_of(call.operation, operation.position),
                 {values.has(record + "sources"), values.has(record + "queries")},
                 operation.position);
  call.counts = {.num_sources = count("sources", 1),
                 .num_queries = count("queries", 1),
                 .num_streams = count("streams", 4)};
  call.num_tokens = values.count(record + "tokens");
  call.hidden_size = values.count(record + "hidden_size");
  call.dtype = values.choice<Dtype>(record + "dtype");
  call.launch = values.choice<Launch>(record + "launch");
  call.temperature = values.choice<Temperature>(record + "temperature");
  return call;
}

void require_hardware(const Value& hardware) {
  if (find_preset("hardware", hardware.texts.front()) == nullptr)
    throw InputError(hardware.position, fmt::format("unknown hardware '{}' (not a preset)",
                                                    printable(hardware.texts.front())));
}

MeasuredStep step_of(const Values& values, const std::string& record) {
  require_hardware(values.at(record + "hardware"));
  const Value& time = values.at(record + "time");
  std::vector<ResolvedValue> fallbacks;  // from the preset; its report names them
  MeasuredStep step{
      .machine = machine_from(preset_values(values.text(record + "hardware"), hardware_reference()),
                              fallbacks),
      .stack = values.text(record + "stack"),
      .model = values.text(record + "model"),
      .scheme = values.text(record + "scheme"),
      .schedule = values.choice<Schedule>(record + "schedule"),
      .tensor = values.count(record + "tensor"),
      .sequences = values.count(record + "sequences"),
      .span = values.text(record + "span") == name(StepSpan::kernels) ? StepSpan::kernels
                                                                      : StepSpan::step,
      .time = {time.numbers.front()},
      .source = time.origin};
  if (values.has(record + "context")) step.context = values.count(record + "context");
  if (values.has(record + "residual")) step.residual = Seconds{values.number(record + "residual")};
  return step;
}

}  // namespace

Published parse_published(std::string_view text, const std::string& file) {
  const KeyTable& table = published_keys();
  const Node document = parse_document(text, file);
  const Map& map = root_map(document, table.what);
  require_schema(map, document.position, table);
  const Values values =
      read_values(map, document.position, {table, Provenance::scenario, file_label(file)});
  require_keys(values, table);
  Published rows;
  for (std::size_t i = 0; i < values.num_records("measurements"); ++i) {
    const std::string record = fmt::format("measurements[{}].", i);
    require_hardware(values.at(record + "hardware"));
    const Value& time = values.at(record + "time");
    rows.kernels.push_back({.hardware = values.text(record + "hardware"),
                            .stack = values.text(record + "stack"),
                            .call = call_of(values, record),
                            .time = {time.numbers.front()},
                            .source = time.origin});
  }
  for (std::size_t i = 0; i < values.num_records("steps"); ++i)
    rows.steps.push_back(step_of(values, fmt::format("steps[{}].", i)));
  return rows;
}

std::vector<PublishedMeasurement> parse_published_kernels(std::string_view text,
                                                          const std::string& file) {
  std::vector<PublishedMeasurement> rows;
  for (const TableRow& row : fastest_of_each(table_rows(text, file)))
    rows.push_back({.hardware = row.find("gpu")->second,
                    .stack = row.find("stack")->second,
                    .call = {.operation = row.find("operation")->second,
                             .num_tokens = count_in(row, "tokens"),
                             .hidden_size = count_in(row, "hidden_size"),
                             .launch = Launch::graph,
                             .temperature = Temperature::hot},
                    .time = {1e-6 * number_in(row, "microseconds")},
                    .source = "ai-dynamo/aiconfigurator 0.12.0, mHC tables: half of the two sites "
                              "of one layer (2026-11-01)"});
  return rows;
}

Published published() {
  Published all;
  all.kernels = parse_published_kernels(shipped_table("mhc"), "scenarios/published/mhc.csv");
  for (const Preset& preset : presets()) {
    if (preset.kind != "published") continue;
    Published rows =
        parse_published(preset.text, fmt::format("scenarios/published/{}.yaml", preset.id));
    std::move(rows.kernels.begin(), rows.kernels.end(), std::back_inserter(all.kernels));
    std::move(rows.steps.begin(), rows.steps.end(), std::back_inserter(all.steps));
  }
  return all;
}

std::vector<PublishedMeasurement> published_measurements() { return published().kernels; }

}  // namespace depthcost
