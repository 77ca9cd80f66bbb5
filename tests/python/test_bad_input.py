"""Whatever is wrong is one InputError, whose whole text says where and why."""

import os
import tempfile
import threading
import unittest

import depthcost
from common import LLAMA, Case
from test_answers import TINY, TINY_DICT


def with_value(path, value):
    """TINY_DICT with another value at a path."""
    keys = path.split(".")

    def changed(tree, at):
        inner = value if at + 1 == len(keys) else changed(tree.get(keys[at], {}), at + 1)
        return {**tree, keys[at]: inner}

    return changed(TINY_DICT, 0)


class DictTest(Case):
    def test_types(self):
        for value, kind in ((b"16", "bytes"), ({1}, "set"), (object(), "object"), (1j, "complex")):
            self.refused(f"residual.block_size:1:1: error: invalid value of type '{kind}' (must be a dict, a list, a text, "
                         "a number, True, False or None)", depthcost.evaluate, with_value("residual.block_size", value))
        self.refused("residual:1:1: error: invalid key of type 'int' (must be a text)", depthcost.evaluate,
                     with_value("residual", {1: 2}))

    def test_values_are_checked_as_those_of_a_file(self):
        error = self.refused("residual.block_size:1:1: error: invalid residual.block_size '-4' (must be a positive integer)",
                             depthcost.evaluate, with_value("residual.block_size", -4))
        self.assertEqual((error.file, error.line, error.column, error.problem, error.why),
                         ("residual.block_size", 1, 1, "invalid residual.block_size '-4'", "must be a positive integer"))

    def test_numbers_that_are_not_finite(self):
        for value, name in ((float("nan"), "nan"), (float("inf"), "inf"), (-float("inf"), "-inf")):
            self.refused(f"workload.decode.context:1:1: error: invalid number '{name}' (must be finite)",
                         depthcost.evaluate, with_value("workload.decode.context", value))

    def test_a_number_with_very_many_digits(self):
        self.refused("residual.block_size:1:1: error: invalid whole number (too many digits)",
                     depthcost.evaluate, with_value("residual.block_size", 10**5000))

    def test_cycles(self):
        cycle = dict(TINY_DICT)
        cycle["workload"] = {"decode": cycle}
        with self.assertRaisesRegex(depthcost.InputError, r"nested too deeply \(at most 64 levels; or it holds itself\)$"):
            depthcost.evaluate(cycle)
        endless = []
        endless.append(endless)
        with self.assertRaisesRegex(depthcost.InputError, r"nested too deeply"):
            depthcost.evaluate(with_value("residual.compare", endless))

    def test_huge_dicts(self):
        huge = {f"key_{i}": i for i in range(200_000)}
        self.refused("scenario:1:1: error: scenario too large (at most 1 MB)", depthcost.evaluate, huge)
        self.refused("scenario:1:1: error: scenario too large (at most 1 MB)", depthcost.evaluate,
                     with_value("name", "x" * 2_000_000))
        self.refused("scenario:1:1: error: scenario too large (at most 1 MB)", depthcost.evaluate,
                     with_value("workload.decode.sequences", [1] * 1_000_000))

    def test_texts_that_are_none(self):
        self.refused("name:1:1: error: invalid text (holds half of a surrogate pair, which is not UTF-8)",
                     depthcost.evaluate, with_value("name", "\ud800"))
        with self.assertRaisesRegex(depthcost.InputError, r"^name:1:2: error: invalid byte '\\x00' \(a control character\)$"):
            depthcost.evaluate(with_value("name", "a\0b"))

    def test_an_unknown_key(self):
        with self.assertRaisesRegex(depthcost.InputError, r"^residual.blocksize:1:1: error: unknown key .*block_size"):
            depthcost.evaluate(with_value("residual.blocksize", 16))

    def test_numbers_of_other_libraries(self):
        class Whole:
            def __index__(self):
                return 8

        found = depthcost.evaluate(with_value("residual.block_size", Whole()))
        self.assertEqual(found["step"], depthcost.evaluate(with_value("residual.block_size", 8))["step"])


class SourceTest(Case):
    def test_types(self):
        for value, kind in ((5, "int"), ([TINY], "list"), (object(), "object")):
            self.refused(f"scenario:1:1: error: invalid scenario of type '{kind}' (must be a path, a text or a dict)",
                         depthcost.evaluate, value)
        for value in (TINY.encode(), bytearray(TINY.encode())):
            self.refused(f"scenario:1:1: error: invalid scenario of type '{type(value).__name__}' (decode it to a text first)",
                         depthcost.evaluate, value)
        self.refused("scenario:1:1: error: missing scenario (a path, YAML text or a dict; or the argument model)",
                     depthcost.evaluate)
        self.refused("scenario:1:1: error: missing value (the text is empty)", depthcost.evaluate, "")

    def test_a_place_in_a_text(self):
        self.refused("scenario:5:47: error: invalid residual.block_size 'many' (must be a positive integer)",
                     depthcost.evaluate, TINY.replace("block_size: 16", "block_size: many"))

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            gone = os.path.join(folder, "gone.yaml")
            self.refused(f"{gone}:1:1: error: cannot read the file (no such file or directory)", depthcost.evaluate, gone)
            self.refused(f"{folder}:1:1: error: cannot read the file (a directory)", depthcost.evaluate, folder)
            with open(gone, "wb") as file:
                file.write(b"\xff\xfe")
            self.refused(f"{gone}:1:1: error: invalid byte '\\xFF' (not UTF-8)", depthcost.evaluate, gone)

    def test_a_file_that_vanishes_while_others_read_it(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "tiny.yaml")
            stop = threading.Event()

            def come_and_go():
                while not stop.is_set():
                    with open(path + ".new", "w") as file:
                        file.write(TINY)
                    os.replace(path + ".new", path)
                    os.unlink(path)

            thread = threading.Thread(target=come_and_go)
            thread.start()
            outcomes = set()
            try:
                for _ in range(200):
                    try:
                        depthcost.evaluate(path, rows="sums")
                        outcomes.add("answered")
                    except depthcost.InputError as error:
                        outcomes.add(str(error).replace(path, "PATH"))
            finally:
                stop.set()
                thread.join()
        self.assertLessEqual(outcomes, {"answered", "PATH:1:1: error: cannot read the file (no such file or directory)"})


