"""Statistics, rotation, coldness, the table: what needs neither our library nor PyTorch."""

import json
import math
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "microbench" / "peers"))
import measure  # noqa: E402
import reference  # noqa: E402
import report  # noqa: E402


class ReferenceTest(unittest.TestCase):
    def test_bf16_rounds_to_nearest_ties_to_even(self):
        cases = {1.0: 1.0, 1 + 2**-8: 1.0, 1 + 3 * 2**-8: 1 + 2**-6, 1 + 2**-8 + 2**-20: 1 + 2**-7,
                 -(1 + 2**-8): -1.0, 0.0: 0.0}
        self.assertEqual(reference.to_bf16(cases), list(cases.values()))

    def test_softmax_of_two_rows(self):
        mix, maximum, total = reference.softmax_sums([0.0, math.log(3)], [[4.0, 0.0], [8.0, 4.0]])
        self.assertAlmostEqual(maximum, math.log(3))
        self.assertAlmostEqual(total, 4 / 3)
        self.assertAlmostEqual(mix[0] / total, 7.0)
        self.assertAlmostEqual(mix[1] / total, 3.0)

    def test_sinkhorn_ends_with_rows(self):
        once = reference.sinkhorn([1.0, 3.0, 3.0, 1.0], 2, 1)
        for actual, wanted in zip(once, (0.25, 0.75, 0.75, 0.25)):
            self.assertAlmostEqual(actual, wanted)
        uneven = reference.sinkhorn([1.0, 2.0, 3.0, 5.0], 2, 1)
        self.assertAlmostEqual(sum(uneven[:2]), 1)
        self.assertNotAlmostEqual(uneven[0] + uneven[2], 1)

    def test_two_phases_are_one_pass(self):
        """Phase 1 and 2 of the same sources, query and norm, against a single pass."""
        noise = reference.noise
        bank = noise("bank", 2 * 3 * 4, 2.0)  # two rows of three tokens
        query, gain = noise("query", 4, 1.0), noise("gain", 4, 1.0)
        b, f = noise("b", 12, 1.0), noise("f", 12, 1.0)
        sizes = {"T": 3, "d": 4, "eps": 1e-6}
        common = {"gain": gain, "query": query, "partial_sum": b, "layer_output": f}
        single = reference.attnres_single_pass({**common, "bank": bank}, sizes, list)
        both = {**common, "bank": bank, "queries": query * 2}
        phase1 = reference.attnres_phase1(both, sizes, list)
        statistics = {"phase1_output": phase1["outputs"], "maximum": phase1["maxima"],
                      "sum": phase1["sums"]}
        phase2 = reference.attnres_phase2({**common, **statistics}, sizes, list)
        for a, e in zip(phase2["output"], single["output"], strict=True):
            self.assertTrue(math.isclose(a, e, rel_tol=1e-12))


class ScriptedContestant:
    def __init__(self, name, seconds, log):
        self.name, self.seconds, self.log = name, seconds, log


class CompareTest(unittest.TestCase):
    def compare(self, ours, peer, host_shares=(0.0, 0.0), num_pairs=4, window=1e-3, warm_up=0.0):
        """Contestants whose samples take the given seconds, in turn."""
        log = []

        def time_calls(contestant, num_calls):
            log.append((contestant.name, num_calls))
            seconds = contestant.seconds
            share = host_shares[contestant.name == "B"]
            return measure.Sample(seconds.pop(0) if len(seconds) > 1 else seconds[0], share)

        result = measure.compare(ScriptedContestant("A", ours, log),
                                 ScriptedContestant("B", peer, log), time_calls,
                                 measure.Plan(num_pairs, window, warm_up))
        return result, log

    def test_alternates_the_order_of_pairs(self):
        _, log = self.compare([1e-3], [2e-3])
        names = "".join(name for name, _ in log[6:])
        self.assertEqual(names, "ABBA" "BAAB" "ABBA" "BAAB")

    def test_ratio_is_the_peers_time_over_ours(self):
        result, _ = self.compare([1e-3], [3e-3])
        self.assertAlmostEqual(result.ratio, 3)
        self.assertAlmostEqual(result.ours, 1e-3)
        self.assertAlmostEqual(result.peer, 3e-3)

    def test_ratio_is_the_median_of_pairs(self):
        warm_up = [1.0] * 3
        result, _ = self.compare([1.0], warm_up + [1, 1, 2, 2, 9, 9], num_pairs=3)
        self.assertAlmostEqual(result.ratio, 2)
        self.assertAlmostEqual(result.first_quartile, 1.5)
        self.assertAlmostEqual(result.third_quartile, 5.5)

    def test_a_drift_within_a_pair_cancels(self):
        result, _ = self.compare([1.0, 1.0, 1.0, 1.0, 4.0], [1.0, 1.0, 1.0, 2.0, 3.0], num_pairs=1)
        self.assertAlmostEqual(result.ratio, 1)

    def test_a_sample_fills_the_window(self):
        _, log = self.compare([1e-4], [1e-3], window=1e-2)
        self.assertEqual({count for _, count in log[:4]}, {2})
        self.assertEqual(set(log[4:]), {("A", 100), ("B", 10)})

    def test_says_when_the_host_paces(self):
        cases = {(0.9, 0.1): True, (0.1, 0.9): True, (0.5, 0.5): False}
        for shares, expected in cases.items():
            result, _ = self.compare([1.0], [1.0], shares)
            self.assertEqual(result.is_host_paced, expected, shares)

    def test_warms_up_until_the_clocks_have_settled(self):
        _, log = self.compare([1e-3], [1e-3], num_pairs=1, warm_up=9.5e-3)
        self.assertEqual("".join(name for name, _ in log), "ABAB" + "A" * 10 + "B" * 10 + "ABBA")


