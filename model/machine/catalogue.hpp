// What one measurement is of: the operations of kernels/README.md by name, each with the numbers
// that it depends on and its row of the ledger. Benchmarks, users' tables and published figures
// all name operations so.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine/time.hpp"
#include "model/operations/catalogue_entry.hpp"

namespace depthcost {

std::span<const CatalogueEntry> catalogue();

/// All names, in the catalogue's order.
std::vector<std::string> catalogue_names();

/// The entry, or nullptr.
const CatalogueEntry* find_entry(std::string_view name);

/// The row of the ledger of an operation that is in the catalogue.
Operation catalogue_row(std::string_view name, const CallCounts& counts);

/// One kernel called alone.
struct StandaloneCall {
  std::string operation;
  CallCounts counts;
  Count num_tokens = 1;   // T
  Count hidden_size = 1;  // d
  Dtype dtype = Dtype::bf16;
  Launch launch = Launch::graph;
  Temperature temperature = Temperature::cold;
};

/// Nothing if the catalogue does not know the name.
std::optional<Operation> find_operation(const StandaloneCall& call);

Execution execution_of(const StandaloneCall& call);

/// "attnres_phase1/n:8/S:24/bf16/T:2048/d:7168/graph/cold".
std::string case_id(const StandaloneCall& call);

}  // namespace depthcost
