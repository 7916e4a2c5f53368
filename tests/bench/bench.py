"""Nanoseconds a step of the workloads, compiled and as a loop of NumPy calls, in one run: `python tests/bench/bench.py [WORKLOAD...]`.

Prints a table in Markdown with the versions and the machine. Only ratios of one run can be compared: clocks drift, and machines
differ by a factor of three. A time is the least of several calls that take about a second together; the plain loop, which
starts its generators anew, is called at least twice.
"""
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

import pyscan  # noqa: E402
from tests.bench.workloads import WORKLOADS  # noqa: E402


def least(call, seconds):
    """The least time of several calls."""
    best, spent, calls = float("inf"), 0.0, 0
    while calls < 2 or spent < seconds:
        start = time.perf_counter()
        call()
        taken = time.perf_counter() - start
        best, spent, calls = min(best, taken), spent + taken, calls + 1
    return best


def row(name):
    """(name, compile milliseconds, nanoseconds a step, nanoseconds a step of the plain loop)."""
    n_steps, compiled, plain = WORKLOADS[name]
    start = time.perf_counter()
    f = compiled()
    f()
    build = time.perf_counter() - start
    return name, build * 1e3, least(f, 1.0) / n_steps * 1e9, least(plain, 0.5) / n_steps * 1e9


def main(names):
    pyscan.show_versions()
    print("\n| workload | compile and first call, ms | ns a step | NumPy loop, ns a step | ratio |\n|---|---|---|---|---|")
    for name in names or WORKLOADS:
        label, build, fast, slow = row(name)
        print(f"| {label} | {build:.1f} | {fast:,.1f} | {slow:,.0f} | {slow / fast:,.1f} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
