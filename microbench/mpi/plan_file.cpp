// The members of a plan, and what they may be.
#include "microbench/mpi/plan_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "model/base/infeasible.hpp"
#include "scenarios/text/json_document.hpp"
#include "scenarios/text/json_record.hpp"

namespace depthcost::bench {
namespace {

constexpr const char* kSchema = "depthcost-pipeline/1";
constexpr Count kMostStages = 4096;         // P and V: far beyond any machine [ours]
constexpr Count kMostMicroBatches = 65536;  // [ours]
constexpr Count kMostLayers = 16384;        // as scenarios/keys/limits.hpp

std::variant<BlockPayload, FixedPayload> payload_of(const Node& node) {
  JsonRecord record(node, "payload");
  std::variant<BlockPayload, FixedPayload> payload;
  if (record.has("vectors"))
    payload = FixedPayload{record.count_to(kMostLayers, "vectors")};
  else
    payload =
        BlockPayload{record.counts_to(kMostLayers, "block_sizes"), record.value<Cache>("cache")};
  record.refuse_others();
  return payload;
}

Seconds seconds_at(JsonRecord& record, const char* key) {
  return {record.number(key, Range::non_negative)};
}

ChunkTimes times_of(const Node& node) {
  JsonRecord record(node, "chunk_seconds");
  ChunkTimes times{.forward = seconds_at(record, "forward"),
                   .backward_input = seconds_at(record, "backward_input"),
                   .backward_weight = seconds_at(record, "backward_weight")};
  if (record.has("recompute")) times.recompute = seconds_at(record, "recompute");
  record.refuse_others();
  return times;
}

StageLink link_of(const Node& node) {
  JsonRecord record(node, "link");
  StageLink link{seconds_at(record, "latency_seconds"), {std::numeric_limits<double>::infinity()}};
  if (record.has("bytes_per_second")) link.bandwidth = {record.number("bytes_per_second")};
  record.refuse_others();
  return link;
}

/// The list of `key`, which has one item for each of the `expected` chunks or transitions.
const List& list_of(JsonRecord& file, const char* key, std::size_t expected, const char* each) {
  const List& list = file.list(key);
  if (list.items.size() != expected)
    throw InputError(file.at(key).position,
                     fmt::format("invalid {} of length '{}' (must have one entry for each of the "
                                 "{} {})",
                                 key, list.items.size(), expected, each));
  return list;
}

std::vector<StageLink> links_of(JsonRecord& file, std::size_t num_transitions) {
  if (!file.has("links")) return std::vector<StageLink>(num_transitions, link_of(file.at("link")));
  if (file.has("link"))
    throw InputError(file.at("link").position, "conflicting link (links is given)");
  std::vector<StageLink> links;
  for (const Node& item : list_of(file, "links", num_transitions, "transitions").items)
    links.push_back(link_of(item));
  return links;
}

/// 1, 2 or 4.
Count element_bytes(JsonRecord& file, const char* key) {
  const Count bytes = file.count(key);
  if (bytes != 1 && bytes != 2 && bytes != 4)
    throw InputError(file.at(key).position,
                     fmt::format("invalid {} '{}' (must be 1, 2 or 4)", key, bytes));
  return bytes;
}

PipelinePlan plan_of(const Node& document) {
  JsonRecord file(document, "plan");
  file.choice("schema", {kSchema});
  PipelinePlan plan{
      .schedule = file.value<PipelineSchedule>("schedule"),
      .layout = {.num_stages = file.count_to(kMostStages, "num_stages"),
                 .num_virtual_stages = file.has("num_virtual_stages")
                                           ? file.count_to(kMostStages, "num_virtual_stages")
                                           : 1,
                 .chunk_layers = file.counts_to(kMostLayers, "chunk_layers", Range::non_negative)},
      .num_micro_batches = file.count_to(kMostMicroBatches, "num_micro_batches"),
      .payload = payload_of(file.at("payload")),
      .tokens = file.count("tokens"),
      .hidden_size = file.count("hidden_size"),
      .bytes_per_element = element_bytes(file, "bytes_per_element")};
  if (num_copies(plan.schedule) > 1)
    throw InputError(file.at("schedule").position,
                     fmt::format("invalid schedule '{}' (this program runs one direction)",
                                 name(plan.schedule)));
  plan.gradient_bytes_per_element = file.has("gradient_bytes_per_element")
                                        ? element_bytes(file, "gradient_bytes_per_element")
                                        : plan.bytes_per_element;
  if (file.has("activations")) plan.activations = file.value<Activations>("activations");
  if (file.has("sends")) plan.sends = file.value<Sends>("sends");
  const std::size_t num_chunks = plan.layout.chunk_layers.size();
  for (const Node& item : list_of(file, "chunk_seconds", num_chunks, "chunks").items)
    plan.chunks.push_back(times_of(item));
  plan.links = links_of(file, num_chunks == 0 ? 0 : num_chunks - 1);
  file.refuse_others();
  return plan;
}

/// The largest message must be one that MPI can count.
void check_sizes(const PipelinePlan& plan, const Position& position) {
  constexpr Count kMostBytes = std::numeric_limits<int>::max();
  const auto peak = static_cast<double>(std::max<Count>(1, traffic_of(plan).peak));
  const double bytes =
      static_cast<double>(plan.tokens) * static_cast<double>(plan.hidden_size) *
      static_cast<double>(std::max(plan.bytes_per_element, plan.gradient_bytes_per_element));
  if (peak * bytes > static_cast<double>(kMostBytes))
    throw InputError(position,
                     fmt::format("invalid tokens '{}' (messages of up to {} d-vectors are larger "
                                 "than {} bytes)",
                                 plan.tokens, peak, kMostBytes));
}

/// Times that nobody waits for: stages and links do as the plan says.
void check_times(const PipelinePlan& plan, const Position& position) {
  constexpr Seconds kMostSeconds{600};
  const Seconds step = simulate(work_of(plan)).makespan;
  if (step <= kMostSeconds) return;
  throw InputError(position, fmt::format("invalid chunk_seconds or link (a step of {:.3g} s; at "
                                         "most {} s)",
                                         step.value, kMostSeconds.value));
}

}  // namespace

PipelinePlan parse_plan(const std::string& text, const std::string& file) {
  const Node document = parse_json(text, file, kMaxMeasuredBytes);
  const PipelinePlan plan = plan_of(document);
  try {
    check_sizes(plan, document.position);
    pipeline_order(plan.schedule, plan.layout.num_stages, plan.layout.num_virtual_stages,
                   plan.num_micro_batches, plan.activations);
    check_times(plan, document.position);
  } catch (const Infeasible& error) {
    throw InputError(document.position, error.what());
  }
  return plan;
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
    return uniform_traffic(plan.layout, fixed->vectors);
  }
  const auto& blocks = std::get<BlockPayload>(plan.payload);
  return pipeline_traffic(plan.layout, blocks.block_sizes,
                          {blocks.cache, Embedding::sent, PartialSum::sent});
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
