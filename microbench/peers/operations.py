"""The operations that are compared: operands, the C interface's arguments, meaning, sizes."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import reference

# Tokens beyond these repeat them, so that a slow reference covers every row. A prime, so that no
# tile's size hides a mix-up.
DISTINCT_TOKENS = 5

# What is a parameter of an operation, but no buffer.
PARAMETERS = {"eps": 1e-6, "iterations": 20, "scales": (0.7, 1.1, 0.9)}


@dataclass(frozen=True)
class Values:
    """Numbers of DISTINCT_TOKENS tokens, and the shape in symbols that they have for T of them."""

    shape: tuple
    data: list
    is_summed: bool = False  # each token's part of a sum over all of them


@dataclass(frozen=True)
class Operand:
    name: str
    shape: tuple  # symbols of the sizes
    access: str = "in"  # or out, inout, scratch; sum: over all tokens, added to zeros
    is_float: bool = False  # a parameter or statistic: float whatever the storage type is
    scale: Callable = lambda sizes: 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class Operation:
    name: str  # in the table
    function: str  # of the C interface
    operands: tuple
    members: Callable  # (addresses, sizes, dtype) -> members of the function's struct
    expected: Callable  # of reference.py
    extents: dict = field(default_factory=dict)  # sizes of its own
    hidden_size: int = 7168

    def sizes(self, num_tokens: int, hidden_size: int) -> dict:
        sizes = {"T": num_tokens, "d": hidden_size, **self.extents, **PARAMETERS}
        if "m" in sizes:
            sizes |= {"m+m+m*m": sizes["m"] * (sizes["m"] + 2), "m*d": sizes["m"] * hidden_size,
                      "m*m": sizes["m"] ** 2}
        if "slices" in sizes:
            sizes["d+d"] = 2 * hidden_size
        if "S" in sizes:
            sizes["S-1"] = sizes["S"] - 1
        return sizes

    def values(self, hidden_size: int, dtype: str) -> dict:
        """Inputs of DISTINCT_TOKENS tokens, as they are stored: operand -> Values."""
        sizes = self.sizes(DISTINCT_TOKENS, hidden_size)
        result = {}
        for operand in self.operands:
            if operand.access not in ("in", "inout"):
                continue
            drawn = reference.noise(operand.name, count_of(operand.shape, sizes),
                                    operand.scale(sizes))
            rounded = reference.ROUNDING["f32" if operand.is_float else dtype]
            data = rounded(value + operand.offset for value in drawn)
            result[operand.name] = Values(operand.shape, data)
        return result

    def expectation(self, values: dict, hidden_size: int, dtype: str) -> dict:
        """Outputs of DISTINCT_TOKENS tokens: operand -> Values."""
        data = {name: value.data for name, value in values.items()}
        sizes = self.sizes(DISTINCT_TOKENS, hidden_size)
        outputs = self.expected(data, sizes, reference.ROUNDING[dtype])
        return {operand.name: Values(operand.shape, outputs[operand.name], operand.access == "sum")
                for operand in self.operands if operand.name in outputs}


def extents_of(shape: tuple, sizes: dict) -> tuple:
    return tuple(sizes[symbol] for symbol in shape)


def count_of(shape: tuple, sizes: dict) -> int:
    return math.prod(extents_of(shape, sizes))


def token_axis(shape: tuple) -> int | None:
    return shape.index("T") if "T" in shape else None


def _common(sizes: dict, dtype: int) -> dict:
    return {"dtype": dtype, "num_tokens": sizes["T"], "hidden_size": sizes["d"]}


def _norm(a: dict, s: dict) -> dict:
    return {"gain": a.get("gain"), "eps": s["eps"]}


def _given(a: dict, *names: str) -> dict:
    return {name: a.get(name) for name in names}


def _residual_members(a, s, dtype):
    return {**_common(s, dtype), **_given(a, "hidden_state", "layer_output", "output"),
            "norm": _norm(a, s)}


def _single_pass_members(a, s, dtype):
    return {**_common(s, dtype), "num_bank_rows": s["n"], "num_bank_sources": s["n"],
            **_given(a, "bank", "partial_sum", "layer_output", "query", "output"),
            "key_eps": s["eps"], "norm": _norm(a, s)}


def _phase1_members(a, s, dtype):
    return {**_common(s, dtype), "phase1_dtype": dtype, "num_bank_rows": s["n"],
            "num_bank_sources": s["n"], "num_queries": s["S"], "key_eps": s["eps"],
            **_given(a, "bank", "queries", "output", "outputs", "maxima", "sums"),
            "norm": _norm(a, s)}


def _phase2_members(a, s, dtype):
    names = ("partial_sum", "layer_output", "phase1_output", "maximum", "sum", "query", "output")
    return {**_common(s, dtype), "phase1_dtype": dtype, **_given(a, *names),
            "key_eps": s["eps"], "norm": _norm(a, s)}


def _mapping(a, s):
    return {**_given(a, "phi", "bias"), "scales": s["scales"], "eps": s["eps"],
            "iterations": s["iterations"]}


def _mhc_pre_members(a, s, dtype):
    return {**_common(s, dtype), "num_streams": s["m"], "mapping": _mapping(a, s),
            "norm": _norm(a, s), **_given(a, "streams", "output", "post", "residual")}


def _mhc_post_members(a, s, dtype):
    names = ("streams", "layer_output", "post", "residual", "next_streams")
    return {**_common(s, dtype), "num_streams": s["m"], **_given(a, *names)}


def _mhc_boundary_members(a, s, dtype):
    return {"post": _mhc_post_members(a, s, dtype), "mapping": _mapping(a, s),
            "norm": _norm(a, s), **_given(a, "output", "next_post", "next_residual")}


def _gate_sizes(s, dtype):
    return {**_common(s, dtype), "num_streams": s["m"], "rank": s["r"]}


def _apply_down_members(a, s, dtype):
    names = ("streams", "layer_output", "inject", "gain", "down", "inject_weights", "next_streams",
             "inverse_rms", "activation", "next_inject")
    return {**_gate_sizes(s, dtype), **_given(a, *names), "eps": s["eps"]}


def _up_mix_members(a, s, dtype):
    names = ("streams", "inverse_rms", "gain", "up", "activation", "output")
    return {**_gate_sizes(s, dtype), **_given(a, *names)}


def _scaling_members(a, s, dtype):
    names = ("hidden_state", "layer_output", "hidden_scales", "hidden_shifts", "scales", "shifts",
             "output")
    return {**_common(s, dtype), **_given(a, *names), "norm": _norm(a, s)}


def _norm_of(a: dict, gain: str, s: dict) -> dict:
    return {"gain": a[gain], "eps": s["eps"]}


def _router(a: dict, s: dict) -> dict:
    return {"matrix": a["matrix"], "norm": _norm_of(a, "router_gain", s)}


def _altup_predict_members(a, s, dtype):
    return {**_common(s, dtype), "num_copies": s["m"], "router": _router(a, s),
            "norm": _norm(a, s), **_given(a, "copies", "coefficients", "output")}


def _altup_laurel_members(a, s, dtype):
    return {**_common(s, dtype), "rank": s["r"], "norm": _norm(a, s),
            **_given(a, "input", "down", "up", "output")}


def _altup_middle_members(a, s, dtype):
    names = ("copies", "layer_output", "laurel", "output")
    return {**_common(s, dtype), "num_copies": s["m"], "norm": _norm(a, s),
            "output_norm": _norm_of(a, "output_gain", s), **_given(a, *names)}


def _altup_correct_members(a, s, dtype):
    names = ("copies", "layer_output", "middle", "coefficients")
    return {**_common(s, dtype), "num_copies": s["m"], "router": _router(a, s),
            "output_norm": _norm_of(a, "output_gain", s), **_given(a, *names)}


def _sinkhorn_members(a, s, dtype):
    return {"count": s["T"], "num_streams": s["m"], "iterations": s["iterations"],
            **_given(a, "matrices")}


def _slices(a: dict, s: dict) -> dict:
    return {"count": s["slices"], "sums": a["sums"]}


def _add_norm_backward_members(a, s, dtype):
    names = ("hidden_state", "output_gradient", "gradient", "gain_gradient")
    return {**_common(s, dtype), **_given(a, *names), "norm": _norm(a, s), "slices": _slices(a, s)}


def _single_pass_backward_members(a, s, dtype):
    names = ("bank", "partial_sum", "output_gradient", "query", "bank_gradients",
             "partial_gradient", "query_gradient", "gain_gradient")
    return {**_common(s, dtype), "store": 1, "num_bank_sources": s["n"], **_given(a, *names),
            "key_eps": s["eps"], "norm": _norm(a, s), "slices": _slices(a, s)}


def _mhc_post_backward_members(a, s, dtype):
    names = ("streams", "layer_output", "post", "residual", "gradients", "layer_gradient",
             "post_gradients", "residual_gradients")
    return {**_common(s, dtype), "num_streams": s["m"], **_given(a, *names)}


def _logits_of_two(sizes: dict) -> float:
    """A query of this scale gives logits with a standard deviation of two."""
    return 2 * math.sqrt(3 / sizes["d"])


_X = ("T", "d")
_STREAMS = ("T", "m", "d")
_GAIN = Operand("gain", ("d",), is_float=True)
_QUERY = Operand("query", ("d",), is_float=True, scale=_logits_of_two)
_F = Operand("layer_output", _X)
_OUTPUT = Operand("output", _X, "out")
_BANK = Operand("bank", ("n", "T", "d"), scale=lambda s: 2.0)
_MAPPING = (
    Operand("phi", ("m+m+m*m", "m*d"), is_float=True, scale=lambda s: math.sqrt(3 / s["m*d"])),
    Operand("bias", ("m+m+m*m",), is_float=True),
)


def _statistic(name: str, shape: tuple, access: str, **more) -> Operand:
    return Operand(name, shape, access, is_float=True, **more)


_MHC = {"m": 4}
_MHC_POST = (Operand("streams", _STREAMS), _F, _statistic("post", ("T", "m"), "in"),
             _statistic("residual", ("T", "m", "m"), "in"),
             Operand("next_streams", _STREAMS, "out"))

_DX = Operand("output_gradient", _X)
_SLICES = {"slices": 16}
_GAIN_GRADIENT = _statistic("gain_gradient", ("d",), "sum")

_GATES = {"m": 4, "r": 320}  # Qwen3.8-Flash-Next
_STREAM_GAIN = Operand("gain", ("m", "d"), scale=lambda s: 0.5)

_COPIES = {"m": 4}  # Gemma 3n
# m(x) is tanh of a sum over d / d: the matrix makes that about one.
_ROUTER = (Operand("matrix", ("m", "d"), is_float=True, scale=lambda s: math.sqrt(3 * s["d"])),
           Operand("router_gain", ("d",), is_float=True))
_OUTPUT_GAIN = Operand("output_gain", ("d",), is_float=True)

OPERATIONS = (
    Operation("residual_add_rmsnorm", "residual_add_rmsnorm",
              (Operand("hidden_state", _X, "inout"), _F, _GAIN, _OUTPUT),
              _residual_members, reference.residual_add_rmsnorm),
    Operation("attnres_single_pass 9 sources, update, norm", "attnres_single_pass",
              (_BANK, Operand("partial_sum", _X, "inout"), _F, _QUERY, _GAIN, _OUTPUT),
              _single_pass_members, reference.attnres_single_pass, {"n": 8}),
    Operation("attnres_single_pass 9 sources", "attnres_single_pass",
              (_BANK, Operand("partial_sum", _X), _QUERY, _OUTPUT),
              _single_pass_members, reference.attnres_single_pass, {"n": 8}),
    Operation("attnres_phase1 8 sources, 24 queries", "attnres_phase1",
              (_BANK, _GAIN, _OUTPUT,
               Operand("queries", ("S", "d"), is_float=True, scale=_logits_of_two),
               Operand("outputs", ("S-1", "T", "d"), "out"),
               _statistic("maxima", ("S-1", "T"), "out"), _statistic("sums", ("S-1", "T"), "out")),
              _phase1_members, reference.attnres_phase1, {"n": 8, "S": 24}),
    Operation("attnres_phase2 update, norm", "attnres_phase2",
              (Operand("partial_sum", _X, "inout"), _F, Operand("phase1_output", _X), _QUERY,
               _statistic("maximum", ("T",), "in", scale=lambda s: 2.0),
               _statistic("sum", ("T",), "in", offset=2.5), _GAIN, _OUTPUT),
              _phase2_members, reference.attnres_phase2),
    Operation("mhc_pre 4 streams, norm", "mhc_pre",
              (Operand("streams", _STREAMS), *_MAPPING, _GAIN, _OUTPUT,
               _statistic("post", ("T", "m"), "out"),
               _statistic("residual", ("T", "m", "m"), "out")),
              _mhc_pre_members, reference.mhc_pre, _MHC, 4096),
    Operation("mhc_post 4 streams", "mhc_post", _MHC_POST,
              _mhc_post_members, reference.mhc_post, _MHC, 4096),
    Operation("mhc_boundary 4 streams, norm", "mhc_boundary",
              (*_MHC_POST, *_MAPPING, _GAIN, _OUTPUT, _statistic("next_post", ("T", "m"), "out"),
               _statistic("next_residual", ("T", "m", "m"), "out")),
              _mhc_boundary_members, reference.mhc_boundary, _MHC, 4096),
    Operation("gated_residual_apply_down 4 streams, rank 320", "gated_residual_apply_down",
              (Operand("streams", _STREAMS), _F,
               _statistic("inject", ("T", "m"), "in", offset=1.0), _STREAM_GAIN,
               Operand("down", ("r", "m*d"), scale=lambda s: math.sqrt(3 / s["m*d"])),
               Operand("inject_weights", ("m", "m*d"), scale=lambda s: math.sqrt(3 / s["m*d"])),
               Operand("next_streams", _STREAMS, "out"),
               _statistic("inverse_rms", ("T", "m"), "out"),
               _statistic("activation", ("T", "r"), "out"),
               _statistic("next_inject", ("T", "m"), "out")),
              _apply_down_members, reference.gated_residual_apply_down, _GATES, 2560),
    Operation("gated_residual_up_mix 4 streams, rank 320", "gated_residual_up_mix",
              (Operand("streams", _STREAMS), _statistic("inverse_rms", ("T", "m"), "in", offset=1.5),
               _STREAM_GAIN, Operand("up", ("m*d", "r"), scale=lambda s: math.sqrt(3 / s["r"])),
               _statistic("activation", ("T", "r"), "in"), _OUTPUT),
              _up_mix_members, reference.gated_residual_up_mix, _GATES, 2560),
    # The stream is f32 in both types.
    Operation("residual_scaling_rmsnorm", "residual_scaling_rmsnorm",
              (Operand("hidden_state", _X, "inout", is_float=True), _F,
               *(Operand(name, ("d",), is_float=True)
                 for name in ("hidden_scales", "hidden_shifts", "scales", "shifts")),
               _GAIN, _OUTPUT),
              _scaling_members, reference.residual_scaling_rmsnorm, hidden_size=2048),
    Operation("altup_predict 4 copies", "altup_predict",
              (Operand("copies", _STREAMS, "inout"), *_ROUTER,
               Operand("coefficients", ("m*m", "m"), is_float=True, scale=lambda s: 0.1),
               _GAIN, _OUTPUT),
              _altup_predict_members, reference.altup_predict, _COPIES, 2048),
    Operation("altup_laurel rank 64", "altup_laurel",
              (Operand("input", _X),
               Operand("down", ("r", "d"), is_float=True, scale=lambda s: math.sqrt(3 / s["d"])),
               Operand("up", ("d", "r"), is_float=True, scale=lambda s: math.sqrt(3 / s["r"])),
               _GAIN, _OUTPUT),
              _altup_laurel_members, reference.altup_laurel, {"r": 64}, 2048),
    Operation("altup_middle 4 copies", "altup_middle",
              (Operand("copies", _STREAMS), _F, Operand("laurel", _X, "inout"), _OUTPUT_GAIN,
               _GAIN, _OUTPUT),
              _altup_middle_members, reference.altup_middle, _COPIES, 2048),
    Operation("altup_correct 4 copies", "altup_correct",
              (Operand("copies", _STREAMS, "inout"), _F, Operand("middle", _X), _OUTPUT_GAIN,
               *_ROUTER,
               Operand("coefficients", ("m", "m"), is_float=True, scale=lambda s: 0.5)),
              _altup_correct_members, reference.altup_correct, _COPIES, 2048),
    Operation("residual_add_rmsnorm_backward", "residual_add_rmsnorm_backward",
              (Operand("hidden_state", _X), _DX, _GAIN, Operand("gradient", _X, "inout"),
               _GAIN_GRADIENT, _statistic("sums", ("slices", "d"), "scratch")),
              _add_norm_backward_members, reference.residual_add_rmsnorm_backward, _SLICES),
    Operation("attnres_single_pass_backward 9 sources, added, norm", "attnres_single_pass_backward",
              (_BANK, Operand("partial_sum", _X), _DX, _QUERY, _GAIN,
               Operand("bank_gradients", ("n", "T", "d"), "inout"),
               Operand("partial_gradient", _X, "inout"),
               _statistic("query_gradient", ("d",), "sum"), _GAIN_GRADIENT,
               _statistic("sums", ("slices", "d+d"), "scratch")),
              _single_pass_backward_members, reference.attnres_single_pass_backward,
              {"n": 8, **_SLICES}),
    # Streams that neither grow nor vanish when their gradients go through the layer many times.
    Operation("mhc_post_backward 4 streams", "mhc_post_backward",
              (Operand("streams", _STREAMS), _F, _statistic("post", ("T", "m"), "in"),
               _statistic("residual", ("T", "m", "m"), "in", scale=lambda s: 0.05, offset=0.25),
               Operand("gradients", _STREAMS, "inout"), Operand("layer_gradient", _X, "out"),
               _statistic("post_gradients", ("T", "m"), "out"),
               _statistic("residual_gradients", ("T", "m", "m"), "out")),
              _mhc_post_backward_members, reference.mhc_post_backward, _MHC, 4096),
    Operation("sinkhorn 4 streams", "sinkhorn",
              (_statistic("matrices", ("T", "m", "m"), "inout", offset=1.5),),
              _sinkhorn_members, reference.sinkhorn_matrices, _MHC),
)
