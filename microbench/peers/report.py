"""Rows of the comparison as a table and as JSON."""

import json
import math
from dataclasses import asdict, dataclass

from measure import Comparison

TIMED, WRONG, FAILED, SKIPPED = "timed", "wrong", "failed", "skipped"

HEADINGS = ("operation", "implementation", "us", "ours, us", "ratio", "quartiles", "error")


@dataclass(frozen=True)
class Row:
    device: str
    operation: str
    peer: str
    status: str
    reason: str = ""
    error: float | None = None  # largest relative L2 of a token
    comparison: Comparison | None = None


def first_line(error: BaseException, limit: int = 160) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
    return text if len(text) <= limit else text[: limit - 3] + "..."


def cells(row: Row) -> tuple:
    error = "" if row.error is None else f"{row.error:.1e}"
    if row.status != TIMED:
        return (row.operation, row.peer, f"{row.status}: {row.reason}", "", "", "", error)
    c = row.comparison
    if c is None:  # ours, which is only checked
        return (row.operation, row.peer, "", "", "", "", error)
    mark = " host-paced" if c.is_host_paced else ""
    return (row.operation, row.peer, f"{c.peer * 1e6:.1f}", f"{c.ours * 1e6:.1f}",
            f"{c.ratio:.2f}{mark}", f"{c.first_quartile:.2f} .. {c.third_quartile:.2f}", error)


def table(rows: list) -> str:
    """`ratio` is a peer's time over ours. A reason runs over the columns to its right."""
    lines = [HEADINGS, *(cells(row) for row in rows)]
    spanning = [i > 0 and rows[i - 1].status != TIMED for i in range(len(lines))]
    widths = [max(len(line[column]) for line, spans in zip(lines, spanning)
                  if not (spans and column == 2)) for column in range(len(HEADINGS))]
    text = []
    for line, spans in zip(lines, spanning):
        if spans:
            padded = [line[0].ljust(widths[0]), line[1].ljust(widths[1]), line[2]]
            padded += [f"(error {line[6]})"] if line[6] else []
        else:
            padded = [cell.ljust(width) if column < 2 else cell.rjust(width)
                      for column, (cell, width) in enumerate(zip(line, widths))]
        text.append("  ".join(padded).rstrip())
    return "\n".join(text)


def as_json(rows: list, context: dict) -> str:
    return json.dumps({"context": context, "results": [_finite(asdict(row)) for row in rows]},
                      indent=2) + "\n"


def _finite(value):
    """JSON has no NaN and no infinity."""
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
