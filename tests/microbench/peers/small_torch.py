"""As much of PyTorch as microbench/peers uses, in plain Python: strided views of real memory, the
promotion of types, broadcasting. It stands in for torch where that is not installed, so that the
formulas and the bookkeeping can be tested. It says nothing of PyTorch's own behaviour."""

import contextlib
import ctypes
import itertools
import math
import types

import reference

__version__ = "small"
float32, float64, bfloat16, int64 = "float32", "float64", "bfloat16", "int64"
_CTYPES = {float32: ctypes.c_float, float64: ctypes.c_double, bfloat16: ctypes.c_uint16,
           int64: ctypes.c_int64}
_RANK = (int64, bfloat16, float32, float64)


def _contiguous_strides(shape):
    return tuple(math.prod(shape[i + 1 :]) for i in range(len(shape)))


class Tensor:
    device = "cpu"

    def __init__(self, shape, dtype, values=None):
        self.shape, self.dtype, self._offset = tuple(shape), dtype, 0
        self._strides = _contiguous_strides(self.shape)
        size = ctypes.sizeof(_CTYPES[dtype])
        self._raw = ctypes.create_string_buffer(self.numel() * size + 64)
        self._base = -(-ctypes.addressof(self._raw) // 64) * 64
        self._memory = (_CTYPES[dtype] * self.numel()).from_address(self._base)
        if values is not None:
            self._assign(values)

    def _view(self, shape, strides, offset):
        view = object.__new__(Tensor)
        view.__dict__ = {**self.__dict__, "shape": tuple(shape), "_strides": tuple(strides),
                         "_offset": offset}
        return view

    # -- Elements

    def _places(self):
        if self._strides == _contiguous_strides(self.shape):
            return range(self._offset, self._offset + self.numel())
        indices = itertools.product(*map(range, self.shape))
        return [self._offset + sum(map(int.__mul__, i, self._strides)) for i in indices]

    def _values(self):
        if self.dtype == bfloat16:
            words = [self._memory[place] << 16 for place in self._places()]
            return list((ctypes.c_float * len(words)).from_buffer(
                (ctypes.c_uint32 * len(words))(*words)))
        return [self._memory[place] for place in self._places()]

    def _assign(self, values):
        values = list(values)
        if self.dtype == bfloat16:
            rounded = (ctypes.c_float * len(values))(*reference.to_bf16(values))
            values = [w >> 16 for w in (ctypes.c_uint32 * len(values)).from_buffer(rounded)]
        for place, value in zip(self._places(), values, strict=True):
            self._memory[place] = value

    def numel(self):
        return math.prod(self.shape)

    def element_size(self):
        return ctypes.sizeof(_CTYPES[self.dtype])

    def data_ptr(self):
        return self._base + self._offset * self.element_size()

    def item(self):
        (value,) = self._values()
        return value

    # -- Views

    def __getitem__(self, key):
        keys = key if isinstance(key, tuple) else (key,)
        shape, strides, offset = [], [], self._offset
        for axis, extent in enumerate(self.shape):
            part = keys[axis] if axis < len(keys) else slice(None)
            if isinstance(part, int):
                offset += range(extent)[part] * self._strides[axis]
                continue
            chosen = range(extent)[part]
            offset += chosen.start * self._strides[axis] if len(chosen) else 0
            shape.append(len(chosen))
            strides.append(self._strides[axis] * chosen.step)
        return self._view(shape, strides, offset)

    def _permuted(self, axes):
        return self._view([self.shape[a] for a in axes], [self._strides[a] for a in axes],
                          self._offset)

    def movedim(self, source, target):
        axes = [a for a in range(len(self.shape)) if a != source]
        axes.insert(target, source)
        return self._permuted(axes)

    def t(self):
        return self._permuted((1, 0))

    def unsqueeze(self, axis):
        axis = axis % (len(self.shape) + 1)
        shape, strides = list(self.shape), list(self._strides)
        shape.insert(axis, 1)
        strides.insert(axis, 0)
        return self._view(shape, strides, self._offset)

    def unbind(self, axis):
        assert axis == 0
        return tuple(self[i] for i in range(self.shape[0]))

    def contiguous(self):
        if self._strides == _contiguous_strides(self.shape):
            return self
        return Tensor(self.shape, self.dtype, self._values())

    def reshape(self, *shape):
        shape = list(shape[0]) if isinstance(shape[0], (tuple, list)) else list(shape)
        if -1 in shape:
            shape[shape.index(-1)] = self.numel() // -math.prod(shape)
        assert math.prod(shape) == self.numel()
        contiguous = self.contiguous()
        return contiguous._view(shape, _contiguous_strides(shape), contiguous._offset)

    def flatten(self, first):
        return self.reshape(*self.shape[:first], -1)

    # -- Arithmetic

    def to(self, dtype):
        return self if dtype == self.dtype else Tensor(self.shape, dtype, self._values())

    def float(self):
        return self.to(float32)

    def double(self):
        return self.to(float64)

    def map(self, function):
        return Tensor(self.shape, self.dtype, map(function, self._values()))

    def pow(self, exponent):
        return self.map(lambda value: value**exponent)

    def __add__(self, other):
        return _binary(self, other, lambda a, b: a + b)

    def __sub__(self, other):
        return _binary(self, other, lambda a, b: a - b)

    def __mul__(self, other):
        return _binary(self, other, lambda a, b: a * b)

    def __truediv__(self, other):
        return _binary(self, other, lambda a, b: a / b)

    def __mod__(self, other):
        return _binary(self, other, lambda a, b: a % b)

    __radd__, __rmul__ = __add__, __mul__

    def copy_(self, other):
        assert self.shape == other.shape
        self._assign(other._values())
        return self

    def add_(self, other):
        assert self.shape == other.shape
        return self.copy_(self + other)

    # -- Reductions

    def _reduce(self, function, axis, keepdim):
        axis %= len(self.shape)
        rest = [a for a in range(len(self.shape)) if a != axis]
        rows = self._permuted([*rest, axis])._values()
        size = self.shape[axis]
        shape = [self.shape[a] for a in rest]
        if keepdim:
            shape.insert(axis, 1)
        return Tensor(shape, self.dtype, [function(row) for row in reference.rows_of(rows, size)])

    def sum(self, dim, keepdim=False):
        return self._reduce(math.fsum, dim, keepdim)

    def mean(self, dim, keepdim=False):
        return self._reduce(lambda row: math.fsum(row) / len(row), dim, keepdim)

    def amax(self, dim, keepdim=False):
        return self._reduce(max, dim, keepdim)

    def norm(self, dim=None):
        if dim is None:
            return Tensor((), self.dtype, [math.hypot(*self._values())])
        return self._reduce(lambda row: math.hypot(*row), dim, False)

    def max(self):
        values = self._values()
        return Tensor((), self.dtype, [math.nan if any(map(math.isnan, values)) else max(values)])

    def index_select(self, axis, index):
        moved = self.movedim(axis, 0)
        rows = [value for i in index._values() for value in moved[i]._values()]
        chosen = Tensor((index.numel(), *moved.shape[1:]), self.dtype, rows)
        axes = list(range(1, len(self.shape)))
        axes.insert(axis, 0)
        return chosen._permuted(axes)


def _broadcast(tensor, shape):
    missing = len(shape) - len(tensor.shape)
    extents = (1,) * missing + tensor.shape
    strides = (0,) * missing + tensor._strides
    assert all(e in (1, s) for e, s in zip(extents, shape)), (tensor.shape, shape)
    strides = [0 if e == 1 and s != 1 else stride for e, s, stride in zip(extents, shape, strides)]
    return tensor._view(shape, strides, tensor._offset)


def _binary(a, b, function):
    if not isinstance(b, Tensor):
        return a.map(lambda value: function(value, b))
    rank = max(len(a.shape), len(b.shape))
    padded = [(1,) * (rank - len(t.shape)) + t.shape for t in (a, b)]
    shape = tuple(max(pair) if min(pair) else 0 for pair in zip(*padded))
    dtype = max(a.dtype, b.dtype, key=_RANK.index)
    values = map(function, _broadcast(a, shape)._values(), _broadcast(b, shape)._values())
    return Tensor(shape, dtype, values)


def device(kind):
    return kind


def tensor(data, dtype=float32, device=None):
    if isinstance(data, list):
        return Tensor((len(data),), dtype, data)
    return Tensor((), dtype, [data])


def full(shape, value, dtype, device=None):
    return Tensor(shape, dtype, [value] * math.prod(shape))


def ones_like(like):
    return full(like.shape, 1.0, like.dtype)


def arange(count, device=None):
    return Tensor((count,), int64, range(count))


def rsqrt(x):
    return x.map(lambda value: 1 / math.sqrt(value))


def exp(x):
    return x.map(math.exp)


def log(x):
    return x.map(math.log)


def tanh(x):
    return x.map(math.tanh)


def sigmoid(x):
    return x.map(reference.sigmoid)


def maximum(a, b):
    return _binary(a, b, max)


def softmax(x, dim):
    weights = exp(x - x.amax(dim, keepdim=True))
    return weights / weights.sum(dim, keepdim=True)


def cat(tensors):
    rest = tensors[0].shape[1:]
    assert all(t.shape[1:] == rest and t.dtype == tensors[0].dtype for t in tensors)
    values = [value for t in tensors for value in t._values()]
    return Tensor((sum(t.shape[0] for t in tensors), *rest), tensors[0].dtype, values)


def einsum(formula, a, b):
    terms, output = formula.split("->")
    letters = terms.split(",")
    assert a.dtype == b.dtype
    extents = dict(zip("".join(letters), a.shape + b.shape))
    summed = [letter for letter in extents if letter not in output]
    order = [*output, *summed]

    def spread(t, names):
        strides = [t._strides[names.index(x)] if x in names else 0 for x in order]
        return t._view([extents[x] for x in order], strides, t._offset)

    products = spread(a, letters[0])._values(), spread(b, letters[1])._values()
    size = math.prod(extents[x] for x in summed)
    values = [x * y for x, y in zip(*products)]
    shape = [extents[x] for x in output]
    return Tensor(shape, a.dtype, map(math.fsum, reference.rows_of(values, size)))


def matmul(a, b):
    return einsum("ij,jk->ik" if len(a.shape) == 2 else "tij,tjk->tik", a, b)


def compile(function, dynamic):
    assert dynamic is False
    return function


def get_num_threads():
    return 1


def set_num_threads(count):
    assert count >= 1


def _silu(x):
    return x.map(lambda value: value * reference.sigmoid(value))


no_grad = contextlib.nullcontext
nn = types.SimpleNamespace(functional=types.SimpleNamespace(silu=_silu))
cuda = types.SimpleNamespace(is_available=lambda: False)
