"""The kernels on arrays of numpy, torch and whatever else speaks DLPack or has Python's buffers. Nothing is copied.

    h, f = (numpy.ones((4, 4096), numpy.float32) for _ in range(2))
    kernels.residual_add(hidden_state=h, layer_output=f)     # h += f

Each operation of depthcost.h, depthcost_family.h and depthcost_unfused.h is a function of the members
of its struct; depthcost.h says what they mean. A pointer takes an array or None, a nested struct a dict. Shapes are those
that the headers say, row-major and contiguous; `dtype`, sizes that the shapes say and the backend need not be given.
Rows are float32 or bfloat16, and uint16 is taken for the bits of bfloat16, which numpy does not have. What does not fit
raises Error before anything is written. `stream` is the cudaStream_t of arrays on a GPU, as an address: the call is
ordered on it, and an array must live until it has run.
"""

from __future__ import annotations

import ctypes
import functools
import pathlib
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from depthcost import _core
from depthcost.kernels import interface
from depthcost.kernels.interface import Error as Error

_FOLDER = pathlib.Path(__file__).parent
_INVALID_ARGUMENT = 1
_DTYPES = {"float32": 1, "bfloat16": 2, "uint16": 2}
_BACKENDS = {"cpu": 1, "cuda": 2}


class Member(NamedTuple):
    """What a header says of one member of a struct."""

    name: str
    kind: str  # "size_t", "const float*", "depthcost_norm"
    shape: tuple[str, ...] | None  # of a pointer, in the symbols of the header
    symbol: str  # of a size: "T"; its own name where it has none
    dtype: str  # the member that says the dtype of a void*

    @property
    def is_pointer(self) -> bool:
        return "*" in self.kind

    @property
    def is_written(self) -> bool:
        return self.is_pointer and not self.kind.startswith("const")


@functools.cache
def library() -> interface.Library:
    """The C interface itself, for callers that have addresses."""
    return interface.Library(next(_FOLDER.glob("libdepthcost_kernels.so*")))


def operations() -> list[str]:
    """The names of all operations."""
    return sorted(interface.read_headers().operations)


@functools.cache
def structs() -> dict[str, list[Member]]:
    """The members of each struct."""
    text = "".join((_FOLDER / header).read_text() for header in interface.HEADERS)
    bodies = re.findall(r"typedef struct \{(.*?)\} (\w+);", text, flags=re.DOTALL)
    return {name: list(_members(body)) for body, name in bodies}


def _members(body: str) -> Iterator[Member]:
    for kind, name, comment in re.findall(r"(\w[\w\s*]*?[\s*])(\w+)(?:\[\d+\])?;(?:\s*/\*(.*?)\*/)?", body, flags=re.DOTALL):
        kind, comment = " ".join(kind.split()).replace(" *", "*"), " ".join(comment.split())
        shape = re.search(r"\(([^()]*)\)(?= of |[,;]|$)", comment) if "*" in kind else None
        symbol = re.match(r"([A-Za-z])(?=[\s,:]|$)", comment)
        yield Member(name, kind, tuple(shape[1].split(", ")) if shape else None,
                     symbol[1] if symbol and kind == "size_t" else name,
                     "phase1_dtype" if "of phase1_dtype" in comment else "dtype")


