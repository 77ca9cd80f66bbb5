// Refuses hardware that contradicts itself.
#pragma once

#include "scenarios/keys/values.hpp"

namespace depthcost {

/// Throws InputError at the first record that repeats another's circumstances with a value of its
/// own, at a cache transition that falls, and at a rate or capacity above the datasheet's.
void check_hardware(const Values& values);

}  // namespace depthcost
