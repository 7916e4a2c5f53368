"""Every allocation of compiling and running the issue's script fails in turn."""
import gc

import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan import _core


@pytest.fixture(autouse=True)
def disarmed():
    yield
    _core.mem_fault_disarm()


def expected():
    return np.random.default_rng(np.random.SeedSequence(23).spawn(1)[0]).normal(size=10)


def build():
    stream = at.random.RandomStream(23)
    out, updates = pyscan.scan(lambda: stream.normal(), n_steps=10, strict=True)
    return pyscan.function([], out, updates=updates, mode="FAST_RUN")


def failures(task, step=1):
    """Run the task with its k-th allocation failing, for k = 1, 1 + step, ... until it no longer meets a failure; gives how
    often it failed."""
    k = count = 0
    while True:
        k += step if count else 1
        _core.mem_fault_arm(k)
        try:
            task()
        except MemoryError:
            failed = _core.mem_fault_disarm()
            assert failed == 1
            count += 1
            continue
        if _core.mem_fault_disarm() == 0:
            return count


def test_compiling_fails_cleanly_at_every_allocation():
    np.testing.assert_array_equal(build()(), expected())
    assert failures(build) > 20
    np.testing.assert_array_equal(build()(), expected())


def test_running_fails_cleanly_at_every_allocation():
    def task():
        f = build_quietly()
        np.testing.assert_array_equal(f(), expected())

    def build_quietly():
        armed = _core.mem_fault_disarm()
        assert armed == 0
        f = build()
        _core.mem_fault_arm(task.k)
        return f

    count = 0
    for task.k in range(1, 1000):
        try:
            task()
        except MemoryError:
            assert _core.mem_fault_disarm() == 1
            count += 1
            continue
        if _core.mem_fault_disarm() == 0:
            break
    assert 3 < count < 999


def test_a_run_that_found_no_memory_leaves_the_generator_and_the_next_run_is_right():
    f = build()
    (rng,) = f.get_shared()
    before = rng.get_value().bit_generator.state
    count = failures(f)
    if count == 0:  # everything came from the pool: make a first call fail
        f = build()
    assert rng.get_value().bit_generator.state != before  # the last run of `failures` went through
    np.testing.assert_array_equal(build()(), expected())


def test_failures_leak_nothing():
    def once():
        for k in range(1, 200, 3):
            _core.mem_fault_arm(k)
            try:
                build()()
            except MemoryError:
                pass
            _core.mem_fault_disarm()
        gc.collect()

    once()
    blocks = _core.mem_blocks_alive()
    once()
    assert _core.mem_blocks_alive() <= blocks
