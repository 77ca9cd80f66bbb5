// Texts stay unquoted: "2 %" is what a file without quotes says.
#include "python/binding/tree.hpp"

#include <fmt/format.h>

#include <cmath>

namespace depthcost::python {
namespace {

namespace nb = nanobind;

class TreeReader {
 public:
  explicit TreeReader(std::string label) : label_(std::move(label)) {}

  Node read(nb::handle value, const std::string& path, std::size_t depth) {
    if (depth > kMaxNestingDepth)
      fail(path, fmt::format("nested too deeply (at most {} levels; or it holds itself)",
                             kMaxNestingDepth));
    if (nb::isinstance<nb::dict>(value)) return read_map(nb::borrow<nb::dict>(value), path, depth);
    if (nb::isinstance<nb::list>(value) || nb::isinstance<nb::tuple>(value)) {
      List list;
      for (const nb::handle item : nb::borrow<nb::sequence>(value))
        list.items.push_back(read(item, fmt::format("{}[{}]", path, list.items.size()), depth + 1));
      return {position(path), std::move(list)};
    }
    return {position(path), scalar(value, path)};
  }

 private:
  Position position(const std::string& path) const { return {path.empty() ? label_ : path, 1, 1}; }

  [[noreturn]] void fail(const std::string& path, const std::string& problem) const {
    throw InputError(position(path), problem);
  }

  Node read_map(const nb::dict& dict, const std::string& path, std::size_t depth) {
    Map map;
    for (const auto [key, value] : dict) {
      if (!nb::isinstance<nb::str>(key))
        fail(path, fmt::format("invalid key of type '{}' (must be a text)", type_of(key)));
      const std::string name = text_of(key, path);
      const std::string inner =
          path.empty() ? printable(name) : fmt::format("{}.{}", path, printable(name));
      map.members.push_back({name, position(inner), read(value, inner, depth + 1)});
    }
    return {position(path), std::move(map)};
  }

  ScalarNode scalar(nb::handle value, const std::string& path) {
    if (value.is_none()) return {};
    if (nb::isinstance<nb::str>(value)) {
      std::string text = text_of(value, path);
      const bool is_empty = text.empty();
      return {std::move(text), is_empty};
    }
    if (PyBool_Check(value.ptr()) != 0) return {value.is(nb::handle(Py_True)) ? "true" : "false"};
    if (PyIndex_Check(value.ptr()) != 0) return {whole_number(value, path)};
    if (nb::hasattr(value, "__float__")) return {number(value, path)};
    fail(path, fmt::format("invalid value of type '{}' (must be a dict, a list, a text, a number, "
                           "True, False or None)",
                           type_of(value)));
  }

  /// Also of numpy, whose numbers are no Python ints.
  std::string whole_number(nb::handle value, const std::string& path) {
    const nb::object index = nb::steal(PyNumber_Index(value.ptr()));
    const nb::object text = index.is_valid() ? nb::steal(PyObject_Str(index.ptr())) : index;
    if (text.is_valid()) return text_of(text, path);
    PyErr_Clear();
    fail(path, "invalid whole number (too many digits)");
  }

  std::string number(nb::handle value, const std::string& path) {
    const nb::object real = nb::steal(PyNumber_Float(value.ptr()));
    if (!real.is_valid()) {
      PyErr_Clear();
      fail(path,
           fmt::format("invalid value of type '{}' (must be a single number)", type_of(value)));
    }
    const double held = nb::cast<double>(real);
    if (!std::isfinite(held)) fail(path, fmt::format("invalid number '{}' (must be finite)", held));
    return text_of(nb::repr(real), path);
  }

  std::string text_of(nb::handle text, const std::string& path) {
    Py_ssize_t size = 0;
    const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (bytes == nullptr) {
      PyErr_Clear();
      fail(path, "invalid text (holds half of a surrogate pair, which is not UTF-8)");
    }
    size_ += static_cast<std::size_t>(size) + 1;
    if (size_ > kMaxFileBytes)
      fail("", fmt::format("{} too large (at most {} MB)", label_, kMaxFileBytes / 1'000'000));
    return std::string(
        checked_text({bytes, static_cast<std::size_t>(size)}, position(path).file.text()));
  }

  static std::string type_of(nb::handle value) {
    return printable(nb::cast<std::string>(value.type().attr("__name__")));
  }

  std::string label_;
  std::size_t size_ = 0;  // of all texts, in bytes
};

}  // namespace

Node tree_of(nb::handle value, const std::string& label) {
  return TreeReader(label).read(value, "", 1);
}

}  // namespace depthcost::python
