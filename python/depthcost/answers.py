"""What comes back: plain dicts of the documented JSON, each with the same answer for people."""

from __future__ import annotations

import json
import os
import pathlib
from typing import TYPE_CHECKING, Any

from depthcost import _core, chart, html

if TYPE_CHECKING:
    import pandas


class Answer(dict[str, Any]):
    """The JSON as a dict. Pickled and copied it is a plain dict."""

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)

    def to_json(self) -> str:
        return json.dumps(self, indent=2) + "\n"

    def to_markdown(self) -> str:
        raise NotImplementedError

    def to_frame(self, rows: str) -> pandas.DataFrame:
        """The list at the path `rows`, such as "step" or "training.chunks", as a table of pandas: one column for each
        number or word, inner names joined by dots."""
        import pandas

        found: Any = self
        for part in rows.split("."):
            if not isinstance(found, dict) or part not in found:
                raise KeyError(f"no rows '{rows}' (there are: {', '.join(self._row_paths())})")
            found = found[part]
        return pandas.json_normalize(found)

    def _row_paths(self) -> list[str]:
        def is_table(value: Any) -> bool:
            return isinstance(value, list) and bool(value) and isinstance(value[0], dict)

        inner = {f"{k}.{i}": v for k, o in self.items() if isinstance(o, dict) for i, v in o.items()}
        return [path for path, value in {**self, **inner}.items() if is_table(value)]

    def _repr_html_(self) -> str:
        return html.document(self.to_markdown(), self._pictures())

    def _pictures(self) -> dict[str, str]:
        return {}


class Evaluation(Answer):
    """Every number of a scenario, as `depthcost evaluate --format json` writes them."""

    def __init__(self, answer: _core.Answer, rows: str) -> None:
        super().__init__(json.loads(answer.json(rows)))
        self._answer = answer

    @property
    def verdict(self) -> str:
        """The first screen of the report."""
        return self._answer.verdict()

    def to_markdown(self) -> str:
        """The report, without plots."""
        return self._answer.markdown()

    def to_frame(self, rows: str = "step") -> pandas.DataFrame:
        return super().to_frame(rows)

    def metrics(self) -> list[str]:
        """What explain() knows."""
        return self._answer.metrics()

    def explain(self, metric: str) -> Explanation:
        """One number, taken apart."""
        return Explanation(json.loads(self._answer.explanation(metric)))

    def _repr_html_(self) -> str:
        return html.document(self.to_markdown() + html.chart_mark("added"), {"added": chart.added_times(self)})


class Explanation(Answer):
    """Keys: metric, formula, source, numbers (the formula with numbers, a step each), function, text."""

    def to_markdown(self) -> str:
        return f"```text\n{self['text']}```\n"

    def __str__(self) -> str:
        return str(self["text"])


class Documented(Answer):
    """An answer whose document is made with it."""

    def __init__(self, documents: tuple[str, str]) -> None:
        super().__init__(json.loads(documents[0]))
        self._markdown = documents[1]

    def to_markdown(self) -> str:
        return self._markdown


class Family(Documented):
    """Every residual scheme on one model, counted the same way."""

    def to_frame(self, rows: str = "family") -> pandas.DataFrame:
        return super().to_frame(rows)


class Plan(Documented):
    """The best placements on so many devices; `plans` is empty where none keeps the limits."""

    def to_frame(self, rows: str = "plans") -> pandas.DataFrame:
        return super().to_frame(rows)


class Comparison(Documented):
    """Predicted against measured."""

    def to_frame(self, rows: str = "cases") -> pandas.DataFrame:
        return super().to_frame(rows)


class Check(Documented):
    """The budgets of a scenario. True where all hold."""

    def __init__(self, answer: tuple[str, str, bool]) -> None:
        super().__init__(answer[:2])
        self.holds = answer[2]

    def __bool__(self) -> bool:
        return self.holds


class Difference(Documented):
    """What moved between two results. True where nothing did for the worse by more than the tolerance."""

    def __init__(self, answer: tuple[str, str, bool]) -> None:
        super().__init__(answer[:2])
        self.holds = answer[2]

    def __bool__(self) -> bool:
        return self.holds


class Sweep(Documented):
    """Many choices under many circumstances, and the one that is recommended."""

    def __init__(self, swept: _core.Swept) -> None:
        super().__init__(swept.documents())
        self._swept = swept

    def __str__(self) -> str:
        return self._swept.text()

    def to_csv(self) -> str:
        """One line for each point."""
        return self._swept.csv()

    def to_frame(self, rows: str = "points") -> pandas.DataFrame:
        return super().to_frame(rows)

    @property
    def plots(self) -> dict[str, str]:
        """SVG by file name; empty where gnuplot is not installed, or where there is nothing to draw."""
        return dict(self._swept.plots()[0])

    def _repr_html_(self) -> str:
        plots = self.plots
        return html.document(self.to_markdown() + "".join(map(html.chart_mark, plots)), plots)


class Report:
    """The report of a scenario: documents in Markdown and plots in SVG, by file name."""

    def __init__(self, made: tuple[list[tuple[str, str]], str, str]) -> None:
        self.files = dict(made[0])
        self.summary = made[1]
        self.missing_plots = made[2]
        self._name = made[0][-1][0]

    def __str__(self) -> str:
        return self.summary

    @property
    def plots(self) -> dict[str, str]:
        return {name: text for name, text in self.files.items() if name.endswith(".svg")}

    def to_markdown(self) -> str:
        return self.files[self._name]

    def write(self, folder: str | os.PathLike[str]) -> pathlib.Path:
        """Writes all files into the folder or none, and returns the path of the report."""
        path = pathlib.Path(folder)
        _core.write_files(str(path), list(self.files.items()))
        return path / self._name

    def _repr_html_(self) -> str:
        return html.document(self.to_markdown(), self.plots)


