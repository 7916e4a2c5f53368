"""Nanoseconds a step of the workloads, pyscan beside its peers, in one run: `python tests/bench/bench.py [--rounds N] [WORKLOAD...]`.

Prints a table in Markdown with the versions. Only ratios of one run can be compared: clocks drift, and machines differ by a
factor of three. So each peer runs in a process of its own and they take turns; a time is the least of all rounds. A cell has the
peer's time, the ratio of pyscan's time to it, and what the ratio may be at most, with a "!" where it is more. Peers that
`make bench-peers` has installed take part; C over NumPy's library and loops of NumPy calls always do. Then comes what two
threads gain, and what the path of 10^9 steps of which only the end is read takes (`--long`).
"""
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.bench.peers.install import python_of  # noqa: E402
from tests.bench.peers.systems import SYSTEMS, bar  # noqa: E402
from tests.bench.workloads import WORKLOADS, autoregression  # noqa: E402

ONE_THREAD = {name: "1" for name in ("PYSCAN_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")}
SECONDS = 0.25  # of one peer's turn
LONG_SECONDS = 2.0  # of a call: a peer that takes longer has one turn


class Peer:
    """A peer's process."""

    def __init__(self, name):
        system = SYSTEMS[name]
        python = python_of(name) if system.needs else sys.executable
        library = "pyscan" if system.module == "plain" else system.library
        environment = {**os.environ, **ONE_THREAD, "PYTHONPATH": str(ROOT), "PYSCAN_BENCH_LIBRARY": library}
        self.process = subprocess.Popen([str(python), "-W", "ignore", "-m", "tests.bench.peers", system.module], cwd=ROOT, env=environment, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.version = self._read().get("version", "did not start")

    def _read(self):
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"error": "the process ended"}

    def ask(self, workload, seconds):
        try:
            self.process.stdin.write(f"{workload} {seconds}\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        return self._read()


def measure(peers, workload, n_rounds):
    """{peer: nanoseconds a step}, and milliseconds of pyscan's build and first call."""
    best, build, left_out = {}, 0.0, set()
    for _ in range(n_rounds):
        for name, peer in peers.items():
            if name in left_out:
                continue
            reply = peer.ask(workload, SECONDS)
            if "error" in reply or reply["run"] > LONG_SECONDS:
                left_out.add(name)
            if "error" in reply:
                continue
            build = reply["build"] if name == "pyscan" and reply["build"] is not None else build
            best[name] = min(best.get(name, float("inf")), reply["run"] / WORKLOADS[workload][0] * 1e9)
    return best, build * 1e3


def cell(peer, workload, own, ns):
    ratio, most = own / ns, bar(peer, workload, ns)
    return f"{ns:,.1f} ({ratio:.4g}" + ("" if most is None else f" ≤ {most}" if ratio <= most else f" > {most} !") + ")"


def print_table(names, n_rounds):
    peers = {name: Peer(name) for name, system in SYSTEMS.items() if not system.needs or python_of(name).exists()}
    for name, peer in peers.items():
        print(f"{name}: {peer.version}")
    absent = [name for name in SYSTEMS if name not in peers]
    if absent:
        print(f"not installed: {', '.join(absent)} (make bench-peers)")
    others = [name for name in peers if name != "pyscan"]
    print("\nNanoseconds a step (pyscan's ratio to it ≤ what is asked)\n")
    print("| workload | build, ms | pyscan | " + " | ".join(others) + " |\n|" + "---|" * (3 + len(others)))
    for workload in names:
        best, build = measure(peers, workload, n_rounds)
        own = best["pyscan"]
        cells = [cell(name, workload, own, best[name]) if name in best else "–" for name in others]
        print(f"| {workload} | {build:.1f} | {own:,.1f} | " + " | ".join(cells) + " |", flush=True)


def print_threads():
    """What two threads gain that call functions of their own: 2 where each has a core for itself, 1 if the GIL were held."""
    calls = [WORKLOADS["ar1"][1]() for _ in range(2)]

    def seconds(n_threads):
        threads = [threading.Thread(target=lambda call=call: [call() for _ in range(200)]) for call in calls[:n_threads]]
        start = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return (time.perf_counter() - start) / n_threads
    rounds = [(seconds(1), seconds(2)) for _ in range(6)][1:]
    one, two = (min(times) for times in zip(*rounds))
    print(f"\ntwo threads on {os.cpu_count()} cores: {one / two:.2f} times as many calls of ar1 as one")


def print_long():
    import resource
    call = autoregression(1_000_000_000, last_only=True)[1]()
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
    call()
    taken = time.perf_counter() - start
    print(f"\nar1_last with 10^9 steps: {taken:.1f} s, {(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024:.1f} MB more than before the call")


def main(arguments):
    n_rounds = int(arguments.pop(arguments.index("--rounds") + 1)) if "--rounds" in arguments else 5
    names = [name for name in arguments if not name.startswith("--")]
    if "--long" in arguments and not names:
        return print_long()
    print_table(names or list(WORKLOADS), n_rounds)
    print_threads()
    if "--long" in arguments:
        print_long()


if __name__ == "__main__":
    main(sys.argv[1:])
