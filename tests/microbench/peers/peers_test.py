"""peers_test.py LIBRARY: our library and every peer's formula against float64, and the script from
its arguments to its exit code, on a small stand-in for PyTorch."""

import io
import json
import pathlib
import sys
import tempfile
import types
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(ROOT / "microbench" / "peers"), str(HERE)]

import small_torch  # noqa: E402
import triton_stand_ins  # noqa: E402

sys.modules["torch"] = small_torch
triton_stand_ins.install()

import operations  # noqa: E402

# Large enough to show where one is left out.
operations.PARAMETERS["eps"] = 0.03

import measure  # noqa: E402
import peers  # noqa: E402
import report  # noqa: E402
import torch_device  # noqa: E402
import triton_peers  # noqa: E402
from compare import Comparing, Options, our_peer  # noqa: E402
from operations import OPERATIONS, PARAMETERS  # noqa: E402
from peer import Missing, Peer  # noqa: E402

TOKENS, SIZE = 7, 8
EVERY_PEER = {
    "residual_add_rmsnorm": ["Liger-Kernel"],
    "attnres_single_pass": ["fla", "Liger-Kernel"],
    "attnres_phase1": ["flash-attn-res"],
    "attnres_phase2": ["flash-attn-res"],
    "mhc_pre": ["Liger-Kernel"],
    "mhc_post": ["Liger-Kernel"],
    "mhc_boundary": ["Liger-Kernel"],
    "gated_residual_apply_down": [],
    "gated_residual_up_mix": [],
    "residual_scaling_rmsnorm": [],
    "altup_predict": [],
    "altup_laurel": [],
    "altup_middle": [],
    "altup_correct": [],
    "residual_add_rmsnorm_backward": [],
    "attnres_single_pass_backward": [],
    "mhc_post_backward": [],
    "sinkhorn": [],
}


class SmallDevice(torch_device.TorchDevice):
    """With a cache that few sets sweep, and peers of the test's own if there are any."""

    own_peers = None

    def __init__(self):
        super().__init__("cpu")
        self.window = self.warm_up = 1e-6

    def cache_bytes(self):
        return 256

    def peers(self, operation):
        if self.own_peers is not None:
            return self.own_peers
        return [*torch_device.pytorch_peers(operation.function),
                *triton_peers.triton_peers(operation.function, on_cuda=True)]


def comparing(operation, dtype, device=None):
    library = peers.depthcost.Library(LIBRARY)
    options = Options(dtype, TOKENS, SIZE, num_pairs=2)
    return Comparing(device or SmallDevice(), library, operation, options)


class FormulaTest(unittest.TestCase):
    """Relative to float64: f32 leaves rounding errors only, bf16 a few roundings."""

    def errors(self, dtype):
        for operation in OPERATIONS:
            case = comparing(operation, dtype)
            all_peers = [case.ours, *case.device.peers(operation)]
            names = ["depthcost", "PyTorch eager", "torch.compile"]
            self.assertEqual([p.name for p in all_peers], names + EVERY_PEER[operation.function])
            for peer in all_peers:
                yield operation, peer, case._checked(peer)

    def test_everything_is_right_in_f32(self):
        for operation, peer, row in self.errors("f32"):
            with self.subTest(operation=operation.name, peer=peer.name):
                self.assertEqual(row.status, report.TIMED, row.reason)
                # Liger's sums have an epsilon of 1e-6 each.
                self.assertLess(row.error, 2e-5 if peer.name == "Liger-Kernel" else 2e-6)

    def test_everything_is_right_in_bf16(self):
        for operation, peer, row in self.errors("bf16"):
            with self.subTest(operation=operation.name, peer=peer.name):
                self.assertEqual(row.status, report.TIMED, row.reason)
                self.assertLess(row.error, 4e-3 if peer.name == "depthcost" else 1.3e-2)


    def test_sinkhorn_has_our_order(self):
        """One iteration shows which sums come first; twenty do not."""
        with mock.patch.dict(PARAMETERS, iterations=1):
            for operation in OPERATIONS:
                if operation.function not in ("sinkhorn", "mhc_pre"):
                    continue
                case = comparing(operation, "f32")
                for peer in [case.ours, *torch_device.pytorch_peers(operation.function)]:
                    with self.subTest(operation=operation.name, peer=peer.name):
                        self.assertLess(case._checked(peer).error, 2e-6)


