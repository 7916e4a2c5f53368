"""One peer in its own process: `python -m tests.bench.peers MODULE` answers lines of "WORKLOAD SECONDS" with lines of JSON.

The first line tells the version. An answer has the least time of the calls of that many seconds together ("run"), and of the
first question of a workload what building and the first call took ("build"); or why there is none ("error").
"""
import importlib
import json
import sys
import time


def answer(peer, made, name, seconds):
    build = None
    if name not in made:
        start = time.perf_counter()
        made[name] = peer.compiled(name)
        if made[name] is not None:
            made[name]()
        build = time.perf_counter() - start
    call = made[name]
    if call is None:
        return {"error": "not written for this peer"}
    best, spent = float("inf"), 0.0
    while spent < seconds:
        start = time.perf_counter()
        call()
        taken = time.perf_counter() - start
        best, spent = min(best, taken), spent + taken
    return {"run": best, "build": build}


def main(module):
    peer, made = importlib.import_module(f"tests.bench.peers.{module}"), {}
    print(json.dumps({"version": f"{peer.VERSION} (Python {sys.version.split()[0]})"}), flush=True)
    for line in sys.stdin:
        name, seconds = line.split()
        try:
            reply = answer(peer, made, name, float(seconds))
        except Exception as error:  # one workload fails, the others go on
            made.pop(name, None)
            reply = {"error": f"{type(error).__name__}: {error}"[:200]}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
