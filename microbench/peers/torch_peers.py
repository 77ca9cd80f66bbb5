"""PyTorch, run eagerly and compiled.

Every function takes the operands of one set by name and returns its new tensors; what an operation
updates, it updates in place. Statistics and sums are in float, as models compute them.
"""

from collections.abc import Callable

import torch

from operations import PARAMETERS
from peer import Missing, Peer

EPS = PARAMETERS["eps"]


def rms_norm(x, gain):
    """In float, of float."""
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + EPS) * gain


def scores(v, query):
    """w . RMSNorm(v), of float."""
    return (v * query).sum(-1) * torch.rsqrt(v.pow(2).mean(-1) + EPS)


def residual_add_rmsnorm(o: dict) -> tuple:
    h = o["hidden_state"].add_(o["layer_output"])
    return (rms_norm(h.float(), o["gain"]).to(h.dtype),)


def attnres_single_pass(o: dict) -> tuple:
    b = o["partial_sum"]
    if "layer_output" in o:
        b = b.add_(o["layer_output"])
    bank, last = o["bank"].float(), b.float()
    logits = torch.cat((scores(bank, o["query"]), scores(last, o["query"]).unsqueeze(0)))
    weights = torch.softmax(logits, dim=0).unsqueeze(-1)
    h = (weights[:-1] * bank).sum(0) + weights[-1] * last
    if "gain" in o:
        h = rms_norm(h, o["gain"])
    return (h.to(b.dtype),)


def attnres_phase1(o: dict) -> tuple:
    v = o["bank"].float()
    inverse = torch.rsqrt(v.pow(2).mean(-1) + EPS)
    logits = torch.einsum("ntd,sd->snt", v, o["queries"]) * inverse
    maxima = logits.amax(1)
    weights = torch.exp(logits - maxima.unsqueeze(1))
    sums = weights.sum(1)
    mixes = torch.einsum("snt,ntd->std", weights, v)
    output = rms_norm(mixes[0] / sums[0].unsqueeze(-1), o["gain"])
    dtype = o["bank"].dtype
    return output.to(dtype), mixes[1:].to(dtype), maxima[1:], sums[1:]


def attnres_phase2(o: dict) -> tuple:
    b = o["partial_sum"].add_(o["layer_output"])
    v = b.float()
    logits = scores(v, o["query"])
    largest = torch.maximum(logits, o["maximum"])
    old, new = torch.exp(o["maximum"] - largest), torch.exp(logits - largest)
    mix = old.unsqueeze(-1) * o["phase1_output"].float() + new.unsqueeze(-1) * v
    h = mix / (old * o["sum"] + new).unsqueeze(-1)
    return (rms_norm(h, o["gain"]).to(b.dtype),)


def balanced(matrices):
    """Sinkhorn's iteration: columns, then rows."""
    for _ in range(PARAMETERS["iterations"]):
        matrices = matrices / matrices.sum(-2, keepdim=True)
        matrices = matrices / matrices.sum(-1, keepdim=True)
    return matrices


def mhc_coefficients(streams, o: dict) -> tuple:
    m = streams.shape[1]
    x = streams.flatten(1)
    z = torch.matmul(x, o["phi"].t()) * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + EPS)
    pre, post, residual = PARAMETERS["scales"]
    bias = o["bias"]
    h_pre = torch.sigmoid(pre * z[:, :m] + bias[:m])
    h_post = 2 * torch.sigmoid(post * z[:, m : 2 * m] + bias[m : 2 * m])
    logits = (residual * z[:, 2 * m :] + bias[2 * m :]).reshape(-1, m, m)
    return h_pre, h_post, balanced(torch.exp(logits - logits.amax(-2, keepdim=True)))


def collapsed(streams, o: dict) -> tuple:
    """Coefficients and normalised input of a layer, of float streams."""
    pre, post, residual = mhc_coefficients(streams, o)
    x = (pre.unsqueeze(-1) * streams).sum(1)
    return rms_norm(x, o["gain"]).to(o["layer_dtype"]), post, residual


def mixed_by_product(o: dict):
    """H_res X by a batched product: what runs best eagerly."""
    return torch.matmul(o["residual"], o["streams"].float())


def mixed_by_sum(o: dict):
    """H_res X by a sum over streams: what a compiler can fuse."""
    x = o["streams"].float()
    return (o["residual"].unsqueeze(-1) * x.unsqueeze(1)).sum(2)


def _mhc_pre(o: dict) -> tuple:
    return collapsed(o["streams"].float(), {**o, "layer_dtype": o["streams"].dtype})


