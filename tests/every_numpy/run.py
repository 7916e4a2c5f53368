"""Tests one wheel per Python under the oldest and the newest NumPy that pip installs for it, without building again.

    python tests/every_numpy/run.py [--pairs N] [PYTHON ...]

Without arguments the Pythons are those on PATH and of pyenv, one of each minor version that pyscan supports. For each, a wheel is
built with the newest NumPy; then it is installed into two environments, and the tests that depend on NumPy run there. All is in
build/every_numpy. `--pairs 2` tests two combinations alone: the first Python's oldest NumPy and the last one's newest. Prints a
table, and the failures; ends with status 1 if there were any.
"""
from __future__ import annotations

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib
import xml.etree.ElementTree
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROOM = ROOT / "build" / "every_numpy"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
# What looks at numbers, arrays and generators. Left out is what counts instructions, builds C, starts scripts, compares pyscan's ways to
# run a loop with each other, or does not meet NumPy.
TESTS = ["tests/parity", "tests/unit", "tests/golden", "tests/faults"]
LEFT_OUT = ["tests/parity/test_instructions.py", "tests/parity/test_bench_random.py", "tests/parity/test_same_bits.py", "tests/unit/test_packaging.py",
            "tests/unit/test_deep_graphs.py", "tests/unit/test_runner.py", "tests/unit/test_tiles.py", "tests/unit/test_vector_loops.py",
            "tests/unit/test_blocks.py"]
# Run in an environment: which pyscan and NumPy it has, and by how many distributions each way to draw is taken.
DESCRIBE = """
import collections, numpy, pyscan, pyscan.selfcheck as selfcheck
ways = collections.Counter(selfcheck.ways().values())
print(numpy.__version__, pyscan.__file__, ", ".join(f"{n} {'by ' + way if way else 'need SciPy'}" for way, n in ways.items()), sep="\\n")
"""


class Python(NamedTuple):
    path: str
    version: tuple[int, ...]

    @property
    def name(self) -> str:
        return ".".join(map(str, self.version))


class Report(NamedTuple):
    python: Python
    numpy: str
    ways: str
    counts: dict[str, int]
    seconds: float
    failures: str


def run(*command: object, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*map(str, command)], text=True, capture_output=True, **options)  # type: ignore[call-overload]


def run_well(*command: object, **options: object) -> str:
    done = run(*command, **options)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\nended with status {done.returncode}:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def read_version(text: str) -> tuple[int, ...]:
    """
    >>> read_version(">=1.26")
    (1, 26)
    """
    return tuple(map(int, re.findall(r"\d+", text)))


# ---- which Pythons, which NumPys ----


def ask_python(path: str) -> Python | None:
    """The Python behind a path; None when it does not run, is too old, or can't build extensions."""
    question = "import sys, os, sysconfig, venv, ensurepip; print(*sys.version_info[:3], os.path.exists(sysconfig.get_path('include') + '/Python.h'))"
    done = run(path, "-c", question)
    *version, has_headers = done.stdout.split() if done.returncode == 0 else [0, "False"]
    python = Python(path, tuple(map(int, version)))
    return python if has_headers == "True" and python.version >= read_version(PROJECT["project"]["requires-python"]) else None


def find_pythons(paths: list[str]) -> list[Python]:
    """The Pythons at those paths, or of each minor version at hand the newest."""
    if not paths:
        names = [f"python3.{minor}" for minor in range(11, 30)]
        paths = [path for path in map(shutil.which, names) if path]
        paths += map(str, pathlib.Path("~/.pyenv/versions").expanduser().glob("*/bin/python"))
        newest = {python.version[:2]: python for python in sorted(filter(None, map(ask_python, paths)), key=lambda python: python.version)}
        return list(newest.values())
    found = [(path, ask_python(path)) for path in paths]
    for path, python in found:
        if python is None:
            raise SystemExit(f"{path} is no Python {PROJECT['project']['requires-python']} with venv and headers")
    return [python for _, python in found if python]


def find_numpys(pip: list[object]) -> tuple[str, str]:
    """The oldest NumPy that pyscan admits and pip has a wheel of, and the newest."""
    listed = re.search(r"Available versions: (.*)", run_well(*pip, "index", "versions", "numpy"))
    (admitted,) = [read_version(line) for line in PROJECT["project"]["dependencies"] if line.startswith("numpy")]
    versions = [text for text in (listed[1].split(", ") if listed else []) if read_version(text) >= admitted]
    there = (text for text in reversed(versions)
             if run(*pip, "install", "--dry-run", "--no-deps", "--ignore-installed", "--only-binary", ":all:", f"numpy=={text}").returncode == 0)
    oldest = next(there, None)
    if oldest is None:
        raise SystemExit(f"pip finds no NumPy of version {admitted} or later")
    return oldest, versions[0]


