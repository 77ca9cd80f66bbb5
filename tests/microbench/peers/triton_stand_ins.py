"""The public packages' functions as their documentation describes them, on the small torch: the
same argument names and layouts, so that a call that does not fit fails."""

import sys
import types

import small_torch as torch


def _rms_norm(x, weight, eps):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight


def _attend(v, query, key_weight, eps):
    """v (sources, ..., d) in float -> the mix, and the log of the sum of exponentials."""
    logits = (_rms_norm(v, key_weight, eps) * query).sum(-1)
    largest = logits.amax(0)
    weights = torch.exp(logits - largest.unsqueeze(0))
    total = weights.sum(0)
    mix = (weights.unsqueeze(-1) * v).sum(0) / total.unsqueeze(-1)
    return mix, largest + torch.log(total)


def fused_attnres(query, residuals, rms_weight, output_rms_weight=None, rms_eps=1e-6, scale=1.0,
                  return_weights=False, checkpoint_level=1):
    v = torch.cat([r.unsqueeze(0) for r in residuals])
    h, _ = _attend(v.float(), query * scale, rms_weight, rms_eps)
    if output_rms_weight is not None:
        h = _rms_norm(h, output_rms_weight, rms_eps)
    return h.to(v.dtype)


def liger_fused_add_rms_norm(X, R, W, eps, offset=0.0, casting_mode="llama", in_place=True):
    s = X + R
    return _rms_norm(s.float(), (W + offset).float(), eps).to(X.dtype), s


def liger_attn_res(V, w_query, w_norm, eps=1e-6):
    assert len(V.shape) == 4
    return _attend(V.float(), w_query, w_norm, eps)[0].to(V.dtype)


def liger_mhc_coeffs(x, phi, b, alpha_pre, alpha_post, alpha_res, *, allow_fp32=False, tmax=20,
                     rms_eps=1e-6, pre_eps=0.0, sinkhorn_eps=1e-6, post_mult=2.0):
    n, m, c = x.shape
    assert phi.shape == (m * c, m * m + 2 * m) and b.shape == (m * m + 2 * m,)
    flat = x.flatten(1).float()
    mix = torch.matmul(flat, phi.float())
    mix = mix * torch.rsqrt(flat.pow(2).mean(-1, keepdim=True) + rms_eps)
    pre = torch.sigmoid(mix[:, :m] * alpha_pre + b[:m]) + pre_eps
    post = torch.sigmoid(mix[:, m : 2 * m] * alpha_post + b[m : 2 * m]) * post_mult
    matrix = torch.exp((mix[:, 2 * m :] * alpha_res + b[2 * m :]).reshape(n, m, m))
    for _ in range(tmax):
        matrix = matrix / (matrix.sum(-1, keepdim=True) + sinkhorn_eps)
        matrix = matrix / (matrix.sum(-2, keepdim=True) + sinkhorn_eps)
    return pre, post, matrix


def liger_mhc_pre(x, h_pre):
    return (h_pre.unsqueeze(-1) * x.float()).sum(1).to(x.dtype)


def liger_mhc_post_res(x, f_out, h_post, h_res):
    mixed = torch.matmul(h_res, x.float()) + h_post.unsqueeze(-1) * f_out.float().unsqueeze(1)
    return mixed.to(x.dtype)


def phase_1_batched_attention_triton_op(block_representations, pseudo_queries, eps):
    assert len(block_representations.shape) == 4
    ones = torch.full(pseudo_queries.shape[1:], 1.0, torch.float32)
    attended = [_attend(block_representations.float(), query, ones, eps)
                for query in pseudo_queries.unbind(0)]
    means = torch.cat([mean.unsqueeze(0) for mean, _ in attended])
    return means.to(block_representations.dtype), torch.cat([l.unsqueeze(0) for _, l in attended])


def phase_2_online_softmax_merge_triton_op(intrablock_partial_sum, pseudo_query,
                                           interblock_normalized_output, interblock_lse, eps):
    assert len(intrablock_partial_sum.shape) == 3
    b, mean = intrablock_partial_sum.float(), interblock_normalized_output.float()
    ones = torch.full(pseudo_query.shape, 1.0, torch.float32)
    logit = (_rms_norm(b, ones, eps) * pseudo_query).sum(-1)
    share = torch.sigmoid(logit - interblock_lse).unsqueeze(-1)
    return (mean + share * (b - mean)).to(interblock_normalized_output.dtype)


def _module(name, *functions):
    module = types.ModuleType(name)
    for function in functions:
        setattr(module, function.__name__, function)
    sys.modules[name] = module
    parent, _, last = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], last, module)


def install():
    _module("fla")
    _module("fla.ops")
    _module("fla.ops.attnres", fused_attnres)
    _module("liger_kernel")
    _module("liger_kernel.transformers")
    _module("liger_kernel.transformers.functional", liger_fused_add_rms_norm, liger_attn_res,
            liger_mhc_coeffs, liger_mhc_pre, liger_mhc_post_res)
    _module("flash_attn_res", phase_1_batched_attention_triton_op,
            phase_2_online_softmax_merge_triton_op)
