"""Generated scans against the plain twin, with rewriting on and off, in blocks and step by step: values, dtypes, final states, errors.

PYSCAN_FUZZ sets the number of scans (300 in the default run; `make fuzz` and CI run 2,000), a twentieth of which is the number of
functions of several loops, PYSCAN_FUZZ_PROGRAMS that number. They are the same ones in every run of
one tree, so that a change is judged by its own; PYSCAN_FUZZ_RANDOM=1 looks for others.
"""
import os
import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, event, given, note, settings
from hypothesis import strategies as st

import pyscan
import pyscan.tensor as at
from pyscan import _core
from pyscan.graph import io_toposort
from pyscan._reference import ReferenceFunction, root_cause

from .operations import FORMS, HAS_SCIPY, LIBRARY, algebra, elementwise, lengths, library_function
from .programs import program_cases
from .strategies import Body, Case, scan_cases

N_SCANS = int(os.environ.get("PYSCAN_FUZZ", "300"))
N_PROGRAMS = int(os.environ.get("PYSCAN_FUZZ_PROGRAMS", N_SCANS // 20))


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
    if isinstance(value, np.random.RandomState):
        return repr(value.get_state(legacy=False))
    return value.dtype.str, value.shape, value.tobytes()


def assert_same_outcome(want, got):
    assert want[0] == got[0], f"the twin gives {want}, the function {got}"
    if want[0] == "error":
        assert want[1] is got[1], f"the twin raises {want[1:]}, the function {got[1:]}"
        return
    for i, (a, b) in enumerate(zip(want[1], got[1])):
        assert same_bits(a, b), f"output {i}: the twin gives {a!r}, the function {b!r}"


class GivenReference(ReferenceFunction):
    """The twin of a function with givens: what they say is computed first, and stands for the variables."""

    def __init__(self, case, start):
        super().__init__([*case.inputs, *case.givens], case.outputs, case.updates, start)
        self.given = ReferenceFunction(case.inputs, case.givens.values(), (), start)

    def __call__(self, *arguments):
        self.given.shared = self.shared
        values = self.given(*arguments)
        return super().__call__(*arguments, *values)


def check(case):
    start = {v: v.get_value() for v in case.shared}
    twin = GivenReference(case, start)
    expected = []
    for arguments in case.arguments:
        expected.append((outcome(twin, arguments), [state_of(twin.shared[v]) for v in case.shared]))
    for want, _ in expected:
        event(f"{want[0]} {want[1].__name__}" if want[0] == "error" else "values")
    for mode, block_steps in (("FAST_RUN", 1), ("FAST_RUN", 0), ("FAST_COMPILE", 3)):
        for variable in case.shared:
            variable.set_value(start[variable])
        with pyscan.config.change_flags(scan__block_steps=block_steps):
            function = pyscan.function(case.inputs, case.outputs, updates=case.updates, givens=case.givens, mode=mode, on_unused_input="ignore")
        if mode == case.again_in:
            check_again(case, function, expected)
        check_calls(case, function, case.shared, expected, mode)


def check_calls(case, function, shared, expected, mode):
    """The calls give what is expected and leave the shared variables as expected."""
    kept = [[np.array(v) for v in call] for call in case.arguments]
    for arguments, copies, (want, states) in zip(case.arguments, kept, expected):
        assert_same_outcome(want, outcome(function, arguments))
        assert [state_of(v.get_value()) for v in shared] == states, f"the states differ in mode {mode}"
        assert all(same_bits(np.asarray(v), c) for v, c in zip(arguments, copies)), "an argument was written to"


def check_again(case, function, expected):
    """What pickling gives does the same on shared values of its own; a copy does the same on the same values, which are put back."""
    before = [v.get_value() for v in case.shared]
    places = [case.shared.index(v) for v in function.get_shared()]
    pickled = pickle.loads(pickle.dumps(function))
    check_calls(case, pickled, pickled.get_shared(), [(want, [states[i] for i in places]) for want, states in expected], "pickled")
    assert [state_of(v.get_value()) for v in case.shared] == [state_of(v) for v in before], "the pickled function shares values"
    check_calls(case, function.copy(), case.shared, expected, "copied")
    for variable, value in zip(case.shared, before):
        variable.set_value(value)


@settings(max_examples=N_SCANS, deadline=None, print_blob=True, derandomize="PYSCAN_FUZZ_RANDOM" not in os.environ,
          suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example])
@given(scan_cases())
def test_generated_scans_agree_with_the_twin_and_without_rewriting(case):
    note(repr(case))
    check(case)


@settings(max_examples=N_PROGRAMS, deadline=None, print_blob=True, derandomize="PYSCAN_FUZZ_RANDOM" not in os.environ,
          suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example])
@given(program_cases())
def test_generated_functions_of_several_loops_agree_with_the_twin_and_without_rewriting(case):
    note(repr(case))
    check(case)


def rows_reached(variable):
    """The rows of the core's tables that a graph uses: kinds of operations, elementwise operations, functions of libraries."""
    for node in io_toposort([], [variable]):
        op = node.op
        yield "op", getattr(op, "kind", None)
        if hasattr(op, "scalar_op"):
            yield "scalar", op.scalar_op.name
            yield "library", getattr(op.scalar_op, "library", None)
            yield "library", "gamma" if getattr(op.scalar_op, "times_gamma", False) else None
        yield "library", getattr(op, "library", None)
        if getattr(op, "kind", None) == "solve":
            yield from {("library", "solve"), ("library", "solve1")}
        if getattr(op, "kind", None) == "qr":
            yield "library", "qr_complete" if op.is_complete else "qr_reduced"
        if getattr(op, "kind", None) == "pinv":
            yield "library", "matmul"


EXAMPLES = {**dict.fromkeys(FORMS, 25), lengths: 60, algebra: 200}  # forms that choose among several operations
# Unspecified values, which only buffers have; scan and draws are built by the strategies of whole cases.
BUILT_ELSEWHERE = {("op", "alloc_empty"), ("op", "scan"), ("op", "random")} | (set() if HAS_SCIPY else {("op", "special")})


def test_the_forms_reach_every_row_of_the_tables():
    reached = set(BUILT_ELSEWHERE)

    def reach(form, *row):
        @settings(max_examples=EXAMPLES.get(form, 5), deadline=None, derandomize=True, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
        @given(st.data())
        def build(data):
            body = Body(data.draw, Case(), None)
            body.pool = [(at.tensor(dtype, shape=(None,) * len(shape)), shape) for dtype in ("float64", "int64", "bool", "complex64") for shape in ((), (3,), (2, 3))]
            reached.update(rows_reached(form(body, *row)[0]))

        build()

    for form in FORMS:
        reach(form)
    for op in LIBRARY:
        reach(library_function, op)
    for row in _core.scalars():
        reach(elementwise, row)
    rows = {("op", row["kind"]) for row in _core.ops()} | {("scalar", row["name"]) for row in _core.scalars()}
    rows |= {("library", row["name"]) for row in _core.library() if row["operands"] or HAS_SCIPY}
    assert rows - reached == set()
    assert bool(LIBRARY) == HAS_SCIPY
