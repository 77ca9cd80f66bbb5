"""The stub of the compiled module names what is there, with the arguments that it takes."""

import ast
import pathlib
import re
import unittest

import depthcost
from common import Case
from depthcost import _core

STUB = ast.parse((pathlib.Path(depthcost.__file__).parent / "_core.pyi").read_text())


def arguments(function):
    """Names of the arguments in the stub."""
    return [argument.arg for argument in function.args.args if argument.arg != "self"]


def taken(function):
    """The names that nanobind says."""
    signature = function.__doc__.splitlines()[0]
    return [name for name in re.findall(r"[(,] ?(\w+)(?=[:,)])", re.sub(r"\[[^()]*?\](?=[,)= |])", "", signature)) if name != "self"]


class StubTest(Case):
    def test_has_what_the_module_has(self):
        named = {node.name: node for node in STUB.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        self.assertEqual(set(named), {name for name in dir(_core) if not name.startswith("_")} - {"version"})
        for name, node in named.items():
            members = node.body if isinstance(node, ast.ClassDef) else [node]
            owner = getattr(_core, name) if isinstance(node, ast.ClassDef) else _core
            for member in members:
                if not isinstance(member, ast.FunctionDef) or member.decorator_list:
                    continue
                with self.subTest(f"{name}.{member.name}"):
                    self.assertEqual(taken(getattr(owner, member.name)), arguments(member))

    def test_properties_are_there(self):
        (array,) = (node for node in STUB.body if isinstance(node, ast.ClassDef) and node.name == "Array")
        for member in array.body:
            self.assertTrue(hasattr(_core.Array, member.name), member.name)


if __name__ == "__main__":
    unittest.main()
