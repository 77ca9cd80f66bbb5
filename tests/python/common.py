"""Where the tests find the repository and the program of the package under test."""

import pathlib
import subprocess
import sys
import unittest

import depthcost

ROOT = pathlib.Path(__file__).parents[2]
SCENARIOS = ROOT / "scenarios"
PROGRAM = pathlib.Path(sys.executable).parent / "depthcost"

LLAMA = {"model": "llama_3_1_70b", "hardware": "h100_sxm", "tensor": 8, "residual": "block_attnres", "block_size": 16}
LLAMA_OPTIONS = ["--model", "llama_3_1_70b", "--hardware", "h100_sxm", "--tensor", "8", "--residual", "block_attnres",
                 "--block-size", "16"]


def printed(*words, folder=ROOT):
    """What the program prints."""
    return subprocess.run([PROGRAM, *map(str, words)], cwd=folder, check=True, capture_output=True, text=True).stdout


class Case(unittest.TestCase):
    maxDiff = None

    def refused(self, line, call, *arguments, **options):
        """The call raises InputError with that whole text."""
        with self.assertRaises(depthcost.InputError) as raised:
            call(*arguments, **options)
        self.assertEqual(str(raised.exception), line)
        return raised.exception
