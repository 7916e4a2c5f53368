"""Compiled functions in the core: what goes in and out, what is kept, what an error says."""
import gc
import sys
import threading
import weakref

import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan import _core


def thunk_of(inputs, outputs, cells=None, updates=(), borrow=None, n_outputs=None):
    """A Thunk over a fresh graph; cells default to values that each call gives."""
    fgraph = _core.FunctionGraph(inputs, outputs, clone=True)
    cells = [None] * len(inputs) if cells is None else cells
    return _core.Thunk(fgraph, cells, len(outputs) - len(updates) if n_outputs is None else n_outputs, list(updates), borrow)


class Doubled(_core.Op):
    """A user's Op: twice its input, with a hook that runs in the middle."""

    __props__ = ()

    def __init__(self, hook=None):
        super().__init__()
        self.hook = hook

    def make_node(self, x):
        x = at.as_tensor_variable(x)
        return _core.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        if self.hook is not None:
            self.hook(inputs)
        output_storage[0][0] = np.asarray(inputs[0] * 2)


# -- values in and out -------------------------------------------------------------------------------------------------

def test_a_thunk_computes_and_gives_zero_dimensional_arrays():
    x = at.dscalar("x")
    (value,) = thunk_of([x], [x + 1])([np.asarray(2.0)])
    assert isinstance(value, np.ndarray) and value.shape == () and value == 3.0


def test_cells_are_read_at_each_call():
    x, cell = at.dvector("x"), [np.arange(3.0)]
    f = thunk_of([x], [x * 2], [cell])
    np.testing.assert_array_equal(f()[0], [0, 2, 4])
    cell[0] = np.ones(2)
    np.testing.assert_array_equal(f()[0], [2, 2])


@pytest.mark.parametrize("make", [
    lambda: np.arange(12.0).reshape(3, 4)[:, ::2],
    lambda: np.arange(6.0).reshape(3, 2)[::-1],
    lambda: np.arange(6.0).reshape(2, 3).T,
    lambda: np.asfortranarray(np.arange(6.0).reshape(3, 2)),
    lambda: np.broadcast_to(np.arange(2.0), (3, 2)),
    lambda: np.zeros((0, 2)),
], ids=["strided", "reversed", "transposed", "fortran", "broadcast", "empty"])
def test_arrays_of_any_layout_are_read_as_they_lie(make):
    x, value = at.dmatrix("x"), make()
    np.testing.assert_array_equal(thunk_of([x], [x + 1])([value])[0], value + 1)


def test_unaligned_and_byte_swapped_arrays_are_copied_first():
    x = at.dvector("x")
    f = thunk_of([x], [x + 1])
    unaligned = np.zeros(25, np.uint8)[1:].view(np.float64)
    assert not unaligned.flags.aligned
    np.testing.assert_array_equal(f([unaligned])[0], np.ones(3))
    np.testing.assert_array_equal(f([np.arange(3.0).astype(">f8")])[0], [1, 2, 3])


@pytest.mark.parametrize("value", [None, 3, "a", np.zeros((2, 2)), np.zeros(2, np.float32), np.zeros(2, object)], ids=str)
def test_a_wrong_value_is_a_type_error_that_names_the_input(value):
    x = at.dvector("x")
    with pytest.raises(TypeError, match=r"input 0 \(x\) must be an array of dtype float64 with 1 dimensions"):
        thunk_of([x], [x + 1])([value])


@pytest.mark.parametrize("given", [[], [1, 2]])
def test_a_wrong_number_of_values_is_refused(given):
    x = at.dvector("x")
    with pytest.raises(TypeError, match="values are given for 1 inputs"):
        thunk_of([x], [x + 1])(given)


def test_an_output_that_is_an_input_is_a_copy():
    x, value = at.dvector("x"), np.arange(3.0)
    (out,) = thunk_of([x], [x])([value])
    assert not np.shares_memory(out, value)


def test_outputs_that_show_one_array_are_apart():
    x = at.dvector("x")
    y = x * 2
    first, second, part = thunk_of([x], [y, y, y[1:]])([np.arange(1000.0)])
    assert not np.shares_memory(first, second) and not np.shares_memory(first, part)
    np.testing.assert_array_equal(first, second)


def test_a_constant_cannot_be_changed_through_an_output():
    c = at.constant(np.arange(3.0))
    f = thunk_of([], [c])
    f()[0][:] = 7
    np.testing.assert_array_equal(f()[0], [0, 1, 2])


def test_results_of_successive_calls_do_not_share_memory():
    x = at.dvector("x")
    f = thunk_of([x], [x + 1])
    values = [f([np.full(5000, float(i))])[0] for i in range(4)]
    for i, value in enumerate(values):
        assert (value == i + 1).all()


def test_a_small_part_of_a_large_buffer_does_not_keep_it():
    x = at.dvector("x")
    (part,) = thunk_of([x], [(x + 1)[:1000]])([np.zeros(1_000_000)])
    base = part
    while isinstance(base, np.ndarray) and base.base is not None:
        base = base.base
    assert isinstance(base, np.ndarray) and base.nbytes == 8000


