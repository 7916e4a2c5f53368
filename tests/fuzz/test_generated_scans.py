"""Generated scans against the plain twin, with rewriting on and off, in blocks and step by step: values, dtypes, final states, errors.

PYSCAN_FUZZ sets the number of scans (300 in the default run; `make fuzz` and CI run 2,000). They are the same ones in every run of
one tree, so that a change is judged by its own; PYSCAN_FUZZ_RANDOM=1 looks for others.
"""
import os

import numpy as np
import pytest
from hypothesis import HealthCheck, event, given, note, settings

import pyscan
from pyscan import _core
from pyscan._reference import ReferenceFunction, root_cause

from .strategies import scan_cases

N_SCANS = int(os.environ.get("PYSCAN_FUZZ", "300"))


@pytest.fixture(autouse=True, scope="module")
def verify_every_pass():
    """Let the graph verifier run after each pass."""
    _core.set_verify(True)
    yield
    _core.set_verify(False)


def outcome(call, arguments):
    """Return ("values", list) or ("error", class, text)."""
    try:
        with np.errstate(all="ignore"):
            values = call(*arguments)
        return "values", [np.asarray(v) for v in values]
    except Exception as error:
        cause = root_cause(error)
        return "error", type(cause), str(cause)


def same_bits(a, b):
    """Whether dtypes, shapes and all elements are equal; NaN equals NaN, 0.0 differs from -0.0."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind == "c":
        return same_bits(a.real, b.real) and same_bits(a.imag, b.imag)
    if a.dtype.kind != "f":
        return bool(np.array_equal(a, b))
    nan = np.isnan(a)
    return bool(np.array_equal(nan, np.isnan(b)) and np.array_equal(a[~nan], b[~nan])
                and np.array_equal(np.signbit(a[~nan]), np.signbit(b[~nan])))


def state_of(value):
    """A shared value in a form that can be compared."""
    if isinstance(value, np.random.Generator):
        return repr(value.bit_generator.state)
    return value.dtype.str, value.shape, value.tobytes()


def assert_same_outcome(want, got):
    assert want[0] == got[0], f"the twin gives {want}, the function {got}"
    if want[0] == "error":
        assert want[1] is got[1], f"the twin raises {want[1:]}, the function {got[1:]}"
        return
    for i, (a, b) in enumerate(zip(want[1], got[1])):
        assert same_bits(a, b), f"output {i}: the twin gives {a!r}, the function {b!r}"


def check(case):
    start = {v: v.get_value() for v in case.shared}
    twin = ReferenceFunction(case.inputs, case.outputs, case.updates, start)
    expected = []
    for arguments in case.arguments:
        expected.append((outcome(twin, arguments), [state_of(twin.shared[v]) for v in case.shared]))
    for want, _ in expected:
        event(f"{want[0]} {want[1].__name__}" if want[0] == "error" else "values")
    for mode, block_steps in (("FAST_RUN", 1), ("FAST_RUN", 0), ("FAST_COMPILE", 3)):
        for variable in case.shared:
            variable.set_value(start[variable])
        with pyscan.config.change_flags(scan__block_steps=block_steps):
            function = pyscan.function(case.inputs, case.outputs, updates=case.updates, mode=mode, on_unused_input="ignore")
        kept = [[np.array(v) for v in call] for call in case.arguments]
        for arguments, copies, (want, states) in zip(case.arguments, kept, expected):
            assert_same_outcome(want, outcome(function, arguments))
            assert [state_of(v.get_value()) for v in case.shared] == states, f"the states differ in mode {mode}"
            assert all(same_bits(np.asarray(v), c) for v, c in zip(arguments, copies)), "an argument was written to"


@settings(max_examples=N_SCANS, deadline=None, print_blob=True, derandomize="PYSCAN_FUZZ_RANDOM" not in os.environ,
          suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example])
@given(scan_cases())
def test_generated_scans_agree_with_the_twin_and_without_rewriting(case):
    note(repr(case))
    check(case)
