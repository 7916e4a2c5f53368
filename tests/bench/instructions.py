"""Machine instructions a step, counted by valgrind's callgrind: the same on every run, whatever else the machine does.

    python tests/bench/instructions.py [--update] [WORKLOAD...]

Each workload is compiled once and called with two lengths; only what happens inside ``vm_run`` is counted, and the
difference of the two counts over the difference of the lengths is what one step costs, NumPy's own draw included.
``--update`` keeps the counts, with what they depend on, in instructions.json, which a test compares with.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable

SHORT, LONG = 2_100, 6_200  # whole blocks besides the first steps, and a rest
KEPT = pathlib.Path(__file__).with_name("instructions.json")

SCRIPT = """
import sys
import numpy as np
import pyscan
import pyscan.tensor as at
n, stream, x0 = at.lscalar("n"), at.random.RandomStream(23), at.dscalar("x0")
def volatility(h):
    h1 = -1.0 + 0.97 * (h + 1.0) + 0.2 * stream.normal()
    return h1, at.exp(0.5 * h1) * stream.normal()
P, mu = at.as_tensor_variable(np.full((3, 3), 1 / 3)), at.as_tensor_variable(np.arange(3.0))
def chain(z):
    z = stream.categorical(P[z])
    return z, mu[z] + stream.normal()
def proposal(x, lp):
    new = x + 0.5 * stream.normal(size=(10,))
    value = -0.5 * at.sum(new**2)
    is_better = at.log(stream.uniform()) < value - lp
    return at.switch(is_better, new, x), at.switch(is_better, value, lp)
workloads = {
    "draws": (lambda: stream.normal(), []),
    "ar1": (lambda x: 0.9 * x + stream.normal(0.0, 0.1), [x0]),
    "stochvol": (volatility, [x0, None]),
    "logistic": (lambda x: 3.7 * x * (1.0 - x), [x0]),
    "hmm": (chain, [np.int64(0), None]),
    "metropolis": (proposal, [at.as_tensor_variable(np.zeros(10)), np.float64(0.0)]),
}
functions = []
for name in sys.argv[3:]:
    step, states = workloads[name]
    outputs, updates = pyscan.scan(step, outputs_info=states, n_steps=n)
    functions.append(pyscan.function([x0, n], outputs, updates=updates, on_unused_input="ignore"))
for f in functions:
    for length in sys.argv[1:3]:
        f(0.3, int(length))
"""
WORKLOADS = ("draws", "ar1", "stochvol", "logistic", "hmm", "metropolis")


def count(names: Iterable[str], short: int = SHORT, long: int = LONG) -> list[tuple[int, int]]:
    """Return, for each workload, the instructions spent in vm_run for a call of each length: what callgrind writes out after
    each run, of which those of the calls are the last.
    """
    names = list(names)
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, PYTHONHASHSEED="0", OPENBLAS_NUM_THREADS="1")
        subprocess.run(
            ["valgrind", "--tool=callgrind", "--toggle-collect=vm_run", "--dump-after=vm_run", f"--callgrind-out-file={folder}/out",
             sys.executable, "-c", SCRIPT, str(short), str(long), *names],
            check=True, capture_output=True, env=environment)
        dumps = sorted(pathlib.Path(folder).glob("out.*"), key=lambda path: int(path.suffix[1:]))
        found = [re.search(r"^(?:summary|totals): (\d+)", path.read_text(), re.M) for path in dumps]
    runs = [int(match.group(1)) for match in found if match and int(match.group(1)) > 0][-2 * len(names):]
    return list(zip(runs[::2], runs[1::2]))


def per_step(names: Iterable[str] = WORKLOADS) -> dict[str, float]:
    """Return the instructions that one more step costs, by workload.

    >>> per_step(["draws"])["draws"] < 120  # doctest: +SKIP
    True
    """
    names = list(names)
    return {name: (long - short) / (LONG - SHORT) for name, (short, long) in zip(names, count(names))}


def describe() -> dict[str, str]:
    """What the counts depend on, besides the code."""
    import numpy
    import pyscan
    return {"compiler": pyscan._core.build()["compiler"], "machine": os.uname().machine, "numpy": numpy.__version__}


def main(names: list[str]) -> None:
    counts = per_step([name for name in names if name != "--update"] or WORKLOADS)
    for name, n in counts.items():
        print(f"{name:10} {n:8.1f} instructions a step", flush=True)
    if "--update" in names:
        KEPT.write_text(json.dumps({"made with": describe(), "instructions a step": {name: round(n, 1) for name, n in counts.items()}}, indent=2) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
