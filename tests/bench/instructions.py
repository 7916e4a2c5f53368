"""Machine instructions a step, counted by valgrind's callgrind: the same on every run, whatever else the machine does.

    python tests/bench/instructions.py [WORKLOAD...]

Each workload is compiled once and called with two lengths; only what happens inside ``vm_run`` is counted, and the
difference of the two counts over the difference of the lengths is what one step costs, NumPy's own draw included.
"""
import os
import re
import subprocess
import sys
import tempfile

SHORT, LONG = 1_000, 3_000

SCRIPT = """
import sys
import numpy as np
import pyscan
import pyscan.tensor as at
n, stream, x0 = at.lscalar("n"), at.random.RandomStream(23), at.dscalar("x0")
def volatility(h):
    h1 = -1.0 + 0.97 * (h + 1.0) + 0.2 * stream.normal()
    return h1, at.exp(0.5 * h1) * stream.normal()
workloads = {
    "draws": (lambda: stream.normal(), []),
    "ar1": (lambda x: 0.9 * x + stream.normal(0.0, 0.1), [x0]),
    "stochvol": (volatility, [x0, None]),
    "logistic": (lambda x: 3.7 * x * (1.0 - x), [x0]),
}
step, states = workloads[sys.argv[1]]
outputs, updates = pyscan.scan(step, outputs_info=states, n_steps=n)
f = pyscan.function([x0, n], outputs, updates=updates, on_unused_input="ignore")
f(0.3, int(sys.argv[2]))
"""
WORKLOADS = ("draws", "ar1", "stochvol", "logistic")


def count(workload: str, n_steps: int) -> int:
    """Return the instructions spent in vm_run for one call of n_steps."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "callgrind.out")
        environment = dict(os.environ, PYTHONHASHSEED="0", OPENBLAS_NUM_THREADS="1")
        subprocess.run(
            ["valgrind", "--tool=callgrind", "--toggle-collect=vm_run", "--callgrind-out-file=" + out,
             sys.executable, "-c", SCRIPT, workload, str(n_steps)],
            check=True, capture_output=True, env=environment)
        with open(out) as file:
            return int(re.search(r"^(?:summary|totals): (\d+)", file.read(), re.M).group(1))


def per_step(workload: str) -> float:
    """Return the instructions that one more step costs.

    >>> per_step("draws") < 120  # doctest: +SKIP
    True
    """
    return (count(workload, LONG) - count(workload, SHORT)) / (LONG - SHORT)


if __name__ == "__main__":
    for name in sys.argv[1:] or WORKLOADS:
        print(f"{name:10} {per_step(name):8.1f} instructions a step", flush=True)
