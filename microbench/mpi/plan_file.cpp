// Every member of a map must be asked for, so that a misspelt key is an error and not a default.
#include "microbench/mpi/plan_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "model/base/infeasible.hpp"

namespace depthcost::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "depthcost-pipeline/1";
constexpr Count kMostStages = 4096;         // P and V: far beyond any machine [ours]
constexpr Count kMostMicroBatches = 65536;  // [ours]
constexpr Count kMostLayers = 65536;        // as scenarios/read/scenario.cpp
constexpr Count kMostElements = Count{1} << 40;

constexpr std::array kSchedules{PipelineSchedule::one_forward_one_backward,
                                PipelineSchedule::interleaved, PipelineSchedule::zb_h1};
constexpr std::array kCaches{Cache::none, Cache::received, Cache::own};
constexpr std::array kActivations{Activations::kept, Activations::recomputed};
constexpr std::array kSends{Sends::overlapped, Sends::blocking};

/// One object of the file.
class Fields {
 public:
  Fields(const Json& json, std::string where) : json_(json), where_(std::move(where)) {
    if (!json_.is_object()) throw PlanError(fmt::format("invalid {} (must be a map)", where_));
  }

  bool has(const std::string& key) {
    known_.push_back(key);
    return json_.contains(key);
  }

  const Json& at(const std::string& key) {
    if (!has(key)) throw PlanError(fmt::format("missing key '{}' (of {})", key, where_));
    return json_.at(key);
  }

  Count count(const std::string& key, Count least, Count most) {
    return count_of(at(key), key, least, most);
  }

  std::vector<Count> counts(const std::string& key, Count least, Count most) {
    std::vector<Count> values;
    for (const Json& item : list(key)) values.push_back(count_of(item, key, least, most));
    return values;
  }

  double number(const std::string& key) {
    const Json& value = at(key);
    const double number = value.is_number() ? value.get<double>() : -1;
    if (!std::isfinite(number) || number < 0)
      throw PlanError(
          fmt::format("invalid {} '{}' (must be a number, not negative)", key, value.dump()));
    return number;
  }

  const Json& list(const std::string& key) {
    const Json& value = at(key);
    if (!value.is_array()) throw PlanError(fmt::format("invalid {} (must be a list)", key));
    return value;
  }

  /// One of `names`; its place in them.
  std::size_t choice(const std::string& key, const std::vector<std::string>& names) {
    const Json& value = at(key);
    const auto found = std::find(names.begin(), names.end(),
                                 value.is_string() ? value.get<std::string>() : std::string());
    if (found == names.end())
      throw PlanError(fmt::format("invalid {} {} (must be one of: {})", key, value.dump(),
                                  fmt::join(names, ", ")));
    return static_cast<std::size_t>(found - names.begin());
  }

  void refuse_others() const {
    for (const auto& [key, value] : json_.items())
      if (std::find(known_.begin(), known_.end(), key) == known_.end())
        throw PlanError(fmt::format("unknown key '{}' (of {})", key, where_));
  }

 private:
  static Count count_of(const Json& value, const std::string& key, Count least, Count most) {
    const bool is_count = value.is_number_integer() &&
                          !(value.is_number_unsigned() && value.get<std::uint64_t>() >> 62U > 0);
    if (!is_count || value.get<Count>() < least || value.get<Count>() > most)
      throw PlanError(fmt::format("invalid {} '{}' (must be an integer, {} to {})", key,
                                  value.dump(), least, most));
    return value.get<Count>();
  }

  const Json& json_;
  std::string where_;
  std::vector<std::string> known_;
};

template <class Enums>
std::vector<std::string> names_of(const Enums& values) {
  std::vector<std::string> names;
  for (const auto value : values) names.emplace_back(name(value));
  return names;
}

std::variant<BlockPayload, FixedPayload> payload_of(const Json& json) {
  Fields fields(json, "payload");
  std::variant<BlockPayload, FixedPayload> payload;
  if (fields.has("vectors"))
    payload = FixedPayload{fields.count("vectors", 1, kMostLayers)};
  else
    payload = BlockPayload{fields.counts("block_sizes", 1, kMostLayers),
                           kCaches[fields.choice("cache", names_of(kCaches))]};
  fields.refuse_others();
  return payload;
}

ChunkTimes times_of(const Json& json) {
  Fields fields(json, "chunk_seconds");
  ChunkTimes times{.forward = {fields.number("forward")},
                   .recompute = {fields.has("recompute") ? fields.number("recompute") : 0},
                   .backward_input = {fields.number("backward_input")},
                   .backward_weight = {fields.number("backward_weight")}};
  fields.refuse_others();
  return times;
}