def test_an_object_goes_through_unchanged():
    from pyscan.sharedvalue import generic
    x, marker = generic("x"), object()
    assert thunk_of([x], [x])([marker])[0] is marker


# -- updates -----------------------------------------------------------------------------------------------------------

def test_updates_use_the_old_values():
    a, b = at.dscalar("a"), at.dscalar("b")
    cells = [[np.asarray(1.0)], [np.asarray(2.0)]]
    f = thunk_of([a, b], [a + b, b, a], cells, [(1, 0), (2, 1)])
    assert f() == [3.0]
    assert (cells[0][0], cells[1][0]) == (2.0, 1.0)
    f()
    assert (cells[0][0], cells[1][0]) == (1.0, 2.0)


def test_a_failed_call_leaves_the_cells_alone():
    x, i, cell = at.dvector("x"), at.lscalar("i"), [np.arange(3.0)]
    before = cell[0]
    f = thunk_of([x, i], [x[i], x + 1], [cell, None], [(1, 0)])
    with pytest.raises(IndexError):
        f([np.asarray(9)])
    assert cell[0] is before
    np.testing.assert_array_equal(before, np.arange(3.0))


def test_an_update_without_a_cell_is_refused():
    x = at.dvector("x")
    with pytest.raises(IndexError, match="names no output or no input"):
        thunk_of([x], [x + 1], [None], [(0, 0)])


# -- call-backs --------------------------------------------------------------------------------------------------------

def test_an_op_without_a_row_is_called_back():
    x = at.dvector("x")
    f = thunk_of([x], [Doubled()(x) + 1])
    np.testing.assert_array_equal(f([np.arange(3.0)])[0], [1, 3, 5])
    assert f.counters["python_calls"] == 1


def test_a_call_back_cannot_change_its_callers_arrays():
    x, value = at.dvector("x"), np.arange(3.0)

    def spoil(inputs):
        inputs[0][:] = -1

    thunk_of([x], [Doubled(spoil)(x), x + 1])([value])
    np.testing.assert_array_equal(value, np.arange(3.0))


def test_a_call_back_in_a_loop_runs_once_a_step():
    seen = []
    op = Doubled(lambda inputs: seen.append(float(inputs[0])))
    out, _ = pyscan.scan(lambda x: op(x), outputs_info=[np.float64(1.0)], n_steps=4)
    np.testing.assert_array_equal(pyscan.function([], out)(), [2, 4, 8, 16])
    assert seen == [1, 2, 4, 8]


