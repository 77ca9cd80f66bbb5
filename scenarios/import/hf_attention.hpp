// What the kinds of attention of a config have in common.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scenarios/import/hf_parts.hpp"
#include "scenarios/import/hf_record.hpp"

namespace depthcost {

/// Key-value heads, head size and all that is alike in each layer of a grouped attention. `pattern`
/// is the key that says which layers these are; empty if all are alike.
RecordBuilder grouped_record(const HfModel& model, const std::string& pattern, Count num_layers);

/// Throws InputError where the config has `key` as true.
void refuse_unless_false(const HfModel& model, std::string_view key);

/// MiniMax-M3: in some layers an indexer chooses blocks of keys, anew for each head of keys and
/// values. Throws as import_attention.
std::vector<ImportedRecord> import_block_sparse(const HfModel& model);

/// Mamba-2 in some layers, a grouped attention in the others. Throws as import_attention.
std::vector<ImportedRecord> import_mamba(const HfModel& model);

/// Which decoder layers have Mamba-2.
std::vector<bool> mamba_layers(const HfModel& model);

}  // namespace depthcost
