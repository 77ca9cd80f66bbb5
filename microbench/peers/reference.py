"""The operations in float64, for a few tokens: what every implementation is checked against.

Values are flat lists with the shape that their operand has; `stored` rounds to the storage type
what an operation stores and then goes on with.
"""

import math
import operator
import random
from array import array


def to_f32(values) -> list:
    return list(array("f", values))


def to_bf16(values) -> list:
    """To nearest, ties to even, as every implementation converts."""
    bits = array("I", array("f", values).tobytes())
    rounded = ((word + 0x7FFF + ((word >> 16) & 1)) & 0xFFFF0000 for word in bits)
    return list(array("f", array("I", rounded).tobytes()))


ROUNDING = {"f32": to_f32, "bf16": to_bf16}


def noise(seed: str, count: int, scale: float) -> list:
    """Uniform in [-scale, scale), the same in every run."""
    generator = random.Random(seed)
    return [generator.uniform(-scale, scale) for _ in range(count)]


def dot(a, b) -> float:
    return sum(map(operator.mul, a, b))


def add(a, b) -> list:
    return list(map(operator.add, a, b))


def rows_of(values, size: int) -> list:
    return [values[i : i + size] for i in range(0, len(values), size)]


def flat(rows) -> list:
    return [value for row in rows for value in row]


def rms_norm(row, gain, eps: float) -> list:
    inverse = 1 / math.sqrt(dot(row, row) / len(row) + eps)
    return [value * inverse * g for value, g in zip(row, gain)]


def score(query, row, eps: float) -> float:
    """w . RMSNorm(v)."""
    return dot(query, row) / math.sqrt(dot(row, row) / len(row) + eps)


def softmax_sums(scores, rows):
    """o = sum_i e^(s_i - m) v_i, m, and l = sum_i e^(s_i - m)."""
    maximum = max(scores)
    weights = [math.exp(s - maximum) for s in scores]
    mix = [dot(weights, column) for column in zip(*rows)]
    return mix, maximum, sum(weights)


def sigmoid(z: float) -> float:
    return 1 / (1 + math.exp(-z))


def sinkhorn(matrix, m: int, iterations: int) -> list:
    """Columns, then rows, `iterations` times."""
    for _ in range(iterations):
        sums = [sum(matrix[j::m]) for j in range(m)]
        matrix = [value / sums[i % m] for i, value in enumerate(matrix)]
        matrix = flat([v / sum(row) for v in row] for row in rows_of(matrix, m))
    return matrix


def mhc_coefficients(streams, v: dict, s: dict):
    """H_pre, H_post and H_res of one token, whose streams are a flat list."""
    m, a = s["m"], s["scales"]
    z = [score(row, streams, s["eps"]) for row in rows_of(v["phi"], len(streams))]
    b = v["bias"]
    pre = [sigmoid(a[0] * z[i] + b[i]) for i in range(m)]
    post = [2 * sigmoid(a[1] * z[i] + b[i]) for i in range(m, 2 * m)]
    exponentials = [math.exp(a[2] * z[i] + b[i]) for i in range(2 * m, len(z))]
    return pre, post, sinkhorn(exponentials, m, s["iterations"])


# -- One function an operation: values of all operands, sizes and parameters, rounding -> outputs


def residual_add_rmsnorm(v: dict, s: dict, stored) -> dict:
    h = stored(add(v["hidden_state"], v["layer_output"]))
    normed = (rms_norm(row, v["gain"], s["eps"]) for row in rows_of(h, s["d"]))
    return {"hidden_state": h, "output": flat(normed)}


def sources_of_tokens(v: dict, s: dict, last) -> list:
    """For each token its rows: the bank's, then `last`."""
    banks = [rows_of(bank, s["d"]) for bank in rows_of(v["bank"], s["T"] * s["d"])]
    return [list(rows) for rows in zip(*banks, *last)]


