// How long moving bytes between devices takes on a part: its own measurements, or those of the
// nearest part of its vendor, with a wider interval and a note. REFERENCES.md, "intervals".
#pragma once

#include <vector>

#include "model/base/resolved_value.hpp"
#include "model/machine/machine.hpp"
#include "scenarios/keys/values.hpp"

namespace depthcost {

/// The file's own points. Throws InputError for a transfer among fewer than 2 devices, or one that
/// is there twice.
std::vector<TransferPoint> own_transfers(const Values& values);

/// Adds to the machine's transfers, the own ones of `self`, each kind and scope that they lack. A
/// transfer that no part of the vendor has stays absent; between nodes it is then derived from the
/// rate of the network, which is lent too. Appends to `notes` one line for each fallback.
void borrow_transfers(const Values& self, Machine& machine, std::vector<ResolvedValue>& notes);

/// The records of a hardware file for a list of assumptions, one line for each curve over sizes.
std::vector<ResolvedValue> listed_transfers(const Values& values);

}  // namespace depthcost
