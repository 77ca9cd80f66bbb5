"""Answers as HTML for notebooks: the Markdown that the model writes, its plots inside, and one chart of our own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from typing import Any

_INLINE = re.compile(r"`(?P<code>[^`]+)`|\*\*(?P<bold>.+?)\*\*|!\[(?P<alt>[^\]]*)\]\((?P<picture>[^)]+)\)"
                     r"|\[(?P<link>[^\]]*)\]\((?P<target>[^)]+)\)|\\(?P<plain>[!-/:-@\[-`{-~])")
_LINK_TARGETS = ("https://", "http://")


def chart_mark(name: str) -> str:
    """Markdown where the picture of that name is to stand."""
    return f"\n![]({name})\n"


def document(markdown: str, pictures: Mapping[str, str]) -> str:
    """The Markdown as HTML. Pictures are SVG, by the names that it has for them."""
    return _Reader(markdown.splitlines(), pictures).html()


class _Reader:
    """Reads the Markdown that reports are written in: headings, paragraphs, lists, tables, code, folded parts."""

    def __init__(self, lines: list[str], pictures: Mapping[str, str]) -> None:
        self._lines = lines
        self._pictures = pictures
        self._next = 0
        self._out: list[str] = []

    def html(self) -> str:
        while self._next < len(self._lines):
            self._block()
        return '<div class="depthcost">' + "\n".join(self._out) + "</div>"

    def _take_while(self, pattern: str) -> list[str]:
        start = self._next
        while self._next < len(self._lines) and re.match(pattern, self._lines[self._next]):
            self._next += 1
        return self._lines[start : self._next]

    def _block(self) -> None:
        line = self._lines[self._next]
        if heading := re.match(r"(#{1,6}) (.*)", line):
            level = len(heading[1])
            self._add(f"<h{level}>{self._inline(heading[2])}</h{level}>")
        elif line.startswith("```"):
            self._next += 1
            code = self._take_while(r"(?!```)")
            self._add(f"<pre>{escape(chr(10).join(code))}</pre>")
        elif line.startswith("| "):
            self._table(self._take_while(r"\|"))
        elif line.startswith("- "):
            items = self._take_while(r"- |  ")
            self._out.append("<ul>" + "".join(f"<li>{self._inline(item[2:])}</li>" for item in items) + "</ul>")
        elif re.fullmatch(r"</details>|<details>(<summary>[^<>]*</summary>)?|<summary>[^<>]*</summary>", line):
            self._add(line)
        elif re.fullmatch(r"\s*|<!--.*-->", line):
            self._next += 1
        else:
            self._out.append(f"<p>{self._inline(' '.join(self._take_while(r'(?![-|#<`] ?)|`[^`]')) or self._taken())}</p>")

    def _taken(self) -> str:
        self._next += 1
        return self._lines[self._next - 1]

    def _add(self, html: str) -> None:
        self._out.append(html)
        self._next += 1

    def _table(self, lines: list[str]) -> None:
        rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
        right = [cell.endswith(":") for cell in rows[1]] if len(rows) > 1 else []

        def row(cells: list[str], tag: str) -> str:
            def style(column: int) -> str:
                return ' style="text-align:right"' if column < len(right) and right[column] else ""

            made = (f"<{tag}{style(i)}>{self._inline(cell)}</{tag}>" for i, cell in enumerate(cells))
            return "<tr>" + "".join(made) + "</tr>"

        body = "".join(row(cells, "td") for cells in rows[2:])
        self._out.append(f"<table><thead>{row(rows[0], 'th')}</thead><tbody>{body}</tbody></table>")

    def _inline(self, text: str) -> str:
        out, at = [], 0
        for match in _INLINE.finditer(text):
            out.append(escape(text[at : match.start()]))
            out.append(self._marked(match))
            at = match.end()
        return "".join(out) + escape(text[at:])

    def _marked(self, match: re.Match[str]) -> str:
        if match["code"] is not None:
            return f"<code>{escape(match['code'])}</code>"
        if match["bold"] is not None:
            return f"<b>{self._inline(match['bold'])}</b>"
        if match["picture"] is not None:
            drawn = self._pictures.get(match["picture"])
            caption = escape(match["alt"])
            return f"<figure>{_inside(drawn)}<figcaption>{caption}</figcaption></figure>" if drawn else caption
        if match["link"] is not None:
            text = self._inline(match["link"])
            return f'<a href="{escape(match["target"])}">{text}</a>' if match["target"].startswith(_LINK_TARGETS) else text
        return escape(match["plain"])


def _inside(svg: str) -> str:
    """The SVG without what only a file has."""
    return svg[max(0, svg.find("<svg")) :]


_WIDTH, _ROW, _LEFT, _RIGHT = 640, 22, 230, 90


def added_times(evaluation: Mapping[str, Any]) -> str:
    """What each scheme adds to a step in the middle of its interval, as bars, and the interval as a line; an empty text
    where no time is modelled."""
    rows = [row for row in evaluation.get("step", ()) if row["delta_high"] is not None and row["scheme"] != "standard"]
    rows = _shipped(rows)
    if not rows:
        return ""
    lines = []
    for index, row in enumerate(rows):
        lines += _bar(index, row, max(other["delta_high"] for other in rows if other["workload"] == row["workload"]))
    height = _ROW * len(rows) + 8
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" '
            f'role="img" font-family="sans-serif" font-size="12"><title>Time that each scheme adds to a step</title>'
            + "".join(lines) + "</svg>")


def _shipped(rows: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Of each scheme and workload the schedule that adds least."""
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
            f'<text x="{_LEFT + high + 6:.1f}" y="{top + 13}" fill="currentColor">+{seconds(row["delta_seconds"])}</text>']


def seconds(value: float) -> str:
    """Three digits with a unit: "50.8 us"."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if abs(value) >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"