class VerdictTest(unittest.TestCase):
    """On residual_add_rmsnorm, with peers that go wrong in one way each."""

    def rows(self, *own_peers):
        device = SmallDevice()
        device.own_peers = list(own_peers)
        return comparing(OPERATIONS[0], "f32", device).rows()

    @staticmethod
    def right(operands):
        return torch_device.pytorch_peers("residual_add_rmsnorm")[0].run(operands)

    def row(self, peer):
        ours, theirs = self.rows(peer)
        self.assertEqual((ours.peer, ours.status), ("depthcost", report.TIMED))
        return theirs

    def test_a_right_peer_is_timed(self):
        row = self.row(Peer("right", self.right, ("output",)))
        self.assertEqual((row.status, row.reason), (report.TIMED, ""))
        self.assertEqual(row.comparison.num_pairs, 2)
        self.assertGreater(row.comparison.peer, 0)
        self.assertGreater(row.comparison.ours, 0)

    def test_one_wrong_token_is_wrong(self):
        def run(operands):
            (x,) = self.right(operands)
            x[-1].copy_(x[0])
            return (x,)

        row = self.row(Peer("wrong", run, ("output",)))
        self.assertEqual(row.status, report.WRONG)
        text = r"^output is off by \d\.\de[+-]\d\d \(must be at most 1e-04\)$"
        self.assertRegex(row.reason, text)
        self.assertIsNone(row.comparison)

    def test_an_output_that_is_not_written_is_wrong(self):
        row = self.row(Peer("lazy", lambda operands: ()))
        self.assertEqual(row.status, report.WRONG)
        self.assertIn("output is off by nan", row.reason)

    def test_a_token_that_is_not_written_is_wrong(self):
        def run(operands):
            (x,) = self.right(operands)
            x[0].copy_(x[0] * float("nan"))
            return (x,)

        row = self.row(Peer("almost", run, ("output",)))
        self.assertEqual(row.status, report.WRONG)
        self.assertIn("output is off by nan", row.reason)

    def test_an_update_that_is_left_out_is_wrong(self):
        def run(operands):
            return self.right({**operands, "hidden_state": operands["hidden_state"] * 1.0})

        row = self.row(Peer("forgetful", run, ("output",)))
        self.assertEqual(row.status, report.WRONG)
        self.assertIn("hidden_state is off", row.reason)

    def test_a_wrong_shape_fails(self):
        row = self.row(Peer("flat", lambda o: (o["output"][0],), ("output",)))
        self.assertEqual((row.status, row.reason),
                         (report.FAILED, "ValueError: shape is (8,) (must be (7, 8))"))

    def test_fewer_outputs_than_promised_fail(self):
        row = self.row(Peer("short", lambda operands: (), ("output",)))
        self.assertEqual(row.status, report.FAILED)
        self.assertRegex(row.reason, "^ValueError: zip")

    def test_a_peer_that_raises_fails(self):
        def run(operands):
            raise RuntimeError("no such width\nstack")

        row = self.row(Peer("broken", run))
        self.assertEqual((row.status, row.reason), (report.FAILED, "RuntimeError: no such width"))

    def test_a_peer_that_raises_later_fails(self):
        calls = []

        def run(operands):
            calls.append(1)
            if len(calls) > 1:
                raise RuntimeError("out of memory")
            return self.right(operands)

        row = self.row(Peer("late", run, ("output",)))
        self.assertEqual((row.status, row.reason), (report.FAILED, "RuntimeError: out of memory"))

    def test_a_missing_peer_is_skipped_with_the_reason(self):
        row = self.row(Missing("absent", "not installed"))
        self.assertEqual((row.status, row.reason), (report.SKIPPED, "not installed"))

    def test_a_peer_that_keeps_one_layout_for_all_sets_is_not_timed(self):
        first = []

        def prepare(operands):
            first.append(operands["gain"])
            return {**operands, "gain": first[1] if len(first) > 2 else operands["gain"]}

        row = self.row(Peer("unrotated", self.right, ("output",), prepare))
        self.assertEqual(row.status, report.FAILED)
        self.assertIn("NotCold: a buffer is in the sets", row.reason)

    def test_too_large_an_operation_is_skipped(self):
        with mock.patch.object(SmallDevice, "available_bytes", return_value=1000):
            ours, others = self.rows(Missing("absent", "not installed"))
        self.assertEqual((others.peer, others.status), ("all peers", report.SKIPPED))
        self.assertRegex(others.reason, "^needs ")


