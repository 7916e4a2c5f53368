"""Long runs keep no path that nobody reads, and threads run beside each other."""
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import pyscan
import pyscan.tensor as at

# Each loop's path would take 32 MB and more; with 16 MB left in the address space it runs only if no path is kept.
SCRIPT = """
import resource
import sys
import pyscan
import pyscan.tensor as at
from pyscan.scan_step import until
kind, N = sys.argv[1], 4_000_000
stream, n, x = at.random.RandomStream(7), at.lscalar("n"), at.dscalar("x")
step, start = {
    "recurrence": (lambda x: 0.9 * x + stream.normal(0.0, 0.1), [x]),
    "vector": (lambda x: 0.9 * x + stream.normal(size=(4,)), [at.zeros(4) + x]),
    "two taps": (lambda a, b: 0.5 * a + 0.3 * b + stream.normal(), [{"initial": at.stack([x, x]), "taps": [-2, -1]}]),
    "until": (lambda x: (x + stream.uniform(), until(x < -1.0)), [x]),
    "draws alone": (lambda: stream.normal(), None),
    "parameters are the state": (lambda x: stream.normal(0.5 * x, 1.0), [x]),
}[kind]
functions = []
for steps in (N, n):
    path, updates = pyscan.scan(step, outputs_info=start, n_steps=steps)
    functions.append([pyscan.function([n, x], value, updates=updates, on_unused_input="ignore") for value in (path[-1], path)])
for f, _ in functions:
    f(N, 1.0)  # what a first call needs besides
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (16 << 20), -1))
for f, whole in functions:
    f(N, 1.0)
    assert f.counters["steps"] == N, f.counters
    try:
        whole(N, 1.0)
    except MemoryError:
        print("no path")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of the address space")
@pytest.mark.skipif("PYSCAN_SANITIZED" in os.environ, reason="sanitizers need address space of their own")
@pytest.mark.parametrize("kind", ["recurrence", "vector", "two taps", "until", "draws alone", "parameters are the state"])
def test_a_loop_of_which_the_end_is_read_keeps_no_path(kind):
    environment = {**os.environ, "MALLOC_ARENA_MAX": "1", "PYSCAN_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", SCRIPT, kind], capture_output=True, text=True, env=environment)
    assert done.stdout.split("\n")[:2] == ["no path", "no path"], done.stderr


def walk(seed):
    stream, x = at.random.RandomStream(seed), at.dscalar("x")
    path, updates = pyscan.scan(lambda x: 0.9 * x + stream.normal() * stream.gamma(2.0, 1.0), outputs_info=[x], n_steps=3000)
    return pyscan.function([x], path, updates=updates)


def in_threads(tasks):
    threads = [threading.Thread(target=task) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_independent_functions_give_the_same_numbers_in_threads():
    want = [[f(1.0) for _ in range(20)] for f in map(walk, range(4))]
    got = [[] for _ in range(4)]
    in_threads([lambda f=walk(seed), made=got[seed]: made.extend(f(1.0) for _ in range(20)) for seed in range(4)])
    np.testing.assert_array_equal(got, want)


def test_calls_of_one_function_in_threads_share_its_draws():
    alone, f, got = walk(3), walk(3), []
    in_threads([lambda: got.extend(f(1.0) for _ in range(15))] * 4)
    want = [alone(1.0) for _ in range(60)]
    np.testing.assert_array_equal(sorted(got, key=lambda path: path[0]), sorted(want, key=lambda path: path[0]))


def sees_half_a_run(f, n_steps):
    """Whether this thread's Python code ran while another thread's call had filled a part of its array."""
    room, is_seen = np.zeros(n_steps), False
    thread = threading.Thread(target=lambda: f(0.3, out=room))
    thread.start()
    while thread.is_alive() and not is_seen:
        is_seen = room[n_steps // 2] == 0.0 and room[n_steps // 20] != 0.0
    thread.join()
    assert np.count_nonzero(room) == n_steps
    return is_seen


def test_a_running_function_holds_no_gil():
    x = at.dscalar("x")
    path, _ = pyscan.scan(lambda x: 3.7 * x * (1.0 - x), outputs_info=[x], n_steps=2_000_000)
    f = pyscan.function([x], path)
    assert any(sees_half_a_run(f, 2_000_000) for _ in range(100))  # the system may let the one wait for the other now and then
