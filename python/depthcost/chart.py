"""What each scheme adds to a step, as bars in SVG."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from depthcost import _core

_WIDTH, _ROW, _LEFT, _RIGHT = 640, 22, 230, 90


def added_times(evaluation: Mapping[str, Any]) -> str:
    """What each scheme adds to a step in the middle of its interval, as bars, and the interval as a line; an empty text
    where no time is modelled."""
    rows = [row for row in evaluation.get("step", ()) if row["delta_high"] is not None and row["scheme"] != "standard"]
    rows = _cheapest(rows)
    if not rows:
        return ""
    lines = []
    for index, row in enumerate(rows):
        lines += _bar(index, row, max(other["delta_high"] for other in rows if other["workload"] == row["workload"]))
    height = _ROW * len(rows) + 8
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" '
            f'role="img" font-family="sans-serif" font-size="12"><title>Time that each scheme adds to a step</title>'
            + "".join(lines) + "</svg>")


def _cheapest(rows: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The schedule that adds least, for each scheme and workload."""
    best: dict[tuple[str, str], Mapping[str, Any]] = {}
    for row in rows:
        key = row["workload"], row["scheme"]
        if key not in best or row["delta_seconds"] < best[key]["delta_seconds"]:
            best[key] = row
    return sorted(best.values(), key=lambda row: [key[0] for key in best].index(row["workload"]))


def _bar(index: int, row: Mapping[str, Any], most: float) -> list[str]:
    scale = (_WIDTH - _LEFT - _RIGHT) / most if most > 0 else 0
    top = _ROW * index + 4
    low, middle, high = (max(0.0, row[key]) * scale for key in ("delta_low", "delta_seconds", "delta_high"))
    name = escape(f"{row['workload']}: {row['scheme']}, {row['schedule']}")
    return [f'<text x="{_LEFT - 6}" y="{top + 13}" text-anchor="end" fill="currentColor" font-size="10">{name}</text>',
            f'<rect x="{_LEFT}" y="{top + 3}" width="{middle:.1f}" height="{_ROW - 8}" fill="#4c78a8"/>',
            f'<path d="M{_LEFT + low:.1f} {top + 10}H{_LEFT + high:.1f}" stroke="currentColor" stroke-width="1.5"/>',
            f'<text x="{_LEFT + high + 6:.1f}" y="{top + 13}" fill="currentColor">{_core.format_seconds(row["delta_seconds"])}</text>']
