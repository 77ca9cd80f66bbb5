"""The C interface by ctypes: structs, constants and functions as the headers declare them.

    library = Library("build/cpu/kernels/c/libdepthcost_kernels.so")
    cpu = library.target(backend=library.DEPTHCOST_CPU)
    library.residual_add(cpu, dtype=library.DEPTHCOST_F32, num_tokens=1, ...)

A function takes its target and the members of its struct, and raises Error. Pointers are addresses
(int, or None for null); a nested struct is a dict or a struct.
"""

import ctypes
import pathlib
import re

HEADERS = ("depthcost.h", "depthcost_family.h", "depthcost_unfused.h")

_SCALARS = {"size_t": ctypes.c_size_t, "float": ctypes.c_float}


class Error(Exception):
    """A call that did not return DEPTHCOST_OK."""

    def __init__(self, status: int, text: str):
        super().__init__(text)
        self.status = status


class Declarations:
    """What the headers declare. Enumerations are int32_t there, and pointers are addresses here."""

    def __init__(self, text: str):
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
        self.constants = {
            name: int(value)
            for name, value in re.findall(r"(?:#define |[{,]\s*)(DEPTHCOST_\w+)(?: =)? (\d+)", text)
        }
        self._types = dict(_SCALARS)
        for name in re.findall(r"typedef int32_t (\w+);", text):
            self._types[name] = ctypes.c_int32
        self.structs = {}
        struct = re.compile(r"typedef struct \{(.*?)\} (\w+);", flags=re.DOTALL)
        for body, name in struct.findall(text):
            self.structs[name] = self._types[name] = self._struct(name, body)
        operation = re.compile(r"\bdepthcost_(\w+)\(\s*const depthcost_target\* target,")
        self.operations = operation.findall(text)

    def _struct(self, name: str, body: str) -> type:
        fields = [self._field(member) for member in body.split(";") if member.strip()]
        return type(name, (ctypes.Structure,), {"_fields_": fields})

    def _field(self, member: str):
        pattern = r"\s*([\w\s*]+?[\s*])(\w+)(?:\[(\d+)\])?\s*"
        kind, name, count = re.fullmatch(pattern, member).groups()
        base = ctypes.c_void_p if "*" in kind else self._types[kind.strip()]
        return name, base * int(count) if count else base


def read_headers() -> Declarations:
    folder = pathlib.Path(__file__).parent
    return Declarations("".join((folder / header).read_text() for header in HEADERS))


class Library:
    """The shared library at `path`. Raises OSError where it cannot be loaded, is another one, has
    another ABI, or has less of it than the headers."""

    def __init__(self, path):
        self._library = ctypes.CDLL(str(path))
        self._declarations = read_headers()
        for name, value in self._declarations.constants.items():
            setattr(self, name, value)
        self._check_version(path)
        for name in ("version", "kernels_hash", "last_error"):
            getattr(self._library, f"depthcost_{name}").restype = ctypes.c_char_p
        for operation in self._declarations.operations:
            setattr(self, operation, self._caller(operation))

    def _check_version(self, path) -> None:
        try:
            version = self._library.depthcost_abi_version()
            minor_version = self._library.depthcost_abi_minor_version()
        except AttributeError:
            raise OSError(f"{path} is another library (must be libdepthcost_kernels.so)") from None
        wanted, at_least = self.DEPTHCOST_ABI_VERSION, self.DEPTHCOST_ABI_MINOR_VERSION
        if version != wanted or minor_version < at_least:
            raise OSError(f"{path} has ABI version {version}.{minor_version} (must be {wanted}, "
                          f"at least {wanted}.{at_least})")

    def version(self) -> str:
        return self._library.depthcost_version().decode()

    def kernels_hash(self, backend: int) -> str:
        return self._library.depthcost_kernels_hash(backend).decode()

    def target(self, **members) -> ctypes.Structure:
        return self._declarations.structs["depthcost_target"](**members)

    def check_target(self, target: ctypes.Structure) -> None:
        self._raise_unless_ok(self._library.depthcost_check_target(ctypes.byref(target)))

    def args(self, operation: str, **members) -> ctypes.Structure:
        """The operation's struct, to be passed again and again."""
        return filled(self._declarations.structs[f"depthcost_{operation}_args"], members)

    def call(self, operation: str, target: ctypes.Structure, args: ctypes.Structure) -> None:
        function = getattr(self._library, f"depthcost_{operation}")
        self._raise_unless_ok(function(ctypes.byref(target), ctypes.byref(args)))

    def _caller(self, operation: str):
        def run(target, **members):
            self.call(operation, target, self.args(operation, **members))

        return run

    def _raise_unless_ok(self, status: int) -> None:
        if status != self.DEPTHCOST_OK:
            raise Error(status, self._library.depthcost_last_error().decode())


def filled(struct: type, members: dict) -> ctypes.Structure:
    """A struct of these members, and zeros. Unknown members are an error."""
    fields = dict(struct._fields_)
    result = struct()
    for name, value in members.items():
        if name not in fields:
            raise TypeError(f"{struct.__name__} has no member '{name}'")
        if isinstance(value, dict):
            value = filled(fields[name], value)
        elif isinstance(value, (list, tuple)):
            value = fields[name](*value)
        setattr(result, name, value)
    return result
