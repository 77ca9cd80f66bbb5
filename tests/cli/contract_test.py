"""contract_test.py PROGRAM: what the program reads and prints is what its schemas say.

Scenarios, models and hardware are held against scenarios/scenario.schema.json, JSON documents against
reports/contract.schema.json. Every key of the contract is printed by some command, so that none was renamed.
"""

import copy
import importlib.machinery
import importlib.util
import json
import pathlib
import sys
import unittest

try:
    import jsonschema
    import yaml
except ImportError as error:
    print(f"skipped: {error} (Debian: python3-jsonschema python3-yaml)")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = sys.argv.pop() if len(sys.argv) > 1 else str(ROOT / "build/cpu/depthcost")
SCENARIOS = ROOT / "scenarios"


def module_of(path):
    loader = importlib.machinery.SourceFileLoader(path.name, str(path))
    spec = importlib.util.spec_from_loader(path.name, loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


CONTRACT_SCRIPT = module_of(ROOT / "scripts/contract")
CONTRACT = json.loads(CONTRACT_SCRIPT.CONTRACT.read_text())
DOCUMENTS = list(CONTRACT_SCRIPT.documents(PROGRAM))


class Loader(yaml.SafeLoader):
    """YAML as the program reads it: a date is a text."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def validator(schema):
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


# One for each schema: to check a schema takes longer than to hold a document against it.
SCENARIO_SCHEMA = json.loads((SCENARIOS / "scenario.schema.json").read_text())
SCENARIO = validator(SCENARIO_SCHEMA)
OF_COMMAND = {command: validator(schema) for command, schema in CONTRACT["$defs"].items()}


def part(name):
    """Of the scenario schema, which has been checked as a whole."""
    return jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": SCENARIO_SCHEMA["$defs"]})


def complaints(of, value):
    return [f"{list(error.absolute_path)}: {error.message[:200]}" for error in of.iter_errors(value)]


def paths_of(schema, path=""):
    """Every key that a schema names."""
    for key, member in schema.get("properties", {}).items():
        yield f"{path}.{key}"
        yield from paths_of(member, f"{path}.{key}")
    if "items" in schema:
        yield from paths_of(schema["items"], path + "[]")


def written_paths(value, path=""):
    if isinstance(value, list):
        for item in value:
            yield from written_paths(item, path + "[]")
    if isinstance(value, dict):
        for key, member in value.items():
            yield f"{path}.{key}"
            yield from written_paths(member, f"{path}.{key}")


class ScenarioSchema(unittest.TestCase):
    def expect_valid(self, of, folder):
        files = sorted(folder.glob("*.yaml"))
        self.assertGreater(len(files), 5, folder)
        for file in files:
            with self.subTest(file=file.name):
                self.assertEqual(complaints(of, yaml.load(file.read_text(), Loader)), [])

    def test_takes_every_shipped_scenario(self):
        self.expect_valid(SCENARIO, SCENARIOS)

    def test_takes_every_shipped_model(self):
        self.expect_valid(part("model"), SCENARIOS / "models")

    def test_takes_every_shipped_part(self):
        self.expect_valid(part("hardware"), SCENARIOS / "hardware")

    def test_refuses_a_key_that_the_program_does_not_know(self):
        scenario = yaml.load((SCENARIOS / "kimi_k3_8xb300.yaml").read_text(), Loader)
        scenario["residuals"] = {}
        self.assertNotEqual(complaints(SCENARIO, scenario), [])


class Contract(unittest.TestCase):
    def test_is_of_the_version_that_documents_have(self):
        for command, document in DOCUMENTS:
            self.assertEqual(document["schema_version"], CONTRACT["version"], command)

    def test_takes_every_document(self):
        for command, document in DOCUMENTS:
            self.assertEqual(complaints(OF_COMMAND[command], document), [], f"{command}; scripts/contract adds keys")

    def test_has_no_key_that_nobody_writes_any_more(self):
        for command, schema in CONTRACT["$defs"].items():
            written = {path for it, document in DOCUMENTS if it == command for path in written_paths(document)}
            self.assertEqual(sorted(set(paths_of(schema)) - written), [], command)

    def test_sees_a_renamed_key(self):
        document = copy.deepcopy(next(it for command, it in DOCUMENTS if command == "evaluate"))
        document["ledgers"] = document.pop("ledger")
        self.assertNotEqual(complaints(OF_COMMAND["evaluate"], document), [])


if __name__ == "__main__":
    unittest.main()