def attnres_single_pass(v: dict, s: dict, stored) -> dict:
    has_update = "layer_output" in v
    b = stored(add(v["partial_sum"], v["layer_output"])) if has_update else v["partial_sum"]
    output = []
    for rows in sources_of_tokens(v, s, [rows_of(b, s["d"])]):
        mix, _, total = softmax_sums([score(v["query"], r, s["eps"]) for r in rows], rows)
        h = [value / total for value in mix]
        output += rms_norm(h, v["gain"], s["eps"]) if "gain" in v else h
    return {"partial_sum": b, "output": output} if has_update else {"output": output}


def attnres_phase1(v: dict, s: dict, stored) -> dict:
    output, outputs, maxima, sums = [], [], [], []
    tokens = sources_of_tokens(v, s, [])
    for number, query in enumerate(rows_of(v["queries"], s["d"])):
        for rows in tokens:
            mix, maximum, total = softmax_sums([score(query, r, s["eps"]) for r in rows], rows)
            if number == 0:
                output += rms_norm([value / total for value in mix], v["gain"], s["eps"])
                continue
            outputs += mix
            maxima.append(maximum)
            sums.append(total)
    return {"output": output, "outputs": outputs, "maxima": maxima, "sums": sums}


def attnres_phase2(v: dict, s: dict, stored) -> dict:
    b = stored(add(v["partial_sum"], v["layer_output"]))
    output = []
    rows = zip(rows_of(b, s["d"]), rows_of(v["phase1_output"], s["d"]), v["maximum"], v["sum"])
    for row, mix, maximum, total in rows:
        logit = score(v["query"], row, s["eps"])
        largest = max(logit, maximum)
        old, new = math.exp(maximum - largest), math.exp(logit - largest)
        h = [(old * o + new * x) / (old * total + new) for o, x in zip(mix, row)]
        output += rms_norm(h, v["gain"], s["eps"])
    return {"partial_sum": b, "output": output}


def mhc_pre(v: dict, s: dict, stored) -> dict:
    output, posts, residuals = [], [], []
    for streams in rows_of(v["streams"], s["m"] * s["d"]):
        pre, post, residual = mhc_coefficients(streams, v, s)
        x = [dot(pre, column) for column in zip(*rows_of(streams, s["d"]))]
        output += rms_norm(x, v["gain"], s["eps"])
        posts += post
        residuals += residual
    return {"output": output, "post": posts, "residual": residuals}


def mhc_post(v: dict, s: dict, stored) -> dict:
    m, d = s["m"], s["d"]
    next_streams = []
    tokens = zip(rows_of(v["streams"], m * d), rows_of(v["layer_output"], d),
                 rows_of(v["post"], m), rows_of(v["residual"], m * m))
    for streams, f, post, residual in tokens:
        columns = list(zip(*rows_of(streams, d), f))
        for i, weights in enumerate(rows_of(residual, m)):
            weights = weights + [post[i]]
            next_streams += [dot(weights, column) for column in columns]
    return {"next_streams": stored(next_streams)}


def mhc_boundary(v: dict, s: dict, stored) -> dict:
    next_streams = mhc_post(v, s, stored)["next_streams"]
    pre = mhc_pre({**v, "streams": next_streams}, s, stored)
    return {"next_streams": next_streams, "output": pre["output"], "next_post": pre["post"],
            "next_residual": pre["residual"]}


def gated_rows(streams, factors, v: dict, s: dict) -> list:
    """Xn of one token: each stream in units of its RMS, times 1 + g."""
    gains = rows_of(v["gain"], s["d"])
    return [[x * factor * (1 + g) for x, g in zip(row, gain)]
            for row, factor, gain in zip(rows_of(streams, s["d"]), factors, gains)]


def gated_residual_apply_down(v: dict, s: dict, stored) -> dict:
    m, d = s["m"], s["d"]
    updated, factors, activations, injects = [], [], [], []
    tokens = zip(rows_of(v["streams"], m * d), rows_of(v["layer_output"], d),
                 rows_of(v["inject"], m))
    for streams, f, inject in tokens:
        rows = [stored([x + weight * y for x, y in zip(row, f)])
                for row, weight in zip(rows_of(streams, d), inject)]
        own = [1 / math.sqrt(dot(row, row) / d + s["eps"]) for row in rows]
        normed = flat(gated_rows(flat(rows), own, v, s))
        down = [dot(row, normed) / m for row in rows_of(v["down"], m * d)]
        updated += flat(rows)
        factors += own
        activations += [z * sigmoid(z) for z in down]
        injects += [2 * sigmoid(dot(row, normed) / m) for row in rows_of(v["inject_weights"], m * d)]
    return {"next_streams": updated, "inverse_rms": factors, "activation": activations,
            "next_inject": injects}