class Event:
    """A clock of milliseconds that the test moves."""

    now = 0.0

    def __init__(self, enable_timing):
        assert enable_timing
        self.at, self.is_over = None, False

    def record(self):
        self.at = Event.now

    def synchronize(self):
        self.is_over = True

    def elapsed_time(self, end):
        assert end.is_over
        return end.at - self.at


class CudaTest(unittest.TestCase):
    """What a GPU is asked, where there is none."""

    def setUp(self):
        stream = types.SimpleNamespace(cuda_stream=0x1234)
        cuda = types.SimpleNamespace(
            Event=Event, current_stream=lambda: stream, current_device=lambda: 0,
            get_device_properties=lambda device: types.SimpleNamespace(L2_cache_size=50 << 20),
            get_device_name=lambda: "a GPU", mem_get_info=lambda: (7, 9))
        more = {"cuda": cuda, "version": types.SimpleNamespace(cuda="13.0"),
                "set_float32_matmul_precision": lambda precision: None}
        patch = mock.patch.multiple(small_torch, create=True, **more)
        patch.start()
        self.addCleanup(patch.stop)
        self.device = torch_device.TorchDevice("cuda")

    def test_events_time_the_calls(self):
        def call():
            Event.now += 3.0

        sample = self.device.time_calls(types.SimpleNamespace(call=call), 5)
        self.assertAlmostEqual(sample.seconds, 3e-3)
        self.assertLess(sample.host_share, 0.5)

    def test_a_host_that_is_slower_shows(self):
        def call():
            Event.now += 1e-6

        sample = self.device.time_calls(types.SimpleNamespace(call=call), 5)
        self.assertGreater(sample.host_share, 1)

    def test_the_device_describes_itself(self):
        self.assertEqual(self.device.stream(), 0x1234)
        self.assertEqual(self.device.cache_bytes(), 50 << 20)
        self.assertEqual(self.device.available_bytes(), 7)
        self.assertEqual(self.device.default_tokens, 8192)
        context = self.device.context()
        self.assertEqual((context["name"], context["cuda"]), ("a GPU", "13.0"))

    def test_ours_runs_on_the_current_stream(self):
        targets = []
        library = mock.Mock(DEPTHCOST_CUDA=2, DEPTHCOST_BF16=2, DEPTHCOST_F32=1)
        library.target.side_effect = lambda **members: targets.append(members)
        our_peer(self.device, library, OPERATIONS[0], {}, "bf16")
        self.assertEqual(targets, [{"backend": 2, "cuda_stream": 0x1234}])


class PackagesTest(unittest.TestCase):
    def test_triton_needs_cuda(self):
        self.assertEqual(triton_peers.triton_peers("attnres_phase1", on_cuda=False),
                         [Missing("flash-attn-res", "runs on CUDA only")])

    def test_what_is_not_installed_says_so(self):
        with mock.patch.dict(sys.modules, {"flash_attn_res": None}):
            (missing,) = triton_peers.triton_peers("attnres_phase2", on_cuda=True)
        self.assertEqual(missing.name, "flash-attn-res")
        self.assertRegex(missing.reason, "^not installed ")

    def test_what_lacks_a_kernel_says_so(self):
        functional = sys.modules["liger_kernel.transformers.functional"]
        with mock.patch.dict(functional.__dict__):
            del functional.liger_attn_res
            _, missing = triton_peers.triton_peers("attnres_single_pass", on_cuda=True)
        self.assertEqual(missing.name, "Liger-Kernel")
        self.assertRegex(missing.reason, "^AttributeError: .*liger_attn_res")


