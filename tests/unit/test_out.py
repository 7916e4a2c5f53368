"""`out=` of a call: results go to arrays that the caller gives, and are made there where they can be."""
import os
import subprocess
import sys

import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan.scan_step import until


def noisy(n_steps, past=1, size=None):
    """(variable of the start, path): a recurrence with `past` rows of past and draws, of scalars or vectors."""
    stream = at.random.RandomStream(5)
    start = at.dvector("start") if size is None else at.dmatrix("start")
    step = lambda *x: 0.5 * x[0] + 0.25 * x[-1] + stream.normal(size=None if size is None else (size,))  # noqa: E731
    path, _ = pyscan.scan(step, outputs_info=[{"initial": start[0] if past == 1 else start, "taps": sorted({-past, -1})}], n_steps=n_steps)
    return start, path


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
@pytest.mark.parametrize("size", [None, 3])
@pytest.mark.parametrize("past", [1, 2, 5])
def test_the_path_of_a_state_is_what_it_is_without_out(past, size, mode):
    n = at.lscalar("n")
    start, path = noisy(n, past, size)
    f = pyscan.function([start, n], path, mode=mode)
    first = np.linspace(0.0, 1.0, past * (size or 1)).reshape((past,) if size is None else (past, size))
    for n_steps in (1, 2, past, past + 1, 15, 16, 17, 2100):
        want = f(first, n_steps)
        out = np.full(want.shape, np.nan)
        assert f(first, n_steps, out=out) is out
        np.testing.assert_array_equal(out, want)


def test_elementwise_recurrences_go_to_out_too():
    x, a = at.dvector("x"), at.dvector("a")
    path, _ = pyscan.scan(lambda x, a: x * a, outputs_info=[x], non_sequences=[a], n_steps=20)
    f = pyscan.function([x, a], path)
    values = np.linspace(0.9, 1.1, 500), np.linspace(0.5, 1.5, 500)
    out = np.empty((20, 500))
    np.testing.assert_array_equal(f(*values, out=out), f(*values))


def failing(with_state):
    """A function of two numbers whose step number 3,000 fails."""
    stream, x, bad = at.random.RandomStream(5), at.dscalar("x"), at.dvector("bad")
    step = (lambda scale, x: x + stream.normal(0.0, scale)) if with_state else (lambda scale: stream.normal(0.0, scale))
    path, updates = pyscan.scan(step, sequences=[bad], outputs_info=[x] if with_state else None)
    scales = np.ones(4000)
    scales[3000] = -1.0
    return pyscan.function([x, bad], path, updates=updates, on_unused_input="ignore"), scales


@pytest.mark.parametrize("with_state", [True, False])
def test_paths_are_made_right_in_the_array(with_state):
    f, scales = failing(with_state)
    out = np.zeros(4000)
    with pytest.raises(ValueError, match="at step 3000"):
        f(0.0, scales, out=out)
    assert np.count_nonzero(out) >= 2000  # rows of steps before the failure: nothing is copied only at the end
    want = f(0.0, np.ones(4000))  # the failed call moved no generator
    np.testing.assert_array_equal(out[:2000], want[:2000])


def test_a_memory_map_takes_a_path(tmp_path):
    n = at.lscalar("n")
    start, path = noisy(n)
    f = pyscan.function([start, n], path)
    room = np.memmap(tmp_path / "path", dtype="float64", mode="w+", shape=(3000,))
    assert f([1.0], 3000, out=room) is room
    room.flush()
    np.testing.assert_array_equal(np.fromfile(tmp_path / "path"), f([1.0], 3000))


def test_several_outputs_take_lists_and_dicts():
    x = at.dvector("x")
    f = pyscan.function([x], [x + 1.0, x.sum(), x[::-1]])
    outs = [np.empty(3), None, np.empty(3)]
    got = f([1.0, 2.0, 3.0], out=outs)
    assert got[0] is outs[0] and got[2] is outs[2]
    assert [v.tolist() for v in got] == [[2.0, 3.0, 4.0], 6.0, [3.0, 2.0, 1.0]]
    total = np.empty(())
    f([1.0, 2.0, 3.0], out=(None, total, None))
    assert total == 6.0
    g = pyscan.function([x], {"twice": 2.0 * x, "half": 0.5 * x})
    half = np.empty(2)
    got = g([2.0, 4.0], out={"half": half})
    assert got["half"] is half and half.tolist() == [1.0, 2.0] and got["twice"].tolist() == [4.0, 8.0]
    assert g([2.0, 4.0], out={"half": half}, output_subset=["half"]) == {"half": half}


def test_arrays_with_gaps_are_filled_and_their_gaps_left():
    start, path = noisy(40, size=4)
    f = pyscan.function([start], path)
    room = np.full((80, 9), -1.0)
    part = room[::2, 1:9:2]
    assert f(np.zeros((1, 4)), out=part) is part
    np.testing.assert_array_equal(part, f(np.zeros((1, 4))))
    assert (room[1::2] == -1.0).all() and (room[:, ::2] == -1.0).all()
    columns = np.empty((40, 2))
    g = pyscan.function([start], [path[:, 0], path[:, 1]])
    np.testing.assert_array_equal(np.array(g(np.zeros((1, 4)), out=[columns[:, 0], columns[:, 1]])), columns.T)


