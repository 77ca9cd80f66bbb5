"""What may be asked about, and how it is handed to the model."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypedDict, Union

from depthcost import _core
from depthcost.errors import InputError

if TYPE_CHECKING:
    if sys.version_info >= (3, 11):
        from typing import Unpack as Unpack
    else:
        from typing_extensions import Unpack as Unpack

# A path, YAML text (it has a line break, or begins with a brace), or a dict with the same keys.
Scenario = Union[str, "os.PathLike[str]", Mapping[str, Any], None]


class Options(TypedDict, total=False):
    """In place of a scenario, as the program's options of these names; `settings` also beside one."""

    model: str | os.PathLike[str] | Mapping[str, Any]
    hardware: str | os.PathLike[str]
    tensor: int
    data: int
    expert: int
    pipeline: int
    residual: str | Iterable[str]
    block_size: int
    compare: str | Iterable[str]
    decode: int | Iterable[int] | str
    context: int
    prefill: int | str
    training: int
    budgets: Mapping[str, Any] | Iterable[str]
    settings: Mapping[str, Any] | Iterable[str]


_LISTS = ("budgets", "settings")
_NAMES = tuple(Options.__annotations__)


def question(scenario: Scenario, options: Mapping[str, Any]) -> _core.Question:
    """Raises InputError for what is no scenario."""
    for name in options:
        if name not in _NAMES:
            raise InputError(name, 1, 1, f"unknown argument '{name}' (must be one of: {', '.join(_NAMES)})")
    given = {name: value for name, value in options.items() if value is not None}
    budgets, settings = (_pairs(name, given.pop(name, ())) for name in _LISTS)
    texts = {name: text_of(name, value) for name, value in given.items()}
    if scenario is None:
        if "model" not in texts:
            raise InputError("scenario", 1, 1, "missing scenario (a path, YAML text or a dict; or the argument model)")
        return _core.question("", None, texts, budgets, settings)
    for name in (*texts, *(["budgets"] if budgets else [])):
        raise InputError(name, 1, 1, f"conflicting argument '{name}' (a scenario is given; settings replaces its values)")
    kind, source = source_of(scenario)
    return _core.question(kind, source, {}, [], settings)


def source_of(scenario: Any, name: str = "scenario") -> tuple[str, Any]:
    """("path" | "text" | "dict", what the model takes)."""
    if isinstance(scenario, (bytes, bytearray, memoryview)):
        raise InputError(name, 1, 1, f"invalid {name} of type '{type(scenario).__name__}' (decode it to a text first)")
    if isinstance(scenario, Mapping):
        return "dict", scenario if isinstance(scenario, dict) else dict(scenario)
    if isinstance(scenario, os.PathLike):
        scenario = os.fspath(scenario)
        if isinstance(scenario, str):
            return "path", checked(name, scenario)
    if not isinstance(scenario, str):
        raise InputError(name, 1, 1, f"invalid {name} of type '{type(scenario).__name__}' (must be a path, a text or a dict)")
    is_text = "\n" in scenario or scenario.lstrip().startswith("{")
    return "text" if is_text else "path", checked(name, scenario)


def checked(name: str, text: str) -> str:
    """The text, if it can be a path or an option."""
    if not text:
        raise InputError(name, 1, 1, "missing value (the text is empty)")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(name, 1, 1, "invalid text (holds half of a surrogate pair, which is not UTF-8)") from None
    if "\0" in text:
        raise InputError(name, 1, 1, "invalid text (holds a null character)")
    return text


def text_of(name: str, value: Any) -> str:
    """A value as it is typed on a command line; a list with commas."""
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str):
        return checked(name, value)
    if isinstance(value, (bytes, bytearray)):
        raise InputError(name, 1, 1, f"invalid value of type '{type(value).__name__}' (decode it to a text first)")
    if not isinstance(value, bool):
        if hasattr(value, "__index__"):
            return str(value.__index__())
        if hasattr(value, "__float__"):
            return _number(name, float(value))
        if isinstance(value, Iterable) and not isinstance(value, Mapping):
            return checked(name, ",".join(text_of(name, item) for item in value))
    raise InputError(name, 1, 1, f"invalid value of type '{type(value).__name__}' (must be a text, a number or a list)")


def _number(name: str, value: float) -> str:
    if value != value or value in (float("inf"), float("-inf")):
        raise InputError(name, 1, 1, f"invalid number '{value}' (must be finite)")
    return repr(value)


def _pairs(name: str, given: Any) -> list[str]:
    """["KEY=VALUE"], of a dict or as it is."""
    if isinstance(given, Mapping):
        return [f"{text_of(name, key)}={_yaml(name, value)}" for key, value in given.items()]
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(name, 1, 1, f"invalid {name} of type '{type(given).__name__}' (must be a dict, or a list of 'KEY=VALUE')")
    return [text_of(name, pair) for pair in given]


def _yaml(name: str, value: Any) -> str:
    """A value as YAML on one line, which all JSON is."""
    if isinstance(value, (bool, list, tuple, dict)) or value is None:
        try:
            return json.dumps(value, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            raise InputError(name, 1, 1, f"invalid value of type '{type(value).__name__}' (must hold texts and finite numbers)") from None
    return text_of(name, value)