class ArgumentTest(Case):
    def test_unknown_and_conflicting(self):
        with self.assertRaisesRegex(depthcost.InputError, r"^tensors:1:1: error: unknown argument 'tensors' \(must be one of: model"):
            depthcost.evaluate(model="llama_3_1_70b", tensors=8)
        self.refused("tensor:1:1: error: conflicting argument 'tensor' (a scenario is given; settings replaces its values)",
                     depthcost.evaluate, TINY, tensor=8)
        self.refused("rows:1:1: error: invalid rows 'all' (must be sums | launches | layers)", depthcost.evaluate, TINY, rows="all")

    def test_types(self):
        self.refused("tensor:1:1: error: invalid value of type 'bool' (must be a text, a number or a list)",
                     depthcost.evaluate, **{**LLAMA, "tensor": True})
        self.refused("tensor:1:1: error: invalid value of type 'bytes' (decode it to a text first)",
                     depthcost.evaluate, **{**LLAMA, "tensor": b"8"})
        self.refused("context:1:1: error: invalid number 'nan' (must be finite)",
                     depthcost.evaluate, **{**LLAMA, "context": float("nan")})
        self.refused("budgets:1:1: error: invalid budgets of type 'int' (must be a dict, or a list of 'KEY=VALUE')",
                     depthcost.evaluate, **LLAMA, budgets=5)
        self.refused("axes:1:1: error: invalid axes of type 'str' (must be a dict, or a list of 'KEY=VALUES')",
                     depthcost.sweep, TINY, "block_size=1..L")
        self.refused("devices:1:1: error: invalid devices '8.5' (must be a whole number)",
                     depthcost.plan, TINY, devices=8.5)
        self.refused("compute:1:1: error: invalid compute of type 'str' (must be a number)",
                     depthcost.sweep, TINY, compute="much")

    def test_options_are_named_as_arguments(self):
        self.refused("block_size:1:1: error: unused option (scheme mhc has no blocks; try --residual block_attnres)",
                     depthcost.evaluate, model="llama_3_1_70b", residual="mhc", block_size=16)

    def test_unknown_names(self):
        with self.assertRaisesRegex(depthcost.InputError, r"^presets:1:1: error: unknown preset 'kimi'; did you mean"):
            depthcost.preset("kimi")
        with self.assertRaisesRegex(depthcost.InputError, r"^kind:1:1: error: unknown kind 'gpu' \(must be one of: "):
            depthcost.presets("gpu")
        with self.assertRaisesRegex(depthcost.InputError, r"^scenario:1:1: error: unknown metric 'nothing'"):
            depthcost.explain(TINY, "nothing")

    def test_results(self):
        self.refused("before:1:1: error: invalid before of type 'int' (must be a path, a text or a dict)", depthcost.diff, 1, 2)
        with self.assertRaisesRegex(depthcost.InputError, r"^before:1:1: error: "):
            depthcost.diff({"a": 1}, {"b": 2})
        with self.assertRaisesRegex(depthcost.InputError, r"^before:1:1: error: invalid before \(must hold texts, finite"):
            depthcost.diff({"a": float("nan")}, {})

    def test_no_comparison_of_nothing(self):
        self.refused("compare:1:1: error: conflicting --published (a table is given)",
                     depthcost.compare, "table.csv", published=True)

    def test_a_scenario_that_check_refuses(self):
        self.refused("scenario:5:47: error: invalid residual.block_size 'many' (must be a positive integer)",
                     depthcost.check, TINY.replace("block_size: 16", "block_size: many"))
        self.refused("scenario:1:1: error: missing key 'budgets' (a scenario without budgets cannot be checked; for example "
                     "budgets: {decode_overhead: 2 %})", depthcost.check, TINY.split("budgets:")[0])


class ErrorTest(Case):
    def test_is_a_value_error_with_parts(self):
        self.assertTrue(issubclass(depthcost.InputError, ValueError))
        for message, problem, why in (("a problem (why)", "a problem", "why"), ("none", "none", ""),
                                      ("f(x) is wrong (see g(x))", "f(x) is wrong", "see g(x)"), ("(all)", "(all)", "")):
            error = depthcost.InputError("a.yaml", 2, 3, message)
            self.assertEqual((error.problem, error.why), (problem, why))
            self.assertEqual(str(error), f"a.yaml:2:3: error: {message}")


if __name__ == "__main__":
    unittest.main()
