// The operation and the counts that a user's table or a published file gives for a kernel called
// alone.
#pragma once

#include <string>

#include "model/machine/catalogue.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost {

/// The entry of that name. Throws InputError, with the nearest name.
const CatalogueEntry& entry_of(const std::string& name, const Position& position);

/// Which counts were written.
struct WrittenCounts {
  bool sources = false;
  bool queries = false;
};

/// Throws InputError where the operation depends on a count that was not written.
void require_counts(const CatalogueEntry& entry, const WrittenCounts& written,
                    const Position& position);

}  // namespace depthcost
