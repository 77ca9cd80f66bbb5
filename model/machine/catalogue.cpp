// The one table of operations by name.
#include "model/machine/catalogue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>

#include "model/operations/altup_operations.hpp"
#include "model/operations/dense_operations.hpp"
#include "model/operations/eager_operations.hpp"
#include "model/operations/gated_residual_operations.hpp"
#include "model/operations/hyper_connection_operations.hpp"

namespace depthcost {
namespace {

/// The entries of all groups, in this order.
template <std::size_t... kSizes>
constexpr auto joined(const std::array<CatalogueEntry, kSizes>&... groups) {
  std::array<CatalogueEntry, (kSizes + ...)> all{};
  auto* end = all.data();
  ((end = std::copy(groups.begin(), groups.end(), end)), ...);
  return all;
}

constexpr std::array kCatalogue =
    joined(operations::kResidualEntries, operations::kAttnresEntries, operations::kMhcEntries,
           operations::kEagerEntries, operations::kHyperConnectionEntries,
           operations::kDenseEntries, operations::kGatedResidualEntries, operations::kAltupEntries,
           operations::kResidualBackwardEntries, operations::kAttnresBackwardEntries,
           operations::kMhcBackwardEntries);

}  // namespace

std::span<const CatalogueEntry> catalogue() { return kCatalogue; }

std::vector<std::string> catalogue_names() {
  std::vector<std::string> names;
  for (const CatalogueEntry& entry : kCatalogue) names.emplace_back(entry.name);
  return names;
}

const CatalogueEntry* find_entry(std::string_view name) {
  const auto found = std::find_if(kCatalogue.begin(), kCatalogue.end(),
                                  [&](const CatalogueEntry& entry) { return entry.name == name; });
  return found == kCatalogue.end() ? nullptr : &*found;
}

Operation catalogue_row(std::string_view name, const CallCounts& counts) {
  const CatalogueEntry* entry = find_entry(name);
  assert(entry != nullptr);
  return entry->operation(counts);
}

std::optional<Operation> find_operation(const StandaloneCall& call) {
  const CatalogueEntry* entry = find_entry(call.operation);
  // An operand that is always f32 is no wider than the others where they are f32, too.
  if (call.dtype == Dtype::f32)
    if (const CatalogueEntry* of_one_type = find_entry(call.operation + "/one_type"))
      entry = of_one_type;
  if (entry == nullptr) return std::nullopt;
  return entry->operation(call.counts);
}

Execution execution_of(const StandaloneCall& call) {
  return {.tokens = static_cast<double>(call.num_tokens),
          .launch = call.launch,
          .storage = {.hidden_size = static_cast<double>(call.hidden_size),
                      .dtype = call.dtype,
                      .phase1_dtype = call.dtype},
          .temperature = call.temperature};
}

std::string case_id(const StandaloneCall& call) {
  const CatalogueEntry* entry = find_entry(call.operation);
  std::string id = call.operation;
  if (entry != nullptr && !entry->sources.empty())
    id += fmt::format("/n:{}", call.counts.num_sources);
  if (entry != nullptr && entry->has_queries) id += fmt::format("/S:{}", call.counts.num_queries);
  if (entry != nullptr && entry->has_streams) id += fmt::format("/m:{}", call.counts.num_streams);
  return fmt::format("{}/{}/T:{}/d:{}/{}/{}", id, name(call.dtype), call.num_tokens,
                     call.hidden_size, name(call.launch), name(call.temperature));
}

}  // namespace depthcost
