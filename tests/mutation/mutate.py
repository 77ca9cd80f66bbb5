"""Plants errors in sources, one at a time, and counts those that the tests find. scripts/mutate runs it."""

import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build/mutate"
MUTATE = ROOT / "build/mutate-environment/bin/mutate"
EQUIVALENT = ROOT / "tests/mutation/equivalent.txt"
RUNS = ROOT / "tests/mutation/runs.csv"
MOST_TRIES = 20  # of errors that the compiler refuses, for each that is asked for
LEAST_FOUND = 0.9
SECONDS = 300  # a program that runs longer than this hangs: the error is found

# The test programs that may find an error in a room, the likeliest first.
TESTS = {
    "model": ["model", "reports", "scenarios", "profile", "kernels/reference", "results"],
    "scenarios": ["scenarios", "reports", "profile", "results"],
    "profile": ["profile", "reports", "results"],
}
# These draw, or start programs, and compute nothing that others do not.
LEFT_OUT = "-*Plot*:*Hostile*:*Gnuplot*:Readme.*"


def run(*command, **options):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, **options).stdout


def program_of(name):
    """As the build has it. That of kernels/reference counts the accesses of kernels, against the model's bytes."""
    return f"tests/{name}/{name.replace('/', '_')}_tests"


def tested(name, program):
    """How the tests of that name end."""
    environment = dict(os.environ, RC_PARAMS="seed=20260316")
    return subprocess.run([program, "--gtest_fail_fast", "--gtest_brief=1", f"--gtest_filter={LEFT_OUT}"],
                          cwd=BUILD / "tests" / name, env=environment, timeout=SECONDS, capture_output=True,
                          text=True, errors="replace", check=False)


class Build:
    """How the build compiles a source and links the tests."""

    def __init__(self, names):
        self.commands = {}
        self.batch_of = {}  # the file that is compiled for a source: several share one
        for entry in json.loads((BUILD / "compile_commands.json").read_text()):
            compiled = entry["file"]
            self.commands[compiled] = re.sub(r" -o \S+", " ", entry["command"]).replace(f" -c {compiled}", "")
            members = [compiled]
            if "/Unity/" in compiled:
                members = re.findall(r'^#include "(.*)"$', pathlib.Path(compiled).read_text(), re.MULTILINE)
            for member in members:
                self.batch_of.setdefault(member, compiled)
        self.links = {it: self.link_of(it) for it in names}

    @staticmethod
    def link_of(name):
        last = run("ninja", "-C", str(BUILD), "-t", "commands", program_of(name)).splitlines()[-1]
        return last.split(" && ")[1]

    def object_of(self, source, text, folder):
        """The machine code of the batch with this text in place of the source; nothing if it is refused."""
        mutant, batch, made = folder / "mutant.cpp", folder / "batch.cpp", folder / "mutant.o"
        mutant.write_text(text)
        compiled = self.batch_of[str(ROOT / source)]
        if compiled == str(ROOT / source):
            batch.write_text(f'#include "{mutant}"\n')
        else:
            batch.write_text(pathlib.Path(compiled).read_text().replace(f'"{ROOT / source}"', f'"{mutant}"'))
        made.unlink(missing_ok=True)
        done = subprocess.run(f"{self.commands[compiled]} -w -o {made} -c {batch}", shell=True, cwd=BUILD,
                              capture_output=True, check=False)
        return made.read_bytes() if done.returncode == 0 else None

    def finder(self, source, folder):
        """The first test program that fails with folder/mutant.o; "" if none does, nothing if it does not link."""
        for name in TESTS[source.split("/")[0]]:
            program = folder / pathlib.Path(program_of(name)).name
            link = self.links[name].replace(f"-o {program_of(name)}", f"-o {program} {folder / 'mutant.o'}")
            if subprocess.run(link, shell=True, cwd=BUILD, capture_output=True, check=False).returncode != 0:
                return None
            try:
                done = tested(name, program)
            except subprocess.TimeoutExpired:
                return f"{name} (it hangs)"
            if done.returncode != 0:
                failed = re.findall(r"\[  FAILED  \] (\S+?)[,. ]", done.stdout)
                return f"{name}: {failed[0] if failed else 'it crashes'}"
        return ""


def changed_lines(base):
    """{file: its lines that differ from the commit}"""
    lines, file = {}, None
    for line in run("git", "diff", "-U0", base, "--", "*.cpp").splitlines():
        if line.startswith("+++ "):
            file = line[6:]
        elif match := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line):
            first, count = int(match[1]), int(match[2] or 1)
            lines.setdefault(file, set()).update(range(first, first + count))
    return lines


def code_of(line):
    return re.sub(r"\s*(//.*)?$", "", line)


def mutants_of(source):
    """[(line, before, after, text)]: errors in code, not in comments."""
    before = (ROOT / source).read_text().splitlines(keepends=True)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([MUTATE, source, "cpp", "--noCheck", "--mutantDir", folder], cwd=ROOT, check=True,
                       capture_output=True)
        for path in sorted(pathlib.Path(folder).iterdir(), key=lambda it: int(it.name.split(".")[-2])):
            after = path.read_text().splitlines(keepends=True)
            differing = [i for i, pair in enumerate(zip(before, after)) if pair[0] != pair[1]]
            if len(before) != len(after) or len(differing) != 1:
                continue
            i = differing[0]
            if code_of(before[i]) != code_of(after[i]):
                found.append((i + 1, before[i].strip(), after[i].strip(), "".join(after)))
    return found


