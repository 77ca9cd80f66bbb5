"""The Markdown of reports as HTML."""

import unittest
from html.parser import HTMLParser

import depthcost
from common import ROOT, Case
from depthcost import chart, html


class Nesting(HTMLParser):
    """Fails where a tag is not closed where it should be."""

    EMPTY = {"rect", "path", "meta", "br", "circle", "use", "line", "polygon"}

    def __init__(self):
        super().__init__()
        self.open = []
        self.texts = []

    def handle_starttag(self, tag, attributes):
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.EMPTY:
            assert self.open.pop() == tag, tag

    def handle_data(self, data):
        self.texts.append((tuple(self.open), data))


def read(markdown, pictures=None):
    parser = Nesting()
    parser.feed(html.document(markdown, pictures or {}))
    parser.close()
    assert not parser.open, parser.open
    return parser


class HtmlTest(Case):
    def body(self, markdown, **pictures):
        return html.document(markdown, pictures).removeprefix('<div class="depthcost">').removesuffix("</div>")

    def test_blocks(self):
        self.assertEqual(self.body("# A `b`\n\none\ntwo\n"), "<h1>A <code>b</code></h1>\n<p>one two</p>")
        self.assertEqual(self.body("- a\n- **b**\n"), "<ul><li>a</li><li><b>b</b></li></ul>")
        self.assertEqual(self.body("```text\na < b\n```\n"), "<pre>a &lt; b</pre>")
        self.assertEqual(self.body("| a | b |\n| --- | ---: |\n| 1 | 2\\|3 |\n"),
                         '<table><thead><tr><th>a</th><th style="text-align:right">b</th></tr></thead><tbody><tr><td>1</td>'
                         '<td style="text-align:right">2|3</td></tr></tbody></table>')

    def test_marks(self):
        self.assertEqual(self.body("[a](https://b.c) [d](e.md)"), '<p><a href="https://b.c">a</a> d</p>')
        self.assertEqual(self.body("[a](javascript:b)"), "<p>a</p>")
        self.assertEqual(self.body("![cap](p)", p="<?xml?><svg></svg>"),
                         "<p><figure><svg></svg><figcaption>cap</figcaption></figure></p>")
        self.assertEqual(self.body("![cap](p)"), "<p>cap</p>")

    def test_what_a_user_writes_is_no_html(self):
        for text in ("<script>x</script>", "a <script>x</script>", "# <b>", "| <script> |\n| --- |\n", "`<i>`", "[<i>](https://a)"):
            self.assertNotRegex(self.body(text), "<script>|<i>|<b>")

    def test_every_golden_report_is_closed(self):
        names = sorted((ROOT / "tests/golden").glob("*.md"))
        self.assertGreater(len(names), 8)
        for path in names:
            with self.subTest(path.name):
                found = read(path.read_text())
                for where, text in found.texts:
                    if "pre" not in where and "code" not in where:
                        self.assertNotRegex(text, r"\*\*|`|^\| ")

    def test_a_chart_where_there_are_times(self):
        self.assertEqual(chart.added_times({"step": []}), "")
        answer = depthcost.evaluate(model="llama_3_1_70b", hardware="h100_sxm", tensor=8, residual="block_attnres", block_size=16)
        picture = chart.added_times(answer)
        self.assertEqual(picture.count("<rect"), len({(row["workload"], row["scheme"]) for row in answer["step"]} - {
            (row["workload"], "standard") for row in answer["step"]}))
        read("", {}).feed(picture)

    def test_a_chart_writes_times_as_the_program_does(self):
        row = {"workload": "decode/1", "scheme": "mhc", "schedule": "fused"}
        for value, text in ((0.00253, "+2.53 ms"), (0.9996, "+1.00 s"), (-1.3e-6, "-1.30 us")):
            picture = chart.added_times({"step": [row | dict.fromkeys(("delta_low", "delta_seconds", "delta_high"), value)]})
            self.assertIn(f">{text}<", picture)


if __name__ == "__main__":
    unittest.main()
