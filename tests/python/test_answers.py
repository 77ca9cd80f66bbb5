"""Every function answers what the program prints, for a path, a text, a dict and options."""

import copy
import json
import os
import pickle
import tempfile
import threading
import unittest

import depthcost
from common import LLAMA, LLAMA_OPTIONS, PROGRAM, ROOT, SCENARIOS, Case, printed

KIMI = SCENARIOS / "kimi_k3_8xb300.yaml"
TRAINING = SCENARIOS / "kimi_k3_training.yaml"

TINY = """schema: depthcost/1
name: Tiny
model: llama_3_1_70b
hardware: h100_sxm
residual: {scheme: block_attnres, block_size: 16, compare: [mhc]}
parallelism: {tensor: 8}
workload: {decode: {sequences: [1, 64], context: 8192}}
budgets: {decode_overhead: 2 %}
"""
TINY_DICT = {
    "name": "Tiny", "model": "llama_3_1_70b", "hardware": "h100_sxm",
    "residual": {"scheme": "block_attnres", "block_size": 16, "compare": ["mhc"]},
    "parallelism": {"tensor": 8},
    "workload": {"decode": {"sequences": [1, 64], "context": 8192}},
    "budgets": {"decode_overhead": "2 %"},
}


def numbers(answer):
    """Without what names the question's origin."""
    return {key: value for key, value in answer.items() if key != "scenario"}


