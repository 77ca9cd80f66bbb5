// A Python value as the tree that a YAML file would be.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "scenarios/text/document.hpp"

namespace depthcost::python {

/// Maps, lists, tuples, texts, numbers, truth values and None. The position of a value names its
/// keys, "workload.decode.sequences[1]"; that of the whole is `label`. Throws InputError for any
/// other type, for a number that is not finite, for what is nested deeper or is larger than a file
/// may be, which a cycle is, too.
Node tree_of(nanobind::handle value, const std::string& label);

}  // namespace depthcost::python
