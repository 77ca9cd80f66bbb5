// What moving bytes between devices takes on a part: its own measurements, or those of the nearest
// part of its vendor, with a wider interval and a note. REFERENCES.md, "intervals".
#pragma once

#include <vector>

#include "model/resolved_value.hpp"
#include "model/transfer.hpp"
#include "scenarios/donors.hpp"
#include "scenarios/values.hpp"

namespace depthcost {

/// All points of every kind and scope that somebody has measured; a kind and scope that no part of
/// the vendor has is absent. Appends to `notes` one line for each fallback. Throws InputError for a
/// transfer among fewer than 2 devices, or one that is there twice.
std::vector<TransferPoint> transfer_points(const Values& self, const Donors& donors,
                                           std::vector<ResolvedValue>& notes);

/// The records of a hardware file for a list of assumptions, one line for each curve over sizes.
std::vector<ResolvedValue> listed_transfers(const Values& values);

}  // namespace depthcost