class EvaluateTest(Case):
    def test_answers_the_bytes_of_the_program(self):
        for path in sorted(SCENARIOS.glob("*.yaml")):
            with self.subTest(path.name):
                self.assertEqual(depthcost.evaluate(path), json.loads(printed("evaluate", path, "--format", "json")))

    def test_takes_options_in_place_of_a_scenario(self):
        expected = json.loads(printed("evaluate", *LLAMA_OPTIONS, "--format", "json"))
        self.assertEqual(depthcost.evaluate(**LLAMA), expected)

    def test_takes_the_same_scenario_in_every_form(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "tiny.yaml")
            with open(path, "w") as file:
                file.write(TINY)
            of_path, of_text, of_dict = map(depthcost.evaluate, (path, TINY, TINY_DICT))
        self.assertEqual(numbers(of_path), numbers(of_text))
        self.assertEqual(numbers(of_path), numbers(of_dict))
        self.assertGreater(len(of_path["step"]), 4)
        self.assertEqual(of_dict["scenario"]["values"]["residual.block_size"], {"value": "16", "origin": "residual.block_size"})

    def test_has_as_many_rows_as_are_asked_for(self):
        sums, launches, layers = (depthcost.evaluate(TINY, rows=rows) for rows in ("sums", "launches", "layers"))
        self.assertNotIn("time", sums)
        self.assertEqual({**sums, "time": launches["time"]}, launches)
        self.assertGreater(len(layers["ledger"]), len(launches["ledger"]))

    def test_replaces_values_by_settings(self):
        written = depthcost.evaluate(TINY.replace("block_size: 16", "block_size: 8"))
        for settings in ({"residual.block_size": 8}, ["residual.block_size=8"]):
            self.assertEqual(numbers(depthcost.evaluate(TINY, settings=settings)), numbers(written))
        batches = depthcost.evaluate(TINY, settings={"workload.decode.sequences": [2, 4]})
        self.assertEqual({row["workload"] for row in batches["step"]}, {"decode/2", "decode/4"})

    def test_does_not_depend_on_what_was_asked_before(self):
        first = depthcost.evaluate(TINY)
        depthcost.evaluate(KIMI)
        depthcost.evaluate(TINY, settings={"hardware": "h200_sxm"})
        self.assertEqual(depthcost.evaluate(TINY), first)

    def test_reads_a_changed_file_anew(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "tiny.yaml")
            seen = []
            for size in (16, 8):
                with open(path, "w") as file:
                    file.write(TINY.replace("block_size: 16", f"block_size: {size}"))
                seen.append(numbers(depthcost.evaluate(path)))
        self.assertNotEqual(*seen)

    def test_answers_threads_alike(self):
        expected = depthcost.evaluate(TINY)
        found = []
        threads = [threading.Thread(target=lambda: found.append(depthcost.evaluate(TINY))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [expected] * 8)

    def test_says_the_verdict_of_the_report(self):
        with tempfile.TemporaryDirectory() as folder:
            summary = printed("report", *LLAMA_OPTIONS, folder=folder)
        self.assertEqual(depthcost.evaluate(**LLAMA).verdict + "\n-> depthcost-report/llama_3_1_70b_8xh100_sxm_block_attnres.md\n", summary)

    def test_becomes_a_plain_dict_where_it_is_copied(self):
        answer = depthcost.evaluate(TINY, rows="sums")
        for copied in (pickle.loads(pickle.dumps(answer)), copy.deepcopy(answer)):
            self.assertIs(type(copied), dict)
            self.assertEqual(copied, answer)
        self.assertEqual(json.loads(answer.to_json()), answer)

    def test_is_shown_with_a_picture(self):
        shown = depthcost.evaluate(TINY)._repr_html_()
        self.assertIn("<svg", shown)
        self.assertIn("decode/64: block_attnres", shown)
        self.assertIn("<h1>Tiny</h1>", shown)
        self.assertNotIn("**", shown)


class OtherQuestionsTest(Case):
    def test_check(self):
        answer = depthcost.check(TINY)
        self.assertFalse(answer.holds)
        self.assertFalse(answer)
        self.assertIn("decode_overhead", answer.to_markdown())
        self.assertEqual(depthcost.check(TRAINING), json.loads(printed("check", TRAINING, "--format", "json")))
        self.assertTrue(depthcost.check(TRAINING))
        self.assertTrue(depthcost.check(TINY, settings={"budgets.decode_overhead": "50 %"}).holds)

    def test_sweep(self):
        answer = depthcost.sweep(TRAINING, ["block_size=4..24"])
        expected = printed("sweep", TRAINING, "--axis", "block_size=4..24", "--format", "json")
        self.assertEqual(answer, json.loads(expected))
        self.assertEqual(depthcost.sweep(TRAINING, {"block_size": range(4, 25)})["points"], answer["points"])
        self.assertEqual(answer.to_csv(), printed("sweep", TRAINING, "--axis", "block_size=4..24", "--format", "csv"))
        self.assertEqual(len(answer["points"]), 21)
        self.assertIn("| block_size |", answer.to_markdown())

    def test_sweep_of_what_has_no_file(self):
        swept = depthcost.sweep(TINY_DICT, {"hardware": ["h100_sxm", "h200_sxm"], "block_size": [8, 16]})
        self.assertEqual({(point["hardware"], point["residual.block_size"]) for point in swept["points"]},
                         {(gpu, size) for gpu in ("h100_sxm", "h200_sxm") for size in (8, 16)})

    def test_plan(self):
        question = {"model": "llama_3_1_70b", "hardware": "h100_sxm"}
        answer = depthcost.plan(devices=8, max_overhead="2 %", **question)
        self.assertEqual(answer, json.loads(printed("plan", "--model", "llama_3_1_70b", "--hardware", "h100_sxm",
                                                    "--devices", 8, "--max-overhead", "2 %", "--format", "json")))
        self.assertEqual(depthcost.plan(devices=8, max_overhead=0.02, **question), answer)
        self.assertTrue(answer["plans"])
        self.assertTrue(depthcost.plan(TINY_DICT, devices=8)["plans"])

    def test_family(self):
        answer = depthcost.family(model="llama_3_1_70b")
        self.assertEqual(answer, json.loads(printed("family", "--model", "llama_3_1_70b", "--format", "json")))
        self.assertIn("| rezero |", answer.to_markdown().replace("`", ""))
        self.assertTrue(depthcost.family(TINY)["family"])

    def test_explain(self):
        metrics = depthcost.explain(TRAINING)
        self.assertEqual(metrics, printed("explain", TRAINING).split())
        for metric in (metrics[0], metrics[-1]):
            told = depthcost.explain(TRAINING, metric)
            self.assertEqual(told["metric"], metric)
            self.assertEqual(str(told), printed("explain", TRAINING, metric))
        self.assertEqual(depthcost.evaluate(TINY).explain("ledger.block_attnres.two_phase.kernel")["metric"],
                         "ledger.block_attnres.two_phase.kernel")

    def test_compare(self):
        answer = depthcost.compare(published=True)
        self.assertEqual(answer, json.loads(printed("compare", "--published", "--format", "json")))
        with tempfile.TemporaryDirectory() as folder:
            table = os.path.join(folder, "kernels.csv")
            with open(table, "w") as file:
                file.write("operation,tokens,hidden_size,microseconds\nmhc_post,8192,4096,150\n")
            compared = depthcost.compare(table, hardware="h200_sxm")
        self.assertEqual(len(compared["cases"]), 1)
        self.assertIn("mhc_post", compared.to_markdown())

    def test_compare_with_a_trace(self):
        trace = ROOT / "tests/profile/traces/files/step.json"
        scenario = SCENARIOS / "kimi_k3_32xh200.yaml"
        expected = json.loads(printed("compare", trace, "--scenario", scenario, "--workload", "decode/64", "--format", "json"))
        self.assertEqual(depthcost.compare(trace, scenario=scenario, workload="decode/64"), expected)
        of_text = depthcost.compare(trace, scenario=scenario.read_text(), workload="decode/64")
        self.assertEqual(set(of_text), set(expected))

    def test_diff(self):
        before = depthcost.evaluate(TINY)
        after = depthcost.evaluate(TINY, settings={"residual.block_size": 8})
        self.assertTrue(depthcost.diff(before, before).holds)
        moved = depthcost.diff(before, after, tolerance="1 %")
        self.assertFalse(moved.holds)
        self.assertIn("decode/64", moved.to_markdown())
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in ("before", "after")]
            for path, answer in zip(paths, (before, after)):
                with open(path, "w") as file:
                    file.write(answer.to_json())
            by_path = depthcost.diff(*paths, tolerance=0.01)
        self.assertEqual(by_path["moved"], moved["moved"])

    def test_import_config(self):
        config = ROOT / "tests/scenarios/configs/qwen3_32b.json"
        expected = printed("import", config)
        self.assertEqual(depthcost.import_config(config), expected)
        of_dict = depthcost.import_config(json.loads(config.read_text()))
        self.assertEqual(of_dict.replace("config.json", "qwen3_32b.json"), expected)
        self.assertTrue(depthcost.evaluate(model=config, hardware="h100_sxm", tensor=8)["step"])

    def test_presets(self):
        rows = depthcost.presets()
        self.assertEqual(sum(row["kind"] == "models" for row in rows), len(depthcost.presets("models")))
        self.assertIn({"kind": "hardware", "id": "h200_sxm", "name": "NVIDIA H200 SXM"}, rows)
        self.assertEqual(depthcost.preset("kimi_k3"), printed("presets", "show", "kimi_k3"))

    def test_report(self):
        made = depthcost.report(**LLAMA)
        with tempfile.TemporaryDirectory() as folder:
            path = made.write(os.path.join(folder, "there"))
            self.assertEqual(path.read_text(), made.to_markdown())
            self.assertEqual({file.name for file in path.parent.iterdir()}, set(made.files))
            printed("report", *LLAMA_OPTIONS, "-o", os.path.join(folder, "program"))
            program = {file.name: file.read_text() for file in path.parents[1].joinpath("program").iterdir()}
        self.assertEqual(made.files, program)
        self.assertEqual(bool(made.plots), not made.missing_plots)
        self.assertEqual(made._repr_html_().count("<svg"), sum(f"({name})" in made.to_markdown() for name in made.plots))


class FrameTest(Case):
    def setUp(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("no pandas")

    def test_has_a_row_for_each_row(self):
        answer = depthcost.evaluate(TINY)
        frame = answer.to_frame()
        self.assertEqual(list(frame["seconds"]), [row["seconds"] for row in answer["step"]])
        self.assertEqual(len(answer.to_frame("memory")), len(answer["memory"]))
        plan = depthcost.plan(TINY_DICT, devices=8)
        self.assertEqual(list(plan.to_frame()["placement.tensor"]), [p["placement"]["tensor"] for p in plan["plans"]])
        with self.assertRaisesRegex(KeyError, "no rows 'nothing' \\(there are: .*step"):
            answer.to_frame("nothing")


class ProgramTest(Case):
    def test_is_the_whole_program(self):
        self.assertEqual(printed("--version").strip(), depthcost.__version__)
        self.assertTrue(PROGRAM.exists())
        self.assertIn("llama_3_1_70b", printed("presets", "list"))


if __name__ == "__main__":
    unittest.main()
