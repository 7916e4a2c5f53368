"""Runs files of Aesara's own test suite with pyscan in the place of Aesara, and prints a table of what passes.

    python tests/aesara_suite/run.py                   the files below
    python tests/aesara_suite/run.py graph/test_fg.py  some files
    python tests/aesara_suite/run.py --sdist FILE      with a source archive that is there already

The suite is fetched with pip into a temporary folder, and nothing of it stays. A guide, not a goal: many of its tests look into
Aesara's own machinery, or ask for what is not part of pyscan. Run it in an environment with pyscan, pytest and SciPy.

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
FILES = (
    "graph/test_fg.py", "graph/test_features.py", "graph/test_destroyhandler.py", "compile/test_shared.py",
    "compile/function/test_function.py", "compile/function/test_pfunc.py", "compile/function/test_types.py", "scan/test_basic.py",
    "test_printing.py", "tensor/random/test_basic.py", "tensor/random/test_utils.py",
)  # fmt: skip
PARTS = ("gradients", "C, GPU, other back ends", "other absent names", "not explained")
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


def counts(top: pathlib.Path, name: str, timeout: int, listed: bool) -> tuple[collections.Counter, str]:
    """How many tests of a file passed, and failed for each part; and what to say of the run as a whole."""
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
            outcome, part, test = line[1:].split("\t")
            tally[part or outcome] += 1
            if listed and outcome == "failed":
                print(f"{part}: {test}")
    # 0: all passed, 1: some failed, 2: the file could not be imported, below 0: a signal
    ends = {0: "", 1: "", 2: "not importable"}
    return tally, ends.get(done.returncode, f"ended with {done.returncode}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", help="below the suite's tests folder; default: the list in this file")
    parser.add_argument("--sdist", help="a source archive of Aesara, in place of a download")
    parser.add_argument("--timeout", type=int, default=300, help="seconds for a file")
    parser.add_argument("--list", action="store_true", help="name each test that fails")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        top = unpacked(folder, options.sdist)
        print(f"| file | passed | failed | of which {' | '.join(PARTS)} | |\n|---|---|---|{'---|' * len(PARTS)}---|", flush=True)
        for name in options.files or FILES:
            tally, end = counts(top, name, options.timeout, options.list)
            failed = [tally[part] for part in PARTS]
            print(f"| {name} | {tally['passed']} | {sum(failed)} | {' | '.join(map(str, failed))} | {end} |", flush=True)


if __name__ == "__main__":
    main()
