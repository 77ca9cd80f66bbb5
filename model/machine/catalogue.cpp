// The one table of operations by name.
#include "model/machine/catalogue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>

#include "model/operations/dense_operations.hpp"
#include "model/operations/eager_operations.hpp"
#include "model/operations/hyper_connection_operations.hpp"

namespace depthcost {
namespace {

constexpr bool kQueries = true;
constexpr bool kStreams = true;

constexpr double streams(const CallCounts& counts) {
  return static_cast<double>(counts.num_streams);
}
constexpr double sources(const CallCounts& counts) {
  return static_cast<double>(counts.num_sources);
}

/// In the middle of block n: layer 3 adds f to b and attends to n bank rows beside it.
constexpr LayerPosition inside_block(const CallCounts& counts) {
  return {.block = counts.num_sources, .index = 3};
}

/// At the start of block n, where the one before is closed; before block 1 there is none.
constexpr LayerPosition start_of_block(Count block, Count size) {
  return {.block = block, .index = 1, .size = size, .previous_size = block == 1 ? 0 : size};
}

/// The mix is the output: no gain is read.
constexpr Operation without_norm(Operation operation) {
  operation.parameters_d -= operations::kGain_d;
  return operation;
}

/// Blocks of more than one layer: a block of one is f itself and needs no closing.
constexpr Count kAnySize = 2;

using Counts = const CallCounts&;
using Entry = CatalogueEntry;

constexpr std::array kCatalogue{
    Entry{"residual_add", "", !kQueries, !kStreams,
          [](Counts) { return operations::residual_add(); }},
    Entry{"residual_add_rmsnorm", "", !kQueries, !kStreams,
          [](Counts) { return operations::residual_add_rmsnorm(); }},
    Entry{"attnres_single_pass", "bank rows, beside the partial sum", !kQueries, !kStreams,
          [](Counts c) { return operations::block_single_pass(inside_block(c)); }},
    Entry{"attnres_single_pass/bare", "finished sources: no update, no norm", !kQueries, !kStreams,
          [](Counts c) {
            return without_norm(operations::single_pass(c.num_sources, sources(c), 0, 0, {}));
          }},
    Entry{"attnres_single_pass/closing", "bank rows, beside the one that is written", !kQueries,
          !kStreams,
          [](Counts c) {
            return operations::block_single_pass(start_of_block(c.num_sources + 1, kAnySize));
          }},
    Entry{"attnres_single_pass/sigmoid", "bank rows, beside the partial sum", !kQueries, !kStreams,
          [](Counts c) { return operations::block_single_pass(inside_block(c)); }},
    Entry{"attnres_single_pass/multihead", "bank rows, beside the partial sum", !kQueries,
          !kStreams, [](Counts c) { return operations::block_single_pass(inside_block(c)); }},
    Entry{"attnres_single_pass/raw_keys", "bank rows, beside the partial sum", !kQueries, !kStreams,
          [](Counts c) {
            return operations::with_raw_keys(operations::block_single_pass(inside_block(c)));
          }},
    Entry{"attnres_single_pass/input_dependent", "bank rows, beside the partial sum", !kQueries,
          !kStreams,
          [](Counts c) {
            return operations::with_token_query(operations::block_single_pass(inside_block(c)));
          }},
    Entry{"attnres_single_pass/sliding_window",
          "bank rows of the window, beside the layer's output", !kQueries, !kStreams,
          [](Counts c) { return operations::full_single_pass(c.num_sources + 1); }},
    Entry{"attnres_phase1", "bank rows, with the one that is written", kQueries, !kStreams,
          [](Counts c) {
            return operations::block_phase1(start_of_block(c.num_sources, c.num_queries));
          }},
    Entry{"attnres_phase2", "", !kQueries, !kStreams,
          [](Counts c) { return operations::block_phase2(inside_block(c)); }},
    Entry{"mhc_pre", "", !kQueries, kStreams,
          [](Counts c) { return operations::mhc_pre(streams(c)); }},
    Entry{"mhc_pre/on_chip", "", !kQueries, kStreams,
          [](Counts c) { return operations::mhc_pre(streams(c), 0); }},
    Entry{"mhc_post", "", !kQueries, kStreams,
          [](Counts c) { return operations::mhc_post(streams(c)); }},
    Entry{"mhc_boundary", "", !kQueries, kStreams,
          [](Counts c) { return operations::mhc_boundary(streams(c), streams(c)); }},
    Entry{"mhc_boundary/on_chip", "", !kQueries, kStreams,
          [](Counts c) { return operations::mhc_boundary(streams(c), 0); }},
    Entry{"unfused_rmsnorm", "", !kQueries, !kStreams,
          [](Counts) { return operations::rmsnorm(); }},
    Entry{"unfused_stack", "sources", !kQueries, !kStreams,
          [](Counts c) { return operations::unfused_stack(sources(c)); }},
    Entry{"unfused_key_norm", "sources", !kQueries, !kStreams,
          [](Counts c) { return operations::unfused_key_norm(sources(c)); }},
    Entry{"unfused_scores", "sources", !kQueries, !kStreams,
          [](Counts c) { return operations::unfused_scores(sources(c)); }},
    Entry{"unfused_mix", "sources", !kQueries, !kStreams,
          [](Counts c) { return operations::unfused_mix(sources(c)); }},
    Entry{"unfused_mhc_coefficients", "", !kQueries, kStreams,
          [](Counts c) { return operations::unfused_mhc_coefficients(streams(c)); }},
    Entry{"unfused_mhc_pre", "", !kQueries, kStreams,
          [](Counts c) { return operations::unfused_mhc_pre(streams(c)); }},
    Entry{"unfused_mhc_post", "", !kQueries, kStreams,
          [](Counts c) { return operations::unfused_mhc_post(streams(c)); }},
    Entry{"unfused_mhc_residual", "", !kQueries, kStreams,
          [](Counts c) { return operations::unfused_mhc_residual(streams(c)); }},
    Entry{"unfused_mhc_merge", "", !kQueries, kStreams,
          [](Counts c) { return operations::unfused_mhc_merge(streams(c)); }},
    Entry{"scaled_add_rmsnorm", "", !kQueries, !kStreams,
          [](Counts) { return operations::scaled_add_rmsnorm(operations::ScaleShape::vector); }},
    Entry{"scaled_add_rmsnorm/scalar", "", !kQueries, !kStreams,
          [](Counts) { return operations::scaled_add_rmsnorm(operations::ScaleShape::scalar); }},
    Entry{"highway_rmsnorm", "", !kQueries, !kStreams,
          [](Counts) { return operations::highway_rmsnorm(); }},
    Entry{"hc_boundary", "", !kQueries, kStreams,
          [](Counts c) { return operations::hc_boundary(streams(c)); }},
    Entry{"single_pass_mhc", "", !kQueries, kStreams,
          [](Counts c) { return operations::single_pass_mhc(streams(c)); }},
    Entry{"dense_mix", "bank rows, beside the layer's output", !kQueries, !kStreams,
          [](Counts c) { return operations::dense_mix(c.num_sources); }},
    Entry{"dense_mix/stream", "bank rows, beside the one that is written", !kQueries, !kStreams,
          [](Counts c) { return operations::denseformer_mix(c.num_sources); }},
};

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
