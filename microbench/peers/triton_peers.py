"""Public Triton kernels: fla, Liger-Kernel, flash-attn-res, by their documented functions.

What such a kernel lacks of an operation (the update, a norm) PyTorch does eagerly beside it, as in
the models that use it.
"""

import math

import torch

import reference
from operations import PARAMETERS, Values
from peer import Missing, Peer
from torch_peers import EPS, rms_norm


def package_peers(name: str, import_package, makers: dict, function: str) -> list:
    """The package's Peer for a function of the C interface, or why there is none."""
    if function not in makers:
        return []
    try:
        return [makers[function](import_package())]
    except ImportError as error:
        return [Missing(name, f"not installed ({error})")]
    except Exception as error:  # whatever somebody else's package raises when it is imported
        return [Missing(name, f"{type(error).__name__}: {error}")]


# -- fla: fla.ops.attnres.fused_attnres ------------------------------------------------------------


def import_fla():
    import fla.ops.attnres
    return fla.ops.attnres


def _fla_attnres(fla) -> Peer:
    function = fla.fused_attnres

    def prepare(o: dict) -> dict:
        return {**o, "ones": torch.ones_like(o["query"])}

    def run(o: dict) -> tuple:
        b = o["partial_sum"]
        if "layer_output" in o:
            b.add_(o["layer_output"])
        return (function(o["query"], [*o["bank"].unbind(0), b], o["ones"],
                         output_rms_weight=o.get("gain"), rms_eps=EPS),)

    return Peer("fla", run, ("output",), prepare)


# -- Liger-Kernel: liger_kernel.transformers.functional --------------------------------------------


def import_liger():
    import liger_kernel.transformers.functional
    return liger_kernel.transformers.functional


def _liger_add_norm(liger) -> Peer:
    function = liger.liger_fused_add_rms_norm

    def prepare(o: dict) -> dict:
        return {**o, "gain": o["gain"].to(o["hidden_state"].dtype)}

    def run(o: dict) -> tuple:
        return function(o["layer_output"], o["hidden_state"], o["gain"], EPS)

    return Peer("Liger-Kernel", run, ("output", "hidden_state"), prepare)


def _liger_attnres(liger) -> Peer:
    function = liger.liger_attn_res

    def prepare(o: dict) -> dict:
        """All sources in one tensor (sources, 1, T, d), the partial sum last."""
        v = torch.cat((o["bank"], o["partial_sum"].unsqueeze(0))).unsqueeze(1)
        return {**o, "sources": v, "partial_sum": v[-1, 0], "ones": torch.ones_like(o["query"])}

    def run(o: dict) -> tuple:
        if "layer_output" in o:
            o["partial_sum"].add_(o["layer_output"])
        h = function(o["sources"], o["query"], o["ones"], EPS)[0]
        return (rms_norm(h.float(), o["gain"]).to(h.dtype) if "gain" in o else h,)

    return Peer("Liger-Kernel", run, ("output",), prepare)


def _liger_parameters(o: dict) -> dict:
    """phi transposed and in the storage type, so that tensor cores can be used."""
    scales = [torch.tensor(a, device=o["bias"].device) for a in PARAMETERS["scales"]]
    phi = o["phi"].to(o["streams"].dtype).t().contiguous()
    return {**o, "phi": phi, "scales": scales}


def _liger_pre(liger, streams, o: dict) -> tuple:
    pre, post, residual = liger.liger_mhc_coeffs(
        streams, o["phi"], o["bias"], *o["scales"], allow_fp32=True,
        tmax=PARAMETERS["iterations"], rms_eps=EPS)
    x = liger.liger_mhc_pre(streams, pre)
    return rms_norm(x.float(), o["gain"]).to(x.dtype), post, residual


def _liger_post(liger, o: dict):
    return liger.liger_mhc_post_res(o["streams"], o["layer_output"], o["post"], o["residual"])


def _liger_mhc_pre(liger) -> Peer:
    return Peer("Liger-Kernel", lambda o: _liger_pre(liger, o["streams"], o),
                ("output", "post", "residual"), _liger_parameters)


def _liger_mhc_post(liger) -> Peer:
    return Peer("Liger-Kernel", lambda o: (_liger_post(liger, o),), ("next_streams",))


def _liger_mhc_boundary(liger) -> Peer:
    def run(o: dict) -> tuple:
        next_streams = _liger_post(liger, o)
        return next_streams, *_liger_pre(liger, next_streams, o)

    return Peer("Liger-Kernel", run, ("next_streams", "output", "next_post", "next_residual"),
                _liger_parameters)


# -- flash-attn-res: two phases that hand on o / l and m + log l -----------------------------------


def import_flash_attn_res():
    import flash_attn_res
    return flash_attn_res


def _flash_phase1(flash) -> Peer:
    function = flash.phase_1_batched_attention_triton_op

    def run(o: dict) -> tuple:
        means, lse = function(o["bank"].unsqueeze(1), o["queries"], EPS)
        x = rms_norm(means[0, 0].float(), o["gain"]).to(means.dtype)
        return x, means[1:, 0], lse[1:, 0]

    def expect(expected: dict) -> dict:
        o, m, l = (expected[name] for name in ("outputs", "maxima", "sums"))
        size = len(o.data) // len(l.data)
        rows = zip(reference.rows_of(o.data, size), l.data)
        means = [x / total for row, total in rows for x in row]
        lse = [maximum + math.log(total) for maximum, total in zip(m.data, l.data)]
        return {"output": expected["output"], "means": Values(o.shape, means),
                "lse": Values(m.shape, lse)}

    return Peer("flash-attn-res", run, ("output", "means", "lse"), expect=expect)


def _flash_phase2(flash) -> Peer:
    function = flash.phase_2_online_softmax_merge_triton_op

    def prepare(o: dict) -> dict:
        mean = o["phase1_output"].float() / o["sum"].unsqueeze(-1)
        return {**o, "mean": mean.to(o["phase1_output"].dtype).unsqueeze(0),
                "lse": (o["maximum"] + torch.log(o["sum"])).unsqueeze(0)}

    def run(o: dict) -> tuple:
        b = o["partial_sum"].add_(o["layer_output"])
        h = function(b.unsqueeze(0), o["query"], o["mean"], o["lse"], EPS)[0]
        return (rms_norm(h.float(), o["gain"]).to(h.dtype),)

    return Peer("flash-attn-res", run, ("output",), prepare)


PACKAGES = (
    ("fla", import_fla, {"attnres_single_pass": _fla_attnres}),
    ("Liger-Kernel", import_liger,
     {"residual_add_rmsnorm": _liger_add_norm, "attnres_single_pass": _liger_attnres,
      "mhc_pre": _liger_mhc_pre, "mhc_post": _liger_mhc_post, "mhc_boundary": _liger_mhc_boundary}),
    ("flash-attn-res", import_flash_attn_res,
     {"attnres_phase1": _flash_phase1, "attnres_phase2": _flash_phase2}),
)


def triton_peers(function: str, on_cuda: bool) -> list:
    if not on_cuda:
        return [Missing(name, "runs on CUDA only") for name, _, makers in PACKAGES
                if function in makers]
    return [peer for name, import_package, makers in PACKAGES
            for peer in package_peers(name, import_package, makers, function)]
