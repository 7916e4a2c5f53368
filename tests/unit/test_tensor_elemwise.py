"""Elementwise operations: their names, dtypes and static shapes; and the permutation of axes."""
import pickle

import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan import _core, scalar
from pyscan._reference import ReferenceFunction
from pyscan.tensor.elemwise import DimShuffle, Elemwise, broadcast_static, elemwise_ops
from pyscan.tensor.type import TensorType

ROWS = _core.scalars()


def tensor_of(dtype, ndim=1):
    return TensorType(dtype, (None,) * ndim)()


DTYPES = dict(x="float64", f="float32", i="int32", l="int64", b="int8", w="int16", u="uint8", p="bool", z="complex128", c="complex64")
VECTORS = {name: tensor_of(dtype) for name, dtype in DTYPES.items()}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_every_row_of_the_table_makes_an_operation_for_its_classes(row):
    operation = elemwise_ops[row["name"]]
    n_in = 2 if row["n_in"] < 0 else row["n_in"]
    for kind in row["classes"]:
        dtype = {"b": "bool", "i": "int32", "u": "uint8", "f": "float64", "c": "complex128"}[kind]
        inputs = [tensor_of("bool" if row["rule"] == "SWITCH" and k == 0 else dtype) for k in range(n_in)]
        node = operation(*inputs).owner
        assert node.op is operation and operation.kind == "elemwise"
        if row["name"] != "identity":
            assert str(operation) == f"Elemwise{{{row['name']},no_inplace}}"
        expected = {"BOOL": "bool", "REAL": "float64" if kind == "c" else dtype, "DOUBLE": "float64", "PAIR": "complex128"}.get(row["rule"], dtype)
        assert node.outputs[0].dtype == expected


@pytest.mark.parametrize("row", [r for r in ROWS if r["rule"] == "FLOAT"], ids=lambda row: row["name"])
def test_float_functions_of_narrow_integers_are_float32_and_of_wide_ones_float64(row):
    def result(dtype):
        return elemwise_ops[row["name"]](*[tensor_of(dtype)] * row["n_in"]).dtype

    assert [result(d) for d in ("bool", "int8", "int16", "uint16")] == ["float32"] * 4
    assert [result(d) for d in ("int32", "int64", "uint32")] == ["float64"] * 3


@pytest.mark.parametrize(
    "expression, dtype",
    [
        ("f + x", "float64"), ("f + i", "float64"), ("f + l", "float64"), ("f + w", "float32"), ("f + b", "float32"),
        ("b + u", "int16"), ("f + 2.0", "float32"), ("f + 0.1", "float64"), ("b + 1", "int8"), ("b + 200", "int16"),
        ("i + 2**40", "int64"), ("i + 0.1", "float64"), ("b + 0.5", "float32"), ("p + p", "bool"), ("p + 1", "int8"),
        ("p * 2.0", "float32"), ("b / b", "float64"), ("p / p", "float64"), ("f / i", "float64"), ("f / b", "float32"),
        ("i // b", "int32"), ("i % l", "int64"), ("i ** -1", "int32"), ("p ** p", "int8"), ("p // p", "int8"), ("x < i", "bool"),
        ("-b", "int8"), ("abs(z)", "float64"), ("abs(c)", "float32"), ("c + x", "complex128"), ("c + f", "complex64"),
    ],
)  # fmt: skip
def test_dtypes_are_promoted_by_the_table(expression, dtype):
    assert eval(expression, {}, VECTORS).dtype == dtype


def test_switch_does_not_count_its_condition_and_second_has_the_dtype_of_the_second():
    v = VECTORS
    assert at.switch(v["x"], v["b"], v["w"]).dtype == "int16"
    assert at.fill(v["x"], 1).dtype == "int8"


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda v: at.sub(v["p"], v["p"]), "bool output not supported"),
        (lambda v: -v["p"], "bool input not supported"),
        (lambda v: at.and_(v["x"], v["x"]), r"input to a BitOp must have type \(u\)int8, \(u\)int16, \(u\)int32 or \(u\)int64 or be all bools not float64"),
        (lambda v: ~v["x"], r"or \(u\)int64 or bool not float64"),
        (lambda v: at.round(v["i"]), "only float type are supported"),
        (lambda v: at.floor(v["z"]), "complex argument not supported"),
        (lambda v: at.arctan2(v["z"], v["x"]), "complex argument not supported"),
        (lambda v: at.switch(v["p"]), r"Wrong number of inputs for Switch.make_node \(got 1\(\(<bool>,\)\), expected 3\)"),
        (lambda v: at.exp(v["x"], v["x"]), r"Wrong number of inputs for exp.make_node \(got 2\(\(<float64>, <float64>\)\), expected 1\)"),
        (lambda v: at.add(), "Wrong number of inputs for add.make_node"),
    ],
)
def test_what_an_operation_is_not_defined_for_is_refused(make, message):
    with pytest.raises(TypeError, match=message):
        make(VECTORS)


