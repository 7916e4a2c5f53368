"""Graphs made into programs: what the listing shows, and what is refused when a function is compiled."""

import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan import _core


def listing(inputs, outputs):
    fgraph = _core.FunctionGraph(inputs, outputs, clone=True)
    return _core.Thunk(fgraph, [None] * len(inputs), len(outputs)).listing()


def program_of(fn):
    return fn.vm.listing()


def words(text):
    """The instruction words of a listing, in order."""
    found = []
    for line in text.splitlines():
        if " = " in line and not line.lstrip().startswith("#"):
            found.append(line.split(" = ", 1)[1].split()[0])
    return found


def run(inputs, outputs, *values):
    fgraph = _core.FunctionGraph(inputs, outputs, clone=True)
    return _core.Thunk(fgraph, [None] * len(inputs), len(outputs))([np.asarray(v) for v in values])


def test_an_addition_is_one_map():
    x = at.dscalar("x")
    assert words(listing([x], [x + x])) == ["map"]


def test_inputs_are_cast_to_one_computing_type():
    x, i = at.dvector("x"), at.ivector("i")
    text = listing([x, i], [x + i])
    assert words(text) == ["cast", "map"]
    assert run([x, i], [x + i], [1.0, 2.0], np.array([1, 2], np.int32))[0].dtype == np.float64


def test_constants_are_cast_when_compiling():
    x = at.dvector("x")
    assert words(listing([x], [x + np.int8(1)])) == ["map"]


def test_a_scalar_beside_a_vector_needs_no_view():
    x, s = at.dvector("x"), at.dscalar("s")
    assert words(listing([x, s], [x * s + 1])) == ["map", "map"]
    np.testing.assert_array_equal(run([x, s], [x * s + 1], [1.0, 2.0], 3.0)[0], [4, 7])


def test_a_view_with_leading_axes_is_made_when_something_needs_it():
    x = at.dvector("x")
    assert words(listing([x], [x.dimshuffle("x", 0)])) == ["transpose"]
    assert run([x], [x.dimshuffle("x", 0)], [1.0, 2.0])[0].shape == (1, 2)


def test_a_body_instruction_that_needs_no_step_is_invariant():
    a, x0 = at.dscalar("a"), at.dscalar("x0")
    out, _ = pyscan.scan(lambda x, a: x * at.exp(a), outputs_info=[x0], non_sequences=[a], n_steps=3)
    fgraph = _core.FunctionGraph([a, x0], [out], clone=True)
    text = _core.Thunk(fgraph, [None, None], 1).listing()
    exp = [line for line in text.splitlines() if "map exp" in line]
    mul = [line for line in text.splitlines() if "map mul" in line]
    assert len(exp) == 1 and "invariant" in exp[0]
    assert len(mul) == 1 and "invariant" not in mul[0]


def test_what_is_written_in_place_is_made_anew_in_each_step():
    """An empty buffer in a body, filled in place by a part of each step's value, must not keep the last step's."""
    xs = at.dvector("xs")

    def step(x):
        buffer = at.zeros((3,))
        return at.inc_subtensor(buffer[:2], x)

    out, _ = pyscan.scan(step, sequences=[xs])
    for mode in ("FAST_RUN", "FAST_COMPILE"):
        f = pyscan.function([xs], out, mode=mode)
        np.testing.assert_array_equal(f(np.array([1.0, 2.0])), [[1, 1, 0], [2, 2, 0]])


class AddsNumber(_core.Op):
    """Adds what an object says: an Op with an input of a generic type."""

    def make_node(self, x, holder):
        return _core.Apply(self, [x, holder], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0] + inputs[1]["number"]


def test_an_object_constant_reaches_the_body_of_nested_loops():
    from pyscan.sharedvalue import generic
    holder, m = _core.Constant(generic, {"number": 10.0}), at.dmatrix("m")

    def outer(row):
        inner, _ = pyscan.scan(lambda v: AddsNumber().make_node(v, holder).outputs[0], sequences=[row])
        return inner

    out, _ = pyscan.scan(outer, sequences=[m])
    np.testing.assert_array_equal(pyscan.function([m], out)(np.arange(4.0).reshape(2, 2)), [[10, 11], [12, 13]])


def test_a_chain_of_many_nodes_becomes_a_program():
    x = at.dscalar("x")
    y, n = x, 50_000
    for _ in range(n):
        y = y + x
    thunk = _core.Thunk(_core.FunctionGraph([x], [y], clone=False), [None], 1)
    assert thunk([np.asarray(1.0)]) == [n + 1.0]


def changed(x, index, value, add=False):
    x = x.copy()
    x[index] = x[index] + value if add else value
    return x