def test_an_array_that_is_an_argument_too_is_read_before_it_is_written():
    x, y = at.dvector("x"), at.dvector("y")
    f = pyscan.function([x, y], [x + y[::-1], y * x, x])
    a, b, other = np.arange(4.0), np.arange(4.0) + 10.0, np.empty(4)
    want = [v.copy() for v in f(a, b)]
    f(a, b, out=[b, a, other])
    np.testing.assert_array_equal([b, a, other], want)
    state = np.arange(9.0)
    s = at.dvector("s")
    path, _ = pyscan.scan(lambda v, x: x + v, sequences=[s], outputs_info=[np.float64(0.0)])
    g = pyscan.function([s], path)
    want = g(state)
    np.testing.assert_array_equal(g(state, out=state), want)


def test_shared_values_never_live_in_the_callers_array():
    kept = pyscan.shared(np.zeros(5))
    x = at.dvector("x")
    f = pyscan.function([x], kept + x, updates={kept: kept + x})
    out = np.empty(5)
    f(np.ones(5), out=out)
    out[:] = 77.0
    assert kept.get_value().tolist() == [1.0] * 5


@pytest.mark.parametrize("n_rows", [25, 30, 4000])
def test_until_may_leave_rows_of_the_array_alone(n_rows):
    x, limit = at.dscalar("x"), at.dscalar("limit")
    path, _ = pyscan.scan(lambda x: (x + 1.0, until(x + 1.0 >= limit)), outputs_info=[x], n_steps=n_rows)
    f = pyscan.function([x, limit], path)
    out = np.full(n_rows, -1.0)
    got = f(0.0, 20.0, out=out)
    assert got.base is out and got.tolist() == list(np.arange(1.0, 21.0)) and (out[20:] == -1.0).all()
    assert f(0.0, 1e9, out=out) is out
    with pytest.raises(ValueError, match=r"output 0.* has shape \(7,\); the output has shape \(20,\)"):
        f(0.0, 20.0, out=np.empty(7))


def test_the_buffer_of_a_path_that_others_read_is_left_whole():
    start, path = noisy(50)
    buffer = path.owner.inputs[0]
    f = pyscan.function([start], [path, buffer])
    want = f([3.0])
    got = f([3.0], out=[np.empty(50), None])
    np.testing.assert_array_equal(got[0], want[0])
    np.testing.assert_array_equal(got[1], want[1])
    last = pyscan.function([start], path[-7:])
    np.testing.assert_array_equal(last([3.0], out=np.empty(7)), want[0][-7:])


def refused(f, error, text, *args, out):
    with pytest.raises(error, match=text):
        f(*args, out=out)


def test_arrays_that_do_not_fit_are_refused_by_the_outputs_name():
    x = at.dvector("x")
    y = x * 2.0
    y.name = "doubled"
    f, g = pyscan.function([x], y), pyscan.function([x], [x, y])
    value, locked = np.ones(3), np.empty(3)
    locked.flags.writeable = False
    refused(f, TypeError, r"output 0 .*must have dtype float64 and 1 dimensions; one of dtype float32", value, out=np.empty(3, np.float32))
    refused(f, TypeError, "one of dtype float64 with 2 dimensions", value, out=np.empty((3, 1)))
    refused(f, ValueError, r"output 0.* has shape \(4,\); the output has shape \(3,\)", value, out=np.empty(4))
    refused(f, ValueError, "output 0.*read-only", value, out=locked)
    refused(f, TypeError, r"must be an array or None; \[1\]", value, out=[[1]])
    refused(g, TypeError, "a list with an array or None for each of the 2 outputs, got ndarray", value, out=np.empty(3))
    refused(g, ValueError, "the 2 outputs; 1 came", value, out=[np.empty(3)])
    room = np.empty(5)
    refused(g, ValueError, "outputs 0 and 1 share memory", value, out=[room[:3], room[2:]])
    h = pyscan.function([x], {"a": x, "b": y})
    refused(h, TypeError, "must be a dict", value, out=[None, None])
    refused(h, ValueError, r"names \['c'\]", value, out={"c": np.empty(3)})
    n = at.lscalar("n")
    start, path = noisy(n)
    k = pyscan.function([start, n], path)
    refused(k, ValueError, r"has shape \(9,\); the output has shape \(8,\)", [0.0], 8, out=np.empty(9))
    refused(k, ValueError, r"has shape \(7,\); the output has shape \(8,\)", [0.0], 8, out=np.empty(7))


def test_generators_take_no_array():
    rng = pyscan.shared(np.random.default_rng(3))
    f = pyscan.function([], rng)
    refused(f, TypeError, "output 0.* is no array", out=np.empty(3))


def test_an_input_named_out_keeps_its_keyword():
    f = pyscan.function([out := at.dvector("out")], out + 1.0)
    assert f(out=[1.0]).tolist() == [2.0]


LIMITED = """
import resource
import numpy as np
import pyscan, pyscan.tensor as at
N = 6_000_000
stream, x = at.random.RandomStream(1), at.dscalar("x")
(path, seen), updates = pyscan.scan(lambda x: (0.9 * x + stream.normal(), stream.normal()), outputs_info=[x, None], n_steps=N)
f = pyscan.function([x], [path, seen], updates=updates)
out = [np.zeros(N), np.zeros(N)]
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (24 << 20), -1))
f(1.0, out=out)
try:
    f(1.0)
except MemoryError:
    print(out[0][-1] != 0.0 and out[1][-1] != 0.0)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of the address space")
@pytest.mark.skipif("PYSCAN_SANITIZED" in os.environ, reason="sanitizers need address space of their own")
def test_no_second_copy_of_a_path_is_held():
    done = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True)
    assert done.stdout.strip() == "True", done.stderr
