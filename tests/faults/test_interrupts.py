"""Ctrl-C, exceptions at step k, forks of control: what a call leaves behind."""
import os
import signal
import threading
import time

import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan import _core


def interrupt_after(seconds):
    timer = threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    return timer


@pytest.mark.skipif(not hasattr(signal, "SIGINT") or os.name == "nt", reason="needs POSIX signals")
@pytest.mark.parametrize("body", ["many short steps", "one long step"])
def test_ctrl_c_stops_a_loop_and_nothing_has_changed(body, ctrl_c):
    stream = at.random.RandomStream(23)
    n, size = (10**9, None) if body == "many short steps" else (1, (3 * 10**7,))
    out, updates = pyscan.scan(lambda: at.sum(stream.normal(size=size)), n_steps=at.as_tensor_variable(n) * at.lscalar("k"))
    k = [v for v in pyscan.graph.graph_inputs([out]) if v.name == "k"]
    f = pyscan.function(k, out[-1], updates=updates)
    (rng,) = [s for s in f.get_shared()]
    before = rng.get_value().bit_generator.state
    timer = interrupt_after(0.15)
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        for _ in range(100):
            f(1)
            before = rng.get_value().bit_generator.state
        time.sleep(5)
    assert time.perf_counter() - start < 4
    timer.join()
    assert rng.get_value().bit_generator.state == before


class FailsAt(_core.Op):
    """Hands its input through, and raises at the k-th call."""

    def __init__(self, k):
        super().__init__()
        self.k, self.calls = k, 0

    def make_node(self, x):
        return _core.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        self.calls += 1
        if self.calls == self.k:
            raise ZeroDivisionError("now")
        output_storage[0][0] = inputs[0]


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_an_exception_at_step_k_leaves_every_state_as_before(k, mode):
    stream, total = at.random.RandomStream(23), pyscan.shared(np.float64(1.0))
    op = FailsAt(k)
    out, updates = pyscan.scan(lambda: op(stream.normal()), n_steps=5)
    f = pyscan.function([], out, updates=[*updates.items(), (total, total + at.sum(out))], mode=mode)
    states = [s for s in f.get_shared() if s is not total]
    before = [s.get_value().bit_generator.state for s in states]
    with pytest.raises(ZeroDivisionError, match="now\n") as caught:
        f()
    assert f"at step {k - 1}" in str(caught.value)
    assert total.get_value() == 1.0
    assert [s.get_value().bit_generator.state for s in states] == before
    want = np.random.default_rng(np.random.SeedSequence(23).spawn(1)[0]).normal(size=5)
    np.testing.assert_array_equal(f(), want)
    assert total.get_value() == 1.0 + sum(want)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_can_call_the_function(run_python, tmp_path):
    script = """
import os, numpy as np, pyscan, pyscan.tensor as at
stream = at.random.RandomStream(23)
f = pyscan.function([], stream.normal())
first = float(f())
pid = os.fork()
second = float(f())
if pid == 0:
    os._exit(0 if second != first else 1)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
print(second)
"""
    done = run_python("-c", script, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    own = np.random.default_rng(np.random.SeedSequence(23).spawn(1)[0])
    own.normal()
    assert float(done.stdout) == own.normal()
