"""How long a loop of answers takes, and how soon an interrupt stops a sweep."""

import os
import signal
import threading
import time
import unittest

import depthcost
from common import LLAMA, SCENARIOS, Case


def least_seconds(work, rounds):
    """Of the processor, for one call: the least of several rounds, since what shares a core only adds."""
    least = float("inf")
    for _ in range(rounds):
        begin = time.process_time()
        for _ in range(10):
            work()
        least = min(least, (time.process_time() - begin) / 10)
    return least


def twenty_thousand_texts():
    return len("".join([f"{i}:{i * 1.5}" for i in range(20000)]))


class SpeedTest(Case):
    def test_an_answer_takes_less_than_twenty_thousand_texts_of_python(self):
        """A share of plain Python in the same run, as machines differ: about a half for a model, an eighth for a
        scenario. scripts/instructions holds what the answers themselves take to 1 %."""
        for name, question, share in (
                ("a model on its GPUs", {**LLAMA, "decode": 64, "prefill": 8192, "compare": ["standard", "mhc"]}, 0.8),
                ("a shipped scenario", {"scenario": SCENARIOS / "paper_table1.yaml"}, 0.2)):
            with self.subTest(name):
                answer = least_seconds(lambda: depthcost.evaluate(rows="sums", **question), 20)
                texts = least_seconds(twenty_thousand_texts, 5)
                print(f"\n{name}: {1 / answer:.0f} a second and core, {answer / texts:.2f} of the texts", flush=True)
                self.assertLess(answer, share * texts)

    def test_threads_run_side_by_side(self):
        """The lock of the interpreter is free: another thread counts while a sweep runs."""
        counted = 0
        is_done = threading.Event()

        def count():
            nonlocal counted
            while not is_done.is_set():
                counted += 1
                time.sleep(0.001)

        thread = threading.Thread(target=count)
        thread.start()
        begin = time.monotonic()
        depthcost.sweep(SCENARIOS / "kimi_k3_training.yaml")
        seconds = time.monotonic() - begin
        is_done.set()
        thread.join()
        self.assertGreater(counted, 20 * seconds)


class InterruptTest(Case):
    def setUp(self):
        # A shell starts a job in the background with Ctrl-C ignored, and Python leaves it so.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)

    def interrupted(self, call):
        """Seconds from Ctrl-C, half a second after the call begins, until KeyboardInterrupt."""
        sent = []

        def interrupt():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        timer = threading.Timer(0.5, interrupt)
        timer.start()
        try:
            with self.assertRaises(KeyboardInterrupt):
                call()
            return time.monotonic() - sent[0]
        finally:
            timer.cancel()
            timer.join()

    def test_a_sweep_of_many_circumstances(self):
        self.assertLess(self.interrupted(lambda: depthcost.sweep(
            SCENARIOS / "kimi_k3_8xb300.yaml",
            ["block_size=1..L", "workload.decode.sequences=1..50", "workload.decode.context=1000..100000:+1000"])), 1)

    def test_a_sweep_that_reads_many_scenes(self):
        self.assertLess(self.interrupted(lambda: depthcost.sweep(
            SCENARIOS / "kimi_k3_8xb300.yaml",
            {"parallelism.data": range(1, 2000), "block_size": [8, 16]})), 1)

    def test_answers_after_it(self):
        self.assertTrue(depthcost.evaluate(**LLAMA)["step"])


if __name__ == "__main__":
    unittest.main()
