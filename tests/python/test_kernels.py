"""The kernels on arrays: results are where the arrays are, and what does not fit is refused before anything is written."""

import array
import math
import re
import unittest

import depthcost
from common import Case
from depthcost import kernels

try:
    import numpy
except ImportError:
    numpy = None


def floats(*values):
    """A buffer of Python alone, of one row."""
    return memoryview(array.array("f", values)).cast("B").cast("f", (1, len(values)))


class HeaderTest(Case):
    def test_every_pointer_has_a_shape_of_known_sizes(self):
        sizes_of = {name: {member.symbol for member in members if member.kind == "size_t"} for name, members in kernels.structs().items()}
        shared = {"depthcost_norm": {"d"}, "depthcost_mhc_mapping": {"m", "d"}, "depthcost_mhc_mapping_gradients": {"m", "d"},
                  "depthcost_altup_router": {"A", "d"}}
        pointers = 0
        for struct, members in kernels.structs().items():
            if struct in ("depthcost_target", "depthcost_token_slices"):
                continue
            sizes = sizes_of[struct] | shared.get(struct, set())
            for member in members:
                if member.kind.endswith("_args"):
                    sizes |= sizes_of[member.kind]
            for member in members:
                if not member.is_pointer:
                    continue
                pointers += 1
                with self.subTest(f"{struct}.{member.name}"):
                    self.assertIsNotNone(member.shape)
                    self.assertLessEqual(set(re.findall(r"[A-Za-z_]+", " ".join(member.shape))), sizes)
        self.assertGreater(pointers, 150)

    def test_every_operation_is_a_function(self):
        self.assertGreater(len(kernels.operations()), 30)
        for name in kernels.operations():
            self.assertTrue(callable(getattr(kernels, name)), name)
            self.assertIn(name, dir(kernels))
        with self.assertRaises(AttributeError):
            kernels.residual_subtract


class BufferTest(Case):
    def test_adds_and_normalises_in_place(self):
        h, f, x = floats(1, 2), floats(2, 2), floats(0, 0)
        gain = memoryview(array.array("f", [1, 10]))
        kernels.residual_add_rmsnorm(hidden_state=h, layer_output=f, norm={"gain": gain, "eps": 0.0}, output=x)
        self.assertEqual(h.tolist(), [[3, 4]])
        self.assertAlmostEqual(x[0, 0], 3 / math.sqrt(12.5), places=6)
        self.assertAlmostEqual(x[0, 1], 40 / math.sqrt(12.5), places=5)