class ScriptTest(unittest.TestCase):
    def run_script(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with mock.patch("sys.stderr", err), mock.patch.dict("os.environ"):
            try:
                code = peers.main(["--library", LIBRARY, *arguments], out)
            except SystemExit as stop:
                code = stop.code
        return code, out.getvalue(), err.getvalue()

    def small(self, *arguments):
        sizes = ("--tokens", "7", "--hidden-size", "16", "--pairs", "1")
        with mock.patch.object(measure, "largest_cpu_cache", lambda: 256):
            return self.run_script(*sizes, *arguments)

    def test_compares_and_writes(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "peers.json"
            code, out, err = self.small("--operations", "phase2", "--json", str(file))
            document = json.loads(file.read_text())
        self.assertEqual(code, 0, err)
        self.assertIn("skipped: cuda: no CUDA device\n", out)
        self.assertRegex(out, r"attnres_phase2 update, norm  torch\.compile +[\d.]+ +[\d.]+ ")
        self.assertRegex(out, r"flash-attn-res  skipped: runs on CUDA only")
        statuses = [(row["peer"], row["status"]) for row in document["results"]]
        self.assertEqual(statuses, [("depthcost", "timed"), ("PyTorch eager", "timed"),
                                    ("torch.compile", "timed"), ("flash-attn-res", "skipped")])
        self.assertRegex(document["context"]["library"], r"^\d+\.\d+\.\d+$")
        self.assertEqual(document["context"]["devices"][0]["kind"], "cpu")

    def test_our_own_error_fails_the_run(self):
        wrong = peers.depthcost.Library.call

        def call(library, operation, target, args):
            args.norm.eps = 1.0
            wrong(library, operation, target, args)

        with mock.patch.object(peers.depthcost.Library, "call", call):
            code, out, _ = self.small("--operations", "residual")
        self.assertEqual(code, 1)
        self.assertRegex(out, "depthcost  +wrong: output is off by ")
        self.assertNotIn("torch.compile", out)

    def test_without_torch_nothing_is_compared(self):
        with mock.patch("importlib.util.find_spec", lambda name: None):
            code, out, err = self.run_script()
            self.assertEqual(code, 2)
            self.assertEqual(out, "skipped: everything: torch is not installed\n")
            self.assertEqual(err, "nothing was compared\n")
            self.assertEqual(self.run_script("--allow-empty")[0], 0)

    def test_without_the_device_nothing_is_compared(self):
        code, out, _ = self.run_script("--device", "cuda")
        self.assertEqual((code, out), (2, "skipped: cuda: no CUDA device\n"))

    def test_a_backend_that_is_not_in_the_library_is_skipped(self):
        with mock.patch.object(torch_device, "available_devices", lambda: [("cuda", "")]):
            code, out, _ = self.run_script("--device", "cuda")
        self.assertEqual(code, 2)
        self.assertRegex(out, r"^skipped: cuda: no CUDA (backend \(this library was|device)")

    def test_wrong_usage(self):
        code, _, err = self.run_script("--operations", "nonsense")
        self.assertEqual(code, 2)
        self.assertIn("no operation contains 'nonsense' (there are: residual_add_rmsnorm,", err)
        self.assertEqual(self.run_script("--tokens", "0")[0], 2)
        code, _, err = self.run_script("--library", "/nowhere.so")
        self.assertEqual(code, 2)
        self.assertIn("error: /nowhere.so", err)
        code, _, err = self.run_script("--json", "/nowhere/results.json")
        self.assertEqual(code, 2)
        self.assertIn("error: argument --json: /nowhere/results.json: cannot be written "
                      "(No such file or directory)\n", err)

    def test_both_openmp_runtimes_get_the_same_threads(self):
        with mock.patch.dict("os.environ"):
            peers.set_threads(3)
            import os
            self.assertEqual(os.environ["OMP_NUM_THREADS"], "3")
            self.assertEqual(os.environ["OMP_WAIT_POLICY"], "passive")


if __name__ == "__main__":
    LIBRARY = sys.argv.pop(1)
    unittest.main()