class ColdTest(unittest.TestCase):
    def test_enough_sets_sweep_two_caches(self):
        self.assertEqual(measure.num_sets(1000, 100), 2)
        self.assertEqual(measure.num_sets(100, 100), 3)
        self.assertEqual(measure.num_sets(30, 100), 8)
        for size in (1, 7, 100, 1000):
            sets = [[(1000 * i, size)] for i in range(measure.num_sets(size, 100))]
            measure.check_cold(sets, 100)
            if len(sets) > 2:
                with self.assertRaises(measure.NotCold):
                    measure.check_cold(sets[:-1], 100)

    def test_too_little_between_two_uses_is_refused(self):
        with self.assertRaisesRegex(measure.NotCold, r"^150 bytes pass .* at least 200, 2 caches"):
            measure.check_cold([[(0, 150)], [(1000, 150)]], 100)

    def test_a_buffer_that_is_not_rotated_is_refused(self):
        with self.assertRaisesRegex(measure.NotCold, "a buffer is in the sets 0 and 1"):
            measure.check_cold([[(0, 900), (5000, 8)], [(1000, 900), (5000, 8)]], 100)

    def test_contestants_share_the_rotation_and_keep_a_turn_of_results(self):
        rotation = measure.Rotation(3)
        seen = []
        a = measure.Contestant(lambda s: seen.append("a" + s) or s, list("xyz"), rotation)
        b = measure.Contestant(lambda s: seen.append("b" + s), list("xyz"), rotation)
        for contestant in (a, a, b, b, a):
            contestant.call()
        self.assertEqual(seen, ["ax", "ay", "bz", "bx", "ay"])
        self.assertEqual(a._kept, ["x", "y", None])

    def test_what_does_not_fit_is_refused(self):
        measure.check_fits(69, 100)
        with self.assertRaisesRegex(measure.DoesNotFit, "needs 71.0 GB .* 100.0 GB that are free"):
            measure.check_fits(71 * 10**9, 100 * 10**9)

    def test_the_largest_cache_counts(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(measure.largest_cpu_cache(folder), 32 << 20)
            for cpu in range(4):
                both = "0-1" if cpu < 2 else "2-3"
                for level, size, sharing in ((1, "48K", cpu), (2, "2048K", cpu), (3, "36M", both)):
                    index = pathlib.Path(folder) / f"cpu{cpu}" / "cache" / f"index{level}"
                    index.mkdir(parents=True)
                    for name, text in (("level", level), ("type", "Unified"), ("size", size),
                                       ("shared_cpu_list", sharing)):
                        (index / name).write_text(f"{text}\n")
            self.assertEqual(measure.largest_cpu_cache(folder), 2 * 36 << 20)

    def test_the_cpu_has_a_name(self):
        with tempfile.NamedTemporaryFile("w") as file:
            self.assertEqual(measure.cpu_model(file.name), "unknown")
            file.write("processor\t: 0\nmodel name\t: AMD EPYC\nmodel name\t: another\n")
            file.flush()
            self.assertEqual(measure.cpu_model(file.name), "AMD EPYC")

    def test_memory_is_what_the_kernel_says(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("MemTotal: 9 kB\nMemAvailable:    5 kB\n")
            file.flush()
            self.assertEqual(measure.available_memory(file.name), 5120)


COMPARISON = measure.Comparison(ours=1e-3, peer=2.5e-3, ratio=2.5, first_quartile=2.4,
                                third_quartile=2.61, num_pairs=31, num_calls={},
                                is_host_paced=False)


class ReportTest(unittest.TestCase):
    def test_the_table(self):
        rows = [report.Row("cpu", "add", "depthcost", report.TIMED, error=1.5e-3),
                report.Row("cpu", "add", "torch.compile", report.TIMED, error=2e-3,
                           comparison=COMPARISON),
                report.Row("cpu", "add", "fla", report.SKIPPED, "not installed"),
                report.Row("cpu", "add", "other", report.WRONG, "output is off by 1", 1.0)]
        self.assertEqual(report.table(rows), """\
operation  implementation      us  ours, us  ratio     quartiles    error
add        depthcost                                              1.5e-03
add        torch.compile   2500.0    1000.0   2.50  2.40 .. 2.61  2.0e-03
add        fla             skipped: not installed
add        other           wrong: output is off by 1  (error 1.0e+00)""")

    def test_json_has_no_nan(self):
        rows = [report.Row("cpu", "add", "x", report.WRONG, error=math.nan),
                report.Row("cpu", "add", "y", report.TIMED, comparison=COMPARISON)]
        document = json.loads(report.as_json(rows, {"dtype": "bf16"}))
        self.assertEqual(document["results"][0]["error"], "nan")
        self.assertEqual(document["results"][1]["comparison"]["ratio"], 2.5)
        self.assertEqual(document["context"], {"dtype": "bf16"})

    def test_an_error_is_one_line(self):
        self.assertEqual(report.first_line(ValueError("\n too wide\nmore")), "ValueError: too wide")
        self.assertEqual(report.first_line(ValueError()), "ValueError")
        self.assertEqual(len(report.first_line(ValueError("x" * 500))), 160)


if __name__ == "__main__":
    unittest.main()