class _Call:
    """The arguments of one call: arrays become addresses, and their shapes sizes."""

    def __init__(self, operation: str) -> None:
        self._operation = operation
        self._sizes: dict[str, int] = {}
        self._shapes: list[tuple[str, tuple[str, ...], tuple[int, ...]]] = []
        self._dtypes: dict[str, tuple[str, int]] = {}
        self._device: tuple[str, str] | None = None
        self._kept: list[Any] = []  # alive until the call returns

    def run(self, members: dict[str, Any], stream: int) -> None:
        struct = f"depthcost_{self._operation}_args"
        arguments = self._arguments(struct, members, "")
        self._take_sizes()
        self._add_sizes(struct, arguments)
        device = self._device[1] if self._device else "cpu"
        target = library().target(backend=_BACKENDS[device], cuda_stream=stream)
        library().call(self._operation, target, library().args(self._operation, **arguments))

    def _fail(self, problem: str) -> None:
        raise Error(_INVALID_ARGUMENT, f"{self._operation}: {problem}")

    def _arguments(self, struct: str, members: dict[str, Any], prefix: str) -> dict[str, Any]:
        known = {member.name: member for member in structs()[struct]}
        arguments: dict[str, Any] = {}
        for name, value in members.items():
            if name not in known:
                self._fail(f"no member '{prefix}{name}' (must be one of: {', '.join(known)})")
            member = known[name]
            if isinstance(value, dict) and member.kind in structs():
                arguments[name] = self._arguments(member.kind, value, f"{prefix}{name}.")
            elif member.is_pointer and value is not None:
                arguments[name] = self._address(member, value, prefix + name)
            elif member.kind == "size_t":
                arguments[name] = self._size(member.symbol, value, prefix + name)
            else:
                arguments[name] = value
        return arguments

    def _size(self, symbol: str, value: Any, name: str) -> int:
        if not hasattr(value, "__index__") or not -1 <= value.__index__() < 2**63:
            self._fail(f"invalid {name} '{value}' (must be a whole number)")
        self._sizes[symbol] = value.__index__()
        return self._sizes[symbol] % 2**64

    def _address(self, member: Member, value: Any, name: str) -> int:
        if member.kind == "const void* const*":
            return self._addresses(member, value, name)
        array = self._array(member, value, name)
        if member.shape is None:
            self._fail(f"no shape of '{name}' is known")
        else:
            self._shapes.append((name, member.shape, array.shape))
        return array.address

    def _addresses(self, member: Member, values: Any, name: str) -> int:
        """The pointers to a list of arrays, whose shape is the one that the header says of each."""
        arrays = [self._array(member, value, f"{name}[{index}]") for index, value in enumerate(values)]
        self._shapes += [(f"{name}[{index}]", member.shape or (), array.shape) for index, array in enumerate(arrays)]
        self._sizes.setdefault("s", len(arrays))
        if self._sizes["s"] != len(arrays):
            self._fail(f"{name} has {len(arrays)} arrays (must have s = {self._sizes['s']})")
        pointers = (ctypes.c_void_p * len(arrays))(*(array.address for array in arrays))
        self._kept.append(pointers)
        return ctypes.addressof(pointers)

    def _array(self, member: Member, value: Any, name: str) -> _core.Array:
        try:
            array = _core.writable_array(value) if member.is_written else _core.array(value)
        except TypeError:
            kind = "an array that can be written to" if member.is_written else "an array"
            self._fail(f"invalid {name} of type '{type(value).__name__}' (must be {kind}, by DLPack or a buffer)")
        self._kept.append(array)
        if not array.is_contiguous:
            self._fail(f"{name} is not contiguous (its rows must lie one behind the other)")
        self._check_dtype(member, array, name)
        if array.device not in _BACKENDS:
            self._fail(f"{name} lies on another device (must be the host or a CUDA device)")
        if self._device and self._device[1] != array.device:
            self._fail(f"{name} lies on {array.device} (but {self._device[0]} on {self._device[1]})")
        self._device = self._device or (name, array.device)
        return array

    def _check_dtype(self, member: Member, array: _core.Array, name: str) -> None:
        if "float" in member.kind:
            if array.dtype != "float32":
                self._fail(f"{name} has another dtype (must be float32)")
            return
        if array.dtype not in _DTYPES:
            self._fail(f"{name} has another dtype (must be float32, bfloat16, or uint16 for its bits)")
        first, dtype = self._dtypes.setdefault(member.dtype, (name, _DTYPES[array.dtype]))
        if dtype != _DTYPES[array.dtype]:
            self._fail(f"{name} has another dtype than {first} (must be the same)")

    def _take_sizes(self) -> None:
        """Every extent that is one symbol says its size; then every shape must be right."""
        for _, wanted, shape in self._shapes:
            for symbol, extent in zip(wanted, shape):
                if re.fullmatch(r"[A-Za-z]\w*", symbol):
                    self._sizes.setdefault(symbol, extent)
        for name, wanted, shape in self._shapes:
            sizes = tuple(self._extent(expression, name) for expression in wanted)
            if sizes != shape:
                said = ", ".join(f"{e} = {s}" if not e.isdigit() else e for e, s in zip(wanted, sizes))
                self._fail(f"{name} has shape {shape} (must be ({said}))")

    def _extent(self, expression: str, name: str) -> int:
        """The value of "m m + 2 m", a sum of products."""
        total, sign = 0, 1
        for part in re.split(r"\s*([+-])\s*", expression):
            if part in "+-":
                sign = 1 if part == "+" else -1
                continue
            product = sign
            for factor in part.split():
                if not factor.isdigit() and factor not in self._sizes:
                    self._fail(f"missing size '{factor}' (the shape of {name} is made of it)")
                product *= int(factor) if factor.isdigit() else self._sizes[factor]
            total += product
        return total

    def _add_sizes(self, struct: str, arguments: dict[str, Any]) -> None:
        for member in structs()[struct]:
            if member.kind == "size_t" and member.symbol in self._sizes:
                arguments.setdefault(member.name, self._sizes[member.symbol])
            if member.kind == "depthcost_dtype" and member.name in self._dtypes:
                arguments.setdefault(member.name, self._dtypes[member.name][1])
            if member.kind.endswith("_args"):  # its sizes are the whole operation's
                self._add_sizes(member.kind, arguments.setdefault(member.name, {}))


def call(operation: str, *, stream: int = 0, **members: Any) -> None:
    """Runs an operation; the library must have the backend of its arrays."""
    if f"depthcost_{operation}_args" not in structs():
        raise Error(_INVALID_ARGUMENT, f"unknown operation '{operation}' (operations() lists them)")
    _Call(operation).run(members, stream)


def __getattr__(name: str) -> Callable[..., None]:
    if name.startswith("_") or f"depthcost_{name}_args" not in structs():
        raise AttributeError(f"module 'depthcost.kernels' has no attribute '{name}'")
    return functools.partial(call, name)


def __dir__() -> list[str]:
    return [*globals(), *operations()]
