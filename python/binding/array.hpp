// Arrays of numpy, torch and others, as the kernels take them: addresses.
#pragma once

#include <nanobind/nanobind.h>

namespace depthcost::python {

/// Adds the class Array: a view, by DLPack or Python's buffers, of what another library has
/// allocated. Nothing is copied. It keeps the memory alive.
void bind_array(nanobind::module_& module);

}  // namespace depthcost::python
