"""Python in the README and the handbook is run, and prints what stands below it.

That is a block of text where the program prints it, too: tests/cli/readme_test.cpp reads such. Else it is one of output."""

import contextlib
import io
import re
import tempfile
import unittest

from common import ROOT, Case


def blocks(text):
    """(code, what is shown below it or None) of each block."""
    pattern = re.compile(r"^```python\n(.*?)^```\n(?:\n(?:<!-- begin \w+ -->\n\n)?```(?:text|output)\n(.*?)^```\n)?",
                         re.DOTALL | re.MULTILINE)
    return pattern.findall(text)


class DocumentTest(Case):
    def test_each_block_prints_what_it_shows(self):
        found = 0
        for path in (ROOT / "README.md", ROOT / "python/README.md", ROOT / "docs/pages/python.md"):
            names = {}
            with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
                for code, shown in blocks(path.read_text()):
                    found += 1
                    if "pandas" in code or "numpy" in code:
                        try:
                            import numpy  # noqa: F401
                            import pandas  # noqa: F401
                        except ImportError:
                            continue
                    with contextlib.redirect_stdout(io.StringIO()) as out:
                        exec(compile(code, path.name, "exec"), names)
                    if shown:
                        self.assertTrue(printed_as(shown, out.getvalue()), f"{path.name}:\n{code}\nprints\n{out.getvalue()}")
        self.assertGreaterEqual(found, 6)


def printed_as(shown, printed):
    """Whether it is what is printed; a line "..." stands for any number of lines."""
    parts = [re.escape(part) for part in re.split(r"^\.\.\.\n", shown, flags=re.MULTILINE)]
    return re.fullmatch(r"(?:.*\n)*?".join(parts), printed.rstrip("\n") + "\n") is not None


if __name__ == "__main__":
    unittest.main()
