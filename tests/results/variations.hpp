// Right and wrong values that a user could write into a file.
#pragma once

#include <string>
#include <vector>

#include "scenarios/keys/keys.hpp"

namespace depthcost::test {

/// Values of the key's kind at usual places, at its limits and beyond, and texts that are none.
std::vector<std::string> values_to_try(const Key& key);

struct Variation {
  std::string line;  // what it changes: the line before, shortened
  std::string text;  // the whole file
};

/// The file with a line left out, and with one of half of its words replaced: a number by another,
/// a name by one that does not exist. Lines that differ in nothing but their values count as one.
std::vector<Variation> variations_of(const std::string& text);

}  // namespace depthcost::test
