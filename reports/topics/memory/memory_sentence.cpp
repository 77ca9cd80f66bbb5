// Parts in the order of their sizes.
#include "reports/topics/memory/memory_sentence.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "model/decision/budget.hpp"
#include "model/evaluation/scheme_verdict.hpp"
#include "model/training/training_memory.hpp"
#include "reports/formats/numbers.hpp"

namespace depthcost {
namespace {

const char* part_of(MemoryItem item) {
  if (is_vectors(item)) return "residual path";
  switch (item) {
    case MemoryItem::kv_cache:
      return "KV cache";
    case MemoryItem::gradients:
      return "gradients";
    case MemoryItem::optimizer_states:
      return "optimizer states";
    case MemoryItem::layer_activations:
      return "activations of the layers";
    case MemoryItem::scheme_weights:
      return "residual path";
    default:
      return "weights";
  }
}

using Part = std::pair<std::string, Bytes>;

std::vector<Part> parts_at(const Study& study, WorkloadId workload) {
  std::vector<Part> parts;
  for (const MemoryRow& row : all_memory_rows(study, study.path)) {
    if (row.workload != workload) continue;
    const auto part = std::find_if(parts.begin(), parts.end(), [&](const Part& known) {
      return known.first == part_of(row.item);
    });
    if (part != parts.end())
      part->second += row.bytes;
    else
      parts.emplace_back(part_of(row.item), row.bytes);
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& one, const Part& other) { return other.second < one.second; });
  return parts;
}

}  // namespace

std::string memory_sentence(const Evaluation& e) {
  const Study& study = e.study;
  if (!study.machine || !study.machine->memory_capacity || !study.model.architecture) return "";
  const NeededMemory fullest = fullest_workload(study, study.path);
  if (fullest.bytes.value == 0 || fullest.bytes > *study.machine->memory_capacity) return "";
  std::vector<std::string> parts;
  for (const auto& [part, bytes] : parts_at(study, fullest.workload))
    if (bytes.value > 0) parts.push_back(fmt::format("{} {}", part, format_bytes(bytes)));
  const Bytes capacity = *study.machine->memory_capacity;
  // A scheme's own verdict says so.
  const bool is_tight = is_reference(study, study.path) && !surely_fits(fullest.bytes, capacity);
  return fmt::format("Memory: {} of the {} of a device ({}), at {}: {}.{}",
                     format_bytes(fullest.bytes), format_bytes(capacity),
                     format_ratio(fullest.bytes / capacity), name(fullest.workload),
                     fmt::join(parts, ", "),
                     is_tight ? " Less than a tenth is left, so that it may not fit." : "");
}

}  // namespace depthcost