def _mhc_post_of(mixed: Callable) -> Callable:
    def mhc_post(o: dict) -> tuple:
        spread = o["post"].unsqueeze(-1) * o["layer_output"].float().unsqueeze(1)
        return ((mixed(o) + spread).to(o["streams"].dtype),)

    return mhc_post


def _mhc_boundary_of(mixed: Callable) -> Callable:
    post_of = _mhc_post_of(mixed)

    def mhc_boundary(o: dict) -> tuple:
        (next_streams,) = post_of(o)
        pre = collapsed(next_streams.float(), {**o, "layer_dtype": next_streams.dtype})
        return next_streams, *pre

    return mhc_boundary


def gated_rows(streams, factors, gain):
    """Xn, of float."""
    return streams * factors.unsqueeze(-1) * (1 + gain.float())


def gated_residual_apply_down(o: dict) -> tuple:
    """Xn is rounded for its products, as models do."""
    x, m = o["streams"], o["streams"].shape[1]
    update = o["inject"].unsqueeze(-1) * o["layer_output"].float().unsqueeze(1)
    x = (x.float() + update).to(x.dtype)
    factors = torch.rsqrt(x.float().pow(2).mean(-1) + EPS)
    rows = gated_rows(x.float(), factors, o["gain"]).to(x.dtype).flatten(1)
    a = torch.nn.functional.silu(torch.matmul(rows, o["down"].t()).float() / m)
    inject = 2 * torch.sigmoid(torch.matmul(rows, o["inject_weights"].t()).float() / m)
    return x, factors, a, inject


def gated_residual_up_mix(o: dict) -> tuple:
    x = o["streams"]
    logits = torch.matmul(o["activation"].to(x.dtype), o["up"].t()).float()
    rows = gated_rows(x.float(), o["inverse_rms"], o["gain"])
    return ((torch.sigmoid(logits).reshape(rows.shape) * rows).mean(1).to(x.dtype),)


def residual_scaling_rmsnorm(o: dict) -> tuple:
    r = o["hidden_state"]
    new = (o["layer_output"].float() + o["shifts"]) * o["scales"]
    r.copy_((r + o["hidden_shifts"]) * o["hidden_scales"] + new)
    return (rms_norm(r, o["gain"]).to(o["layer_output"].dtype),)


def modalities(x, o: dict):
    """m(x) of AltUp, of float."""
    normed = rms_norm(x, o["router_gain"]) / x.shape[-1]
    return torch.tanh(torch.matmul(normed, o["matrix"].t()))


def _altup_predict_of(mixed: Callable) -> Callable:
    def altup_predict(o: dict) -> tuple:
        copies = o["copies"]
        h, m = copies.float(), copies.shape[1]
        mix = torch.matmul(modalities(h[:, 0], o), o["coefficients"].t()).reshape(-1, m, m)
        copies.copy_(h + mixed({"residual": mix, "streams": copies}))
        return (rms_norm(copies[:, 0].float(), o["gain"]).to(copies.dtype),)

    return altup_predict


def altup_laurel(o: dict) -> tuple:
    x = o["input"].float()
    high = torch.matmul(torch.matmul(x, o["down"].t()), o["up"].t())
    return ((x + rms_norm(high, o["gain"])).to(o["input"].dtype),)


def altup_middle(o: dict) -> tuple:
    q = o["copies"][:, 0].float() + rms_norm(o["layer_output"].float(), o["output_gain"])
    laurel = o["laurel"]
    laurel.copy_((q + laurel.float()) * 0.5**0.5)
    return (rms_norm(laurel.float(), o["gain"]).to(laurel.dtype),)


def altup_correct(o: dict) -> tuple:
    copies = o["copies"]
    active = o["middle"].float() + rms_norm(o["layer_output"].float(), o["output_gain"])
    factors = torch.matmul(modalities(active, o), o["coefficients"].t()) + 1
    p = copies.float()
    copies.copy_(p + factors.unsqueeze(-1) * (active - p[:, 0]).unsqueeze(1))
    return ()


def norm_backward(h, dx, gain):
    """dh, and each row's part of dg; of float."""
    inverse = torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + EPS)
    u = dx * gain
    along = (u * h).mean(-1, keepdim=True) * inverse.pow(3)
    return u * inverse - h * along, dx * h * inverse


def add_to(gradient, part) -> None:
    """Rounds the sum once."""
    gradient.copy_(gradient.float() + part)


def residual_add_rmsnorm_backward(o: dict) -> tuple:
    dh, dg = norm_backward(o["hidden_state"].float(), o["output_gradient"].float(), o["gain"])
    add_to(o["gradient"], dh)
    return (dg.sum(0),)