def gated_residual_up_mix(v: dict, s: dict, stored) -> dict:
    m, d = s["m"], s["d"]
    output = []
    up = rows_of(v["up"], s["r"])
    tokens = zip(rows_of(v["streams"], m * d), rows_of(v["inverse_rms"], m),
                 rows_of(v["activation"], s["r"]))
    for streams, factors, activation in tokens:
        gates = [sigmoid(dot(row, activation)) for row in up]
        gated = list(map(operator.mul, gates, flat(gated_rows(streams, factors, v, s))))
        output += [sum(column) / m for column in zip(*rows_of(gated, d))]
    return {"output": output}


def residual_scaling_rmsnorm(v: dict, s: dict, stored) -> dict:
    """The stream is f32, and is not rounded to the storage type."""
    d = s["d"]
    merged = []
    for r, f in zip(rows_of(v["hidden_state"], d), rows_of(v["layer_output"], d)):
        old = [(x + b) * scale for x, b, scale in zip(r, v["hidden_shifts"], v["hidden_scales"])]
        new = [(x + b) * scale for x, b, scale in zip(f, v["shifts"], v["scales"])]
        merged += add(old, new)
    normed = (rms_norm(row, v["gain"], s["eps"]) for row in rows_of(merged, d))
    return {"hidden_state": merged, "output": flat(normed)}


def modalities(row, v: dict, s: dict) -> list:
    """m(x) = tanh(M RMSNorm(x) / d)."""
    normed = rms_norm(row, v["router_gain"], s["eps"])
    return [math.tanh(dot(weights, normed) / s["d"]) for weights in rows_of(v["matrix"], s["d"])]


def altup_predict(v: dict, s: dict, stored) -> dict:
    m, d = s["m"], s["d"]
    copies, output = [], []
    for token in rows_of(v["copies"], m * d):
        rows = rows_of(token, d)
        known = modalities(rows[0], v, s)
        mix = [dot(weights, known) for weights in rows_of(v["coefficients"], m)]
        predicted = [stored([h + dot(weights, column) for h, column in zip(row, zip(*rows))])
                     for row, weights in zip(rows, rows_of(mix, m))]
        copies += flat(predicted)
        output += rms_norm(predicted[0], v["gain"], s["eps"])
    return {"copies": copies, "output": output}


def altup_laurel(v: dict, s: dict, stored) -> dict:
    output = []
    for x in rows_of(v["input"], s["d"]):
        low = [dot(row, x) for row in rows_of(v["down"], s["d"])]
        high = [dot(row, low) for row in rows_of(v["up"], s["r"])]
        output += stored(add(x, rms_norm(high, v["gain"], s["eps"])))
    return {"output": output}


def altup_middle(v: dict, s: dict, stored) -> dict:
    middle, output = [], []
    tokens = zip(rows_of(v["copies"], s["m"] * s["d"]), rows_of(v["layer_output"], s["d"]),
                 rows_of(v["laurel"], s["d"]))
    for copies, f, laurel in tokens:
        normed = rms_norm(f, v["output_gain"], s["eps"])
        row = stored([(p + n + l) / math.sqrt(2) for p, n, l in zip(copies, normed, laurel)])
        middle += row
        output += rms_norm(row, v["gain"], s["eps"])
    return {"laurel": middle, "output": output}


