"""ctypes_test.py LIBRARY: a call of every kind from Python, with the standard library alone."""

import array
import ctypes
import ctypes.util
import math
import pathlib
import re
import sys
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "kernels" / "c"))
import depthcost  # noqa: E402


class Floats:
    """Numbers at a multiple of 64 bytes."""

    def __init__(self, values):
        values = array.array("f", values)
        self._memory = ctypes.create_string_buffer(len(values) * 4 + 64)
        self.address = -(-ctypes.addressof(self._memory) // 64) * 64
        self.values = (ctypes.c_float * len(values)).from_address(self.address)
        self.values[:] = values


class HeaderTest(unittest.TestCase):
    def test_structs_have_the_promised_sizes(self):
        c11 = (pathlib.Path(__file__).parent / "c11_test.c").read_text()
        structs = depthcost.read_headers().structs
        promised = re.findall(r"^HAS_SIZE\((\w+), (\d+)\);", c11, flags=re.MULTILINE)
        self.assertEqual(len(promised), 41)
        for name, size in promised:
            self.assertEqual(ctypes.sizeof(structs[name]), int(size), name)

    def test_enumerations_and_operations_are_found(self):
        declarations = depthcost.read_headers()
        self.assertEqual(declarations.constants["DEPTHCOST_ABI_VERSION"], 1)
        self.assertEqual(declarations.constants["DEPTHCOST_OK"], 0)
        self.assertEqual(declarations.constants["DEPTHCOST_CUDA"], 2)
        self.assertEqual(declarations.constants["DEPTHCOST_INTERNAL_ERROR"], 6)
        self.assertEqual(declarations.constants["DEPTHCOST_OVERLAP_PROGRAMMATIC"], 1)
        structs = re.findall(r"depthcost_(\w+)_args\b", " ".join(declarations.structs))
        self.assertEqual(sorted(declarations.operations), sorted(structs))
        self.assertIn("unfused_mhc_merge", structs)


class LibraryTest(unittest.TestCase):
    def setUp(self):
        self.kernels = depthcost.Library(LIBRARY)
        self.cpu = self.kernels.target(backend=self.kernels.DEPTHCOST_CPU)

    def test_adds_and_normalises(self):
        h, f, gain = Floats([1, 2]), Floats([2, 2]), Floats([1, 10])
        x = Floats([0, 0])
        self.kernels.residual_add_rmsnorm(
            self.cpu, dtype=self.kernels.DEPTHCOST_F32, num_tokens=1, hidden_size=2,
            hidden_state=h.address, layer_output=f.address,
            norm={"gain": gain.address, "eps": 0.0}, output=x.address)
        self.assertEqual(list(h.values), [3, 4])
        self.assertAlmostEqual(x.values[0], 3 / math.sqrt(12.5), places=6)
        self.assertAlmostEqual(x.values[1], 40 / math.sqrt(12.5), places=5)

    def test_fills_nested_structs_and_arrays(self):
        args = self.kernels.args(
            "mhc_boundary", post={"num_streams": 4}, mapping={"scales": [1, 2, 3], "iterations": 5})
        self.assertEqual(args.post.num_streams, 4)
        self.assertEqual(list(args.mapping.scales), [1, 2, 3])
        self.assertEqual(args.mapping.iterations, 5)
        self.assertEqual(args.post.num_tokens, 0)

    def test_raises_the_text_of_the_library(self):
        with self.assertRaises(depthcost.Error) as raised:
            self.kernels.sinkhorn(self.cpu, count=1)
        self.assertEqual(str(raised.exception), "sinkhorn: num_streams is 0 (must be at least 1)")
        self.assertEqual(raised.exception.status, self.kernels.DEPTHCOST_INVALID_ARGUMENT)

    def test_refuses_members_that_are_not_there(self):
        with self.assertRaisesRegex(TypeError, "depthcost_sinkhorn_args has no member 'tokens'"):
            self.kernels.sinkhorn(self.cpu, tokens=1)

    def test_refuses_other_libraries(self):
        other = ctypes.util.find_library("c")
        with self.assertRaisesRegex(OSError, r"^\S+ is another library \(must be libdepthcost_"):
            depthcost.Library(other)
        with mock.patch.object(depthcost, "read_headers", self.headers_of_the_future):
            with self.assertRaisesRegex(OSError, r"has ABI version 1\.\d \(must be 1, at least 1.9"):
                depthcost.Library(LIBRARY)

    @staticmethod
    def headers_of_the_future():
        declarations = depthcost.Declarations("")
        declarations.constants.update(DEPTHCOST_ABI_VERSION=1, DEPTHCOST_ABI_MINOR_VERSION=99)
        return declarations

    def test_says_what_it_is(self):
        self.assertRegex(self.kernels.version(), r"^\d+\.\d+\.\d+$")
        self.kernels.check_target(self.cpu)
        with self.assertRaisesRegex(depthcost.Error, "backend is 0"):
            self.kernels.check_target(self.kernels.target())


if __name__ == "__main__":
    LIBRARY = pathlib.Path(sys.argv.pop(1))
    unittest.main()
