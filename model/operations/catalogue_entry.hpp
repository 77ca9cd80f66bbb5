// An operation by name, as one measurement is of it. The entries of a group of operations end its
// file; model/machine/catalogue.cpp joins them.
#pragma once

#include <string_view>

#include "model/operations/operation.hpp"

namespace depthcost {

/// The counts that a row of the ledger may depend on; every entry says which.
struct CallCounts {
  Count num_sources = 1;  // n: rows of the bank, or vectors over depth, as the entry says
  Count num_queries = 1;  // S of Phase 1
  Count num_streams = 4;  // m of mHC
};

/// One operation by name.
struct CatalogueEntry {
  std::string_view name;
  std::string_view meaning;  // its equation, as kernels/README.md shows it; empty: has no row there
  std::string_view moves;    // d-vectors per token, likewise
  std::string_view sources;  // what n counts; empty: it does not depend on n
  bool has_queries = false;
  bool has_streams = false;
  Operation (*operation)(const CallCounts& counts) = nullptr;
};

}  // namespace depthcost