def altup_correct(v: dict, s: dict, stored) -> dict:
    m, d = s["m"], s["d"]
    corrected = []
    tokens = zip(rows_of(v["copies"], m * d), rows_of(v["layer_output"], d),
                 rows_of(v["middle"], d))
    for copies, f, middle in tokens:
        active = add(middle, rms_norm(f, v["output_gain"], s["eps"]))
        known = modalities(active, v, s)
        factors = [1 + dot(weights, known) for weights in rows_of(v["coefficients"], m)]
        rows = rows_of(copies, d)
        change = [a - p for a, p in zip(active, rows[0])]
        for row, factor in zip(rows, factors):
            corrected += [p + factor * c for p, c in zip(row, change)]
    return {"copies": stored(corrected)}


def norm_backward(h, dx, gain, eps: float):
    """dh of x = norm(h) g, and the row's part of dg."""
    inverse = 1 / math.sqrt(dot(h, h) / len(h) + eps)
    u = list(map(operator.mul, gain, dx))
    along = dot(u, h) * inverse**3 / len(h)
    dh = [inverse * a - along * b for a, b in zip(u, h)]
    return dh, [inverse * a * b for a, b in zip(dx, h)]


def residual_add_rmsnorm_backward(v: dict, s: dict, stored) -> dict:
    gradient, gains = [], []
    for h, dx, had in zip(*(rows_of(v[name], s["d"])
                            for name in ("hidden_state", "output_gradient", "gradient"))):
        dh, dg = norm_backward(h, dx, v["gain"], s["eps"])
        gradient += add(had, dh)
        gains += dg
    return {"gradient": gradient, "gain_gradient": gains}


def attnres_single_pass_backward(v: dict, s: dict, stored) -> dict:
    """ds_i = p_i (dh . v_i - dh . h); dv_i = p_i dh + ds_i (w - s_i v_i / (d r_i)) / r_i."""
    d, eps, w = s["d"], s["eps"], v["query"]
    tokens = sources_of_tokens(v, s, [rows_of(v["partial_sum"], d)])
    added, gains, queries = [], [], []
    for rows, dx in zip(tokens, rows_of(v["output_gradient"], d)):
        exponentials = [math.exp(score(w, row, eps)) for row in rows]
        weights = [value / sum(exponentials) for value in exponentials]
        h = [dot(weights, column) for column in zip(*rows)]
        dh, dg = norm_backward(h, dx, v["gain"], eps)
        dh_h = dot(dh, h)
        dw = [0.0] * d
        for p, row in zip(weights, rows):
            inverse = 1 / math.sqrt(dot(row, row) / d + eps)
            ds = p * (dot(dh, row) - dh_h) * inverse
            along = ds * dot(w, row) * inverse**2 / d
            added.append([p * a + ds * b - along * c for a, b, c in zip(dh, w, row)])
            dw = add(dw, [ds * x for x in row])
        gains += dg
        queries += dw
    of_source = [flat(added[i :: s["n"] + 1]) for i in range(s["n"] + 1)]
    return {"bank_gradients": add(v["bank_gradients"], flat(of_source[:-1])),
            "partial_gradient": add(v["partial_gradient"], of_source[-1]),
            "query_gradient": queries, "gain_gradient": gains}


def mhc_post_backward(v: dict, s: dict, stored) -> dict:
    m, d = s["m"], s["d"]
    gradients, layer, posts, residuals = [], [], [], []
    tokens = zip(rows_of(v["streams"], m * d), rows_of(v["layer_output"], d),
                 rows_of(v["post"], m), rows_of(v["residual"], m * m),
                 rows_of(v["gradients"], m * d))
    for streams, f, post, residual, behind in tokens:
        rows, dx = rows_of(streams, d), rows_of(behind, d)
        columns = list(zip(*dx))
        for j in range(m):
            gradients += [dot(residual[j::m], column) for column in columns]
        layer += [dot(post, column) for column in columns]
        posts += [dot(row, f) for row in dx]
        residuals += [dot(a, b) for a in dx for b in rows]
    return {"gradients": gradients, "layer_gradient": layer, "post_gradients": posts,
            "residual_gradients": residuals}


def sinkhorn_matrices(v: dict, s: dict, stored) -> dict:
    m = s["m"]
    balanced = (sinkhorn(matrix, m, s["iterations"]) for matrix in rows_of(v["matrices"], m * m))
    return {"matrices": flat(balanced)}