ROWS = {
    "sum 0": (lambda x: at.sum(x, axis=0), lambda v: v.sum(0)),
    "sum": (lambda x: at.sum(x), lambda v: v.sum()),
    "prod": (lambda x: at.prod(x, axis=1), lambda v: v.prod(1)),
    "max": (lambda x: at.max(x, axis=1), lambda v: v.max(1)),
    "argmax": (lambda x: at.argmax(x, axis=0), lambda v: v.argmax(0)),
    "all": (lambda x: at.all(x > 0), lambda v: (v > 0).all()),
    "any": (lambda x: at.any(x > 3, axis=1), lambda v: (v > 3).any(1)),
    "mean": (lambda x: at.mean(x, axis=0), lambda v: v.mean(0)),
    "cumsum 1": (lambda x: at.cumsum(x, axis=1), lambda v: v.cumsum(1)),
    "cumsum": (lambda x: at.cumsum(x), lambda v: v.cumsum()),
    "dot": (lambda x: at.dot(x, x.T), lambda v: v @ v.T),
    "transpose": (lambda x: x.T, lambda v: v.T),
    "reshape": (lambda x: x.reshape((2, 3)), lambda v: v.reshape(2, 3)),
    "flatten": (lambda x: x.flatten(), lambda v: v.ravel()),
    "shape": (lambda x: x.shape, lambda v: np.array(v.shape)),
    "shape 1": (lambda x: x.shape[1], lambda v: np.int64(v.shape[1])),
    "index": (lambda x: x[1], lambda v: v[1]),
    "column": (lambda x: x[:, 1], lambda v: v[:, 1]),
    "backwards": (lambda x: x[::-1, -1], lambda v: v[::-1, -1]),
    "part": (lambda x: x[1:, :1], lambda v: v[1:, :1]),
    "rows": (lambda x: x[[2, 0]], lambda v: v[[2, 0]]),
    "set": (lambda x: at.set_subtensor(x[0], 7.0), lambda v: changed(v, 0, 7.0)),
    "inc": (lambda x: at.inc_subtensor(x[:, 1], 1.0), lambda v: changed(v, (slice(None), 1), 1.0, True)),
    "set rows": (lambda x: at.set_subtensor(x[[0, 2]], 0.0), lambda v: changed(v, [0, 2], 0.0)),
    "inc rows": (lambda x: at.inc_subtensor(x[[0, 0]], 1.0), lambda v: changed(v, 0, 2.0, True)),
    "alloc": (lambda x: at.alloc(x[0, 0], 2, 3), lambda v: np.full((2, 3), v[0, 0])),
    "pack": (lambda x: at.stack([x[0, 0], x[1, 1]]), lambda v: np.array([v[0, 0], v[1, 1]])),
    "join": (lambda x: at.concatenate([x, x], axis=1), lambda v: np.concatenate([v, v], 1)),
    "arange": (lambda x: at.arange(x.shape[0]), lambda v: np.arange(len(v))),
    "cast": (lambda x: at.cast(x, "int32"), lambda v: v.astype(np.int32)),
    "switch": (lambda x: at.switch(x > 1, x, -x), lambda v: np.where(v > 1, v, -v)),
    "zeros": (lambda x: at.zeros_like(x), lambda v: np.zeros_like(v)),
    "specify": (lambda x: at.specify_shape(x, (3, 2)), lambda v: v),
}


@pytest.mark.parametrize("row", ROWS)
def test_each_row_of_operations_gives_numpys_value(row):
    build, by_numpy = ROWS[row]
    x, value = at.dmatrix("x"), np.array([[1.0, 2.0], [3.0, 4.0], [-5.0, 6.0]])
    (got,) = run([x], [build(x)], value)
    want = np.asarray(by_numpy(value))
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)


def test_a_join_axis_may_be_computed():
    axis, x = at.lscalar("axis"), at.dmatrix("x")
    assert words(listing([axis, x], [at.join(axis, x, x)])) == ["join"]
    value = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(run([axis, x], [at.join(axis, x, x)], 1, value)[0], np.concatenate([value, value], 1))


def test_too_many_dimensions_are_refused_when_compiling():
    x = at.TensorType("float64", (None,) * 17)("x")
    with pytest.raises(NotImplementedError, match="17 dimensions; at most 16"):
        listing([x], [x + x])


class HalfVector(_core.Type):
    """A type of elements that the core has no arithmetic for."""

    type_kind, dtype, ndim = "tensor", "float16", 1


def test_a_type_that_programs_do_not_compute_with_is_refused():
    x = _core.Variable(HalfVector(), None)
    with pytest.raises(TypeError, match="programs do not compute with dtype 'float16'"):
        listing([x], [x])


def test_an_array_of_one_number_that_is_only_read_takes_no_memory():
    a = at.dmatrix("a")
    last, _ = pyscan.scan(lambda p, a: p * a, outputs_info=[at.ones_like(a)], non_sequences=[a], n_steps=3)
    fn = pyscan.function([a], [last[-1], at.zeros_like(a).astype("float32")])
    x = np.arange(6.0).reshape(2, 3)
    cubed, zeros = fn(x)
    assert "spread" in fn._thunk.listing()
    np.testing.assert_array_equal(cubed, x**3)
    np.testing.assert_array_equal(zeros, np.zeros((2, 3), "float32"))


@pytest.mark.parametrize("build", [
    lambda a: at.ones_like(a),
    lambda a: at.ones_like(a).T,
    lambda a: at.ones_like(a).dimshuffle(1, "x", 0)[0],
    lambda a: at.set_subtensor(at.ones_like(a)[0], 5.0),
    lambda a: at.inc_subtensor(at.ones_like(a)[:, 1], a[:, 0]),
    lambda a: at.ones_like(a).reshape((3, 2)),
    lambda a: pyscan.scan(lambda x, y: x + y, sequences=[at.ones_like(a)], outputs_info=[a[0]])[0],
    lambda a: at.ones_like(a) + a.sum(axis=0),
], ids=["result", "turned", "view of a view", "set", "added to", "reshaped", "sequence", "operand"])
def test_arrays_of_one_number_may_be_given_away_and_written_to(build):
    a = at.dmatrix("a")
    expression = build(a)
    fn = pyscan.function([a], expression)
    plain = pyscan.function([a], expression, mode="FAST_COMPILE")
    x = np.arange(6.0).reshape(2, 3)
    for _ in range(2):
        value = fn(x)
        np.testing.assert_array_equal(value, plain(x))
        assert value.flags.writeable
        value[...] = 7.0
        assert np.all(value == 7.0)
