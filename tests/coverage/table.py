"""Prints which share of its branches each room takes in the tests. scripts/coverage runs it.

table.py EXPORT.json: what llvm-cov exports. Exit code 1: a room is below its limit.
"""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LIMITS = {"model": 95, "scenarios": 95, "cli": 90}


def main():
    counts = {}
    for file in json.loads(pathlib.Path(sys.argv[1]).read_text())["data"][0]["files"]:
        path = pathlib.Path(file["filename"])
        if ROOT not in path.parents:
            continue
        branches = file["summary"]["branches"]
        row = counts.setdefault(path.relative_to(ROOT).parts[0], [0, 0])
        row[0] += branches["covered"]
        row[1] += branches["count"]
    failed = False
    for room, (taken, there) in sorted(counts.items()):
        share = 100 * taken / there if there else 100
        limit = LIMITS.get(room)
        failed |= limit is not None and share < limit
        print(f"{room}: {taken} of {there} branches ({share:.1f} %)" + (f", at least {limit} %" if limit else ""))
    sys.exit(failed)


if __name__ == "__main__":
    main()
