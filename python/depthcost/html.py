"""Answers as HTML for notebooks: the Markdown that the model writes, its pictures inside."""

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
