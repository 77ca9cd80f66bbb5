"""What a transformer pays for the way it carries its residual stream through depth.

    import depthcost
    answer = depthcost.evaluate(model="llama_3_1_70b", hardware="h100_sxm", tensor=8, residual="block_attnres",
                                block_size=16)
    print(answer.verdict)

Every function takes a scenario: a path, YAML text (with a line break, or in braces) or a dict with the same keys; or in
place of it the options of the program: model, hardware, tensor, data, expert, pipeline, residual, block_size, compare,
decode, context, prefill, training, budgets. `settings` replaces values of either. Answers are dicts of the documented
JSON, with to_markdown(), to_frame() where pandas is installed, and a picture of themselves in a notebook. A mistake
raises InputError.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from depthcost import _core, questions
from depthcost.answers import (Answer, Check, Comparison, Difference, Evaluation, Explanation, Family, Plan, Report,
                               Sweep)
from depthcost.errors import InputError

if TYPE_CHECKING:
    from depthcost.questions import Options, Scenario, Unpack

__all__ = ["Answer", "Check", "Comparison", "Difference", "Evaluation", "Explanation", "Family", "InputError", "Plan",
           "Report", "Sweep", "check", "compare", "diff", "evaluate", "explain", "family", "import_config", "plan",
           "preset", "presets", "report", "sweep"]
__version__: str = _core.version

_ROWS = ("sums", "launches", "layers")


def evaluate(scenario: Scenario = None, *, rows: Literal["sums", "launches", "layers"] = "launches",
             constants: str | os.PathLike[str] | None = None, **options: Unpack[Options]) -> Evaluation:
    """Every number of a scenario. `rows` says how many: "sums" has no row for each launch ("time"), which takes a small
    part of the time; "layers" has rows for each layer, too. `constants` is a file of fitted constants."""
    if rows not in _ROWS:
        raise InputError("rows", 1, 1, f"invalid rows '{rows}' (must be {' | '.join(_ROWS)})")
    fitted = _optional("constants", constants)
    return Evaluation(_core.Answer(questions.question(scenario, options), fitted), rows)


def report(scenario: Scenario = None, *, folder: str | os.PathLike[str] | None = None,
           **options: Unpack[Options]) -> Report:
    """The documents and plots of `depthcost report`; written into the folder if there is one. Plots need gnuplot."""
    made = Report(_core.report(questions.question(scenario, options)))
    if folder is not None:
        made.write(folder)
    return made


def check(scenario: Scenario = None, *, strict: bool = False, **options: Unpack[Options]) -> Check:
    """Whether the budgets hold. Under `strict` a budget that may or may not hold does not."""
    return Check(_core.check(questions.question(scenario, options), bool(strict)))


def family(scenario: Scenario = None, **options: Unpack[Options]) -> Family:
    """Every residual scheme on the scenario's model."""
    return Family(_core.family(questions.question(scenario, options)))


def plan(scenario: Scenario = None, *, devices: int, max_overhead: str | float | None = None,
         **options: Unpack[Options]) -> Plan:
    """The best placements on so many devices. `max_overhead` is a share, 0.02, or a text, "2 %"."""
    asked = questions.question(scenario, options)
    return Plan(_core.plan(asked, _count("devices", devices), _share("max_overhead", max_overhead)))


def sweep(scenario: Scenario = None, axes: Mapping[str, Any] | Iterable[str] = (), *, max_points: int = 1_000_000,
          compute: float = 5.6, **options: Unpack[Options]) -> Sweep:
    """Every combination of the axes, {"block_size": [8, 16]} or ["block_size=1..L"]; without axes of block sizes.
    `compute` is that of the break-even, in PFLOP/s-days. Ctrl-C stops it."""
    asked = questions.question(scenario, options)
    return Sweep(_core.sweep(asked, _axes(axes), _count("max_points", max_points), _real("compute", compute)))


def explain(scenario: Scenario, metric: str | None = None, **options: Unpack[Options]) -> Explanation | list[str]:
    """One number, taken apart; without a metric the list of them."""
    answer = _core.Answer(questions.question(scenario, options), "")
    if metric is None:
        return answer.metrics()
    return Explanation(json.loads(answer.explanation(questions.text_of("metric", metric))))


