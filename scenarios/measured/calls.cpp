// Names and counts of operations.
#include "scenarios/measured/calls.hpp"

#include <fmt/format.h>

#include "scenarios/text/suggest.hpp"

namespace depthcost {

const CatalogueEntry& entry_of(const std::string& name, const Position& position) {
  const CatalogueEntry* entry = find_entry(name);
  if (entry != nullptr) return *entry;
  const auto names = catalogue_names();
  throw InputError(position, fmt::format("unknown operation '{}'{}", printable(name),
                                         meant_or_known(name, names)));
}

void require_counts(const CatalogueEntry& entry, const WrittenCounts& written,
                    const Position& position) {
  if (!entry.sources.empty() && !written.sources)
    throw InputError(position,
                     fmt::format("missing sources ({} needs them: {})", entry.name, entry.sources));
  if (entry.has_queries && !written.queries)
    throw InputError(position, fmt::format("missing queries ({} needs them)", entry.name));
}

}  // namespace depthcost
