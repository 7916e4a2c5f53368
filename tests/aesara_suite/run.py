"""Runs files of Aesara's own test suite with pyscan in the place of Aesara, and prints a table of what passes.

    python tests/aesara_suite/run.py                   the files below
    python tests/aesara_suite/run.py graph/test_fg.py  some files
    python tests/aesara_suite/run.py --sdist FILE      with a source archive that is there already

    python tests/aesara_suite/run.py --list            and each failure with its reason

The suite is fetched with pip into a temporary folder, and nothing of it stays. The share is that of the tests which need neither
gradients nor a C compiler nor a GPU; below 90 in a hundred in a group of files the script ends with 1. Run it in an
environment with pyscan, pytest, SciPy 1.12 and NumPy 1.26, the newest that the suite itself admits.

Relies on: pip, pytest, suite_plugin. Relied on by: nobody; it is not part of the default run.
"""
from __future__ import annotations

import argparse
import collections
import os
import pathlib
import resource
import subprocess
import sys
import tarfile
import tempfile

VERSION = "2.9.4"
# What a group of files is about -> the files, below the suite's tests folder.
GROUPS = {
    "graphs, functions, scan, printing": (
        "graph/test_fg.py", "graph/test_features.py", "graph/test_destroyhandler.py", "compile/test_shared.py",
        "compile/function/test_function.py", "compile/function/test_pfunc.py", "compile/function/test_types.py", "scan/test_basic.py",
        "test_printing.py",
    ),
    "random variables": ("tensor/random/test_basic.py", "tensor/random/test_utils.py"),
}
# Why a test fails, as suite_plugin tells; those of the first two are out of scope.
REASONS = ("gradients", "C compiler, GPU", "other")
GOAL = 0.9
HERE = pathlib.Path(__file__).resolve().parent
MEMORY_BYTES = 8_000_000_000


def unpacked(folder: str, sdist: str | None) -> pathlib.Path:
    """The folder of the suite's sources, below `folder`."""
    if sdist is None:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", "--dest", folder]
        subprocess.run([*pip, f"aesara=={VERSION}"], check=True)
        (found,) = pathlib.Path(folder).glob("*.tar.gz")
        sdist = str(found)
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (top,) = (path for path in pathlib.Path(folder).iterdir() if path.is_dir())
    return top


def counts(top: pathlib.Path, name: str, timeout: int, failures: list[str]) -> tuple[collections.Counter, str]:
    """How many tests of a file passed, and failed for each reason; and what to say of the run as a whole. Failures are listed."""
    paths = [str(HERE.parents[1]), str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])]
    command = [sys.executable, "-m", "pyscan", "-m", "pytest", "-q", "-s", "--tb=short", "-p", "no:cacheprovider", "-p", "suite_plugin"]
    try:
        done = subprocess.run(
            [*command, f"tests/{name}"], cwd=top, timeout=timeout, capture_output=True, text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES)),
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return collections.Counter(), f"no end within {timeout} s"
    tally: collections.Counter = collections.Counter()
    for line in done.stdout.splitlines():
        if line.startswith("@"):
            outcome, reason, test, words = line[1:].split("\t")
            tally[reason or outcome] += 1
            if outcome == "failed":
                failures.append(f"{reason}: {test.removeprefix('tests/')}: {words}")
    # 0: all passed, 1: some failed, 2: the file could not be imported, below 0: a signal
    ends = {0: "", 1: "", 2: "not importable"}
    return tally, ends.get(done.returncode, f"ended with {done.returncode}")


def row(name: str, tally: collections.Counter, end: str = "") -> float:
    """Print a row of the table; gives the share of the tests in scope that pass."""
    failed = [tally[reason] for reason in REASONS]
    in_scope = tally["passed"] + tally[REASONS[-1]]
    share = tally["passed"] / in_scope if in_scope else 0.0
    cells = [name, tally["passed"], tally["passed"] + sum(failed), *failed, f"{100 * share:.1f} %", end]
    print(f"| {' | '.join(map(str, cells))} |", flush=True)
    return share


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", help="below the suite's tests folder; default: the groups in this file")
    parser.add_argument("--sdist", help="a source archive of Aesara, in place of a download")
    parser.add_argument("--timeout", type=int, default=300, help="seconds for a file")
    parser.add_argument("--list", action="store_true", help="name each test that fails, and say why")
    options = parser.parse_args()
    groups = {"files given": tuple(options.files)} if options.files else GROUPS
    failures: list[str] = []
    shares = []
    with tempfile.TemporaryDirectory() as folder:
        top = unpacked(folder, options.sdist)
        print(f"| file | passed | of | failed: {' | '.join(REASONS)} | passed of those in scope | |\n|---|---|---|{'---|' * len(REASONS)}---|---|", flush=True)
        for group, files in groups.items():
            total: collections.Counter = collections.Counter()
            for name in files:
                tally, end = counts(top, name, options.timeout, failures)
                row(name, tally, end)
                total.update(tally)
            shares.append(row(f"**{group}**", total))
    if options.list:
        print("", *sorted(failures), sep="\n")
    return int(min(shares) < GOAL)


if __name__ == "__main__":
    sys.exit(main())
