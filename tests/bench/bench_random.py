"""Nanoseconds a draw, in C: pyscan's fill against NumPy's, on each bit generator: `python tests/bench/bench_random.py [DISTRIBUTION...]`.

Builds csrc/random with the package's optimisation into a library of its own (random_timer.c), hands it the running NumPy's
functions, and races in turns of 10,000 draws; the figures are the least of many turns. NumPy's side is its own fill where it
has one, else a loop in C over its function. A RandomState's fills are those of a compiled function, raced with its own method
(for the distributions that are drawn by functions of ours; all others are the method's draws). The last columns are of a
compiled scan that draws one number a step.
Prints a table in Markdown with the versions and the machine. Only ratios can be compared.
"""
import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import pyscan  # noqa: E402
from pyscan import _core, selfcheck  # noqa: E402
from tests.compiler import COMPILER  # noqa: E402
from tests.parity.drawing import make_draw  # noqa: E402

ROWS = {row["name"]: row for row in _core.dists()}
BIT_GENERATORS = [np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64]
NUMPY = ctypes.CDLL(np.random._generator.__file__)
N = 10_000
N_CALL = 20_000  # in a call of a compiled function, which must fit into a slice of a busy machine's time
N_ROUNDS, N_TURNS = 10, 20  # rounds of turns of each thing that is raced

# What is raced besides the first regime of each distribution: (label, distribution, parameters).
CASES = [
    ("integers, 2^31 + 1 values", "integers", (0, 2**31 + 1)), ("integers, 2^32 values", "integers", (0, 2**32)),
    ("integers, 2^40 values", "integers", (0, 2**40)), ("integers, 2^63 + 1 values", "integers", (-2**62, 2**62 + 1)),
]
# NumPy's own fills: (shape, symbol).
FILLS = {"normal": ("FILL", "random_standard_normal_fill"), "exponential": ("FILL", "random_standard_exponential_fill"),
         "uniform": ("FILL", "random_standard_uniform_fill"), "integers": ("FILL_BOUNDED", "random_bounded_uint64_fill")}
# What a fill may take of NumPy's time on PCG64 and PCG64DXSM; on others, and for other distributions, 1.05.
BARS = {"normal": 0.6, "exponential": 0.6, "integers": 0.6, "uniform": 0.7}
OTHER_BAR, STEP_BAR = 1.05, 1.5


class Race(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("shape", ctypes.c_char_p), ("ours", ctypes.c_void_p), ("theirs", ctypes.c_void_p),
                ("bitgen", ctypes.c_void_p), ("n_bytes", ctypes.c_int64), ("n_pointers", ctypes.c_int64),
                ("doubles", ctypes.c_double * 3), ("integers", ctypes.c_int64 * 3)]


def address(symbol):
    try:
        return ctypes.cast(getattr(NUMPY, symbol), ctypes.c_void_p).value
    except AttributeError:
        return None


def build_timer(folder):
    flags = ["-std=gnu11", "-O3", "-fPIC", "-shared", "-fvisibility=hidden", "-ffp-contract=off", "-fno-math-errno", "-fno-strict-aliasing"]
    sources = [*sorted(ROOT.glob("csrc/random/*.c")), *sorted(ROOT.glob("csrc/base/*.c")), ROOT / "csrc" / "math" / "level.c", ROOT / "tests" / "bench" / "random_timer.c"]
    library = pathlib.Path(folder) / "timer.so"
    subprocess.run([*COMPILER, *flags, "-I", ROOT / "csrc", *sources, "-o", library, "-lm"], check=True)
    timer = ctypes.CDLL(str(library))
    timer.timer_race.argtypes = [ctypes.POINTER(Race), ctypes.c_int64, ctypes.c_int, ctypes.POINTER(ctypes.c_double)]
    timer.timer_start.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p]
    if timer.timer_start(os.environ.get("PYSCAN_CPU", "").encode() or None, address("random_normal"), address("random_exponential")) != 0:
        raise ValueError("PYSCAN_CPU names no level of this CPU")
    return timer


