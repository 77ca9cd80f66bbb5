// nanobind asks for DLPack first and for a buffer next.
#include "python/binding/array.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <string>

namespace depthcost::python {
namespace {

namespace nb = nanobind;
using namespace nb::literals;
using View = nb::ndarray<nb::ro>;

struct Array {
  View view;
};

/// "float32", "bfloat16", "uint16"; "other" of what no kernel has.
std::string dtype_of(const View& view) {
  const nb::dlpack::dtype dtype = view.dtype();
  if (dtype.lanes != 1) return "other";
  if (dtype == nb::dtype<float>()) return "float32";
  if (dtype.code == static_cast<std::uint8_t>(nb::dlpack::dtype_code::Bfloat) && dtype.bits == 16)
    return "bfloat16";
  if (dtype == nb::dtype<std::uint16_t>()) return "uint16";
  return "other";
}

/// Whether rows lie one behind the other without gaps. What has no elements lies so.
bool is_contiguous(const View& view) {
  if (view.size() == 0) return true;
  std::int64_t expected = 1;
  for (std::size_t i = view.ndim(); i-- > 0;) {
    if (view.shape(i) != 1 && view.stride(i) != expected) return false;
    expected *= static_cast<std::int64_t>(view.shape(i));
  }
  return true;
}

/// "cpu", "cuda" (also memory that it can reach), "other".
std::string device_of(const View& view) {
  switch (view.device_type()) {
    case nb::device::cpu::value:
      return "cpu";
    case nb::device::cuda::value:
    case nb::device::cuda_host::value:
    case nb::device::cuda_managed::value:
      return "cuda";
    default:
      return "other";
  }
}

}  // namespace

void bind_array(nb::module_& module) {
  nb::class_<Array>(module, "Array")
      .def_prop_ro(
          "address",
          [](const Array& array) { return reinterpret_cast<std::uintptr_t>(array.view.data()); })
      .def_prop_ro("shape",
                   [](const Array& array) {
                     nb::list shape;
                     for (std::size_t i = 0; i < array.view.ndim(); ++i)
                       shape.append(array.view.shape(i));
                     return nb::tuple(shape);
                   })
      .def_prop_ro("dtype", [](const Array& array) { return dtype_of(array.view); })
      .def_prop_ro("is_contiguous", [](const Array& array) { return is_contiguous(array.view); })
      .def_prop_ro("device", [](const Array& array) { return device_of(array.view); });
  module.def(
      "array", [](const View& view) { return Array{view}; }, "of"_a);
  // Takes no array that is read-only.
  module.def(
      "writable_array", [](const nb::ndarray<>& view) { return Array{View(view)}; }, "of"_a);
}

}  // namespace depthcost::python