# ---- building and testing ----


def make_environment(python: Python, name: str) -> pathlib.Path:
    """The Python of a new environment in the room of that Python."""
    folder = ROOM / python.name / name
    run_well(python.path, "-m", "venv", "--clear", folder)
    return folder / "bin" / "python"


def build(python: Python) -> tuple[pathlib.Path, tuple[str, str]]:
    """The wheel, built with the newest NumPy, and the two versions to test it with."""
    environment, room = make_environment(python, "build"), ROOM / python.name
    pip = [environment, "-m", "pip", "--disable-pip-version-check"]
    oldest, newest = find_numpys(pip)
    run_well(*pip, "install", "--quiet", *PROJECT["build-system"]["requires"], "wheel", f"numpy=={newest}")
    shutil.rmtree(room / "wheel", ignore_errors=True)
    run_well(environment, "setup.py", "--quiet", "egg_info", "--egg-base", room, "build", "--build-base", room / "objects",
             "bdist_wheel", "--dist-dir", room / "wheel", cwd=ROOT)
    (wheel,) = (room / "wheel").glob("*.whl")
    return wheel, (oldest, newest)


def copy_tests() -> pathlib.Path:
    """A folder with the tests and what they read, but without the package, so that the wheel's is imported."""
    tree = ROOM / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    for name in ("tests", "csrc", "examples"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tree)
    return tree


def check_environment(python: pathlib.Path, numpy: str, tree: pathlib.Path) -> str:
    """That the wheel and that NumPy are what is imported; gives the ways to draw."""
    found, path, ways = run_well(python, "-W", "error", "-c", DESCRIBE, cwd=tree).splitlines()
    if found != numpy or "site-packages" not in path:
        raise SystemExit(f"{python} imports NumPy {found} and {path}")
    return ways


def test(python: Python, wheel: pathlib.Path, numpy: str, tree: pathlib.Path) -> Report:
    environment = make_environment(python, f"numpy-{numpy}")
    run_well(environment, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--only-binary", ":all:", f"{wheel}[test,scipy]", f"numpy=={numpy}")
    ways, results = check_environment(environment, numpy, tree), ROOM / python.name / f"numpy-{numpy}.xml"
    results.unlink(missing_ok=True)
    done = run(environment, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={results}", f"--basetemp={results.with_suffix('.tmp')}",
               *TESTS, *(f"--ignore={path}" for path in LEFT_OUT), cwd=tree, env={"PYSCAN_DRAWS": "2000", **os.environ})
    if not results.exists():
        raise SystemExit(f"the tests under Python {python.name} and NumPy {numpy} did not end:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    (suite,) = xml.etree.ElementTree.parse(results).iter("testsuite")
    counts = {name: int(suite.get(name, 0)) for name in ("tests", "failures", "errors", "skipped")}
    return Report(python, numpy, ways, counts, float(suite.get("time", 0)), "" if done.returncode == 0 else done.stdout)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", type=int, default=0, help="2: the first Python's oldest NumPy and the last one's newest; all by default")
    parser.add_argument("pythons", nargs="*")
    options = parser.parse_args()
    pythons = find_pythons(options.pythons)
    if options.pairs:
        pythons = [pythons[0], pythons[-1]][:len(pythons)]
    tree, wheels = copy_tests(), {python: build(python) for python in pythons}
    pairs = [(python, wheel, numpy) for python, (wheel, numpys) in wheels.items() for numpy in dict.fromkeys(numpys)]
    if options.pairs:
        pairs = [pairs[0], pairs[-1]]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        reports = list(pool.map(lambda pair: test(*pair, tree), pairs))
    for report in reports:
        if report.failures:
            print(f"\n==== Python {report.python.name}, NumPy {report.numpy}\n{report.failures}")
    print(f"{'python':<8} {'numpy':<8} {'built with':<10} {'tests':>6} {'failed':>6} {'skipped':>7} {'seconds':>7}  draws")
    for report in reports:
        failed, built = report.counts["failures"] + report.counts["errors"], wheels[report.python][1][1]
        print(f"{report.python.name:<8} {report.numpy:<8} {built:<10} {report.counts['tests']:>6} {failed:>6} {report.counts['skipped']:>7} "
              f"{report.seconds:>7.0f}  {report.ways}")
    return any(report.failures for report in reports)


if __name__ == "__main__":
    sys.exit(main())