def compare(measurements: str | os.PathLike[str] | None = None, *, published: bool = False,
            hardware: str | os.PathLike[str] | None = None, scenario: Scenario = None,
            tolerances: str | os.PathLike[str] | None = None, constants: str | os.PathLike[str] | None = None,
            workload: str | None = None, kernel_names: str | os.PathLike[str] | None = None, steps: int = 0,
            settings: Mapping[str, Any] | None = None) -> Comparison:
    """Predicted against measured: a table, samples, a profile or a profiler's trace, of which `scenario` says what it is
    a step of. `published` compares what others have measured."""
    of = None if scenario is None else questions.question(scenario, {"settings": settings or {}})
    texts = {name: _optional(name, value) for name, value in
             (("measurements", measurements), ("hardware", hardware), ("tolerances", tolerances),
              ("constants", constants), ("workload", workload), ("kernel_names", kernel_names))}
    return Comparison(_core.compare(**texts, published=bool(published), steps=_count("steps", steps), scenario=of))


def diff(before: Any, after: Any, *, tolerance: str | float | None = None, strict: bool = False) -> Difference:
    """What moved between two results of evaluate(): dicts, JSON texts or paths of them. `tolerance` is a share or a text,
    "1 %"; under `strict` an improvement is a difference, too."""
    (old, old_is_path), (new, new_is_path) = _result("before", before), _result("after", after)
    allowed = _share("tolerance", tolerance)
    return Difference(_core.diff(old, old_is_path, new, new_is_path, allowed, bool(strict)))


def import_config(config: str | os.PathLike[str] | Mapping[str, Any], *, family: str | None = None) -> str:
    """The model file, as YAML, that a Hugging Face config.json describes: its path, its text, or a dict. `family` is a
    model type to read it as."""
    kind, source = questions.source_of(config, "config")
    text = _json("config", source) if kind == "dict" else source if kind == "text" else ""
    return _core.import_config(text, source if kind == "path" else "", _optional("family", family))


def presets(kind: str | None = None) -> list[dict[str, str]]:
    """What is built in: kind ("models", "hardware", ...), id and name of each."""
    found = [dict(zip(("kind", "id", "name"), row)) for row in _core.presets()]
    kinds = sorted({row["kind"] for row in found})
    if kind is not None and kind not in kinds:
        raise InputError("kind", 1, 1, f"unknown kind '{kind}' (must be one of: {', '.join(kinds)})")
    return [row for row in found if kind in (None, row["kind"])]


def preset(id: str) -> str:
    """The file of a preset, as YAML."""
    return _core.preset(questions.text_of("id", id))


def _optional(name: str, value: Any) -> str:
    return "" if value is None else questions.text_of(name, value)


def _share(name: str, value: Any) -> str:
    """0.02 as "2 %"; a text as it is."""
    return _optional(name, value) if value is None or isinstance(value, str) else f"{100 * _real(name, value):.12g} %"


def _count(name: str, value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__") or not 0 <= value.__index__() < 2**63:
        raise InputError(name, 1, 1, f"invalid {name} '{str(value)[:60]}' (must be a whole number)")
    return int(value.__index__())


def _real(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(name, 1, 1, f"invalid {name} of type '{type(value).__name__}' (must be a number)") from None


def _axes(axes: Any) -> list[str]:
    if isinstance(axes, Mapping):
        return [f"{questions.text_of('axes', key)}={questions.text_of('axes', values)}" for key, values in axes.items()]
    if isinstance(axes, (str, bytes)) or not isinstance(axes, Iterable):
        raise InputError("axes", 1, 1, f"invalid axes of type '{type(axes).__name__}' (must be a dict, or a list of 'KEY=VALUES')")
    return [questions.text_of("axes", axis) for axis in axes]


def _result(name: str, result: Any) -> tuple[str, bool]:
    """A result as JSON or a path, and whether it is a path."""
    kind, source = questions.source_of(result, name)
    return (_json(name, source) if kind == "dict" else source), kind == "path"


def _json(name: str, value: Mapping[str, Any]) -> str:
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(name, 1, 1, f"invalid {name} (must hold texts, finite numbers, lists and dicts without a cycle: {error})") from None