def race(timer, name, params, bit_generator):
    """A function that measures nanoseconds a draw, (ours, NumPy's), in some turns; or None where that cannot be raced."""
    row = ROWS[name]
    shape, symbol = FILLS.get(name, (None, row["symbols"][0]))
    if set(row["kinds"]) - set("dl") or len(params) > 3 or address(row["symbols"][0]) is None or address(symbol) is None:
        return None
    interface = bit_generator.ctypes
    doubles, integers = (ctypes.c_double * 3)(), (ctypes.c_int64 * 3)()
    for i, (kind, param) in enumerate(zip(row["kinds"], params)):
        (integers if kind == "l" else doubles)[i] = param
    n_pointers = {"PCG64": 1, "PCG64DXSM": 1, "Philox": 2}.get(type(bit_generator).__name__, 0)
    task = Race(name.encode(), shape and shape.encode(), address(row["symbols"][0]), address(symbol), interface.bit_generator.value,
                type(bit_generator).__basicsize__ - (interface.state_address - id(bit_generator)), n_pointers, doubles, integers)

    def measure(keep=bit_generator):  # `task` holds addresses in it
        least = (ctypes.c_double * 2)()
        return tuple(least) if timer.timer_race(ctypes.byref(task), N, N_TURNS, least) == 0 else None
    return measure if measure() is not None else None


def time_calls(*calls):
    """Nanoseconds a draw of calls that make N_CALL draws each: the least of some calls in turns."""
    least = [float("inf")] * len(calls)
    for _ in range(N_TURNS):
        for i, call in enumerate(calls):
            start = time.perf_counter()
            call()
            least[i] = min(least[i], time.perf_counter() - start)
    return tuple(seconds / N_CALL * 1e9 for seconds in least)


def compile_steps(name, params, generator):
    """A compiled scan that draws one number a step."""
    rng = pyscan.shared(generator, borrow=True)

    def step():
        draw, next_rng = make_draw(name, rng, None, params)
        return draw, {rng: next_rng}
    path, updates = pyscan.scan(step, n_steps=N_CALL)
    return pyscan.function([], path, updates=updates)


def race_state(name, params):
    """A function that measures nanoseconds a draw of a compiled function and of the method of a RandomState, in turns."""
    rng, twin = pyscan.shared(np.random.RandomState(1), borrow=True), np.random.RandomState(1)
    draw, next_rng = make_draw(name, rng, (N_CALL,), params)
    function, method = pyscan.function([], draw, updates={rng: next_rng}), _core.draw_method(name)
    return lambda: time_calls(function, lambda: method(np, twin, (N_CALL,), *params))


def race_all(fills, steps):
    """The least of the figures of `fills` and of the compiled scan `steps`, measured in turns: a machine whose speed changes
    from one second to the next slows both, not one of a ratio's sides."""
    ours, theirs, step = zip(*(fills() + time_calls(steps) for _ in range(N_ROUNDS)))
    return (min(ours), min(theirs)), min(step)


def print_row(label, generator, figures, bar, step):
    ours, theirs = figures
    print(f"| {label} | {generator} | {ours:.2f} | {theirs:.2f} | {ours / theirs:.2f} | {bar} | {'' if ours <= bar * theirs else 'missed'} "
          f"| {step:.2f} | {step / ours:.2f} | {STEP_BAR} | {'' if step <= STEP_BAR * ours else 'missed'} |", flush=True)


def main(names):
    pyscan.show_versions()
    print("\n| draws | bit generator | pyscan, ns | NumPy, ns | ratio | bar | | scan, ns a step | scan ÷ fill | bar | |\n" + "|---" * 11 + "|")
    cases = [(name, name, tuple(value.item() for value in selfcheck.read_regimes(row)[0])) for name, row in ROWS.items() if "v" not in row["kinds"]] + CASES
    with tempfile.TemporaryDirectory() as folder:
        timer = build_timer(folder)
        for label, name, params in cases:
            if names and name not in names:
                continue
            for make in BIT_GENERATORS if ROWS[name]["owners"][0] else []:
                fills = race(timer, name, params, make(1))
                if fills is not None:
                    bar = BARS.get(name, OTHER_BAR) if make.__name__.startswith("PCG64") else OTHER_BAR
                    figures, step = race_all(fills, compile_steps(name, params, np.random.Generator(make(1))))
                    print_row(label, make.__name__, figures, bar, step)
            if ROWS[name]["owners"][1] and ROWS[name]["legacy"]:
                figures, step = race_all(race_state(name, params), compile_steps(name, params, np.random.RandomState(1)))
                print_row(label, "RandomState", figures, OTHER_BAR, step)


if __name__ == "__main__":
    main(sys.argv[1:])