def attnres_single_pass_backward(o: dict) -> tuple:
    v = torch.cat((o["bank"].float(), o["partial_sum"].float().unsqueeze(0)))
    inverse = torch.rsqrt(v.pow(2).mean(-1) + EPS)
    logits = (v * o["query"]).sum(-1) * inverse
    weights = torch.softmax(logits, dim=0)
    h = (weights.unsqueeze(-1) * v).sum(0)
    dh, dg = norm_backward(h, o["output_gradient"].float(), o["gain"])
    ds = weights * ((v * dh).sum(-1) - (dh * h).sum(-1)) * inverse
    along = ds * logits * inverse / v.shape[-1]
    dv = (weights.unsqueeze(-1) * dh + ds.unsqueeze(-1) * o["query"]
          - along.unsqueeze(-1) * v)
    add_to(o["bank_gradients"], dv[:-1])
    add_to(o["partial_gradient"], dv[-1])
    return (ds.unsqueeze(-1) * v).sum(0).sum(0), dg.sum(0)


def _mhc_post_backward_of(mixed: Callable, products: Callable) -> Callable:
    def mhc_post_backward(o: dict) -> tuple:
        behind = o["gradients"].float()
        layer = (o["post"].unsqueeze(-1) * behind).sum(1)
        posts = (behind * o["layer_output"].float().unsqueeze(1)).sum(-1)
        residuals = products(behind, o["streams"].float())
        o["gradients"].copy_(mixed({"residual": o["residual"].movedim(2, 1), "streams": behind}))
        return layer.to(o["gradients"].dtype), posts, residuals

    return mhc_post_backward


def by_product(a, b):
    """a_i . b_j by a batched product: what runs best eagerly."""
    return torch.matmul(a, b.movedim(2, 1))


def by_sum(a, b):
    """The same by a sum over elements: what a compiler can fuse."""
    return (a.unsqueeze(2) * b.unsqueeze(1)).sum(-1)


def sinkhorn(o: dict) -> tuple:
    o["matrices"].copy_(balanced(o["matrices"]))
    return ()


# function of the C interface -> (eager, to be compiled, outputs)
PYTORCH = {
    "residual_add_rmsnorm": (residual_add_rmsnorm, residual_add_rmsnorm, ("output",)),
    "attnres_single_pass": (attnres_single_pass, attnres_single_pass, ("output",)),
    "attnres_phase1": (attnres_phase1, attnres_phase1, ("output", "outputs", "maxima", "sums")),
    "attnres_phase2": (attnres_phase2, attnres_phase2, ("output",)),
    "mhc_pre": (_mhc_pre, _mhc_pre, ("output", "post", "residual")),
    "mhc_post": (_mhc_post_of(mixed_by_product), _mhc_post_of(mixed_by_sum), ("next_streams",)),
    "mhc_boundary": (_mhc_boundary_of(mixed_by_product), _mhc_boundary_of(mixed_by_sum),
                     ("next_streams", "output", "next_post", "next_residual")),
    "gated_residual_apply_down": (
        gated_residual_apply_down, gated_residual_apply_down,
        ("next_streams", "inverse_rms", "activation", "next_inject")),
    "gated_residual_up_mix": (gated_residual_up_mix, gated_residual_up_mix, ("output",)),
    "residual_scaling_rmsnorm": (
        residual_scaling_rmsnorm, residual_scaling_rmsnorm, ("output",)),
    "altup_predict": (
        _altup_predict_of(mixed_by_product), _altup_predict_of(mixed_by_sum), ("output",)),
    "altup_laurel": (altup_laurel, altup_laurel, ("output",)),
    "altup_middle": (altup_middle, altup_middle, ("output",)),
    "altup_correct": (altup_correct, altup_correct, ()),
    "residual_add_rmsnorm_backward": (
        residual_add_rmsnorm_backward, residual_add_rmsnorm_backward, ("gain_gradient",)),
    "attnres_single_pass_backward": (
        attnres_single_pass_backward, attnres_single_pass_backward,
        ("query_gradient", "gain_gradient")),
    "mhc_post_backward": (
        _mhc_post_backward_of(mixed_by_product, by_product),
        _mhc_post_backward_of(mixed_by_sum, by_sum),
        ("layer_gradient", "post_gradients", "residual_gradients")),
    "sinkhorn": (sinkhorn, sinkhorn, ()),
}


def pytorch_peers(function: str) -> list:
    eager, compiled, outputs = PYTORCH[function]
    peers = [Peer("PyTorch eager", eager, outputs)]
    if not hasattr(torch, "compile"):
        return [*peers, Missing("torch.compile", f"torch {torch.__version__} has none")]
    return [*peers, Peer("torch.compile", torch.compile(compiled, dynamic=False), outputs)]