@unittest.skipIf(numpy is None, "no numpy")
class NumpyTest(Case):
    def setUp(self):
        self.random = numpy.random.default_rng(7)

    def rows(self, *shape):
        return self.random.standard_normal(shape).astype(numpy.float32)

    def refused_call(self, text, operation, **members):
        with self.assertRaises(kernels.Error) as raised:
            kernels.call(operation, **members)
        self.assertEqual(str(raised.exception), text)

    def test_attention_over_depth_is_that_of_its_equation(self):
        T, d, n = 5, 96, 3
        bank, query = self.rows(4, T, d), self.rows(d)
        output = numpy.full((T, d), numpy.nan, numpy.float32)
        before = bank.copy()
        kernels.attnres_single_pass(num_bank_sources=n, bank=bank, query=query, key_eps=1e-6, output=output)
        keys = before[:n] / numpy.sqrt((before[:n] ** 2).mean(-1, keepdims=True) + 1e-6)
        scores = numpy.exp(keys @ query)
        expected = (scores[..., None] * before[:n]).sum(0) / scores.sum(0)[:, None]
        numpy.testing.assert_allclose(output, expected, rtol=2e-5, atol=2e-6)
        numpy.testing.assert_array_equal(bank, before)

    def test_the_bits_of_bfloat16(self):
        h, f = (numpy.full((2, 8), bits, numpy.uint16) for bits in (0x3F80, 0x4000))  # 1 and 2
        kernels.residual_add(hidden_state=h, layer_output=f)
        self.assertEqual(set(h.ravel().tolist()), {0x4040})  # 3

    def test_a_list_of_arrays(self):
        sources = [self.rows(2, 8) for _ in range(3)]
        stack = numpy.zeros((3, 2, 8), numpy.float32)
        kernels.unfused_stack(sources=sources, stack=stack)
        numpy.testing.assert_array_equal(stack, numpy.stack(sources))

    def test_a_part_of_an_array_and_no_tokens(self):
        bank, f = self.rows(4, 2, 8), self.rows(2, 8)
        expected = bank[2] + f
        kernels.residual_add(hidden_state=bank[2], layer_output=f)
        numpy.testing.assert_array_equal(bank[2], expected)
        none = self.rows(0, 8)
        kernels.residual_add(hidden_state=none, layer_output=none.copy())

    def test_what_speaks_dlpack_alone(self):
        class Tensor:
            """As torch's: no buffer, no __array__."""

            def __init__(self, held):
                self.held = held

            def __dlpack__(self, **options):
                return self.held.__dlpack__(**options)

            def __dlpack_device__(self):
                return self.held.__dlpack_device__()

        h, f = self.rows(3, 16), self.rows(3, 16)
        expected = h + f
        kernels.residual_add(hidden_state=Tensor(h), layer_output=Tensor(f))
        numpy.testing.assert_array_equal(h, expected)

    def test_torch(self):
        try:
            import torch
        except ImportError:
            self.skipTest("no torch")
        h, f = torch.ones(2, 8, dtype=torch.bfloat16), torch.full((2, 8), 2, dtype=torch.bfloat16)
        kernels.residual_add(hidden_state=h, layer_output=f)
        self.assertTrue((h == 3).all())

    def test_shapes(self):
        h, f = self.rows(3, 16), self.rows(3, 8)
        before = h.copy()
        self.refused_call("residual_add: layer_output has shape (3, 8) (must be (T = 3, d = 16))",
                          "residual_add", hidden_state=h, layer_output=f)
        self.refused_call("residual_add: layer_output has shape (3,) (must be (T = 3, d = 16))",
                          "residual_add", hidden_state=h, layer_output=self.rows(3))
        self.refused_call("residual_add: hidden_state has shape (3, 16) (must be (T = 4, d = 16))",
                          "residual_add", hidden_state=h, layer_output=h.copy(), num_tokens=4)
        mapping = {"phi": self.rows(24, 64), "bias": self.rows(23), "iterations": 3}
        self.refused_call("mhc_pre: mapping.bias has shape (23,) (must be (m m + 2 m = 24))", "mhc_pre",
                          streams=self.rows(2, 4, 16), mapping=mapping, output=self.rows(2, 16), post=self.rows(2, 4),
                          residual=self.rows(2, 4, 4))
        numpy.testing.assert_array_equal(h, before)

    def test_arrays_that_no_kernel_takes(self):
        h, f = self.rows(3, 16), self.rows(3, 16)
        self.refused_call("residual_add: layer_output has another dtype (must be float32, bfloat16, or uint16 for its bits)",
                          "residual_add", hidden_state=h, layer_output=f.astype(numpy.float64))
        self.refused_call("residual_add: layer_output has another dtype than hidden_state (must be the same)",
                          "residual_add", hidden_state=h, layer_output=f.astype(numpy.uint16))
        self.refused_call("residual_add: layer_output is not contiguous (its rows must lie one behind the other)",
                          "residual_add", hidden_state=h, layer_output=self.rows(16, 3).T)
        h.flags.writeable = False
        self.refused_call("residual_add: invalid hidden_state of type 'ndarray' (must be an array that can be written to, by "
                          "DLPack or a buffer)", "residual_add", hidden_state=h, layer_output=f)
        self.refused_call("residual_add: invalid layer_output of type 'list' (must be an array, by DLPack or a buffer)",
                          "residual_add", hidden_state=f, layer_output=[1.0])

    def test_what_the_library_refuses(self):
        h, f = self.rows(3, 16), self.rows(3, 16)
        self.refused_call("residual_add: no member 'tokens' (must be one of: dtype, num_tokens, hidden_size, hidden_state, "
                          "layer_output)", "residual_add", tokens=1)
        self.refused_call("unknown operation 'nothing' (operations() lists them)", "nothing")
        with self.assertRaisesRegex(kernels.Error, "^residual_add: "):
            kernels.residual_add(hidden_state=h, layer_output=None)
        with self.assertRaisesRegex(kernels.Error, "^residual_add: "):
            kernels.residual_add(hidden_state=h, layer_output=h)
        self.refused_call("residual_add: invalid num_tokens 'three' (must be a whole number)", "residual_add",
                          num_tokens="three", hidden_state=h, layer_output=f)


if __name__ == "__main__":
    unittest.main()