class Returns(_core.Op):
    """Stores what it was made with as its output, which is declared to be a vector of doubles."""

    def __init__(self, value):
        super().__init__()
        self.value = value

    def make_node(self, x):
        return _core.Apply(self, [x], [at.dvector()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = self.value


@pytest.mark.parametrize("value, text", [
    (None, "did not store its output 0"),
    (np.zeros((2, 2)), "2 dimensions came"),
    (np.zeros(2, complex), "dtype complex128"),
    ("text", "dtype"),
])
def test_a_wrong_output_of_a_call_back_is_refused(value, text):
    x = at.dvector("x")
    with pytest.raises((TypeError, ValueError), match=text) as caught:
        thunk_of([x], [Returns(value)(x)])([np.zeros(2)])
    assert "Apply node that caused the error" in str(caught.value)


def test_a_call_backs_output_is_cast_without_loss():
    x = at.dvector("x")
    (out,) = thunk_of([x], [Returns(np.arange(3, dtype=np.int32))(x)])([np.zeros(2)])
    assert out.dtype == np.float64 and list(out) == [0, 1, 2]


def test_a_call_backs_number_is_cast_within_its_kind():
    class Widens(_core.Op):
        def make_node(self, x):
            return _core.Apply(self, [x], [at.fscalar()])

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = np.float64(inputs[0])

    x = at.fscalar("x")
    (out,) = thunk_of([x], [Widens().make_node(x).outputs[0]])([np.asarray(np.float32(0.5))])
    assert out.dtype == np.float32 and out == 0.5


def test_a_call_back_may_call_the_same_function():
    x, depth = at.dscalar("x"), []

    def again(inputs):
        if len(depth) < 3:
            depth.append(float(inputs[0]))
            level = float(len(depth))
            assert f([np.asarray(level)]) == [2.0 * level + 1]

    f = thunk_of([x], [Doubled(again)(x) + 1])
    assert f([np.asarray(10.0)]) == [21.0]
    assert len(depth) == 3


# -- errors ------------------------------------------------------------------------------------------------------------

def test_an_error_names_node_step_and_types():
    xs = at.dvector("xs")
    picked = at.dvector("picked")
    out, _ = pyscan.scan(lambda i, v: v[at.cast(i, "int64")], sequences=[xs], non_sequences=[picked])
    f = pyscan.function([xs, picked], out)
    with pytest.raises(IndexError, match="index out of bounds") as caught:
        f(np.array([0.0, 1.0, 5.0]), np.zeros(2))
    text = str(caught.value)
    assert "Apply node that caused the error: Subtensor" in text
    assert "at step 2" in text and "Inputs types: [" in text and "HINT: " in text


def test_an_error_in_nested_loops_names_both_steps():
    m = at.dmatrix("m")

    def outer(row):
        inner, _ = pyscan.scan(lambda v: at.constant(np.arange(3.0))[at.cast(v, "int64")], sequences=[row])
        return inner

    out, _ = pyscan.scan(outer, sequences=[m])
    f = pyscan.function([m], out)
    with pytest.raises(IndexError) as caught:
        f(np.array([[0.0, 1.0], [2.0, 9.0]]))
    assert "at step 1 of the outer loop, step 1 of the inner one" in str(caught.value)


def test_a_call_backs_exception_keeps_its_class_and_gains_the_place():
    class Mine(Exception):
        pass

    def fail(inputs):
        raise Mine("no luck")

    x = at.dvector("x")
    with pytest.raises(Mine, match="no luck\nApply node that caused the error: Doubled"):
        thunk_of([x], [Doubled(fail)(x)])([np.zeros(1)])


def test_an_exception_with_other_arguments_gains_a_note():
    def fail(inputs):
        raise KeyError("missing", 3)

    x = at.dvector("x")
    with pytest.raises(KeyError) as caught:
        thunk_of([x], [Doubled(fail)(x)])([np.zeros(1)])
    assert caught.value.args == ("missing", 3)
    assert "Apply node that caused the error" in caught.value.__notes__[0]


# -- lifetime ----------------------------------------------------------------------------------------------------------

def test_repeated_calls_leak_no_reference_and_no_block():
    x, cell = at.dvector("x"), [np.arange(4.0)]
    f = thunk_of([x], [Doubled()(x), x + 1], [cell], [(1, 0)])
    for _ in range(3):
        f()
    gc.collect()
    blocks, references = _core.mem_blocks_alive(), sys.getrefcount(f)
    for _ in range(50):
        f()
    gc.collect()
    assert _core.mem_blocks_alive() == blocks
    assert sys.getrefcount(f) == references


def test_failing_calls_leak_nothing():
    x, i = at.dvector("x"), at.lscalar("i")
    f, value = thunk_of([x, i], [(x + 1)[i]]), np.zeros(2000)

    def fail():
        with pytest.raises(IndexError):
            f([value, np.asarray(9999)])

    for _ in range(3):
        fail()
    gc.collect()
    blocks, references = _core.mem_blocks_alive(), sys.getrefcount(value)
    for _ in range(20):
        fail()
    gc.collect()
    assert _core.mem_blocks_alive() == blocks and sys.getrefcount(value) == references


def test_a_thunk_in_a_cycle_is_collected():
    class Marker:
        pass

    x, marker = at.dvector("x"), Marker()
    op = Doubled(lambda inputs: marker)
    f = thunk_of([x], [op(x)])
    op.cycle = (f, marker)
    gone = weakref.ref(marker)
    f([np.zeros(1)])
    del f, op, marker
    gc.collect()
    assert gone() is None


def test_a_thunk_gives_its_memory_back():
    x = at.dvector("x")
    thunk_of([x], [x + 1])([np.zeros(3)])
    gc.collect()
    blocks = _core.mem_blocks_alive()
    f = thunk_of([x], [at.exp(x) + 1])
    f([np.zeros(3)])
    del f
    gc.collect()
    assert _core.mem_blocks_alive() == blocks


def test_threads_call_one_function_at_once():
    x = at.dvector("x")
    f, failures = thunk_of([x], [at.sum(at.exp(x))]), []

    def work(k):
        value = np.full(3000, k / 10)
        want = f([value])[0]
        for _ in range(50):
            if f([value])[0] != want:
                failures.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


# -- constant expressions and single kernels ---------------------------------------------------------------------------

def test_constant_expressions_are_evaluated():
    two = at.constant(np.float64(2.0))
    a, b = _core.evaluate([two * 3, at.exp(two)])
    assert a == 6.0 and b == np.exp(2.0)


def test_evaluate_refuses_what_depends_on_an_input():
    with pytest.raises(Exception, match="x"):
        _core.evaluate([at.dscalar("x") + 1])


def test_single_kernels_equal_numpy_where_numpy_is_exact():
    a, b = np.arange(6.0).reshape(2, 3), np.array([1.0, 2.0, 4.0])
    np.testing.assert_array_equal(_core.scalar("true_divide", a, b), a / b)
    np.testing.assert_array_equal(_core.dot(a, b), a @ b)
    np.testing.assert_array_equal(_core.reduce("maximum", a, (0,)), a.max(0))
    assert _core.scalar("add", np.int8(100), np.int8(100)) == np.int8(-56)


@pytest.mark.parametrize("call", [
    lambda: _core.scalar("nothing", 1.0),
    lambda: _core.scalar("exp", 1.0, 2.0),
    lambda: _core.scalar("exp", "a"),
    lambda: _core.dot(1.0, 2.0),
    lambda: _core.reduce("nothing", 1.0),
    lambda: _core.reduce("add", np.zeros(2), (0, 1)),
], ids=["name", "arity", "text", "rank", "reduction", "axes"])
def test_single_kernels_refuse_what_they_cannot_do(call):
    with pytest.raises((TypeError, ValueError)):
        call()