class Sampler:
    """Errors at random, each line as likely as any other."""

    def __init__(self, sources, seed, only):
        self.random = random.Random(seed)
        self.sources = sources
        self.only = only
        self.mutants = {}
        self.taken = set()
        self.weights = [len(only[it]) if only else len((ROOT / it).read_text().splitlines()) for it in sources]
        self.lock = threading.Lock()

    def next(self):
        """(source, line, before, after, text); nothing if there seem to be no more."""
        with self.lock:
            for _ in range(1000):
                source = self.random.choices(self.sources, self.weights)[0]
                if source not in self.mutants:
                    lines = self.only.get(source) if self.only else None
                    self.mutants[source] = [it for it in mutants_of(source) if lines is None or it[0] in lines]
                if not self.mutants[source]:
                    continue
                mutant = (source, *self.random.choice(self.mutants[source]))
                if mutant[:4] not in self.taken:
                    self.taken.add(mutant[:4])
                    return mutant
        return None


def equivalents():
    rows = [line.split("\t") for line in EQUIVALENT.read_text().splitlines() if line and not line.startswith("#")]
    return {tuple(row[:3]) for row in rows}


class OneLineParser(argparse.ArgumentParser):
    def error(self, message):
        refuse("scripts/mutate", message)


def refuse(subject, problem):
    print(f"{subject}:1:1: error: {problem}", file=sys.stderr)
    sys.exit(2)


class Campaign:
    def __init__(self, sampler, build):
        self.sampler, self.build, self.known = sampler, build, equivalents()
        self.lock = threading.Lock()
        self.found, self.missed, self.same = 0, [], 0

    def tell(self, mutant, verdict):
        source, line, before, after, _ = mutant
        with self.lock:
            print(f"{source}:{line}: {verdict}: {before}  ==>  {after}", flush=True)

    def count_same(self):
        with self.lock:
            self.same += 1

    def one(self, folder):
        """Plants one error that compiles, and runs the tests. What they miss must change the machine code."""
        for _ in range(MOST_TRIES):
            mutant = self.sampler.next()
            if mutant is None:
                return
            source, _, before, after, text = mutant
            if (source, before, after) in self.known:
                self.count_same()
                continue
            code = self.build.object_of(source, text, folder)
            if code is None:
                continue
            finder = self.build.finder(source, folder)
            if finder is None:
                continue
            if not finder and code == self.build.object_of(source, (ROOT / source).read_text(), folder):
                self.count_same()
                continue
            with self.lock:
                if finder:
                    self.found += 1
                else:
                    self.missed.append(mutant)
            self.tell(mutant, f"found by {finder}" if finder else "NOT FOUND")
            return


def work(campaign, numbers):
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        for _ in numbers:
            campaign.one(pathlib.Path(folder))


def main():
    parser = OneLineParser(allow_abbrev=False)
    parser.add_argument("--mutants", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--since")
    parser.add_argument("--log", action="store_true")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    for file in options.files:
        if not file.endswith(".cpp") or file.split("/")[0] not in TESTS or not (ROOT / file).exists():
            refuse(file, f"cannot plant an error there (must be a source of {', '.join(TESTS)})")
    if options.since and subprocess.run(["git", "cat-file", "-e", options.since + "^{tree}"], cwd=ROOT,
                                        capture_output=True, check=False).returncode != 0:
        refuse(options.since, "unknown BASE (no commit of this repository)")
    sources = options.files or run("git", "ls-files", *(f"{room}/*.cpp" for room in TESTS)).splitlines()
    only = {}
    if options.since:
        only = changed_lines(options.since)
        sources = [it for it in sources if it in only]
    if not sources:
        print("no source has changed: nothing to plant")
        return
    commit = run("git", "describe", "--always", "--dirty").strip()  # of what is built
    names = sorted({it for names in TESTS.values() for it in names})
    targets = [pathlib.Path(program_of(it)).name for it in names]
    for command in (["cmake", "--preset", "mutate"], ["cmake", "--build", "--preset", "mutate", "--target", *targets]):
        subprocess.run(command, cwd=ROOT, stdout=sys.stderr, check=True)
    build = Build(names)
    for name in names:
        if tested(name, BUILD / program_of(name)).returncode != 0:
            refuse(program_of(name), "a test fails without a planted error (every error would count as found)")
    campaign = Campaign(Sampler(sources, options.seed, only), build)
    workers = os.cpu_count()
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for done in [pool.submit(work, campaign, range(i, options.mutants, workers)) for i in range(workers)]:
            done.result()
    total = campaign.found + len(campaign.missed)
    if total == 0:
        sys.exit("no error could be planted")
    score = campaign.found / total
    print(f"{campaign.found} of {total} errors found ({100 * score:.1f} %); {campaign.same} more changed nothing")
    if options.log:
        with RUNS.open("a") as rows:
            rows.write(f"{datetime.date.today()},{commit},{options.seed},{total},{campaign.found},{campaign.same}\n")
    sys.exit(score < LEAST_FOUND)


if __name__ == "__main__":
    main()