StageLink link_of(const Json& json) {
  Fields fields(json, "link");
  StageLink link{{fields.number("latency_seconds")}, {std::numeric_limits<double>::infinity()}};
  if (fields.has("bytes_per_second")) link.bandwidth = {fields.number("bytes_per_second")};
  if (link.bandwidth.value == 0) throw PlanError("invalid bytes_per_second '0' (must be positive)");
  fields.refuse_others();
  return link;
}

void require_length(const std::string& key, std::size_t length, std::size_t expected,
                    const char* of_each) {
  if (length != expected)
    throw PlanError(
        fmt::format("invalid {} of length '{}' (must have one entry for each of the {} "
                    "{})",
                    key, length, expected, of_each));
}

std::vector<StageLink> links_of(Fields& file, std::size_t num_transitions) {
  if (!file.has("links")) return std::vector<StageLink>(num_transitions, link_of(file.at("link")));
  if (file.has("link")) throw PlanError("conflicting link (links is given)");
  std::vector<StageLink> links;
  for (const Json& item : file.list("links")) links.push_back(link_of(item));
  require_length("links", links.size(), num_transitions, "transitions");
  return links;
}

PipelinePlan plan_of(const Json& json) {
  Fields file(json, "the plan");
  file.choice("schema", {kSchema});
  PipelinePlan plan{
      .schedule = kSchedules[file.choice("schedule", names_of(kSchedules))],
      .layout = {.num_stages = file.count("num_stages", 1, kMostStages),
                 .num_virtual_stages = file.has("num_virtual_stages")
                                           ? file.count("num_virtual_stages", 1, kMostStages)
                                           : 1,
                 .chunk_layers = file.counts("chunk_layers", 0, kMostLayers)},
      .num_micro_batches = file.count("num_micro_batches", 1, kMostMicroBatches),
      .payload = payload_of(file.at("payload")),
      .tokens = file.count("tokens", 1, kMostElements),
      .hidden_size = file.count("hidden_size", 1, kMostElements),
      .bytes_per_element = file.count("bytes_per_element", 1, 4)};
  plan.gradient_bytes_per_element = file.has("gradient_bytes_per_element")
                                        ? file.count("gradient_bytes_per_element", 1, 4)
                                        : plan.bytes_per_element;
  if (file.has("activations"))
    plan.activations = kActivations[file.choice("activations", names_of(kActivations))];
  if (file.has("sends")) plan.sends = kSends[file.choice("sends", names_of(kSends))];
  const std::size_t num_chunks = plan.layout.chunk_layers.size();
  for (const Json& item : file.list("chunk_seconds")) plan.chunks.push_back(times_of(item));
  require_length("chunk_seconds", plan.chunks.size(), num_chunks, "chunks");
  plan.links = links_of(file, num_chunks == 0 ? 0 : num_chunks - 1);
  file.refuse_others();
  return plan;
}

/// The largest message must be one that MPI can count.
void check_sizes(const PipelinePlan& plan) {
  if (plan.bytes_per_element == 3)
    throw PlanError("invalid bytes_per_element '3' (must be 1, 2 or 4)");
  if (plan.gradient_bytes_per_element == 3)
    throw PlanError("invalid gradient_bytes_per_element '3' (must be 1, 2 or 4)");
  constexpr Count kMostBytes = std::numeric_limits<int>::max();
  const auto peak = static_cast<double>(std::max<Count>(1, traffic_of(plan).peak));
  const double bytes =
      static_cast<double>(plan.tokens) * static_cast<double>(plan.hidden_size) *
      static_cast<double>(std::max(plan.bytes_per_element, plan.gradient_bytes_per_element));
  if (peak * bytes > static_cast<double>(kMostBytes))
    throw PlanError(
        fmt::format("invalid tokens '{}' (messages of up to {} d-vectors are larger "
                    "than {} bytes)",
                    plan.tokens, peak, kMostBytes));
}

struct TrafficOf {
  const PipelineLayout& layout;
  PipelineTraffic operator()(const BlockPayload& blocks) const {
    return pipeline_traffic(layout, blocks.block_sizes,
                            {blocks.cache, Embedding::sent, PartialSum::sent});
  }
  PipelineTraffic operator()(const FixedPayload& fixed) const {
    return uniform_traffic(layout, fixed.vectors);
  }
};

