// The file of samples. Names of benchmarks are taken apart into fields, so that a reader does not
// have to know how benchmarks are named.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "microbench/cases/hyper_connection_cases.hpp"
#include "microbench/results/benchmark_results.hpp"
#include "microbench/results/case_name.hpp"

namespace depthcost::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "depthcost-samples/1";

std::size_t count(const CaseName& name, std::string_view key, std::size_t otherwise = 0) {
  return static_cast<std::size_t>(name.number(key, static_cast<double>(otherwise)));
}

Json mix_json(const Mix& mix) { return {mix.reads, mix.writes, mix.in_place}; }

/// The part of a name at `place`; the backend is at 0.
std::string part(std::string_view name, std::size_t place) {
  for (; place > 0; --place) {
    const auto slash = name.find('/');
    if (slash == std::string_view::npos) return "";
    name.remove_prefix(slash + 1);
  }
  return std::string(name.substr(0, name.find('/')));
}

Json ceiling_row(const Measurement& m) {
  const bool is_cpu = m.backend() == "cpu";
  const CaseName name = parse_case_name(m.name);
  const auto threads = m.name.find("/threads:");
  const int count = threads == std::string::npos ? 0 : std::atoi(m.name.c_str() + threads + 9);
  return {{"name", m.name},
          {"backend", name.backend},
          {"level", is_cpu ? part(m.name, 5) : "memory"},
          {"threads", count},
          {"mix", mix_json(m.mix)},
          {"bytes", m.bytes},
          {"seconds", m.seconds}};
}

Json core_row(const Measurement& m) {
  return {{"name", m.name},           {"primitive", part(m.name, 2)}, {"dtype", part(m.name, 3)},
          {"level", part(m.name, 4)}, {"elements", m.elements},       {"seconds", m.seconds}};
}

Json curve_row(const Measurement& m) {
  const CaseName name = parse_case_name(m.name);
  return {{"name", m.name},
          {"backend", name.backend},
          {"footprint_bytes", name.number("footprint", 0)},
          {"temperature", name.temperature},
          {"mix", mix_json(m.mix)},
          {"bytes", m.bytes},
          {"seconds", m.seconds}};
}

Json skeleton_row(const Measurement& m) {
  const bool is_cpu = m.backend() == "cpu";
  return {{"name", m.name},
          {"backend", m.backend()},
          {"skeleton", part(m.name, 2)},
          {"ctas", is_cpu ? "" : part(m.name, 3).substr(5)},
          {"launch", is_cpu ? "stream" : part(m.name, 4)},
          {"level", is_cpu ? "memory" : part(m.name, 5)},
          {"deviation", m.deviation()},
          {"seconds", m.seconds}};
}

/// As model/machine/catalogue.hpp counts sources: n blocks with b_0, and one more where the partial
/// sum is a source like the others.
std::size_t num_sources(const CaseName& name) {
  const std::size_t blocks = count(name, "n", Shape{}.num_blocks);
  const bool counts_all =
      name.operation == "attnres_single_pass/bare" || name.operation.starts_with("unfused_");
  return counts_all ? blocks + 1 : blocks;
}

/// An operation of mHC moves other bytes on a GPU than on a CPU.
std::string catalogue_name(const CaseName& name) {
  const bool is_twice = name.operation == "mhc_pre" || name.operation == "mhc_boundary";
  const bool is_on_chip = is_twice && name.backend == "cuda";
  return mhc_entry(name.operation, is_on_chip ? StreamsAgain::on_chip : StreamsAgain::from_memory);
}

Json kernel_row(const Measurement& m) {
  const CaseName name = parse_case_name(m.name);
  Json row{{"name", m.name},
           {"backend", name.backend},
           {"operation", catalogue_name(name)},
           {"dtype", name.type},
           {"tokens", count(name, "T")},
           {"hidden_size", count(name, "d")},
           {"sources", num_sources(name)},
           {"queries", Shape{}.num_queries},
           {"streams", Shape{}.num_streams},
           {"launch", name.launch.empty() ? "stream" : name.launch},
           {"temperature", name.temperature},
           {"again", name.is_again},
           {"mix", mix_json(m.mix)},
           {"bytes", m.bytes},
           {"deviation", m.deviation()},
           {"seconds", m.seconds}};
  if (!m.of_ceiling.empty()) row["of_ceiling"] = m.of_ceiling;
  return row;
}

/// The operation is "step/mhc/fused". Backend, type and numbers are as in a kernel's name.
Json step_row(const Measurement& m) {
  const CaseName name = parse_case_name(m.name);
  return {{"name", m.name},
          {"backend", name.backend},
          {"scheme", part(name.operation, 1)},
          {"schedule", part(name.operation, 2)},
          {"dtype", name.type},
          {"tokens", count(name, "T")},
          {"hidden_size", count(name, "d")},
          {"layers", count(name, "L")},
          {"block_size", count(name, "S")},
          {"streams", Shape{}.num_streams},
          {"weight_bytes", name.number("W", 0)},
          {"launch", name.launch.empty() ? "stream" : name.launch},
          {"seconds", m.seconds}};
}

