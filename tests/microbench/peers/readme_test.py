"""readme_test.py LIBRARY: the tables of kernels/README.md beside others' kernels are those of the
results that stand in microbench/peers/measured. UPDATE_GOLDEN=1 rewrites them."""

import json
import os
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "microbench" / "peers"), str(ROOT / "kernels" / "c")]

import depthcost  # noqa: E402
import readme_table  # noqa: E402

# The project, or the copy of it that scripts/h200 writes to.
TREE = pathlib.Path(os.environ.get("DEPTHCOST_TREE", ROOT))
README = TREE / "kernels" / "README.md"
MEASURED = TREE / "microbench" / "peers" / "measured"


def documents_by_machine() -> dict:
    """"zen4.bf16.json" and "zen4.f32.json" are of the machine "zen4"."""
    machines: dict = {}
    for path in sorted(MEASURED.glob("*.json")):
        machines.setdefault(path.name.partition(".")[0], []).append(json.loads(path.read_text()))
    return machines


class ReadmeTest(unittest.TestCase):
    kernels = None

    def test_the_tables_are_the_results(self):
        machines = documents_by_machine()
        self.assertTrue(machines)
        readme = README.read_text()
        for machine, documents in machines.items():
            kind = documents[0]["context"]["devices"][0]["kind"]
            backend = getattr(self.kernels, f"DEPTHCOST_{kind.upper()}")
            text = readme_table.table(documents, self.kernels.kernels_hash(backend))
            begin, end = f"<!-- begin peers {machine} -->", f"<!-- end peers {machine} -->"
            self.assertIn(begin, readme)
            block = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", flags=re.DOTALL)
            wanted = f"{begin}\n\n{text}\n{end}"
            if "UPDATE_GOLDEN" in os.environ:
                readme = block.sub(lambda _: wanted, readme)
            else:
                self.assertEqual(block.search(readme)[0], wanted)
        if "UPDATE_GOLDEN" in os.environ:
            README.write_text(readme)

    def test_nobody_was_wrong_or_failed(self):
        for machine, documents in documents_by_machine().items():
            for document in documents:
                for result in document["results"]:
                    self.assertNotIn(result["status"], ("wrong", "failed"),
                                     f"{machine}: {result['operation']}, {result['peer']}")

    def test_a_table_is_of_one_device(self):
        [documents, *_] = documents_by_machine().values()
        other = json.loads(json.dumps(documents[0]))
        other["context"]["devices"][0]["threads"] += 1
        with self.assertRaisesRegex(ValueError, "^results of several devices"):
            readme_table.table([*documents, other], "")

    def test_other_kernels_make_a_table_stale(self):
        [documents, *_] = documents_by_machine().values()
        hash_then = documents[0]["context"]["devices"][0]["kernels_hash"]
        self.assertNotIn("stale", readme_table.table(documents, hash_then))
        self.assertIn(f"kernels {hash_then} (stale: the kernels have changed since).",
                      readme_table.table(documents, "another"))


if __name__ == "__main__":
    ReadmeTest.kernels = depthcost.Library(sys.argv.pop(1))
    unittest.main()