struct JsonOf {
  Json operator()(const BlockPayload& blocks) const {
    return {{"block_sizes", blocks.block_sizes}, {"cache", name(blocks.cache)}};
  }
  Json operator()(const FixedPayload& fixed) const { return {{"vectors", fixed.vectors}}; }
};

/// A parser keeps the last of two values of a key: a plan that has two says nothing.
Json parse(const std::string& text) {
  std::vector<std::vector<std::string>> keys;
  return Json::parse(text, [&](int, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key) {
      const auto name = value.get<std::string>();
      if (std::find(keys.back().begin(), keys.back().end(), name) != keys.back().end())
        throw PlanError(fmt::format("duplicate key '{}'", name));
      keys.back().push_back(name);
    }
    return true;
  });
}

/// What the library says, without its own error's number.
std::string syntax_error(const std::string& text) {
  const auto end = text.find("] ");
  return end == std::string::npos ? text : text.substr(end + 2);
}

}  // namespace

PipelinePlan parse_plan(const std::string& text, const std::string& file) {
  try {
    const PipelinePlan plan = plan_of(parse(text));
    check_sizes(plan);
    pipeline_order(plan.schedule, plan.layout.num_stages, plan.layout.num_virtual_stages,
                   plan.num_micro_batches, plan.activations);
    return plan;
  } catch (const PlanError& error) {
    throw PlanError(fmt::format("{}: error: {}", file, error.what()));
  } catch (const Infeasible& error) {
    throw PlanError(fmt::format("{}: error: {}", file, error.what()));
  } catch (const Json::exception& error) {
    throw PlanError(fmt::format("{}: error: not JSON ({})", file, syntax_error(error.what())));
  }
}

std::string to_json(const PipelinePlan& plan) {
  Json chunks = Json::array();
  for (const ChunkTimes& times : plan.chunks)
    chunks.push_back({{"forward", times.forward.value},
                      {"recompute", times.recompute.value},
                      {"backward_input", times.backward_input.value},
                      {"backward_weight", times.backward_weight.value}});
  Json links = Json::array();
  for (const StageLink& link : plan.links) {
    links.push_back({{"latency_seconds", link.latency.value}});
    if (std::isfinite(link.bandwidth.value))
      links.back()["bytes_per_second"] = link.bandwidth.value;
  }
  const Json json{{"schema", kSchema},
                  {"schedule", name(plan.schedule)},
                  {"activations", name(plan.activations)},
                  {"num_stages", plan.layout.num_stages},
                  {"num_virtual_stages", plan.layout.num_virtual_stages},
                  {"num_micro_batches", plan.num_micro_batches},
                  {"chunk_layers", plan.layout.chunk_layers},
                  {"payload", std::visit(JsonOf{}, plan.payload)},
                  {"tokens", plan.tokens},
                  {"hidden_size", plan.hidden_size},
                  {"bytes_per_element", plan.bytes_per_element},
                  {"gradient_bytes_per_element", plan.gradient_bytes_per_element},
                  {"chunk_seconds", chunks},
                  {"links", links},
                  {"sends", name(plan.sends)}};
  return json.dump(1) + "\n";
}

Count vector_bytes(const PipelinePlan& plan) {
  return plan.tokens * plan.hidden_size * plan.bytes_per_element;
}

Count gradient_bytes(const PipelinePlan& plan) {
  return plan.tokens * plan.hidden_size * plan.gradient_bytes_per_element;
}

PipelineTraffic traffic_of(const PipelinePlan& plan) {
  if (const auto* fixed = std::get_if<FixedPayload>(&plan.payload)) {
    const auto& layers = plan.layout.chunk_layers;
    check_layout(plan.layout, std::accumulate(layers.begin(), layers.end(), Count{0}));
    return TrafficOf{plan.layout}(*fixed);
  }
  return std::visit(TrafficOf{plan.layout}, plan.payload);
}

PipelineWork work_of(const PipelinePlan& plan) {
  PipelineWork work{
      .order = pipeline_order(plan.schedule, plan.layout.num_stages, plan.layout.num_virtual_stages,
                              plan.num_micro_batches, plan.activations),
      .chunks = plan.chunks,
      .links = plan.links,
      .sends = plan.sends};
  for (const Transition& transition : traffic_of(plan).transitions) {
    work.forward_messages.push_back({static_cast<double>(transition.vectors * vector_bytes(plan))});
    work.backward_messages.push_back(
        {static_cast<double>(transition.vectors * gradient_bytes(plan))});
  }
  return work;
}

}  // namespace depthcost::bench