def test_cast_returns_the_tensor_itself_for_its_own_dtype():
    x = at.dvector("x")
    assert at.cast(x, "float64") is x and at.cast(x, "floatX") is x
    assert str(at.cast(x, "float32").owner.op) == "Elemwise{Cast{float32}}"


@pytest.mark.parametrize(
    "dtype, variable, message",
    [("foo", at.dvector(), "data type 'foo' not understood"), ("float64", at.zvector(), "Casting from complex to real is ambiguous")],
)
def test_cast_refuses_bad_names_and_complex_to_real(dtype, variable, message):
    with pytest.raises(TypeError, match=message):
        at.cast(variable, dtype)


@pytest.mark.parametrize(
    "a, b, expected",
    [((None,), (3,), (3,)), ((None,), (1,), (None,)), ((1,), (3,), (3,)), ((2, 1), (1, None), (2, None)), ((None,), (None, 3), (None, 3)), ((), (2,), (2,))],
)
def test_static_shapes_are_broadcast(a, b, expected):
    assert at.add(TensorType("float64", a)(), TensorType("float64", b)()).type.shape == expected


def test_static_lengths_that_differ_are_refused():
    with pytest.raises(ValueError, match=r"Incompatible Elemwise input shapes \[\(2,\), \(3,\)\]"):
        at.add(TensorType("float64", (2,))(), TensorType("float64", (3,))())
    with pytest.raises(ValueError):
        broadcast_static([(2,), (None,), (3,)])


def test_lower_ranks_get_axes_on_the_left():
    node = at.add(at.dvector("x"), at.dmatrix("m")).owner
    assert str(node.inputs[0].owner.op) == "InplaceDimShuffle{x,0}" and node.inputs[1].name == "m"


def test_add_and_mul_take_any_number_of_inputs():
    assert len(at.add(at.dvector(), at.dvector(), at.dvector()).owner.inputs) == 3
    assert len(at.mul(at.dvector(), 2, at.dvector()).owner.inputs) == 3


def test_an_elemwise_that_overwrites_says_so():
    operation = Elemwise(scalar.add, {0: 1})
    assert str(operation) == "Elemwise{Add}[(0, 1)]" and operation.destroy_map == {0: [1]}
    assert operation != at.add and operation == Elemwise(scalar.add, {0: 1})


@pytest.mark.parametrize("operation", [at.add, at.exp, at.cast(at.dvector(), "int8").owner.op, DimShuffle((False, True), (0, "x")), scalar.mul])
def test_operations_come_back_equal_from_pickling(operation):
    assert pickle.loads(pickle.dumps(operation)) == operation


def test_the_operations_of_the_table_stay_the_same_objects():
    assert pickle.loads(pickle.dumps(at.add)) is at.add and pickle.loads(pickle.dumps(scalar.exp)) is scalar.exp


# --- DimShuffle ---


def test_dimshuffle_permutes_adds_and_drops_axes():
    m, r = at.dmatrix("m"), at.row("r")
    assert m.dimshuffle(1, "x", 0).type.shape == (None, 1, None)
    assert m.dimshuffle((1, 0)).owner.op == DimShuffle((False, False), (1, 0))
    assert r.dimshuffle(1).type.shape == (None,)
    assert at.add.view_map == {} and m.T.owner.op.view_map == {0: [0]}


@pytest.mark.parametrize(
    "order, message",
    [
        ((0,), r"Cannot drop a non-broadcastable dimension: \[False, False\], \(0,\)"),
        ((0, 0, 1), r"The same input dimension may not appear twice in the list of output dimensions: \(0, 0, 1\)"),
        ((0, 5), r"new_order\[1\] is 5, but the input only has 2 axes."),
        ((0, -1, 1), "Cannot drop"),
    ],
)
def test_dimshuffle_refuses_wrong_orders(order, message):
    with pytest.raises(ValueError, match=message):
        at.dmatrix().dimshuffle(*order)


def test_dimshuffle_refuses_an_input_of_another_rank():
    with pytest.raises(TypeError, match="number of dimensions of the input is incorrect"):
        DimShuffle((False,), (0,))(at.dmatrix())


@pytest.mark.parametrize("dtype", ["int8", "uint32", "float32", "float64"])
def test_clip_with_bounds_the_wrong_way_round_gives_the_lower_bound_to_what_is_below_it(dtype):
    x = tensor_of(dtype)
    clipped = at.clip(x, at.constant(np.asarray(6, dtype=dtype)), at.constant(np.asarray(4, dtype=dtype)))
    values = np.array([1, 4, 5, 6, 9] * 5, dtype=dtype)
    expected = np.array([6, 6, 6, 4, 4] * 5, dtype=dtype)
    assert pyscan.function([x], clipped)(values).tolist() == expected.tolist()
    assert ReferenceFunction([x], [clipped])(values)[0].tolist() == expected.tolist()
