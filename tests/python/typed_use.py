"""What a checker of types makes of calls; it is not run."""

import pathlib

import depthcost
from depthcost import kernels

answer: depthcost.Evaluation = depthcost.evaluate(
    model="llama_3_1_70b", hardware="h100_sxm", tensor=8, residual="block_attnres", block_size=16, decode=[1, 64],
    budgets={"decode_overhead": "2 %"})
verdict: str = answer.verdict
written: pathlib.Path = depthcost.report("my_scenario.yaml").write("folder")
holds: bool = depthcost.check({"model": "kimi_k3"}, strict=True).holds
swept: depthcost.Sweep = depthcost.sweep(pathlib.Path("my_scenario.yaml"), {"block_size": range(4, 24)})
found: depthcost.Plan = depthcost.plan(model="kimi_k3", hardware="b300_sxm", devices=8, max_overhead=0.02)
model: str = depthcost.import_config({"model_type": "llama"})
rows: list[dict[str, str]] = depthcost.presets("models")
kernels.residual_add(hidden_state=None, layer_output=None)

depthcost.evaluate(model="kimi_k3", tensors=8)  # type: ignore[call-arg]
depthcost.evaluate(b"bytes")  # type: ignore[arg-type]
depthcost.evaluate(rows="all")  # type: ignore[arg-type]
depthcost.plan(model="kimi_k3")  # type: ignore[call-arg]
