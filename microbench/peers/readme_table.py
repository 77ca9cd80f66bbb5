"""What peers.py has measured on one machine, as a table of kernels/README.md."""

DTYPES = ("bf16", "f32")


def table(documents: list, kernels_hash: str) -> str:
    """`documents` are what peers.py --json wrote, one for each dtype, with one device and the same;
    results of kernels other than those with the hash are marked as stale."""
    documents = sorted(documents, key=lambda one: DTYPES.index(one["context"]["dtype"]))
    [device] = documents[0]["context"]["devices"]
    if any(one["context"]["devices"] != [device] for one in documents):
        raise ValueError("results of several devices, or of other kernels, in one table")
    lines = [machine(device, kernels_hash), ""]
    columns = [(one["context"]["dtype"], peer) for one in documents for peer in timed_peers(one)]
    heads = ["operation"]
    heads += [f"{dtype}, ours" if peer is None else f"{dtype}, {peer}" for dtype, peer in columns]
    lines += [row_of(heads), row_of(["---"] * len(heads))]
    cells = {}
    for one in documents:
        for result in one["results"]:
            if result["comparison"]:
                fill(cells.setdefault(result["operation"], {}), one["context"]["dtype"], result)
    lines += [row_of([operation] + [of.get(column, "") for column in columns])
              for operation, of in cells.items()]
    return "\n".join(lines) + "\n"


def machine(device: dict, kernels_hash: str) -> str:
    measured = device["kernels_hash"]
    stale = "" if measured == kernels_hash else " (stale: the kernels have changed since)"
    plural = "" if device["threads"] == 1 else "s"
    name = device.get("name") or f"{device['cpu_model']}, {device['threads']} thread{plural}"
    return f"{name}; PyTorch {device['torch']}; kernels {measured}{stale}."


def timed_peers(document: dict) -> list:
    """None, which is ours, and whoever was timed in any operation, in their order there."""
    peers = [None]
    for result in document["results"]:
        if result["comparison"] and result["peer"] not in peers:
            peers.append(result["peer"])
    return peers


def fill(cells: dict, dtype: str, result: dict) -> None:
    comparison = result["comparison"]
    # From the first peer's pairs: every peer has its own.
    cells.setdefault((dtype, None), f"{comparison['ours'] * 1e6:.0f} us")
    cells[dtype, result["peer"]] = ratio_text(comparison)


def ratio_text(comparison: dict) -> str:
    mark = ", host-paced" if comparison["is_host_paced"] else ""
    return (f"{comparison['ratio']:.2f} ({comparison['first_quartile']:.2f} to "
            f"{comparison['third_quartile']:.2f}{mark})")


def row_of(cells: list) -> str:
    return "| " + " | ".join(cells) + " |"