/// "mpi/one_way/f32/ranks:2/bytes:8"
Json link_row(const Measurement& m) {
  const CaseName name = parse_case_name(m.name);
  return {{"name", m.name},
          {"transfer", name.operation},
          {"ranks", count(name, "ranks")},
          {"bytes", count(name, "bytes")},
          {"seconds", m.seconds}};
}

Json other_row(const Measurement& m) {
  return {{"name", m.name}, {"bytes", m.bytes}, {"seconds", m.seconds}};
}

std::string rows_text(const std::vector<Measurement>& rows, Json (*row)(const Measurement&)) {
  std::string text;
  for (const Measurement& m : rows)
    text += fmt::format("{}\n  {}", text.empty() ? "" : ",", row(m).dump());
  return "[" + text + "\n ]";
}

std::vector<Measurement> measurements_of(const nlohmann::json& rows) {
  std::vector<Measurement> measurements;
  for (const auto& row : rows) {
    const auto& mix = row.value("mix", nlohmann::json{0, 0, 0});
    measurements.push_back({.name = row.at("name"),
                            .seconds = row.at("seconds"),
                            .bytes = row.value("bytes", 0.0),
                            .elements = row.value("elements", 0.0),
                            .mix = {mix.at(0), mix.at(1), mix.at(2)},
                            .deviations = {row.value("deviation", 0.0)},
                            .of_ceiling = row.value("of_ceiling", std::vector<double>{})});
  }
  return measurements;
}

}  // namespace

std::string to_json(const Results& results) {
  const Environment& environment = results.environment;
  Json head{{"schema", kSchema},
            {"machine", results.machine},
            {"device", results.device},
            {"date", results.date},
            {"threads", results.threads},
            {"first_level_bytes", results.first_level_bytes},
            {"rotation_bytes", results.rotation_bytes},
            {"huge_pages", results.huge_pages},
            {"kernels_hash", results.kernels_hash},
            {"cuda_kernels_hash", results.cuda_kernels_hash},
            {"rounds", environment.rounds},
            {"rounds_wanted", environment.rounds_wanted},
            {"disturbed_percent", environment.disturbed_percent},
            {"throttled_percent", environment.throttled_percent}};
  std::string text = head.dump(1);
  text.resize(text.size() - 2);  // the closing brace: rows follow
  text += fmt::format(",\n \"ceilings\": {},\n", rows_text(results.ceilings, ceiling_row));
  text += fmt::format(" \"cores\": {},\n", rows_text(results.cores, core_row));
  text += fmt::format(" \"curves\": {},\n", rows_text(results.curves, curve_row));
  text += fmt::format(" \"skeletons\": {},\n", rows_text(results.skeletons, skeleton_row));
  text += fmt::format(" \"kernels\": {},\n", rows_text(results.kernels, kernel_row));
  text += fmt::format(" \"steps\": {},\n", rows_text(results.steps, step_row));
  // Older files have no links, nor have those of machines without MPI.
  if (!results.links.empty())
    text += fmt::format(" \"links\": {},\n", rows_text(results.links, link_row));
  return text + fmt::format(" \"others\": {}\n}}\n", rows_text(results.others, other_row));
}

Results results_of(const nlohmann::json& json) {
  if (json.value("schema", "") != kSchema)
    throw std::runtime_error(fmt::format("not a file of samples (schema is not {})", kSchema));
  return {.machine = json.at("machine"),
          .device = json.at("device"),
          .kernels_hash = json.at("kernels_hash"),
          .cuda_kernels_hash = json.at("cuda_kernels_hash"),
          .threads = json.at("threads"),
          .first_level_bytes = json.at("first_level_bytes"),
          .rotation_bytes = json.at("rotation_bytes"),
          .huge_pages = json.at("huge_pages"),
          .date = json.at("date"),
          .environment = {.rounds = json.at("rounds"),
                          .rounds_wanted = json.at("rounds_wanted"),
                          .throttled_percent = json.at("throttled_percent"),
                          .disturbed_percent = json.value("disturbed_percent", 0.0)},
          .ceilings = measurements_of(json.at("ceilings")),
          .cores = measurements_of(json.at("cores")),
          .curves = measurements_of(json.at("curves")),
          .skeletons = measurements_of(json.at("skeletons")),
          .kernels = measurements_of(json.at("kernels")),
          .steps = measurements_of(json.at("steps")),
          .links = measurements_of(json.value("links", nlohmann::json::array())),
          .others = measurements_of(json.at("others"))};
}

}  // namespace depthcost::bench
